// SPDX-License-Identifier: Apache-2.0

// Package fp8 reads checkpoints whose matrices are 8-bit floats with scales, as Hugging Face's "fp8" and the
// "float-quantized" format of compressed-tensors have them.
//
// A matrix X.weight of type F8_E4M3 comes with X.weight_scale_inv or X.weight_scale: one scale for the whole matrix, for
// each row, or for each block of it, which a value is multiplied with (in spite of "inv").
//
// Always true of an open Source: it has no F8 matrix and no scales; in their place are BF16 matrices, rounded to nearest,
// which is what the reference code makes where it does not compute in 8 bits. They are made when they are asked for and
// kept until they are released. Scales of activations are left out: activations are not rounded to 8 bits.
package fp8

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

// Reads says whether a quantization_config is of a kind that this package is for. Open may still refuse it.
func Reads(config *ordjson.Object) bool {
	method, _ := config.String("quant_method")
	return method == "fp8" || method == "compressed-tensors"
}

// blockOf reads the shape of the blocks that share a scale; zeros: the whole matrix, or rows.
func blockOf(config *ordjson.Object) (block [2]int, err error) {
	var sizes []any
	switch method, _ := config.String("quant_method"); method {
	case "fp8":
		sizes, _ = config.Array("weight_block_size")
	case "compressed-tensors":
		if format, _ := config.String("format"); format != "float-quantized" {
			return block, fmt.Errorf("quantization_config: compressed-tensors format %q is not supported, want float-quantized", format)
		}
		if sizes, err = groupBlock(config); err != nil {
			return block, err
		}
	default:
		return block, fmt.Errorf("quantization_config: quant_method %q is not supported, want fp8 or compressed-tensors", method)
	}
	if sizes == nil {
		return block, nil
	}
	for i := range block {
		if len(sizes) != len(block) {
			return block, fmt.Errorf("quantization_config: a block has %d sizes, want 2", len(sizes))
		}
		number, _ := sizes[i].(ordjson.Number)
		if _, err := fmt.Sscan(string(number), &block[i]); err != nil || block[i] < 1 {
			return block, fmt.Errorf("quantization_config: %v is no size of a block", sizes[i])
		}
	}
	return block, nil
}

// groupBlock reads the block of compressed-tensors, which must be the same for all matrices.
func groupBlock(config *ordjson.Object) ([]any, error) {
	groups, _ := config.Object("config_groups")
	if groups == nil || groups.Len() != 1 {
		return nil, fmt.Errorf("quantization_config: config_groups: want one group")
	}
	name := groups.Keys()[0]
	if group, ok := groups.Object(name); ok {
		if scheme, ok := group.Object("weights"); ok {
			sizes, _ := scheme.Array("block_structure")
			return sizes, nil
		}
	}
	return nil, fmt.Errorf("quantization_config: config_groups.%s: no weights", name)
}

// A Source gives the matrices of another one as BF16.
type Source struct {
	weights.Source
	block [2]int
	names []string          // without scales
	known map[string]bool   // the same as a set
	scale map[string]string // of each matrix with scales: their name

	mu   sync.Mutex // guards made
	made map[string][]byte
}

// scaled gives the name of the matrix that a tensor has the scales of; "" if they are scales of activations.
func scaled(name string) (matrix string, isScale bool) {
	at := max(0, strings.LastIndexByte(name, '.'))
	switch name[at:] {
	case ".weight_scale_inv", ".weight_scale":
		return name[:at] + ".weight", true
	case ".input_scale", ".activation_scale":
		return "", true
	}
	return "", false
}

