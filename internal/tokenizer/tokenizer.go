// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/sampo-ai/sampo/internal/token"
)

// A Tokenizer turns text into token IDs and back. Make one with FromJSON or FromGGUF. Apart from MarkControl,
// which belongs to set-up, its methods may be called from many goroutines at once.
type Tokenizer struct {
	// The vocabulary, by ID.
	pieces  []string     // spelling
	kinds   []token.Kind // what it is for
	special []bool       // left out by Decode when special tokens are skipped
	outside []bool       // an added token that is not in the model's own vocabulary
	raw     rawBytes     // what it stands for in a text

	// The stages of encoding.
	added       []addedToken
	rawAdded    *matcher // added tokens found before normalisation; nil: none
	normalAdded *matcher // and after it
	normal      normalizers
	pre         []preStep
	model       model
	prefix      []token.ID // put around a text with Options.AddSpecial
	suffix      []token.ID

	decoding decoding

	bos, eos, unk, pad token.ID // token.None: none
	eog                []token.ID
	maxBytes           int

	encoders *sync.Pool // of *encoder
	index    func() *pieceTable
}

// A rawBytes holds the bytes of each token, end to end.
type rawBytes struct {
	data []byte
	at   []uint32 // token id is data[at[id]:at[id+1]]
}

func (r *rawBytes) append(s ...byte) { r.data = append(r.data, s...) }

// end closes the token that was appended.
func (r *rawBytes) end() { r.at = append(r.at, uint32(len(r.data))) }

func (r *rawBytes) of(id token.ID) []byte {
	a, b := r.at[id], r.at[id+1]
	return r.data[a:b:b]
}

// strings returns the bytes of each token as a string.
func (r *rawBytes) strings() []string {
	text := string(r.data)
	out := make([]string, len(r.at)-1)
	for i := range out {
		out[i] = text[r.at[i]:r.at[i+1]]
	}
	return out
}

// finish completes a Tokenizer whose vocabulary, stages and special tokens are set.
func (t *Tokenizer) finish() {
	t.buildMatchers()
	for id := range t.pieces {
		t.maxBytes = max(t.maxBytes, len(t.raw.of(token.ID(id))))
	}
	t.index = sync.OnceValue(func() *pieceTable {
		return newPieceTable(t.pieces, func(id int) bool { return t.pieces[id] != "" })
	})
	t.reset()
}

// reset gives the Tokenizer new encoders, whose caches know nothing.
func (t *Tokenizer) reset() {
	seed := maphash.MakeSeed()
	t.encoders = &sync.Pool{New: func() any { return newEncoder(seed) }}
}

// buildMatchers sorts the added tokens into those found before and after normalisation.
func (t *Tokenizer) buildMatchers() {
	var before, after []addedToken
	var patterns, normalPatterns []string
	for _, a := range t.added {
		if a.normalized {
			after = append(after, a)
			normalPatterns = append(normalPatterns, t.normal.apply(a.content, false))
			continue
		}
		before = append(before, a)
		patterns = append(patterns, a.content)
	}
	t.rawAdded, t.normalAdded = nil, nil
	if len(before) > 0 {
		t.rawAdded = newMatcher(before, patterns)
	}
	if len(after) > 0 {
		t.normalAdded = newMatcher(after, normalPatterns)
	}
}

// MarkControl makes control tokens of markers that are in the vocabulary: their text in data stays text. Markers that
// the vocabulary lacks are ignored. Not to be called while the Tokenizer is in use.
func (t *Tokenizer) MarkControl(markers ...string) {
	for _, marker := range markers {
		id, ok := t.ID(marker)
		if !ok || t.kinds[id] == token.Control {
			continue
		}
		t.kinds[id] = token.Control
		if !slices.ContainsFunc(t.added, func(a addedToken) bool { return a.id == id }) {
			t.added = append(t.added, addedToken{id: id, content: marker})
		}
	}
	if m, ok := t.model.(*bpe); ok {
		m.ban()
	}
	t.buildMatchers()
	t.reset()
}

func (t *Tokenizer) has(id token.ID) bool { return id >= 0 && int(id) < len(t.pieces) }

// Bytes returns the bytes that a token stands for inside a text, nil outside the vocabulary. The caller must not change them.
func (t *Tokenizer) Bytes(id token.ID) []byte {
	if !t.has(id) {
		return nil
	}
	return t.raw.of(id)
}

// Piece returns the vocabulary's spelling of a token, such as "Ġsky" or "▁sky", "" outside the vocabulary and where an ID has no token.
func (t *Tokenizer) Piece(id token.ID) string {
	if !t.has(id) {
		return ""
	}
	return t.pieces[id]
}

// Kind returns what a token is for; token.Unused outside the vocabulary.
func (t *Tokenizer) Kind(id token.ID) token.Kind {
	if !t.has(id) {
		return token.Unused
	}
	return t.kinds[id]
}

// Special reports whether a token is left out where special tokens are skipped. Files say so; MarkControl does not change it.
func (t *Tokenizer) Special(id token.ID) bool { return t.has(id) && t.special[id] }

// VocabSize returns one more than the largest ID. The rows of a model's output matrix may be more.
func (t *Tokenizer) VocabSize() int { return len(t.pieces) }

// ID returns the token that the vocabulary spells as piece.
func (t *Tokenizer) ID(piece string) (token.ID, bool) {
	if piece == "" {
		return token.None, false
	}
	id, ok := t.index().lookup(piece)
	if !ok {
		return token.None, false
	}
	return token.ID(id), true
}

// BOS returns the token that begins a text.
func (t *Tokenizer) BOS() (token.ID, bool) { return t.bos, t.bos != token.None }

// EOS returns the token that ends a text.
func (t *Tokenizer) EOS() (token.ID, bool) { return t.eos, t.eos != token.None }

// UNK returns the token for text that the vocabulary can't spell.
func (t *Tokenizer) UNK() (token.ID, bool) { return t.unk, t.unk != token.None }

// PAD returns the token for padding.
func (t *Tokenizer) PAD() (token.ID, bool) { return t.pad, t.pad != token.None }

// EOG returns all tokens that end a generation, EOS first. The caller must not change it.
func (t *Tokenizer) EOG() []token.ID { return t.eog }

// MaxTokenBytes returns the length of the longest token's bytes.
func (t *Tokenizer) MaxTokenBytes() int { return t.maxBytes }

// isControl reports whether a token of kind k must not come from data.
func isControl(k token.Kind) bool { return k == token.Control || k == token.Unknown }
