// SPDX-License-Identifier: Apache-2.0

// Package fields reads the configuration of a model from a config.json or from the metadata of a GGUF file, and knows what
// dense decoders have in common there: sizes, rotary positions, windows.
//
// Always true: what a file asks for is read or refused by name. A field of the wrong type is an error, and so is a feature
// that the family does not compute. A field that is missing has the value that the reference code gives it, or is an error.
package fields

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Fields reads a configuration: a JSON object of config.json, or the metadata of a GGUF file below the architecture's
// name. The first thing that is wrong is kept: readers fetch everything and call Finish.
type Fields struct {
	where string // "config.json", "metadata"
	src   fieldSource
	used  map[string]bool // keys that were asked for
	err   *error          // shared with the fields of nested objects
}

// HF reads config.json.
func HF(config *ordjson.Object) *Fields {
	return &Fields{where: "config.json", src: jsonFields{config}, used: map[string]bool{}, err: new(error)}
}

// GGUF reads metadata keys that begin with the architecture and a dot.
func GGUF(meta *gguf.Metadata) *Fields {
	arch, _ := meta.String("general.architecture")
	return &Fields{where: "metadata", src: ggufFields{meta, arch + "."}, used: map[string]bool{}, err: new(error)}
}

// ggufFeatures are metadata keys that change what a model computes. A family reads those that it has.
var ggufFeatures = []string{
	"attention.sliding_window", "attention.scale", "attention.temperature_scale", "attention.clamp_kqv", "attention.max_alibi_bias",
	"attn_logit_softcapping", "final_logit_softcapping", "expert_count", "embedding_scale", "residual_scale", "logit_scale",
	"rope.freq_base_swa", "rope.scaling.attn_factor", "rope.scaling.yarn_log_multiplier", "rope.scaling.yarn_ext_factor",
}

// Finish returns the configuration, or the first thing that was wrong with the fields or is wrong with it: a feature that
// a GGUF file asks for and that the family did not read is wrong.
func (f *Fields) Finish(c model.Config) (model.Config, error) {
	if _, ok := f.src.(ggufFields); ok {
		for _, key := range ggufFeatures {
			if !f.used[key] {
				f.Off(key)
			}
		}
		if !f.BoolOr("attention.causal", true) {
			f.Fail("%s: models whose tokens see those behind them are not supported", f.src.describe("attention.causal"))
		}
	}
	if y := c.Rope.Yarn; y != nil {
		c.MaxContext = max(c.MaxContext, int(min(y.Factor*y.OriginalContext, math.MaxInt32)))
	}
	if *f.err != nil {
		return model.Config{}, *f.err
	}
	return c, c.Check()
}

// Fail keeps an error unless there is one.
func (f *Fields) Fail(format string, args ...any) {
	if *f.err == nil {
		*f.err = fmt.Errorf("model: "+f.where+": "+format, args...)
	}
}

// Has reports whether there is such a field.
func (f *Fields) Has(key string) bool {
	f.used[key] = true
	return f.src.has(key)
}

// HasNull reports whether a config.json says that there is no such thing.
func (f *Fields) HasNull(key string) bool {
	j, ok := f.src.(jsonFields)
	if !ok {
		return false
	}
	v, ok := j.o.Get(key)
	return ok && v == nil
}

// Int returns a required integer.
func (f *Fields) Int(key string) int {
	if !f.Has(key) {
		f.Fail("%s is missing", f.src.describe(key))
		return 0
	}
	return f.IntOr(key, 0)
}

// IntOr returns an integer, or other if there is none.
func (f *Fields) IntOr(key string, other int) int {
	if !f.Has(key) {
		return other
	}
	v, ok := f.src.int(key)
	if !ok || int64(int32(v)) != v {
		f.Fail("%s: want one 32-bit integer", f.src.describe(key))
	}
	return int(v)
}

