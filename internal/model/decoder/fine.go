// SPDX-License-Identifier: Apache-2.0

package decoder

import "github.com/sampo-ai/sampo/internal/tensor"

// sumChunk is how many sums a thread adds at a time.
const sumChunk = 16 << 10

// fineMul sets dst to the product of w with activations of about 15 bits: the 8-bit ones and, as further rows of the
// same product, what those leave out. It is for the input whose rounding shows most in the logits and of which a prompt has
// one row only: that of the output matrix. Weights are still read once.
//
// Shapes: dst [rows, O]; x [rows, I]; w [O, I].
func (s *Step) fineMul(dst, x []float32, rows int, w *tensor.Matrix) {
	if rows == 0 {
		return
	}
	if !w.Quantised() { // float weights take finer activations anyway
		s.set(&s.input, x, rows)
		s.pool.Mul(&s.input, tensor.Product{Dst: dst, W: w})
		return
	}
	in, out := rows*w.Cols(), rows*w.Rows()
	s.fineInput, s.fineOutput = grow(s.fineInput, 2*in), grow(s.fineOutput, 2*out)
	s.source, s.fineCols = x[:in], w.Cols()
	s.split(rows, w.Cols(), s.fineRows)
	s.set(&s.input, s.fineInput, 2*rows)
	s.pool.Mul(&s.input, tensor.Product{Dst: s.fineOutput, W: w})
	s.fineDst = dst[:out]
	s.splitBy(sumChunk, out, 1, s.sumRows)
}

// splitFine puts rows of the source and their residuals into the input.
func (s *Step) splitFine(first, end int) {
	first, end = first*s.fineCols, end*s.fineCols
	copy(s.fineInput[first:end], s.source[first:end])
	half := len(s.source)
	tensor.Residual(s.fineInput[half+first:half+end], s.source[first:end])
}

// sumFine adds the two halves of the output.
func (s *Step) sumFine(first, end int) {
	half := len(s.fineDst)
	copy(s.fineDst[first:end], s.fineOutput[first:end])
	tensor.Add(s.fineDst[first:end], s.fineOutput[half+first:half+end], 1)
}
