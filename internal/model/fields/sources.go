// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// A fieldSource looks up one field as the type asked for. A JSON null is as good as no field.
type fieldSource interface {
	has(key string) bool
	int(key string) (int64, bool)
	float(key string) (float64, bool)
	string(key string) (string, bool)
	bool(key string) (bool, bool)
	numbers(key string) ([]float64, bool)
	strings(key string) ([]string, bool)
	bools(key string) ([]bool, bool)
	describe(key string) string
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

func (j jsonFields) numbers(key string) ([]float64, bool) {
	list, ok := j.o.Array(key)
	numbers := make([]float64, len(list))
	for i, v := range list {
		n, isNumber := v.(ordjson.Number)
		f, inRange := n.Float64()
		numbers[i], ok = f, ok && isNumber && inRange
	}
	return numbers, ok
}

func (j jsonFields) strings(key string) ([]string, bool) {
	list, ok := j.o.Array(key)
	texts := make([]string, len(list))
	for i, v := range list {
		text, isText := v.(string)
		texts[i], ok = text, ok && isText
	}
	return texts, ok
}

func (j jsonFields) bools(key string) ([]bool, bool) {
	list, ok := j.o.Array(key)
	truths := make([]bool, len(list))
	for i, v := range list {
		truth, isBool := v.(bool)
		truths[i], ok = truth, ok && isBool
	}
	return truths, ok
}

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

func (g ggufFields) numbers(key string) ([]float64, bool) {
	if list, ok := g.meta.Floats(g.prefix + key); ok {
		return list, true
	}
	list, ok := g.meta.Ints(g.prefix + key)
	numbers := make([]float64, len(list))
	for i, n := range list {
		numbers[i] = float64(n)
	}
	return numbers, ok
}

func (g ggufFields) bools(key string) ([]bool, bool) { return g.meta.Bools(g.prefix + key) }

func (g ggufFields) strings(key string) ([]string, bool) { return g.meta.Strings(g.prefix + key) }
func (g ggufFields) float(key string) (float64, bool)    { return g.meta.Float(g.prefix + key) }
func (g ggufFields) string(key string) (string, bool)    { return g.meta.String(g.prefix + key) }
func (g ggufFields) bool(key string) (v, ok bool)        { return g.meta.Bool(g.prefix + key) }
func (g ggufFields) describe(key string) string          { return g.prefix + key }