// Float returns a required number.
func (f *Fields) Float(key string) float64 {
	if !f.Has(key) {
		f.Fail("%s is missing", f.src.describe(key))
		return 0
	}
	return f.FloatOr(key, 0)
}

// FloatOr returns a number, or other if there is none.
func (f *Fields) FloatOr(key string, other float64) float64 {
	if !f.Has(key) {
		return other
	}
	v, ok := f.src.float(key)
	if !ok {
		f.Fail("%s: want a number", f.src.describe(key))
	}
	return v
}

// BoolOr returns a truth value, or other if there is none.
func (f *Fields) BoolOr(key string, other bool) bool {
	if !f.Has(key) {
		return other
	}
	v, ok := f.src.bool(key)
	if !ok {
		f.Fail("%s: want true or false", f.src.describe(key))
	}
	return v
}

// StringOr returns a text, or other if there is none.
func (f *Fields) StringOr(key, other string) string {
	if !f.Has(key) {
		return other
	}
	v, ok := f.src.string(key)
	if !ok {
		f.Fail("%s: want a string", f.src.describe(key))
	}
	return v
}

// OneOf refuses a field that has a text other than those given.
func (f *Fields) OneOf(key string, allowed ...string) string {
	v := f.StringOr(key, allowed[0])
	if !slices.Contains(allowed, v) {
		f.Fail("%s %q is not supported, want one of %q", f.src.describe(key), v, allowed)
	}
	return v
}

// Off refuses fields that have a number other than 0 or are true: features that the family does not have.
func (f *Fields) Off(keys ...string) {
	for _, key := range keys {
		if !f.src.has(key) {
			continue
		}
		n, isNumber := f.src.float(key)
		on, isBool := f.src.bool(key)
		if isNumber && n == 0 || isBool && !on {
			continue
		}
		f.Fail("%s is not supported by this family", f.src.describe(key))
	}
}

// FullAttention refuses a list of layer types that names anything but full attention.
func (f *Fields) FullAttention() {
	for _, t := range f.Strings("layer_types") {
		if t != "full_attention" {
			f.Fail("layer_types: %q is not supported by this family", t)
		}
	}
}

// object returns the fields of a nested JSON object.
func (f *Fields) object(key string) (*Fields, bool) {
	j, ok := f.src.(jsonFields)
	if !ok || !j.has(key) {
		return nil, false
	}
	o, ok := j.o.Object(key)
	if !ok {
		f.Fail("%s: want an object", f.src.describe(key))
		return nil, false
	}
	return &Fields{where: f.where + ": " + key, src: jsonFields{o}, used: map[string]bool{}, err: f.err}, true
}

// Text returns the fields of the language model: those of "text_config" where a config.json has several models.
func (f *Fields) Text() *Fields {
	if text, ok := f.object("text_config"); ok {
		refuseQuantization(f)
		return text
	}
	return f
}

// Default returns the fields with values for those that a config.json leaves to the reference code.
func (f *Fields) Default(values map[string]float64) *Fields {
	j, ok := f.src.(jsonFields)
	if !ok {
		return f
	}
	o := j.o.Clone()
	for key, v := range values {
		if !j.has(key) {
			o.Set(key, ordjson.Number(strconv.FormatFloat(v, 'g', -1, 64)))
		}
	}
	return &Fields{where: f.where, src: jsonFields{o}, used: map[string]bool{}, err: f.err}
}

// Strings returns a list of texts, or nil if there is none.
func (f *Fields) Strings(key string) []string {
	if !f.Has(key) {
		return nil
	}
	texts, ok := f.src.strings(key)
	if !ok {
		f.Fail("%s: want a list of strings", f.src.describe(key))
	}
	return texts
}

// Numbers returns a list of numbers, or nil if there is none.
func (f *Fields) Numbers(key string) []float64 {
	if !f.Has(key) {
		return nil
	}
	numbers, ok := f.src.numbers(key)
	if !ok {
		f.Fail("%s: want a list of numbers", f.src.describe(key))
	}
	return numbers
}
