// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "github.com/sampo-ai/sampo/internal/token"

// A Tokenizer turns text into token IDs and back. Make one with FromJSON or FromGGUF. Apart from MarkControl,
// which belongs to set-up, its methods may be called from many goroutines at once.
type Tokenizer struct{}

// Options say how Encode treats special tokens. The zero value is for text that came from outside.
type Options struct {
	ParseSpecial bool // text of a control token becomes that token
	AddSpecial   bool // add what the model expects around a text, such as BOS
}

// FromJSON reads a Hugging Face tokenizer.json, and the tokenizer_config.json beside it, which may be nil.
func FromJSON(tokenizerJSON, tokenizerConfig []byte) (*Tokenizer, error) { panic("not yet") }

// FromGGUF builds the tokenizer that a GGUF file describes.
func FromGGUF(v Vocab) (*Tokenizer, error) { panic("not yet") }

// Encode returns the IDs of text. Bytes that are not UTF-8 count as U+FFFD, one for each maximal broken sequence.
func (t *Tokenizer) Encode(text string, opt Options) []token.ID { panic("not yet") }

// EncodeSegments returns the IDs of the joined text of segs. Control tokens are found only where their whole text
// lies in segments that are not data; all else is as if the text had never been cut.
func (t *Tokenizer) EncodeSegments(segs []Segment, addSpecial bool) []token.ID { panic("not yet") }

// Decode returns the text of ids. Broken UTF-8 becomes U+FFFD; IDs outside the vocabulary are empty.
func (t *Tokenizer) Decode(ids []token.ID, skipSpecial bool) string { panic("not yet") }

// Bytes returns the bytes that a token stands for inside a text. The caller must not change them.
func (t *Tokenizer) Bytes(id token.ID) []byte { panic("not yet") }

// Piece returns the vocabulary's spelling of a token, such as "Ġsky" or "▁sky", "" outside the vocabulary.
func (t *Tokenizer) Piece(id token.ID) string { panic("not yet") }

// Kind returns what a token is for.
func (t *Tokenizer) Kind(id token.ID) token.Kind { panic("not yet") }

// VocabSize returns one more than the largest ID.
func (t *Tokenizer) VocabSize() int { panic("not yet") }

// ID returns the token that the vocabulary spells as piece.
func (t *Tokenizer) ID(piece string) (token.ID, bool) { panic("not yet") }

// BOS returns the token that begins a text.
func (t *Tokenizer) BOS() (token.ID, bool) { panic("not yet") }

// EOS returns the token that ends a text.
func (t *Tokenizer) EOS() (token.ID, bool) { panic("not yet") }

// UNK returns the token for text that the vocabulary can't spell.
func (t *Tokenizer) UNK() (token.ID, bool) { panic("not yet") }

// PAD returns the token for padding.
func (t *Tokenizer) PAD() (token.ID, bool) { panic("not yet") }

// EOG returns all tokens that end a generation, EOS first. The caller must not change it.
func (t *Tokenizer) EOG() []token.ID { panic("not yet") }

// MaxTokenBytes returns the length of the longest token's bytes.
func (t *Tokenizer) MaxTokenBytes() int { panic("not yet") }

// MarkControl makes control tokens of markers that are in the vocabulary: their text in data stays text.
func (t *Tokenizer) MarkControl(markers ...string) { panic("not yet") }

// A Decoder turns a stream of tokens into text, a piece for each token.
type Decoder struct{}

// NewDecoder returns a decoder that continues after tail, the last tokens before the stream (nil: the stream starts
// the text).
func (t *Tokenizer) NewDecoder(tail []token.ID, skipSpecial bool) *Decoder { panic("not yet") }

// Add returns the text that id completes; bytes of an unfinished rune are held back.
func (d *Decoder) Add(id token.ID) string { panic("not yet") }

// Flush ends the stream. An unfinished rune is dropped.
func (d *Decoder) Flush() string { panic("not yet") }
