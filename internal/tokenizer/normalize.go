// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// A normalizer rewrites a piece before it is split into words.
type normalizer interface {
	// apply rewrites s. inner is true when s is not the beginning of its piece.
	apply(s string, inner bool) string
}

// A replacer replaces each occurrence of a string.
type replacer struct{ old, new string }

func (r replacer) apply(s string, _ bool) string { return strings.ReplaceAll(s, r.old, r.new) }

// A prepender puts a string before each piece that is not empty.
type prepender struct{ prefix string }

func (p prepender) apply(s string, inner bool) string {
	if s == "" || inner {
		return s
	}
	return p.prefix + s
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// A normalizers applies its members in turn.
type normalizers []normalizer

func (n normalizers) apply(s string, inner bool) string {
	for _, step := range n {
		s = step.apply(s, inner)
	}
	return s
}

// keepsStart reports whether the beginning of s is still there after normalisation, which a stage that treats the beginning of
// a text otherwise asks for: whether its first rune makes a difference before a letter. Where a character map drops that rune, the
// reference takes the next one for the beginning.
func (n normalizers) keepsStart(s string) bool {
	if len(n) == 0 || s == "" {
		return true
	}
	_, size := utf8.DecodeRuneInString(s)
	with, without := s[:size]+"x", "x"
	for _, step := range n {
		with, without = step.apply(with, false), step.apply(without, false)
		if with == without {
			_, ok := step.(charsMap)
			return ok
		}
	}
	return true
}

// follow maps ranges of the text before normalisation to the text after it, which is whole. Where a rewriting reaches
// across the border of a range, the range grows: data is never taken for less than it is.
func (n normalizers) follow(text, whole string, data []span) []span {
	if len(data) == 0 || text == whole {
		return data
	}
	borders := []int{0}
	for _, d := range data {
		borders = append(borders, d.start, d.end)
	}
	borders = append(borders, len(text))
	low, known := n.fromStart(text, whole, borders)
	high, first := n.fromEnd(text, whole, borders)
	// A border is exact if all before it or all behind it fitted.
	for i := range borders {
		switch {
		case i < known:
			high[i] = low[i]
		case i > first:
			low[i] = high[i]
		}
	}
	out := make([]span, len(data))
	for i := range data {
		out[i] = span{low[2*i+1], high[2*i+2]}
	}
	return out
}

// fromStart returns a place in whole at or before the image of each border, working from the start. The places of
// borders[:known] are exact.
func (n normalizers) fromStart(text, whole string, borders []int) (places []int, known int) {
	places = make([]int, len(borders))
	at := 0
	for known = 1; known < len(borders); known++ {
		part := n.apply(text[borders[known-1]:borders[known]], known > 1)
		if !strings.HasPrefix(whole[at:], part) {
			at += commonPrefix(whole[at:], part)
			break
		}
		at += len(part)
		places[known] = at
	}
	for i := known; i < len(borders); i++ {
		places[i] = at
	}
	return places, known
}

// fromEnd returns a place in whole at or behind the image of each border, working from the end. The places of
// borders[first+1:] are exact.
func (n normalizers) fromEnd(text, whole string, borders []int) (places []int, first int) {
	places = make([]int, len(borders))
	at := len(whole)
	places[len(places)-1] = at
	for first = len(borders) - 2; first >= 0; first-- {
		part := n.apply(text[borders[first]:borders[first+1]], first > 0)
		if !strings.HasSuffix(whole[:at], part) {
			at -= commonSuffix(whole[:at], part)
			break
		}
		at -= len(part)
		places[first] = at
	}
	for i := first; i >= 0; i-- {
		places[i] = at
	}
	return places, first
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
