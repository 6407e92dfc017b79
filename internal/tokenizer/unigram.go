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
	return m.appendBest(dst, e, word, windowBytes)
}

// appendBest appends the IDs of word. It keeps the search of about a window of the word, as long as all good ways through it meet.
func (m *unigram) appendBest(dst []token.ID, e *encoder, word string, window int) []token.ID {
	n := min(len(word), window) + 1
	e.nodes = slices.Grow(e.nodes[:0], n)[:n]
	for i := range e.nodes {
		e.nodes[i] = node{start: -1}
	}
	e.nodes[0].start = 0
	base, look := 0, window // places of the first node, and of the next attempt to forget some
	for start := 0; start < len(word); {
		if start > look {
			look = start + window
			if !e.goOn(window) {
				return dst
			}
			if cut := e.settled(m, start-base); cut > 0 {
				dst = m.appendPath(dst, e, word[base:], cut)
				e.forget(cut)
				base += cut
			}
		}
		start += m.step(e, word, start, base)
	}
	return m.appendPath(dst, e, word[base:], len(word)-base)
}

// settled returns a place behind which nothing can change: every way that goes on from end, or from a place behind it, passes
// there, and the piece that ends there is known. 0: there is none.
func (e *encoder) settled(m *unigram, end int) int {
	common := end
	for from := len(e.nodes) - 1; from > end; from-- {
		// Follow the way to this place, and that to the common one, back until they meet.
		for at := from; e.nodes[from].start >= 0 && at != common; {
			if at > common {
				at = int(e.nodes[at].start)
			} else {
				common = int(e.nodes[common].start)
			}
		}
	}
	for common > 0 && e.nodes[common].id == m.unknown {
		common = int(e.nodes[common].start)
	}
	return common
}

// forget drops the nodes before a place. Scores stay those of the whole word, so that sums are rounded alike.
func (e *encoder) forget(cut int) {
	e.nodes = slices.Delete(e.nodes, 0, cut)
	e.nodes[0].start = 0
	for i := range e.nodes {
		if n := &e.nodes[i]; i > 0 && n.start >= 0 {
			n.start -= int32(cut)
		}
	}
}

// appendPath appends the IDs of the best way from the first node to the one at end. Neighbouring unknown runes become one.
func (m *unigram) appendPath(dst []token.ID, e *encoder, word string, end int) []token.ID {
	e.symbols = e.symbols[:0]
	for at := int32(end); at > 0; {
		n := e.nodes[at]
		last := len(e.symbols) - 1
		if n.id == m.unknown && last >= 0 && e.symbols[last].id == m.unknown {
			e.symbols[last].start = n.start
		} else {
			e.symbols = append(e.symbols, symbol{id: n.id, start: n.start})
		}
		at = n.start
	}
	for i := len(e.symbols) - 1; i >= 0; i-- {
		s, end := e.symbols[i], int32(end)
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

// step finds the ways from start, a place that some way reaches, to those behind it, and returns the size of the rune there. Nodes begin
// at base.
func (m *unigram) step(e *encoder, word string, start, base int) int {
	_, size := utf8.DecodeRuneInString(word[start:])
	from := int32(start - base)
	here, single := e.nodes[from].score, false
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
		e.reach(k+1-base, node{here + m.scores[id], from, id})
		single = single || k+1-start == size
	}
	if !single {
		e.reach(start+size-base, node{here + m.lowest, from, m.unknown})
	}
	return size
}

// reach offers a way to a place; the first of equally good ones stays.
func (e *encoder) reach(at int, way node) {
	for len(e.nodes) <= at {
		e.nodes = append(e.nodes, node{start: -1})
	}
	if n := &e.nodes[at]; n.start < 0 || way.score > n.score {
		*n = way
	}
}
