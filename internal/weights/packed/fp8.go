// SPDX-License-Identifier: Apache-2.0

package packed

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

// openFP8 finds the matrices of 8-bit floats and their scales. Sizes are those of the blocks that share a scale; none: the
// whole matrix, or rows.
func (s *Source) openFP8(sizes []any) error {
	block, err := blockOf(sizes)
	if err != nil {
		return err
	}
	scaleOf := map[string]string{}
	for _, name := range s.Source.Names() {
		stem, isScale := strings.CutSuffix(name, ".weight_scale_inv")
		if !isScale {
			stem, isScale = strings.CutSuffix(name, ".weight_scale")
		}
		switch {
		case isScale:
			scaleOf[stem+".weight"] = name
		case !isActivation(name):
			s.plain[name] = true
		}
	}
	for _, name := range s.Source.Names() {
		t, _ := s.Source.Tensor(name)
		if t.Type != quant.F8E4M3 || !s.plain[name] {
			continue
		}
		where, ok := scaleOf[name]
		if !ok {
			return fmt.Errorf("packed: tensor %q has no scales", name)
		}
		scales, err := s.scalesOf(t, where, block)
		if err != nil {
			return err
		}
		delete(s.plain, name)
		s.matrices[name] = &matrix{weights.Tensor{Name: name, Type: quant.BF16, Shape: t.Shape}, name, where, scales.open}
	}
	return nil
}

// blockOf reads the shape of the blocks that share a scale.
func blockOf(sizes []any) (block [2]int, err error) {
	if sizes == nil {
		return block, nil
	}
	if len(sizes) != len(block) {
		return block, fmt.Errorf("quantization_config: a block has %d sizes, want 2", len(sizes))
	}
	for i := range block {
		number, _ := sizes[i].(ordjson.Number)
		if _, err := fmt.Sscan(string(number), &block[i]); err != nil || block[i] < 1 {
			return block, fmt.Errorf("quantization_config: %v is no size of a block", sizes[i])
		}
	}
	return block, nil
}

// fp8Scales are those of one matrix.
//
// Shapes: values [ceil(O/rows), perRow], perRow = ceil(E/cols).
type fp8Scales struct {
	values             []float32
	rows, cols, perRow int
}

// scalesOf reads the scales of an F8 matrix.
func (s *Source) scalesOf(t weights.Tensor, where string, block [2]int) (*fp8Scales, error) {
	from, _ := s.Source.Tensor(where)
	if len(t.Shape) != 2 {
		return nil, fmt.Errorf("packed: tensor %q has shape %v, want a matrix", t.Name, t.Shape)
	}
	out, in := t.Shape[0], t.Shape[1]
	x := &fp8Scales{}
	above := func(n, d int) int { return (n + d - 1) / d }
	switch n := from.Elems(); {
	case block[0] > 0 && slices.Equal(from.Shape, []int{above(out, block[0]), above(in, block[1])}):
		x.rows, x.cols = block[0], block[1]
	case n == 1:
		x.rows, x.cols = max(1, out), max(1, in)
	case n == out && from.Shape[0] == out:
		x.rows, x.cols = 1, max(1, in)
	default:
		return nil, fmt.Errorf("packed: tensor %q has shape %v, which are no scales of a matrix of shape %v in blocks of %v", where, from.Shape, t.Shape, block)
	}
	x.perRow = above(in, x.cols)
	x.values = make([]float32, from.Elems())
	if from.Type == quant.F8E8M0 || from.Type == quant.U8 { // files of types that the format lacked once have U8
		for i, e := range from.Data {
			x.values[i] = 2 * quant.PowerOfTwo(e)
		}
		return x, nil
	}
	if err := quant.Dequantize(x.values, from.Type, from.Data); err != nil {
		return nil, fmt.Errorf("packed: tensor %q: %w", where, err)
	}
	return x, nil
}

// open gives the function that makes rows of BF16 values of 8-bit ones. The products of a scale with all codes are
// computed once for each part of the rows that shares it.
func (x *fp8Scales) open(codes, _ weights.Tensor) func(dst []byte, first, n int) {
	var values [256]float32
	for code := range values {
		values[code] = quant.F8E4M3ToF32(byte(code))
	}
	in := codes.Shape[1]
	return func(dst []byte, first, n int) {
		var table [256]uint16
		for row := first; row < first+n; {
			end := min(first+n, row-row%x.rows+x.rows) // of rows with the same scales
			for b, scale := range x.values[row/x.rows*x.perRow:][:x.perRow] {
				for code, v := range values {
					table[code] = quant.F32ToBF16(v * scale)
				}
				from, to := b*x.cols, min(in, (b+1)*x.cols)
				widen(dst[2*((row-first)*in+from):], codes.Data[row*in+from:(end-1)*in+to], &table, in, to-from)
			}
			row = end
		}
	}
}

// widen looks up the values of a part of some rows.
//
// Shapes: codes and dst are rows of in values, of which the first width count; codes end with the last that counts.
func widen(dst, codes []byte, table *[256]uint16, in, width int) {
	for at := 0; at < len(codes); at += in {
		bf16 := dst[2*at:][:2*width]
		for k, code := range codes[at:][:width] {
			binary.LittleEndian.PutUint16(bf16[2*k:], table[code])
		}
	}
}
