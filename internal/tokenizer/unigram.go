// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/token"
)

// A unigram takes the pieces of a word whose scores add up to the most, by the Viterbi algorithm (Kudo 2018,
// arXiv:1804.10959). Runes that no piece spells are the unknown token, one for each run of them, or single bytes if the
// vocabulary has those.
type unigram struct {
	trie     *pieceTrie
	scores   []float64
	lowest   float64 // score of an unknown rune
	unknown  uint32  // or noID: unknown runes are dropped
	byteIDs  [256]uint32
	fallback bool
	kinds    []token.Kind // of the whole vocabulary; a control token is never made of a word
}

// unknownPenalty is how much worse than the worst piece an unknown rune is.
const unknownPenalty = 10

// A node is the best way to reach a place in a word.
type node struct {
	score float64
	start int32 // of the piece that ends here; -1: not reached
	id    uint32
}

// newUnigram makes the model of the pieces for which keep is true. Of equal pieces the last counts.
func newUnigram(pieces []string, scores []float64, keep func(id int) bool) (*unigram, error) {
	m := &unigram{trie: newPieceTrie(), scores: scores, unknown: noID}
	if len(scores) > 0 {
		m.lowest = slices.Min(scores) - unknownPenalty
	}
	for id := range scores {
		if pieces[id] != "" && keep(id) {
			if !m.trie.add(pieces[id], uint32(id)) {
				return nil, errTrieFull
			}
		}
	}
	return m, nil
}

// setByteFallback lets bytes stand for unknown runes, if the vocabulary has all of them.
func (m *unigram) setByteFallback() {
	m.fallback = true
	for b := range m.byteIDs {
		id, ok := m.trie.lookup(byteSpelling(byte(b)))
		m.byteIDs[b] = id
		m.fallback = m.fallback && ok
	}
}

// appendWord appends the IDs of word to dst.
func (m *unigram) appendWord(dst []token.ID, e *encoder, word string) []token.ID {
	m.search(e, word)
	// Collect the path from its end. Neighbouring unknown runes become one.
	e.symbols = e.symbols[:0]
	for end := int32(len(word)); end > 0; {
		n := e.nodes[end]
		last := len(e.symbols) - 1
		if n.id == m.unknown && last >= 0 && e.symbols[last].id == m.unknown {
			e.symbols[last].start = n.start
		} else {
			e.symbols = append(e.symbols, symbol{id: n.id, start: n.start})
		}
		end = n.start
	}
	for i := len(e.symbols) - 1; i >= 0; i-- {
		s, end := e.symbols[i], int32(len(word))
		if i > 0 {
			end = e.symbols[i-1].start
		}
		if s.id != m.unknown {
			dst = append(dst, token.ID(s.id))
			continue
		}
		dst = m.appendUnknown(dst, word[s.start:end])
	}
	return dst
}

// appendUnknown appends what stands for a run of unknown runes. Together they may be a piece after all, one that was too dear.
func (m *unigram) appendUnknown(dst []token.ID, s string) []token.ID {
	if id, ok := m.trie.lookup(s); ok && !isControl(m.kinds[id]) {
		return append(dst, token.ID(id))
	}
	if m.fallback {
		for i := range len(s) {
			dst = append(dst, token.ID(m.byteIDs[s[i]]))
		}
		return dst
	}
	if m.unknown == noID {
		return dst
	}
	return append(dst, token.ID(m.unknown))
}

// search fills e.nodes with the best ways to each place of word.
func (m *unigram) search(e *encoder, word string) {
	e.nodes = slices.Grow(e.nodes[:0], len(word)+1)[:len(word)+1]
	for i := range e.nodes {
		e.nodes[i] = node{start: -1}
	}
	e.nodes[0].start = 0
	for start := 0; start < len(word); {
		_, size := utf8.DecodeRuneInString(word[start:])
		here, single := e.nodes[start].score, false
		at := m.trie.root()
		for k := start; k < len(word); k++ {
			var ok bool
			if at, ok = m.trie.child(at, word[k]); !ok {
				break
			}
			id := m.trie.ids[at]
			if id == noID || isControl(m.kinds[id]) {
				continue
			}
			e.reach(k+1, node{here + m.scores[id], int32(start), id})
			single = single || k+1-start == size
		}
		if !single {
			e.reach(start+size, node{here + m.lowest, int32(start), m.unknown})
		}
		start += size
	}
}

// reach offers a way to a place; the first of equally good ones stays.
func (e *encoder) reach(at int, way node) {
	if n := &e.nodes[at]; n.start < 0 || way.score > n.score {
		*n = way
	}
}
