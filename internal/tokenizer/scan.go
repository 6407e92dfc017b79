// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// A splitter returns the length of the first word of s, which is not empty and valid UTF-8; a negative length is that of
// text before it that belongs to no word. The scanners below are the patterns that models write as regular expressions, by
// hand.
type splitter func(s string) int

const notSpaceLetterNumber = ^(spaces | letters | numbers)

// scanGPT2 is 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func scanGPT2(s string) int {
	if s[0] == '\'' {
		if n := contraction(s, false); n > 0 {
			return n
		}
	}
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	c, n := firstClass(s[start:])
	if n == 0 || c == classSpace {
		return spaceRun(s)
	}
	set := notSpaceLetterNumber
	switch {
	case c.in(letters):
		set = letters
	case c == classNumber:
		set = numbers
	}
	return start + n + spanOf(s[start+n:], set)
}

// scanLlama3 is (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanLlama3(s string) int { return scanCased(s, 3, letters) }

// scanQwen2 is as scanLlama3, with \p{N} in place of \p{N}{1,3}.
func scanQwen2(s string) int { return scanCased(s, 1, letters) }

// scanQwen35 is as scanQwen2, with marks counted as letters, but for the character before a word.
func scanQwen35(s string) int { return scanCased(s, 1, letters|marks) }

// scanCased is the common part of these: runs of word are words.
func scanCased(s string, maxDigits int, word classSet) int {
	c, n := firstClass(s)
	switch {
	case c.in(word):
		return n + spanOf(s[n:], word)
	case c == classNumber:
		return numberRun(s, maxDigits)
	}
	if s[0] == '\'' {
		if n := contraction(s, true); n > 0 {
			return n
		}
	}
	next, size := firstClass(s[n:])
	if next.in(word) && s[0] != '\r' && s[0] != '\n' {
		return n + size + spanOf(s[n+size:], word)
	}
	other := notSpaceLetterNumber &^ word
	switch {
	case c != classSpace:
		n += spanOf(s[n:], other)
	case s[0] == ' ' && size > 0 && next.in(other):
		n += size + spanOf(s[n+size:], other)
	default:
		return newlineRun(s)
	}
	for n < len(s) && (s[n] == '\r' || s[n] == '\n') {
		n++
	}
	return n
}

// numberRun returns the length of the run of numbers that s begins with, of at most limit runes.
func numberRun(s string, limit int) int {
	n := 0
	for range limit {
		c, size := firstClass(s[n:])
		if c != classNumber {
			break
		}
		n += size
	}
	return n
}

// newlineRun is \s*[\r\n]+|\s+(?!\S)|\s+ on a text that begins with white space.
func newlineRun(s string) int {
	run := spanOf(s, spaces)
	if i := strings.LastIndexAny(s[:run], "\r\n"); i >= 0 {
		return i + 1
	}
	return beforeWord(s, run)
}

// spaceRun is \s+(?!\S)|\s+ on a text that begins with white space.
func spaceRun(s string) int { return beforeWord(s, spanOf(s, spaces)) }

// beforeWord gives the last rune of a run of white space back to the word that follows, if the run has another.
func beforeWord(s string, run int) int {
	if run == len(s) {
		return run
	}
	_, last := utf8.DecodeLastRuneInString(s[:run])
	if last == run {
		return run
	}
	return run - last
}

// contraction returns the length of the English suffix that s, which begins with an apostrophe, begins with; 0 if none.
// Ignoring case, ſ (U+017F) is an s.
func contraction(s string, ignoreCase bool) int {
	if len(s) < 2 {
		return 0
	}
	a, b := s[1], byte(0)
	if len(s) > 2 {
		b = s[2]
	}
	if ignoreCase {
		if strings.HasPrefix(s[1:], "ſ") {
			return 1 + len("ſ")
		}
		a, b = lowerASCII(a), lowerASCII(b)
	}
	switch {
	case a == 's' || a == 't' || a == 'm' || a == 'd':
		return 2
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return 3
	}
	return 0
}

func lowerASCII(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// scanDigits sets every number apart.
func scanDigits(s string) int {
	c, n := firstClass(s)
	if c.in(digitsAny) {
		return n
	}
	return n + spanOf(s[n:], ^digitsAny)
}

// scanDigitRuns sets every run of numbers apart.
func scanDigitRuns(s string) int {
	c, n := firstClass(s)
	if c.in(digitsAny) {
		return n + spanOf(s[n:], digitsAny)
	}
	return n + spanOf(s[n:], ^digitsAny)
}

// scanAfter returns a splitter that ends a word after each mark.
func scanAfter(mark string) splitter {
	return func(s string) int {
		if i := strings.Index(s, mark); i >= 0 {
			return i + len(mark)
		}
		return len(s)
	}
}

// scanBefore returns a splitter that begins a word at each mark.
func scanBefore(mark string) splitter {
	return func(s string) int {
		skip := 0
		if strings.HasPrefix(s, mark) {
			skip = len(mark)
		}
		if i := strings.Index(s[skip:], mark); i >= 0 && skip+i > 0 {
			return skip + i
		}
		return len(s)
	}
}