// Open wraps the source of a model with this quantization_config. It fails if an F8 matrix has no scales, or scales of a
// shape that does not belong to it. Closing the result closes src.
func Open(src weights.Source, config *ordjson.Object) (*Source, error) {
	block, err := blockOf(config)
	if err != nil {
		return nil, err
	}
	s := &Source{Source: src, block: block, known: map[string]bool{}, scale: map[string]string{}, made: map[string][]byte{}}
	for _, name := range src.Names() {
		matrix, isScale := scaled(name)
		if isScale {
			s.scale[matrix] = name
			continue
		}
		s.known[name] = true
		s.names = append(s.names, name)
	}
	for _, name := range s.names {
		t, _ := src.Tensor(name)
		if t.Type != quant.F8E4M3 {
			continue
		}
		if _, err := s.scalesOf(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Names lists the names without those of scales.
func (s *Source) Names() []string { return s.names }

// Tensor gives a tensor, an F8 matrix as BF16.
func (s *Source) Tensor(name string) (weights.Tensor, bool) {
	t, ok := s.Source.Tensor(name)
	if !ok || !s.known[name] {
		return weights.Tensor{}, false
	}
	if t.Type != quant.F8E4M3 {
		return t, true
	}
	scales, err := s.scalesOf(t)
	if err != nil {
		return weights.Tensor{}, false // Open would have refused it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[name] == nil {
		s.made[name] = scales.apply(t)
		weights.Release(s.Source, t)
	}
	t.Type, t.Data = quant.BF16, s.made[name]
	return t, true
}

// Release lets go of a matrix that was made: asking for it makes it again. Who still holds it keeps it.
func (s *Source) Release(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, made := range s.made {
		if len(made) > 0 && len(data) > 0 && &made[0] == &data[0] {
			delete(s.made, name)
			return
		}
	}
	weights.Release(s.Source, weights.Tensor{Data: data})
}

// scales are those of one matrix.
//
// Shapes: values [ceil(O/rows), perRow], perRow = ceil(E/cols).
type scales struct {
	values             []float32
	rows, cols, perRow int
}

// scalesOf reads the scales of an F8 matrix.
func (s *Source) scalesOf(t weights.Tensor) (*scales, error) {
	where, ok := s.scale[t.Name]
	if !ok {
		return nil, fmt.Errorf("fp8: tensor %q has no scales", t.Name)
	}
	from, _ := s.Source.Tensor(where)
	if len(t.Shape) != 2 {
		return nil, fmt.Errorf("fp8: tensor %q has shape %v, want a matrix", t.Name, t.Shape)
	}
	out, in := t.Shape[0], t.Shape[1]
	x := &scales{}
	above := func(n, d int) int { return (n + d - 1) / d }
	switch n := from.Elems(); {
	case s.block[0] > 0 && slices.Equal(from.Shape, []int{above(out, s.block[0]), above(in, s.block[1])}):
		x.rows, x.cols = s.block[0], s.block[1]
	case n == 1:
		x.rows, x.cols = max(1, out), max(1, in)
	case n == out && from.Shape[0] == out:
		x.rows, x.cols = 1, max(1, in)
	default:
		return nil, fmt.Errorf("fp8: tensor %q has shape %v, which are no scales of a matrix of shape %v in blocks of %v", where, from.Shape, t.Shape, s.block)
	}
	x.perRow = above(in, x.cols)
	x.values = make([]float32, from.Elems())
	if from.Type == quant.F8E8M0 {
		for i, e := range from.Data {
			x.values[i] = 2 * quant.PowerOfTwo(e)
		}
		return x, nil
	}
	if err := quant.Dequantize(x.values, from.Type, from.Data); err != nil {
		return nil, fmt.Errorf("fp8: tensor %q: %w", where, err)
	}
	return x, nil
}

// apply makes BF16 values of 8-bit ones.
func (x *scales) apply(t weights.Tensor) []byte {
	var table [256]float32
	for b := range table {
		table[b] = quant.F8E4M3ToF32(byte(b))
	}
	out, in := t.Shape[0], t.Shape[1]
	data := make([]byte, 2*out*in)
	for row := range out {
		scale := x.values[row/x.rows*x.perRow:]
		codes, dst := t.Data[row*in:][:in], data[2*row*in:][:2*in]
		for i, code := range codes {
			binary.LittleEndian.PutUint16(dst[2*i:], quant.F32ToBF16(table[code]*scale[i/x.cols]))
		}
	}
	return data
}
