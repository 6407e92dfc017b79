// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// weightOne is the weight of the best token. With 2^44 a sum over 2^20 - 1 tokens fits into 64 bits.
const (
	weightOne = kernel.WeightOne
	maxVocab  = 1<<20 - 1
)

// weight turns an exponential, from 0 to 1, into a whole number.
func weight(e float32) uint64 { return kernel.Weight(e) }

// exponentials returns e^(z - best) for each logit. The kernel gives the same bits on every machine, and those of
// kernel.Exp.
//
// Shapes: z [V]; result [V], valid until the next call.
func (s *Sampler) exponentials(z []float32, best float32) []float32 {
	const lanes = 16 // the kernel works on so many at once
	e := s.exp[:(len(z)+lanes-1)/lanes*lanes]
	copy(e, z)
	for i := len(z); i < len(e); i++ {
		e[i] = negativeInfinity
	}
	kernel.SoftmaxChunk(e, best)
	return e[:len(z)]
}

// logSum returns the logarithm of the sum of exponentials, where best is the largest logit.
//
// Shapes: z [V].
func (s *Sampler) logSum(z []float32, best float32) float64 {
	total := kernel.WeightSum(s.exponentials(z, best))
	return float64(best) + math.Log(float64(total)/weightOne)
}
