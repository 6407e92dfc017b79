// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"

	"github.com/sampo-ai/sampo/internal/token"
)

// A ranked is a byte-level vocabulary without a list of merges: a word that is a piece is taken whole, and in others the pair
// whose joined bytes have the lowest rank merges first. So are those of tiktoken and of Mistral's tekken.json.
type ranked struct {
	pieces []string // by rank, in the byte-level alphabet
	first  int      // ID of the piece of rank 0
	added  []addedToken
}

// tokenizer builds the tokenizer, still without a pattern and without special tokens of its own. Added tokens lie beside the pieces.
func (r *ranked) tokenizer() *Tokenizer {
	size := r.first + len(r.pieces)
	for _, a := range r.added {
		size = max(size, int(a.id)+1)
	}
	t := &Tokenizer{
		pieces: make([]string, size), kinds: make([]token.Kind, size), special: make([]bool, size), outside: make([]bool, size),
		added: r.added, bos: token.None, eos: token.None, unk: token.None, pad: token.None,
	}
	for id := range t.kinds {
		t.kinds[id] = token.Unused
	}
	for i, piece := range r.pieces {
		t.pieces[r.first+i], t.kinds[r.first+i] = piece, token.Normal
	}
	for _, a := range r.added {
		t.pieces[a.id], t.outside[a.id], t.special[a.id] = a.content, true, a.special
		t.kinds[a.id] = token.UserDefined
		if a.special {
			t.kinds[a.id] = token.Control
		}
	}
	m := t.newByteLevel()
	m.ignoreMerges = true
	m.pieces = newPieceTable(t.raw.strings(), func(id int) bool { return id >= r.first && id < r.first+len(r.pieces) })
	m.newByteIDs(func(b byte) (uint32, bool) { return m.pieces.lookup(string([]byte{b})) })
	return t
}

// spell returns bytes in the byte-level alphabet.
func spell(raw []byte) string {
	var b strings.Builder
	for _, c := range raw {
		b.WriteRune(byteRunes()[c])
	}
	return b.String()
}
