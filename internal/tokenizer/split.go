// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A pieces finds the first piece of a text that is not empty: a match of what a stage splits by, or what lies before the
// first match.
type pieces func(s string) (n int, match bool)

// pieces finds matches of a pattern.
func (r *regex) pieces(s string) (n int, match bool) {
	if end, ok := r.at(s, 0); ok && end > 0 {
		return end, true
	}
	_, first := utf8.DecodeRuneInString(s)
	if start, _, ok := r.find(s, first); ok {
		return start, false
	}
	return len(s), false
}

// stringPieces finds a string.
func stringPieces(text string) pieces {
	return func(s string) (int, bool) {
		switch i := strings.Index(s, text); {
		case i == 0:
			return len(text), true
		case i > 0:
			return i, false
		}
		return len(s), false
	}
}

// runePieces finds single runes for which is is true.
func runePieces(is func(r rune) bool) pieces {
	return func(s string) (int, bool) {
		for i, r := range s {
			if !is(r) {
				continue
			}
			if i > 0 {
				return i, false
			}
			return utf8.RuneLen(r), true
		}
		return len(s), false
	}
}

// isBertPunct and isSpace are what the stages Punctuation and WhitespaceSplit look for.
func isBertPunct(r rune) bool { return propsOf(r).has(propBertPunct) }
func isSpace(r rune) bool     { return unicode.IsSpace(r) }

// bertSpaces and bertPuncts are the two steps of BertPreTokenizer.
func bertSpaces(s string) int {
	n, space := runePieces(isSpace)(s)
	if space {
		return -n
	}
	return n
}

func bertPuncts(s string) int {
	n, _ := runePieces(isBertPunct)(s)
	return n
}

// scanWhitespace keeps \w+ and [^\w\s]+ as words and drops white space (the stage Whitespace).
func scanWhitespace(s string) int {
	kind := func(r rune) int {
		switch {
		case propsOf(r).has(propWord):
			return 1
		case isSpace(r):
			return 0
		}
		return 2
	}
	first, n := -1, 0
	for i, r := range s {
		k := kind(r)
		if first < 0 {
			first = k
		}
		if k != first {
			break
		}
		n = i + utf8.RuneLen(r)
	}
	if first == 0 {
		return -n
	}
	return n
}

// splitting returns the splitter that cuts a text into pieces and treats matches as behavior says, non-matches if invert is
// set.
func splitting(find pieces, behavior string, invert bool) (splitter, error) {
	next := find
	if invert {
		next = func(s string) (int, bool) {
			n, match := find(s)
			return n, !match
		}
	}
	switch behavior {
	case "Isolated":
		return func(s string) int { n, _ := next(s); return n }, nil
	case "Removed":
		return func(s string) int {
			n, match := next(s)
			if match {
				return -n
			}
			return n
		}, nil
	case "MergedWithPrevious":
		// A match that follows another one stands alone, and so does one that begins the text.
		return func(s string) int { return joinNext(s, next, false, true) }, nil
	case "MergedWithNext":
		return func(s string) int { return joinNext(s, next, true, false) }, nil
	case "Contiguous":
		return func(s string) int {
			n, match := next(s)
			for n < len(s) {
				more, same := next(s[n:])
				if same != match {
					break
				}
				n += more
			}
			return n
		}, nil
	}
	return nil, fmt.Errorf("behavior %q is not supported", behavior)
}

// joinNext returns the length of the first piece, and of the second one with it if the first is a match or not as first says and
// the second as second says.
func joinNext(s string, next pieces, first, second bool) int {
	n, match := next(s)
	if match != first || n == len(s) {
		return n
	}
	more, match := next(s[n:])
	if match != second {
		return n
	}
	return n + more
}
