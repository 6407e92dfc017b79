// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "strings"

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
	low := n.borders(text, whole, borders)
	high := n.bordersFromEnd(text, whole, borders)
	out := make([]span, len(data))
	for i := range data {
		out[i] = span{low[2*i+1], high[2*i+2]}
	}
	return out
}

// borders returns a place in whole at or before the image of each border, working from the beginning.
func (n normalizers) borders(text, whole string, borders []int) []int {
	out := make([]int, len(borders))
	at := 0
	for i := 1; i < len(borders); i++ {
		part := n.apply(text[borders[i-1]:borders[i]], i > 1)
		if !strings.HasPrefix(whole[at:], part) {
			// The rest can't be placed: all of it counts from here on.
			for ; i < len(borders); i++ {
				out[i] = at
			}
			break
		}
		at += len(part)
		out[i] = at
	}
	return out
}

// bordersFromEnd returns a place in whole at or behind the image of each border, working from the end.
func (n normalizers) bordersFromEnd(text, whole string, borders []int) []int {
	out := make([]int, len(borders))
	at := len(whole)
	out[len(out)-1] = at
	for i := len(borders) - 2; i >= 0; i-- {
		part := n.apply(text[borders[i]:borders[i+1]], i > 0)
		if !strings.HasSuffix(whole[:at], part) {
			for ; i >= 0; i-- {
				out[i] = at
			}
			break
		}
		at -= len(part)
		out[i] = at
	}
	return out
}
