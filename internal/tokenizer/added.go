// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/token"
)

// An addedToken is matched as a whole in a text before the tokenizer's own rules see it.
type addedToken struct {
	id         token.ID
	content    string
	lstrip     bool // swallows white space before it
	rstrip     bool // swallows white space behind it
	singleWord bool // only where no word touches it
	normalized bool // looked for after normalisation, not before
	special    bool // left out by Decode when special tokens are skipped
}

// A matcher finds added tokens in a text, leftmost first, longest first among those. It is a trie of bytes.
type matcher struct {
	tokens []addedToken
	first  [256]bool // bytes that begin a token
	nodes  []trieNode
}

type trieNode struct {
	token int32 // index into tokens of the one that ends here, or -1
	bytes []byte
	next  []int32
}

// newMatcher builds a matcher. patterns[i] is the text to look for in place of tokens[i].
func newMatcher(tokens []addedToken, patterns []string) *matcher {
	m := &matcher{tokens: tokens, nodes: []trieNode{{token: -1}}}
	for i, p := range patterns {
		if p == "" {
			continue
		}
		m.first[p[0]] = true
		at := int32(0)
		for k := range len(p) {
			at = m.child(at, p[k])
		}
		m.nodes[at].token = int32(i)
	}
	return m
}

// child returns the node behind byte b of node at, making it if need be.
func (m *matcher) child(at int32, b byte) int32 {
	n := &m.nodes[at]
	i, found := slices.BinarySearch(n.bytes, b)
	if found {
		return n.next[i]
	}
	made := int32(len(m.nodes))
	n.bytes = slices.Insert(n.bytes, i, b)
	n.next = slices.Insert(n.next, i, made)
	m.nodes = append(m.nodes, trieNode{token: -1})
	return made
}

// A match is an added token in a text, with the white space that it swallows.
type match struct {
	token      *addedToken
	start, end int
}

// A scan walks over the matches of one text.
type scan struct {
	m     *matcher
	text  string
	allow func(t *addedToken, start, end int) bool // nil: all tokens
	pos   int                                      // where to look next
	done  int                                      // end of the last match with what it swallowed
}

// next returns the next match.
func (s *scan) next() (match, bool) {
	for s.pos < len(s.text) {
		if !s.m.first[s.text[s.pos]] {
			s.pos++
			continue
		}
		t, end := s.longest(s.pos)
		if t == nil {
			s.pos++
			continue
		}
		start := s.pos
		s.pos = end
		if t.singleWord && touchesWord(s.text, start, end) {
			continue
		}
		if t.lstrip {
			trimmed := strings.TrimRightFunc(s.text[:start], unicode.IsSpace)
			start = max(len(trimmed), s.done)
		}
		if t.rstrip {
			end = len(s.text) - len(strings.TrimLeftFunc(s.text[end:], unicode.IsSpace))
		}
		s.done = end
		return match{t, start, end}, true
	}
	return match{}, false
}

// longest returns the longest allowed token that begins at start.
func (s *scan) longest(start int) (found *addedToken, end int) {
	at := int32(0)
	for k := start; k < len(s.text); k++ {
		n := &s.m.nodes[at]
		i, ok := slices.BinarySearch(n.bytes, s.text[k])
		if !ok {
			break
		}
		at = n.next[i]
		if i := s.m.nodes[at].token; i >= 0 {
			t := &s.m.tokens[i]
			if s.allow == nil || s.allow(t, start, k+1) {
				found, end = t, k+1
			}
		}
	}
	return found, end
}

func touchesWord(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return start > 0 && isWord(before) || end < len(text) && isWord(after)
}
