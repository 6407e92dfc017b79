// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/token"
)

// A bpe merges the symbols of a word, best pair first, leftmost first among equals, until no pair merges. Symbols
// begin as bytes (byte-level) or as runes, with bytes in place of runes that the vocabulary lacks.
//
// Ranks come from a list of merges (pairs), from the scores of whole pieces (scores), or are the IDs of whole pieces.
type bpe struct {
	pieces       *pieceTable // by bytes for byte-level, by spelling otherwise
	pairs        *pairTable  // nil: scores
	scores       *scoreRanks // nil as well: IDs
	byteLevel    bool
	byteIDs      [256]uint32 // the token of each byte (byte-level: that byte's symbol; else byte fallback), or noID
	allBytes     bool        // byteIDs has no gap
	ignoreMerges bool        // a word that is a token is taken whole
	fuseUnknown  bool
	unknown      uint32       // or noID: text without a token is dropped
	kinds        []token.Kind // of the whole vocabulary; a control token is never made of a word
	outside      []bool       // added tokens that are not the model's own: found by matching only
}

const noID = ^uint32(0)

// A symbol is a stretch of a word that is one token so far.
type symbol struct {
	id     uint32
	start  int32  // offset in the word; the symbol ends where the next one starts
	rank   uint32 // of the merge with the right neighbour
	merged uint32 // what that merge makes
}

// appendWord appends the IDs of word to dst.
func (m *bpe) appendWord(dst []token.ID, e *encoder, word string) []token.ID {
	if m.ignoreMerges {
		if id, ok := m.whole(word); ok {
			return append(dst, token.ID(id))
		}
	}
	if len(word) > 2*windowBytes && m.splitsAlone() {
		if ids, ok := m.appendWindows(dst, e, word, windowBytes); ok {
			return ids
		}
	}
	m.merge(e, word)
	for _, s := range e.symbols {
		dst = append(dst, token.ID(s.id))
	}
	return dst
}

// whole returns the token that word is, if any may be made of it.
func (m *bpe) whole(word string) (uint32, bool) {
	id, ok := m.pieces.lookup(word)
	return id, ok && !isControl(m.kinds[id]) && !m.outside[id]
}

// split sets e.symbols to the symbols that word begins as.
func (m *bpe) split(e *encoder, word string) {
	e.symbols = e.symbols[:0]
	e.pending = noID
	for i := 0; i < len(word); {
		n := 1
		if !m.byteLevel {
			_, n = utf8.DecodeRuneInString(word[i:])
		}
		m.splitRune(e, word, i, n)
		i += n
	}
	e.flushUnknown()
}

// splitRune appends the symbols of word[i:i+n], one rune or byte.
func (m *bpe) splitRune(e *encoder, word string, i, n int) {
	id := m.byteIDs[word[i]]
	ok := id != noID
	if !m.byteLevel {
		id, ok = m.whole(word[i : i+n])
	}
	if ok {
		e.flushUnknown()
		e.symbols = append(e.symbols, symbol{id: id, start: int32(i)})
		return
	}
	if !m.byteLevel && m.fallsBack(word[i:i+n]) {
		// As in the reference, an unknown token before stays pending and comes after these bytes.
		for k := i; k < i+n; k++ {
			e.symbols = append(e.symbols, symbol{id: m.byteIDs[word[k]], start: int32(k)})
		}
		return
	}
	if m.unknown == noID {
		return
	}
	if e.pending != noID && m.fuseUnknown {
		return
	}
	e.flushUnknown()
	e.pending, e.pendingAt = m.unknown, int32(i)
}

func (m *bpe) fallsBack(s string) bool {
	for k := range len(s) {
		if m.byteIDs[s[k]] == noID {
			return false
		}
	}
	return true
}

// flushUnknown appends the pending unknown token.
func (e *encoder) flushUnknown() {
	if e.pending != noID {
		e.symbols = append(e.symbols, symbol{id: e.pending, start: e.pendingAt})
		e.pending = noID
	}
}

// rankAll sets the rank of every pair.
func (m *bpe) rankAll(e *encoder, word string) {
	s := e.symbols
	for i := range s {
		end := int32(len(word))
		if i+2 < len(s) {
			end = s[i+2].start
		}
		if i+1 < len(s) {
			s[i].rank, s[i].merged = m.rank(word, &s[i], &s[i+1], end)
		} else {
			s[i].rank = noRank
		}
	}
}

// rank returns the rank and the result of merging a with its right neighbour b, which ends at end.
func (m *bpe) rank(word string, a, b *symbol, end int32) (rank, merged uint32) {
	if m.pairs != nil {
		return m.pairs.lookup(a.id, b.id)
	}
	if a.start > b.start || b.start >= end {
		return noRank, 0 // an unknown token that was set behind its text
	}
	id, ok := m.pieces.lookup(word[a.start:end])
	if !ok {
		return noRank, 0
	}
	if m.scores == nil {
		return id, id
	}
	return m.scores.rank(id, utf8.RuneCountInString(word[a.start:b.start]), utf8.RuneCountInString(word[b.start:end])), id
}

// newByteIDs fills byteIDs by asking spelled for the token of each byte.
func (m *bpe) newByteIDs(spelled func(b byte) (uint32, bool)) {
	m.allBytes = true
	for b := range m.byteIDs {
		id, ok := spelled(byte(b))
		if !ok {
			id, m.allBytes = noID, false
		}
		m.byteIDs[b] = id
	}
}

// byteSpelling is how SentencePiece spells the token of one byte.
func byteSpelling(b byte) string { return fmt.Sprintf("<0x%02X>", b) }

// ban keeps control tokens from being made of ordinary text. It is called again when kinds has changed.
func (m *bpe) ban() {
	control := func(id uint32) bool { return isControl(m.kinds[id]) }
	if m.scores != nil {
		m.scores.forbid(control)
	}
	if m.pairs != nil {
		m.pairs.forbid(control)
	}
}
