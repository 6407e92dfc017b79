// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/token"
)

const (
	windowBytes = 32 << 10 // of a long word that are looked at together
	windowTail  = 8        // part of them that is merged again with what follows
	windowTries = 16       // places that are tried for a cut
)

// appendWindows appends the IDs of a long word, a window at a time, in bounded memory. It reports false, and appends nothing, if it
// finds no place to cut.
//
// It is exact. Merging is local: what happens to two neighbouring tokens of the result, while no merge crosses their outer ends, happens in
// the same order when they stand alone. So a list of tokens is the result for a text if, and only if, each two neighbours are the
// result for their own text. Windows overlap, and where one is cut, the first token of the next has to be the token that stood there
// before: all neighbours are then neighbours of some window's result.
//
// That needs symbols that follow from each rune alone: see splitsAlone.
func (m *bpe) appendWindows(dst []token.ID, e *encoder, word string, window int) ([]token.ID, bool) {
	begin := len(dst)
	e.starts = e.starts[:0]
	far, tries := 0, 0 // the last place so far where a window began, and how often one did not fit since
	for at := 0; ; {
		if at > far {
			far, tries = at, 0
		}
		if !e.goOn(window) {
			return dst, true
		}
		end := min(at+window, len(word))
		for !m.byteLevel && end < len(word) && !utf8.RuneStart(word[end]) {
			end--
		}
		m.merge(e, word[at:end])
		if first := len(e.starts); first > 0 && token.ID(e.symbols[0].id) != dst[len(dst)-1] {
			// Not the token that was expected here: cut before the one in front of it.
			if tries++; first < 2 || tries > windowTries {
				return dst[:begin], false
			}
			dst, e.starts = dst[:len(dst)-1], e.starts[:first-1]
			if at = e.starts[first-2]; !m.cuttable(word, at) {
				return dst[:begin], false
			}
			continue
		} else if first > 0 {
			dst = dst[:len(dst)-1]
		}
		e.starts = e.starts[:0]
		for _, s := range e.symbols {
			if n := len(e.starts); end < len(word) && at+int(s.start) > end-window/windowTail && n > 1 && m.cuttable(word, e.starts[n-1]) {
				break
			}
			dst = append(dst, token.ID(s.id))
			e.starts = append(e.starts, at+int(s.start))
		}
		if end == len(word) {
			return dst, true
		}
		n := len(e.starts)
		if at = e.starts[n-1]; n < 2 || !m.cuttable(word, at) {
			return dst[:begin], false
		}
	}
}

// cuttable reports whether the word can be cut at a place: not within a rune, if symbols begin as runes.
func (m *bpe) cuttable(word string, at int) bool { return m.byteLevel || utf8.RuneStart(word[at]) }

// splitsAlone reports whether the symbols that a rune begins as do not depend on its neighbours: nothing is unknown, or bytes that the
// vocabulary lacks are left out.
func (m *bpe) splitsAlone() bool {
	return m.allBytes || m.byteLevel && m.pairs != nil && m.unknown == noID
}

// merge sets e.symbols to the tokens of a text.
func (m *bpe) merge(e *encoder, text string) {
	m.split(e, text)
	m.rankAll(e, text)
	if len(e.symbols) <= shortWord {
		m.mergeShort(e, text)
	} else {
		m.mergeLong(e, text)
	}
}
