// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"errors"
	"fmt"

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
		b.modelType, b.vocabulary, b.addedTokens, b.normalizer, b.preTokenizer, b.model, b.decoder, b.postProcessor,
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
	kind      string    // of the model
	scores    []float64 // of pieces, for Unigram
	m         *bpe
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
