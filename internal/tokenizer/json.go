// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// FromJSON reads a Hugging Face tokenizer.json, and the tokenizer_config.json beside it, which may be nil. Truncation and padding
// are ignored: a prompt is never cut.
func FromJSON(tokenizerJSON, tokenizerConfig []byte) (*Tokenizer, error) {
	loadClasses()
	config, err := parseConfig(tokenizerConfig)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer_config.json: %w", err)
	}
	t, err := fromJSON(tokenizerJSON, config)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer.json: %w", err)
	}
	if err := t.configure(config); err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer_config.json: %w", err)
	}
	if t.eos != token.None {
		t.eog = []token.ID{t.eos}
	}
	t.finish()
	return t, nil
}

// A jsonFile is a tokenizer.json taken apart, before any part is understood.
type jsonFile struct {
	parts  *ordjson.Object // all but the model and the added tokens
	added  []any
	model  *ordjson.Object // all but vocab and merges
	vocab  *jsonReader     // before the value of model.vocab; nil: none
	merges *jsonReader     // before the value of model.merges; nil: none
	count  int             // of merges
	config *ordjson.Object // tokenizer_config.json
}

// parseConfig returns the object in a tokenizer_config.json, empty if there is none.
func parseConfig(data []byte) (*ordjson.Object, error) {
	if data == nil {
		return ordjson.NewObject(), nil
	}
	v, err := ordjson.Parse(data, maxJSONDepth)
	if err != nil {
		return nil, err
	}
	c, ok := v.(*ordjson.Object)
	if !ok {
		return nil, errors.New("want an object")
	}
	return c, nil
}

