// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// A Model is what Write writes.
type Model struct {
	Meta   *gguf.Metadata
	Inputs []Input
	Traits Traits

	source weights.Source
}

// Close closes the files that the model comes from.
func (m *Model) Close() error { return m.source.Close() }

// An Input is a tensor of the source on its way into the file.
type Input struct {
	weights.Tensor         // Name is that of the result
	as             rewrite // what is done to it
	plain          bool    // what stays a float becomes F32, as GGUF files have it
	from           string  // its name in the source, which gives the Data when they are needed; "" if they are here
}

// fetched gives the tensor with its data.
func (in Input) fetched(src weights.Source) Input {
	if in.from != "" {
		t, _ := src.Tensor(in.from)
		in.Data = t.Data
	}
	return in
}

// A rewrite changes values or the order of rows.
type rewrite struct {
	add   float32 // to every value
	heads int     // rows of each of so many heads are interleaved: see source; 0: rows stay where they are
}

// source gives the row of the source that becomes row i of rows.
//
// Rotary positions turn pairs of components. Hugging Face pairs component m of a head with m + half, GGUF's Llama pairs
// neighbours, so row 2m+h of a head there is row h*half + m here.
func (w rewrite) source(i, rows int) int {
	if w.heads == 0 {
		return i
	}
	size := rows / w.heads
	half, at := size/2, i%size
	return i - at + at%2*half + at/2
}

// rows gives the number and the length of the rows of a tensor. A bias whose values change places has rows of one.
func (in Input) rows() (n, cols int) {
	shape := in.Shape
	switch {
	case len(shape) == 0:
		return 1, 1
	case len(shape) == 1 && in.as.heads > 0:
		return shape[0], 1
	}
	n = 1
	for _, d := range shape[:len(shape)-1] {
		n *= d
	}
	return n, shape[len(shape)-1]
}

// target gives the type of the result.
func (in Input) target(s Scheme, m Traits) quant.Type {
	now := in.Type
	if in.plain {
		now = quant.F32
	}
	return s.Type(in.Name, in.Shape, now, m)
}

// FromGGUF takes an open GGUF file as it is. Closing the model closes the file.
func FromGGUF(f *gguf.File) *Model {
	m := &Model{Meta: gguf.NewMetadata(), source: f}
	for _, key := range f.Meta().Keys() {
		if strings.HasPrefix(key, "split.") {
			continue // the result is one file
		}
		value, _ := f.Meta().Value(key)
		m.Meta.Set(key, value)
	}
	for _, name := range f.Names() {
		t, _ := f.Tensor(name)
		m.Inputs = append(m.Inputs, Input{Tensor: t})
	}
	m.Traits = traitsOf(f)
	return m
}

// traitsOf reads what schemes need to know.
func traitsOf(f *gguf.File) Traits {
	arch, _ := f.Meta().String("general.architecture")
	number := func(key string) int {
		list, _ := f.Meta().Ints(arch + "." + key)
		if len(list) == 0 {
			return 0
		}
		return int(slices.Max(list))
	}
	_, untied := f.Tensor("output.weight")
	return Traits{
		Layers: number("block_count"), Experts: number("expert_count"),
		Heads: number("attention.head_count"), KVHeads: cmp.Or(number("attention.head_count_kv"), number("attention.head_count")),
		Tied: !untied,
	}
}

// Quantised says whether most of the model is quantised already, and to what: what was lost then stays lost.
func (m *Model) Quantised() (quant.Type, bool) {
	elems := map[quant.Type]int{}
	for _, in := range m.Inputs {
		elems[in.Type] += in.Elems()
	}
	var most quant.Type
	for t, n := range elems {
		if n > elems[most] || n == elems[most] && t < most {
			most = t
		}
	}
	return most, most.BlockElems() > 1
}
