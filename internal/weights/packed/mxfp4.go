// SPDX-License-Identifier: Apache-2.0

package packed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

const (
	mxBlock = 32          // values that share a power of two
	mxCodes = mxBlock / 2 // bytes that have them
)

// openMXFP4 finds the matrices of 4-bit floats, whose tensors have these endings.
func (s *Source) openMXFP4(codesEnd, scalesEnd string) error {
	for _, name := range s.Source.Names() {
		if !isActivation(name) {
			s.plain[name] = true
		}
	}
	for _, name := range s.Source.Names() {
		stem, ok := strings.CutSuffix(name, codesEnd)
		if !ok {
			continue
		}
		where := stem + scalesEnd
		codes, _ := s.Source.Tensor(name)
		scales, ok := s.Source.Tensor(where)
		if !ok {
			return fmt.Errorf("packed: tensor %q has no scales", name)
		}
		shape, err := mxShape(codes, scales)
		if err != nil {
			return err
		}
		// Expert matrices, of three dimensions, have no ".weight" in their names.
		if len(shape) == 2 && !strings.HasSuffix(stem, ".weight") {
			stem += ".weight"
		}
		delete(s.plain, name)
		delete(s.plain, where)
		s.matrices[stem] = &matrix{weights.Tensor{Name: stem, Type: quant.MXFP4, Shape: shape}, name, where, openMX}
	}
	return nil
}

// mxShape gives the shape of a matrix, or of several one after the other, with these codes and scales.
//
// Shapes: scales [..., O, E/32]; codes [..., O, E/2] or [..., O, E/32, 16].
func mxShape(codes, scales weights.Tensor) ([]int, error) {
	n := len(scales.Shape)
	fits := codes.Type == quant.U8 && (scales.Type == quant.U8 || scales.Type == quant.F8E8M0) && n >= 2
	if fits {
		flat, blocks := slices.Clone(scales.Shape), append(slices.Clone(scales.Shape), mxCodes)
		flat[n-1] *= mxCodes
		fits = slices.Equal(codes.Shape, flat) || slices.Equal(codes.Shape, blocks)
	}
	if !fits {
		return nil, fmt.Errorf("packed: tensor %q is %v of shape %v and its scales %v of shape %v, want U8 codes of which %d bytes share a scale of 8 bits",
			codes.Name, codes.Type, codes.Shape, scales.Type, scales.Shape, mxCodes)
	}
	shape := slices.Clone(scales.Shape)
	shape[n-1] *= mxBlock
	return shape, nil
}

// openMX gives the function that makes rows of MXFP4 blocks. Where GGUF files have values i and i+16 in byte i, these have
// values 2i and 2i+1.
func openMX(codes, scales weights.Tensor) func(dst []byte, first, n int) {
	per := scales.Shape[len(scales.Shape)-1] // blocks of a row
	size := quant.MXFP4.BlockBytes()
	return func(dst []byte, first, n int) {
		from, e := codes.Data[first*per*mxCodes:][:n*per*mxCodes], scales.Data[first*per:][:n*per]
		for b, exponent := range e {
			block, low, high := dst[b*size:][:1+mxCodes], from[b*mxCodes:][:mxCodes/2], from[b*mxCodes+mxCodes/2:][:mxCodes/2]
			block[0] = exponent
			for k, l := range low {
				h := high[k]
				block[1+2*k] = l&15 | h<<4
				block[2+2*k] = l>>4 | h&0xf0
			}
		}
	}
}
