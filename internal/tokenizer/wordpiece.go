// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/token"
)

// A wordPiece takes the longest piece that a word begins with, then the longest continuation, and so on (BERT,
// arXiv:1810.04805). A word that can't be spelled so is one unknown token.
type wordPiece struct {
	head     *pieceTable // pieces by spelling
	tail     *pieceTable // continuations, by their spelling without the prefix
	longest  int         // bytes of the longest piece
	maxRunes int         // of a word; a longer one is unknown
	unknown  uint32
	kinds    []token.Kind // a control token is never made of a word
	outside  []bool
}

// newWordPiece makes the model of a vocabulary whose continuations begin with prefix.
func newWordPiece(t *Tokenizer, prefix string) *wordPiece {
	m := &wordPiece{kinds: t.kinds, outside: t.outside}
	rest := make([]string, len(t.pieces))
	for id, piece := range t.pieces {
		m.longest = max(m.longest, len(piece))
		rest[id] = strings.TrimPrefix(piece, prefix)
	}
	m.head = newPieceTable(t.pieces, func(id int) bool { return t.pieces[id] != "" && !t.outside[id] })
	m.tail = newPieceTable(rest, func(id int) bool {
		return rest[id] != "" && !t.outside[id] && strings.HasPrefix(t.pieces[id], prefix)
	})
	return m
}

// appendWord appends the IDs of word to dst.
func (m *wordPiece) appendWord(dst []token.ID, _ *encoder, word string) []token.ID {
	begin := len(dst)
	if utf8.RuneCountInString(word) > m.maxRunes {
		return append(dst, token.ID(m.unknown))
	}
	for start := 0; start < len(word); {
		id, end := m.longestAt(word, start)
		if end == start {
			return append(dst[:begin], token.ID(m.unknown))
		}
		dst = append(dst, token.ID(id))
		start = end
	}
	return dst
}

// longestAt returns the longest piece at start, and where it ends; start itself if there is none.
func (m *wordPiece) longestAt(word string, start int) (id uint32, end int) {
	table := m.head
	if start > 0 {
		table = m.tail
	}
	for end = min(len(word), start+m.longest); end > start; end-- {
		if end < len(word) && !utf8.RuneStart(word[end]) {
			continue
		}
		if id, ok := table.lookup(word[start:end]); ok && !isControl(m.kinds[id]) {
			return id, end
		}
	}
	return noID, start
}

// A wordLevel knows whole words only.
type wordLevel struct {
	words   *pieceTable
	unknown uint32
	kinds   []token.Kind
}

// appendWord appends the ID of word to dst.
func (m *wordLevel) appendWord(dst []token.ID, _ *encoder, word string) []token.ID {
	if id, ok := m.words.lookup(word); ok && !isControl(m.kinds[id]) {
		return append(dst, token.ID(id))
	}
	return append(dst, token.ID(m.unknown))
}
