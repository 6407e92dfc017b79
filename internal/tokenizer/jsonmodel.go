// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// modelKinds are the models known.
var modelKinds = []string{"BPE", "Unigram", "WordPiece", "WordLevel"}

// modelType refuses models that are not known, and BPE of kinds that none of the known families has.
func (b *builder) modelType(f *jsonFile) error {
	b.kind, _ = f.model.String("type")
	if b.kind == "" && f.merges != nil {
		b.kind = "BPE" // older files leave it out
	} else if _, ok := f.model.Get("unk_id"); b.kind == "" && ok {
		b.kind = "Unigram"
	}
	switch {
	case !slices.Contains(modelKinds, b.kind):
		return fmt.Errorf("model: type %q is not supported, only %v", b.kind, modelKinds)
	case f.vocab == nil || b.kind == "BPE" && f.merges == nil:
		return errors.New("model: vocab or merges missing")
	case b.kind != "BPE":
		return nil
	}
	for _, name := range []string{"continuing_subword_prefix", "end_of_word_suffix"} {
		if v, _ := f.model.Get(name); v != nil && v != "" {
			return fmt.Errorf("model.%s: %v is not supported", name, v)
		}
	}
	if v, _ := f.model.Get("dropout"); v != nil && v != ordjson.Number("0.0") && v != ordjson.Number("0") {
		return fmt.Errorf("model.dropout: %v is not supported", v)
	}
	return nil
}

// model builds the model of its kind.
func (b *builder) model(f *jsonFile) error {
	if b.byteLevel && b.kind != "BPE" {
		return fmt.Errorf("model: %s with a ByteLevel pre-tokenizer is not supported", b.kind)
	}
	switch b.kind {
	case "WordPiece":
		return b.wordPiece(f)
	case "WordLevel":
		return b.wordLevel(f)
	case "Unigram":
		return b.unigram(f)
	}
	return b.bpe(f)
}

// bpe builds a BPE.
func (b *builder) bpe(f *jsonFile) error {
	t := b.t
	if b.byteLevel {
		b.m = t.newByteLevel()
	} else {
		b.m = &bpe{kinds: t.kinds, outside: t.outside, unknown: noID}
		b.m.pieces = newPieceTable(t.pieces, func(id int) bool { return t.pieces[id] != "" })
		t.model = b.m
	}
	if err := b.options(f); err != nil {
		return err
	}
	if err := b.m.readMerges(f.merges, f.count); err != nil {
		return fmt.Errorf("model.%w", err)
	}
	t.cutAtJoints(b.m)
	b.m.ban()
	return nil
}

// options reads the model's switches and its unknown token.
func (b *builder) options(f *jsonFile) error {
	fallback := false
	for name, at := range map[string]*bool{
		"byte_fallback": &fallback, "fuse_unk": &b.m.fuseUnknown, "ignore_merges": &b.m.ignoreMerges,
	} {
		v, err := boolOf(f.model, name, false)
		if err != nil {
			return fmt.Errorf("model.%w", err)
		}
		*at = v
	}
	if !b.byteLevel {
		b.m.newByteIDs(func(c byte) (uint32, bool) {
			if !fallback {
				return 0, false
			}
			return b.m.pieces.lookup(byteSpelling(c))
		})
	}
	v, _ := f.model.Get("unk_token")
	if v == nil {
		return nil
	}
	var err error
	b.m.unknown, err = b.unknown(f, "")
	return err
}

// unknown finds the model's unknown token.
func (b *builder) unknown(f *jsonFile, byDefault string) (uint32, error) {
	name := byDefault
	if v, _ := f.model.Get("unk_token"); v != nil {
		var ok bool
		if name, ok = v.(string); !ok {
			return noID, errors.New("model.unk_token: want a string")
		}
	}
	for id, piece := range b.t.pieces {
		if piece == name && name != "" && !b.t.outside[id] {
			b.t.setUnknown(token.ID(id))
			return uint32(id), nil
		}
	}
	return noID, fmt.Errorf("model.unk_token: %q is not in the vocabulary", name)
}

// setUnknown marks the token for what can't be spelled, which a model makes of any text.
func (t *Tokenizer) setUnknown(id token.ID) {
	t.unk = id
	t.kinds[id] = token.Unknown
}

// wordPiece builds a WordPiece.
func (b *builder) wordPiece(f *jsonFile) error {
	unknown, err := b.unknown(f, "[UNK]")
	if err != nil {
		return err
	}
	prefix, ok := f.model.String("continuing_subword_prefix")
	if !ok {
		prefix = "##"
	}
	m := newWordPiece(b.t, prefix)
	m.unknown, m.maxRunes = unknown, maxWordRunes
	if v, _ := f.model.Get("max_input_chars_per_word"); v != nil {
		n, _ := v.(ordjson.Number)
		limit, ok := n.Int64()
		if !ok || limit < 0 || limit > 1<<20 {
			return fmt.Errorf("model.max_input_chars_per_word: %v is out of bounds", v)
		}
		m.maxRunes = int(limit)
	}
	b.t.model = m
	return nil
}

// maxWordRunes is the length of the longest word that a WordPiece spells, unless it says otherwise.
const maxWordRunes = 100

// wordLevel builds a WordLevel.
func (b *builder) wordLevel(f *jsonFile) error {
	unknown, err := b.unknown(f, "<unk>")
	t := b.t
	words := newPieceTable(t.pieces, func(id int) bool { return t.pieces[id] != "" && !t.outside[id] })
	t.model = &wordLevel{words: words, unknown: unknown, kinds: t.kinds}
	return err
}

// unigram builds a Unigram.
func (b *builder) unigram(f *jsonFile) error {
	t := b.t
	m, err := newUnigram(t.pieces, b.scores, func(int) bool { return true })
	if err != nil {
		return fmt.Errorf("model.vocab: %w", err)
	}
	m.kinds = t.kinds
	if v, _ := f.model.Get("unk_id"); v != nil {
		n, _ := v.(ordjson.Number)
		id, ok := n.Int64()
		if !ok || id < 0 || id >= int64(len(b.scores)) {
			return fmt.Errorf("model.unk_id: %v is not in the vocabulary", v)
		}
		m.unknown = uint32(id)
		t.setUnknown(token.ID(id))
	}
	fallback, err := boolOf(f.model, "byte_fallback", false)
	if err != nil {
		return fmt.Errorf("model.%w", err)
	}
	if fallback {
		m.setByteFallback()
	}
	t.model = m
	return nil
}
