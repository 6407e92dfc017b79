// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "strings"

// A preStep is one stage of the pre-tokenizer: it rewrites a piece, splits it into words, or both in that order. The next
// step works on each word.
type preStep struct {
	rewrite func(s string, first bool) string // nil: leaves it; first is true for what begins the text
	split   splitter                          // nil: leaves it whole
}

// A prefixer puts a mark before a piece that does not begin with it, and the mark in place of each space if spaces is set.
type prefixer struct {
	mark      string // not empty
	spaces    bool
	prefix    bool
	firstOnly bool // only before what begins the text
}

func (p prefixer) rewrite(s string, first bool) string {
	if p.spaces {
		s = strings.ReplaceAll(s, " ", p.mark)
	}
	if p.prefix && s != "" && (first || !p.firstOnly) && !strings.HasPrefix(s, p.mark) {
		s = p.mark + s
	}
	return s
}

// steps returns a step for each splitter.
func steps(splitters ...splitter) []preStep {
	out := make([]preStep, len(splitters))
	for i, s := range splitters {
		out[i].split = s
	}
	return out
}

// A pattern is a regular expression that models split by, and the scanner that does the same.
type pattern struct {
	regex  string
	scan   splitter
	covers bool // matches every text from end to end
}
