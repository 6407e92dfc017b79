// SPDX-License-Identifier: Apache-2.0

package decoder

import (
	"fmt"
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
	err   *error // shared with the fields of nested objects
}

// A fieldSource looks up one field as the type asked for. A JSON null is as good as no field.
type fieldSource interface {
	has(key string) bool
	int(key string) (int64, bool)
	float(key string) (float64, bool)
	string(key string) (string, bool)
	bool(key string) (bool, bool)
	describe(key string) string
}

// HFFields reads config.json.
func HFFields(config *ordjson.Object) *Fields {
	return &Fields{where: "config.json", src: jsonFields{config}, err: new(error)}
}

// GGUFFields reads metadata keys that begin with the architecture and a dot.
func GGUFFields(meta *gguf.Metadata) *Fields {
	arch, _ := meta.String("general.architecture")
	return &Fields{where: "metadata", src: ggufFields{meta, arch + "."}, err: new(error)}
}

// Finish returns the configuration, or the first thing that was wrong with the fields or is wrong with it.
func (f *Fields) Finish(c model.Config) (model.Config, error) {
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
func (f *Fields) Has(key string) bool { return f.src.has(key) }

// Int returns a required integer.
func (f *Fields) Int(key string) int {
	if !f.src.has(key) {
		f.Fail("%s is missing", f.src.describe(key))
		return 0
	}
	return f.IntOr(key, 0)
}

// IntOr returns an integer, or other if there is none.
func (f *Fields) IntOr(key string, other int) int {
	if !f.src.has(key) {
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
	if !f.src.has(key) {
		f.Fail("%s is missing", f.src.describe(key))
		return 0
	}
	return f.FloatOr(key, 0)
}

// FloatOr returns a number, or other if there is none.
func (f *Fields) FloatOr(key string, other float64) float64 {
	if !f.src.has(key) {
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
	if !f.src.has(key) {
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
	if !f.src.has(key) {
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
	return &Fields{where: f.where + ": " + key, src: jsonFields{o}, err: f.err}, true
}

// Text returns the fields of the language model: those of "text_config" where a config.json has several models.
func (f *Fields) Text() *Fields {
	if text, ok := f.object("text_config"); ok {
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
	return &Fields{where: f.where, src: jsonFields{o}, err: f.err}
}

// Strings returns a list of texts, or nil if there is none.
func (f *Fields) Strings(key string) []string {
	j, ok := f.src.(jsonFields)
	if !ok || !j.has(key) {
		return nil
	}
	list, ok := j.o.Array(key)
	texts := make([]string, 0, len(list))
	for _, v := range list {
		text, isText := v.(string)
		ok = ok && isText
		texts = append(texts, text)
	}
	if !ok {
		f.Fail("%s: want a list of strings", f.src.describe(key))
	}
	return texts
}

// jsonFields are the members of an object.
type jsonFields struct{ o *ordjson.Object }

func (j jsonFields) has(key string) bool {
	v, ok := j.o.Get(key)
	return ok && v != nil
}

func (j jsonFields) number(key string) (ordjson.Number, bool) {
	v, _ := j.o.Get(key)
	n, ok := v.(ordjson.Number)
	return n, ok
}

func (j jsonFields) int(key string) (int64, bool) {
	n, ok := j.number(key)
	if !ok {
		return 0, false
	}
	return n.Int64()
}

func (j jsonFields) float(key string) (float64, bool) {
	n, ok := j.number(key)
	if !ok {
		return 0, false
	}
	return n.Float64()
}

func (j jsonFields) string(key string) (string, bool) { return j.o.String(key) }

func (j jsonFields) bool(key string) (v, ok bool) {
	value, _ := j.o.Get(key)
	v, ok = value.(bool)
	return v, ok
}

func (j jsonFields) describe(key string) string { return key }

// ggufFields are metadata keys with a prefix. An integer may be a list of equal integers, one for each layer.
type ggufFields struct {
	meta   *gguf.Metadata
	prefix string
}

func (g ggufFields) has(key string) bool {
	_, ok := g.meta.Value(g.prefix + key)
	return ok
}

func (g ggufFields) int(key string) (int64, bool) {
	if v, ok := g.meta.Int(g.prefix + key); ok {
		return v, true
	}
	list, _ := g.meta.Ints(g.prefix + key)
	for _, v := range list {
		if v != list[0] {
			return 0, false
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	return list[0], true
}

func (g ggufFields) float(key string) (float64, bool) { return g.meta.Float(g.prefix + key) }
func (g ggufFields) string(key string) (string, bool) { return g.meta.String(g.prefix + key) }
func (g ggufFields) bool(key string) (v, ok bool)     { return g.meta.Bool(g.prefix + key) }
func (g ggufFields) describe(key string) string       { return g.prefix + key }
