// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// GenerationDefaults are the sampling parameters that a model's files recommend; nil: nothing is said. A request's own
// parameters come first.
type GenerationDefaults struct {
	Temperature       *float32
	TopP              *float32
	MinP              *float32
	RepetitionPenalty *float32
	TopK              *int // 0 or less: all tokens
	EOS               []token.ID
}

// A setting is a number among the defaults, with the bounds that make sense.
type setting struct {
	key       string
	set       func(float64)
	low, high float64
	whole     bool
}

// settings lists the numbers of d under the keys of a format, in this order: temperature, top p, min p, repetition
// penalty, top k.
func (d *GenerationDefaults) settings(keys [5]string) []setting {
	float := func(dst **float32) func(float64) {
		return func(v float64) { f := float32(v); *dst = &f }
	}
	return []setting{
		{keys[0], float(&d.Temperature), 0, math.MaxFloat32, false},
		{keys[1], float(&d.TopP), 0, 1, false},
		{keys[2], float(&d.MinP), 0, 1, false},
		{keys[3], float(&d.RepetitionPenalty), math.SmallestNonzeroFloat32, math.MaxFloat32, false},
		{keys[4], func(v float64) { k := int(v); d.TopK = &k }, -1, math.MaxInt32, true},
	}
}

// check says whether v is in the bounds of s.
func (s setting) check(v float64) error {
	out := !(v >= s.low && v <= s.high)
	switch {
	case out && s.low == math.SmallestNonzeroFloat32:
		return fmt.Errorf("%s is %g, want a finite number above 0", s.key, v)
	case out && s.high == math.MaxFloat32:
		return fmt.Errorf("%s is %g, want a finite number of %g or more", s.key, v, s.low)
	case out:
		return fmt.Errorf("%s is %.10g, want %g to %.10g", s.key, v, s.low, s.high)
	case s.whole && v != math.Trunc(v):
		return fmt.Errorf("%s is %g, want a whole number", s.key, v)
	}
	return nil
}

// fromGGUF takes the defaults of a GGUF file.
func (d *GenerationDefaults) fromGGUF(meta *gguf.Metadata) error {
	const prefix = "general.sampling."
	for _, s := range d.settings([5]string{prefix + "temp", prefix + "top_p", prefix + "min_p", prefix + "penalty_repeat", prefix + "top_k"}) {
		value, ok := meta.Value(s.key)
		if !ok {
			continue
		}
		v, ok := meta.Float(s.key)
		if !ok {
			return fmt.Errorf("key %q is %v, want a number", s.key, value)
		}
		if err := s.check(v); err != nil {
			return fmt.Errorf("key %w", err)
		}
		s.set(v)
	}
	return nil
}

// fromJSON takes the defaults of generation_config.json, or nothing if there is none. Its max_new_tokens is none of them: an answer may
// take the rest of the context.
func (d *GenerationDefaults) fromJSON(o *ordjson.Object) error {
	keys := [5]string{"temperature", "top_p", "min_p", "repetition_penalty", "top_k"}
	return d.fromObject(o, "generation_config.json", keys)
}

// fromObject takes the numbers that an object has under the keys of settings.
func (d *GenerationDefaults) fromObject(o *ordjson.Object, file string, keys [5]string) error {
	for _, s := range d.settings(keys) {
		value, _ := o.Get(s.key)
		if value == nil {
			continue
		}
		n, _ := value.(ordjson.Number)
		v, ok := n.Float64()
		if !ok {
			return fmt.Errorf("%s: %s is %s, want a number", file, s.key, ordjson.Marshal(value))
		}
		if err := s.check(v); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		s.set(v)
	}
	return nil
}

// storeFile names the parameters of a store in errors.
const storeFile = "the store's parameters"

// storeKeys are the store's names of the settings.
var storeKeys = [5]string{"temperature", "top_p", "min_p", "repeat_penalty", "top_k"}

// fromStore takes the parameters that a store keeps beside a model: see Options.StoreParams. Of its stop strings those that
// are control tokens end a generation. They come after what the model's own files say. The note names what is passed over,
// "" if nothing is.
func (d *GenerationDefaults) fromStore(params []byte, t *tokenizer.Tokenizer) (note string, err error) {
	if params == nil {
		return "", nil
	}
	value, err := ordjson.Parse(params, maxJSONDepth)
	if err != nil {
		return "", fmt.Errorf("%s: %w", storeFile, err)
	}
	o, ok := value.(*ordjson.Object)
	if !ok {
		return "", fmt.Errorf("%s: got a JSON value that is no object", storeFile)
	}
	if err := d.fromObject(o, storeFile, storeKeys); err != nil {
		return "", err
	}
	var passed []string
	for key := range o.All() {
		if key != "stop" && !slices.Contains(storeKeys[:], key) {
			passed = append(passed, key)
		}
	}
	stops, _ := o.Array("stop")
	for _, stop := range stops {
		text, _ := stop.(string)
		if id, ok := t.ID(text); ok && t.Kind(id) == token.Control {
			d.addEOS(id)
		} else {
			passed = append(passed, "stop "+ordjson.Marshal(stop))
		}
	}
	if passed == nil {
		return "", nil
	}
	return storeFile + ": passed over are " + strings.Join(passed, ", "), nil
}

// addEOS adds tokens that end a generation. Those out of range are dropped: no sampler can choose them.
func (d *GenerationDefaults) addEOS(ids ...token.ID) {
	for _, id := range ids {
		if id >= 0 && !slices.Contains(d.EOS, id) {
			d.EOS = append(d.EOS, id)
		}
	}
}

// eosOf reads a field eos_token_id: a number, a list of numbers, or nothing.
func eosOf(o *ordjson.Object, file string) ([]token.ID, error) {
	value, _ := o.Get("eos_token_id")
	list, ok := value.([]any)
	if !ok && value != nil {
		list = []any{value}
	}
	var ids []token.ID
	for _, e := range list {
		n, _ := e.(ordjson.Number)
		id, ok := n.Int64()
		if !ok || id < math.MinInt32 || id > math.MaxInt32 {
			return nil, fmt.Errorf("%s: eos_token_id is %s, want token IDs", file, ordjson.Marshal(value))
		}
		ids = append(ids, token.ID(id))
	}
	return ids, nil
}
