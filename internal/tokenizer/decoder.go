// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/token"
)

// A decoding says what Decode does beyond joining the bytes of tokens.
type decoding struct {
	stripLeft int                       // spaces dropped at the very beginning of a text
	first     func(piece string) string // the text of the first token where it differs from that of later ones; or nil
}

// spaceMark is how SentencePiece spells a space.
const spaceMark = "▁"

// A Decoder turns a stream of tokens into text, a piece for each token.
type Decoder struct {
	t       *Tokenizer
	skip    bool
	begun   bool // some token came before
	strip   int  // spaces that may still be dropped
	pending []byte
}

// NewDecoder returns a decoder that continues after tail, the last tokens before the stream (nil: the stream starts
// the text). With skipSpecial special tokens have no text.
func (t *Tokenizer) NewDecoder(tail []token.ID, skipSpecial bool) *Decoder {
	d := &Decoder{t: t, skip: skipSpecial, strip: t.decoding.stripLeft}
	for _, id := range tail {
		d.Add(id)
	}
	return d
}

// Add returns the text that id completes; bytes of an unfinished rune are held back.
func (d *Decoder) Add(id token.ID) string {
	d.append(id)
	n := len(d.pending) - unfinishedLen(d.pending)
	text := repair(string(d.pending[:n]))
	d.pending = append(d.pending[:0], d.pending[n:]...)
	return text
}

// Flush ends the stream. An unfinished rune is dropped, so that there is nothing left to return; the method keeps the shape
// of a stream's end, and the decoder begins a new text.
func (d *Decoder) Flush() string {
	d.pending = d.pending[:0]
	d.begun = false
	d.strip = d.t.decoding.stripLeft
	return ""
}

// append adds the bytes of id to pending.
func (d *Decoder) append(id token.ID) {
	if !d.t.has(id) || d.skip && d.t.special[id] {
		return
	}
	b := d.t.raw.of(id)
	if d.t.decoding.first != nil && !d.begun {
		d.pending = append(d.pending, d.t.decoding.first(d.t.pieces[id])...)
		d.begun = true
		return
	}
	d.begun = true
	for d.strip > 0 && len(b) > 0 {
		if b[0] != ' ' {
			d.strip = 0
			break
		}
		d.strip--
		b = b[1:]
	}
	d.pending = append(d.pending, b...)
}

// unfinishedLen returns the length of the broken sequence that b ends with and that may still become a rune.
func unfinishedLen(b []byte) int {
	for n := 1; n <= min(len(b), utf8.UTFMax-1); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) && unfinished(tail) {
				return n
			}
			break
		}
	}
	return 0
}

// Decode returns the text of ids. Broken UTF-8 becomes U+FFFD, one for each maximal broken sequence; IDs outside the
// vocabulary are empty. (For byte-fallback vocabularies Hugging Face writes one U+FFFD for each byte of a run of byte tokens
// that is not valid as a whole, which a stream could not know in time.)
func (t *Tokenizer) Decode(ids []token.ID, skipSpecial bool) string {
	d := t.NewDecoder(nil, skipSpecial)
	for _, id := range ids {
		d.append(id)
	}
	return repair(string(d.pending))
}
