// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Two sets of classes that words with capitals are made of: a word is a run of uppers and then a run of lowers. Marks,
// modifiers and letters without case are in both.
const (
	uppers    classSet = 1<<classUpper | 1<<classTitle | bothCases
	lowers    classSet = 1<<classLower | bothCases
	bothCases classSet = 1<<classModifier | 1<<classOtherLetter | 1<<classMark
)

// A caseScanner splits where small letters turn into capitals. Its pattern is, with W for [^\r\n\p{L}\p{N}], U for
// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and L for [\p{Ll}\p{Lm}\p{Lo}\p{M}],
//
//	W?U*L+S?|W?U+L*S?|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n and tail]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// where S, a contraction such as 's, is left out unless contractions is set. With han the pattern begins with \p{Han}+, and
// neither U nor L has Han characters.
type caseScanner struct {
	contractions bool
	digits       int
	tail         string
	han          bool
}

// scan is the splitter.
func (c caseScanner) scan(s string) int {
	if c.han {
		if n := hanRun(s); n > 0 {
			return n
		}
	}
	first, n := firstClass(s)
	if n := c.word(s, first, n); n > 0 {
		if c.contractions && n < len(s) && s[n] == '\'' {
			n += contraction(s[n:], true)
		}
		return n
	}
	if first == classNumber {
		return numberRun(s, c.digits)
	}
	next, size := firstClass(s[n:])
	switch {
	case first != classSpace:
		n += spanOf(s[n:], notSpaceLetterNumber)
	case s[0] == ' ' && size > 0 && next.in(notSpaceLetterNumber):
		n += size + spanOf(s[n+size:], notSpaceLetterNumber)
	default:
		return newlineRun(s)
	}
	for n < len(s) && strings.IndexByte(c.tail, s[n]) >= 0 {
		n++
	}
	return n
}

// word returns the length of the word that s begins with, without a contraction; 0 if none.
func (c caseScanner) word(s string, first class, size int) int {
	if first.in(letters) {
		if n := c.mixed(s); n > 0 {
			return n
		}
		return c.spanOf(s, uppers) // the second alternative: capitals only
	}
	if first == classNumber || s[0] == '\r' || s[0] == '\n' {
		return 0
	}
	if n := c.mixed(s[size:]); n > 0 {
		return size + n
	}
	if first == classMark {
		return c.mixed(s) // the mark is the word, and no longer what stands before one
	}
	if n := c.spanOf(s[size:], uppers); n > 0 {
		return size + n
	}
	return 0
}

// mixed returns the length of U*L+ at the beginning of s; 0 if it does not match.
func (c caseScanner) mixed(s string) int {
	n, last := 0, 0 // last: behind the last rune that is in both sets
	for n < len(s) {
		k, size := c.classAt(s[n:])
		if !k.in(uppers) {
			break
		}
		n += size
		if k.in(bothCases) {
			last = n
		}
	}
	if more := c.spanOf(s[n:], lowers); more > 0 {
		return n + more
	}
	return last
}

// classAt is firstClass, with Han characters in no class of letters.
func (c caseScanner) classAt(s string) (class, int) {
	k, n := firstClass(s)
	if c.han && n > 1 && k.in(bothCases) && hanRun(s[:n]) > 0 {
		return classOther, n
	}
	return k, n
}

// spanOf is spanOf over classAt.
func (c caseScanner) spanOf(s string, set classSet) int {
	n := 0
	for n < len(s) {
		k, size := c.classAt(s[n:])
		if !k.in(set) {
			break
		}
		n += size
	}
	return n
}

// hanRun returns the length of the run of Han characters that s begins with.
func hanRun(s string) int {
	n := 0
	for n < len(s) && s[n] >= 0xE2 { // the first is U+2E80
		r, size := utf8.DecodeRuneInString(s[n:])
		if r < 0x4E00 || r > 0x9FFF {
			if !unicode.Is(unicode.Han, r) && (r < 0x2EBF0 || r > 0x2EE5D) {
				break
			}
		}
		n += size
	}
	return n
}

// The scanners of families.
var (
	scanGPT4o  = caseScanner{contractions: true, digits: 3, tail: "\r\n/"}.scan
	scanTekken = caseScanner{digits: 1, tail: "\r\n/"}.scan
	scanKimi   = caseScanner{contractions: true, digits: 3, tail: "\r\n", han: true}.scan
)

// scanDeepSeek is, with what no alternative takes as words of their own,
// [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func scanDeepSeek(s string) int {
	n := 0
	for n < len(s) && deepSeekWord(s[n:]) == 0 {
		_, size := utf8.DecodeRuneInString(s[n:])
		n += size
	}
	if n > 0 {
		return n
	}
	return deepSeekWord(s)
}

// deepSeekWord returns the length of the match at the beginning of s, 0 if there is none.
func deepSeekWord(s string) int {
	first, size := firstClass(s)
	switch {
	case first.in(letters | marks):
		return size + spanOf(s[size:], letters|marks)
	case first.in(puncts|symbols) && s[0] < utf8.RuneSelf:
		if n := asciiLetters(s[1:]); n > 0 {
			return 1 + n
		}
	}
	if !first.in(puncts|symbols) && s[0] != '\r' && s[0] != '\n' {
		if n := spanOf(s[size:], letters|marks); n > 0 {
			return size + n
		}
	}
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	if n := spanOf(s[start:], puncts|symbols); n > 0 {
		n += start
		for n < len(s) && (s[n] == '\r' || s[n] == '\n') {
			n++
		}
		return n
	}
	if first == classSpace {
		return newlineRun(s)
	}
	return 0
}

func asciiLetters(s string) int {
	n := 0
	for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return n
}

// scanThreeDigits sets runs of up to three numbers apart: \p{N}{1,3}.
func scanThreeDigits(s string) int {
	if n := numberRun(s, 3); n > 0 {
		return n
	}
	return spanOf(s, ^numbers)
}

// scanOneDigit sets every number apart: \p{N}. (The Digits stage knows more numbers; see scanDigits.)
func scanOneDigit(s string) int {
	if n := numberRun(s, 1); n > 0 {
		return n
	}
	return spanOf(s, ^numbers)
}

// scanCJK sets runs of Chinese characters and kana apart: [一-龥぀-ゟ゠-ヿ]+.
func scanCJK(s string) int {
	n, inside := 0, false
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		in := r >= 0x4E00 && r <= 0x9FA5 || r >= 0x3040 && r <= 0x30FF
		if n > 0 && in != inside {
			break
		}
		inside = in
		n += size
	}
	return n
}