func fromJSON(data []byte, config *ordjson.Object) (*Tokenizer, error) {
	f, err := takeApart(data)
	if err != nil {
		return nil, err
	}
	f.config = config
	t := &Tokenizer{bos: token.None, eos: token.None, unk: token.None, pad: token.None}
	b := &builder{t: t}
	for _, step := range []func(*jsonFile) error{
		b.modelType, b.vocabulary, b.addedTokens, b.normalizer, b.preTokenizer, b.bpe, b.decoder, b.postProcessor,
	} {
		if err := step(f); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// takeApart finds the parts of a file.
func takeApart(data []byte) (*jsonFile, error) {
	f := &jsonFile{parts: ordjson.NewObject()}
	r := &jsonReader{data: data}
	err := r.object(func(key []byte) error {
		switch name := string(key); name {
		case "model":
			return f.takeModel(r)
		case "added_tokens":
			v, err := r.value()
			if err != nil || v == nil {
				return err
			}
			list, ok := v.([]any)
			if !ok {
				return errors.New("added_tokens: want an array")
			}
			f.added = list
			return nil
		default:
			v, err := r.value()
			f.parts.Set(name, v)
			return err
		}
	})
	if err == nil && r.peek() != 0 {
		err = r.fail("something follows the end")
	}
	if err == nil && f.model == nil {
		err = errors.New("model: missing")
	}
	return f, err
}

// takeModel finds the parts of the model.
func (f *jsonFile) takeModel(r *jsonReader) error {
	f.model, f.vocab, f.merges = ordjson.NewObject(), nil, nil
	return r.object(func(key []byte) error {
		name := string(key)
		if name != "vocab" && name != "merges" {
			v, err := r.value()
			f.model.Set(name, v)
			return err
		}
		r.space()
		at := &jsonReader{data: r.data, pos: r.pos}
		if name == "vocab" {
			f.vocab = at
		} else {
			f.merges = at
		}
		_, err := r.skip()
		if name == "merges" {
			f.count = r.commas + 1
		}
		return err
	})
}

// value parses any value.
func (r *jsonReader) value() (any, error) {
	r.space()
	start := r.pos
	raw, err := r.skip()
	if err != nil {
		return nil, err
	}
	v, err := ordjson.Parse(raw, maxJSONDepth)
	if err != nil {
		return nil, fmt.Errorf("at byte %d: %w", start, err)
	}
	return v, nil
}

// A builder puts a Tokenizer together from the parts of a file.
type builder struct {
	t         *Tokenizer
	byteLevel bool
	prepared  bool // the pre-tokenizer rewrites pieces before it splits them
	fuse      bool // the decoder has joined all tokens
	m         *bpe
}

// modelType refuses models that are not BPE, and BPE of kinds that none of the known families has.
func (b *builder) modelType(f *jsonFile) error {
	kind, ok := f.model.String("type")
	if !ok && f.merges != nil {
		kind = "BPE" // older files leave it out
	}
	if kind != "BPE" {
		return fmt.Errorf("model: type %q is not supported, only BPE", kind)
	}
	if f.vocab == nil || f.merges == nil {
		return errors.New("model: vocab or merges missing")
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

// A vocabEntry is one piece, as a range of the buffer that holds all spellings.
type vocabEntry struct{ id, start, end int }

// vocabulary reads model.vocab into t.pieces.
func (b *builder) vocabulary(f *jsonFile) error {
	r := f.vocab
	var entries []vocabEntry
	var text []byte
	top := -1
	err := r.object(func(key []byte) error {
		id, err := r.integer()
		if err != nil {
			return err
		}
		if !utf8.Valid(key) {
			return r.fail("a piece is not valid UTF-8")
		}
		entries = append(entries, vocabEntry{id, len(text), len(text) + len(key)})
		text = append(text, key...)
		top = max(top, id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("model.vocab: %w", err)
	}
	// Room for the holes that real files have, not for whatever a hostile one says.
	if limit := min(maxVocab, 2*len(entries)+1<<16); top >= limit {
		return fmt.Errorf("model.vocab: ID %d in a vocabulary of %d pieces", top, len(entries))
	}
	spelling := string(text)
	b.t.pieces = make([]string, top+1)
	for _, e := range entries {
		if b.t.pieces[e.id] != "" {
			return fmt.Errorf("model.vocab: %q and %q have the same ID %d", b.t.pieces[e.id], spelling[e.start:e.end], e.id)
		}
		b.t.pieces[e.id] = spelling[e.start:e.end]
	}
	return nil
}

// bpe builds the model.
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
	name, ok := v.(string)
	if !ok {
		return errors.New("model.unk_token: want a string")
	}
	for id, piece := range b.t.pieces {
		if piece == name && name != "" {
			b.m.unknown, b.t.unk = uint32(id), token.ID(id)
			return nil
		}
	}
	return fmt.Errorf("model.unk_token: %q is not in the vocabulary", name)
}

// readMerges reads about n merges, best first: strings "left right", or arrays of two strings.
func (m *bpe) readMerges(r *jsonReader, n int) error {
	list := m.newMergeList(n)
	var left, right []byte
	err := r.array(func(int) error {
		var err error
		if left, right, err = r.pair(left[:0], right[:0]); err != nil {
			return err
		}
		return list.add(left, right)
	})
	if err != nil {
		return fmt.Errorf("merges[%d]: %w", list.next, err)
	}
	return nil
}

// pair reads one merge.
func (r *jsonReader) pair(left, right []byte) (l, rt []byte, err error) {
	if r.peek() == '"' {
		if left, err = r.str(left); err != nil {
			return left, right, err
		}
		for i, c := range left {
			if c == ' ' {
				return left[:i], append(right, left[i+1:]...), nil
			}
		}
		return left, right, errNotPair
	}
	n := 0
	err = r.array(func(i int) error {
		var err error
		switch n++; i {
		case 0:
			left, err = r.str(left)
		case 1:
			right, err = r.str(right)
		default:
			err = errNotPair
		}
		return err
	})
	if err == nil && n != 2 {
		err = errNotPair
	}
	return left, right, err
}

// boolOf returns a member that is true, false or null.
func boolOf(o *ordjson.Object, name string, byDefault bool) (bool, error) {
	v, _ := o.Get(name)
	if v == nil {
		return byDefault, nil
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%s: want true or false", name)
	}
	return b, nil
}
