// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"math"
	"unsafe"
)

// The exponential function of all kernels: x = n·ln2 + r with integer n, |r| <= ln2/2; e^r by a polynomial of degree 6
// (coefficients of Cephes' expf), 2^n by setting the exponent. Largest relative error 1e-7. Below expMin the result
// is 0, so that masked scores weigh nothing; above expMax it is that of expMax.
const (
	expMin = -87.33
	expMax = 88.3

	log2e = 1.44269504088896341
	ln2Hi = 0.693359375
	ln2Lo = -2.12194440e-4

	exp0 = 1.9875691500e-4
	exp1 = 1.3981999507e-3
	exp2 = 8.3334519073e-3
	exp3 = 4.1665795894e-2
	exp4 = 1.6666665459e-1
	exp5 = 5.0000001201e-1
)

// exp32 returns e^x as defined above.
func exp32(x float32) float32 {
	if x < expMin {
		return 0
	}
	if x > expMax {
		x = expMax
	}
	if x != x {
		return x
	}
	n := float32(math.RoundToEven(float64(float32(x * log2e))))
	r := fma(n, -ln2Hi, x)
	r = fma(n, -ln2Lo, r)
	p := float32(exp0)
	p = fma(p, r, exp1)
	p = fma(p, r, exp2)
	p = fma(p, r, exp3)
	p = fma(p, r, exp4)
	p = fma(p, r, exp5)
	y := fma(p, float32(r*r), r) + 1
	return y * math.Float32frombits(uint32(int32(n)+127)<<23)
}

// A softmax is one step of the online softmax (arXiv:1805.02867) of some rows: it raises the running maximum of a row to that
// of its s, replaces s by e^(s-maximum), and sets sums to the sums of the new s. A masked score is -Inf and becomes 0. Two lines
// from ahead on are prefetched for every 16 numbers.
//
// Shapes: s [R, n] with rows stride apart, n a multiple of 16 above 0; maxima, sums [R], R above 0. A sum is in 16 partial
// sums, added as a tree. With a finite maximum, all scores of a row may be -Inf.
type softmax struct {
	s            []float32
	stride, n    int
	maxima, sums []float32
	ahead        unsafe.Pointer
}

// check panics if the shapes do not fit.
func (p *softmax) check() {
	checkMultiple(p.n)
	rows := len(p.maxima)
	_, _ = p.s[(rows-1)*p.stride+p.n-1], p.sums[rows-1]
}

func (p *softmax) runGo() {
	for r := range p.maxima {
		p.maxima[r], p.sums[r] = softmaxChunkGo(p.s[r*p.stride:][:p.n], p.maxima[r])
	}
}

// SoftmaxChunk is a softmax of one row: it replaces s by e^(s-newMaximum), where newMaximum is the larger one of maximum and
// those of s, and returns it and the sum.
//
// Shapes: s [n], n a multiple of 16.
func SoftmaxChunk(s []float32, maximum float32) (newMaximum, sum float32) {
	if len(s) == 0 {
		return maximum, 0
	}
	var sums [1]float32
	maxima := [1]float32{maximum}
	p := softmax{s, len(s), len(s), maxima[:], sums[:], unsafe.Pointer(&s[0])}
	p.check()
	p.run()
	return maxima[0], sums[0]
}

func softmaxChunkGo(s []float32, maximum float32) (newMaximum, sum float32) {
	for _, x := range s {
		if x > maximum {
			maximum = x
		}
	}
	var sums [16]float32
	for i := range s {
		s[i] = exp32(s[i] - maximum)
		sums[i%16] += s[i]
	}
	return maximum, tree(&sums)
}

// Exp returns e^x as the kernels compute it: see exp32.
func Exp(x float32) float32 { return exp(x) }

// GateSiLU sets gate to gate · sigmoid(gate) · up (SwiGLU, arXiv:2002.05202).
//
// Shapes: gate, up [n].
func GateSiLU(gate, up []float32) { gateSiLU(gate, up[:len(gate)]) }

func gateSiLUGo(gate, up []float32) {
	for i, x := range gate {
		gate[i] = float32(x/(1+exp32(-x))) * up[i]
	}
}

// GateGELU sets gate to GELU(gate) · up, with the tanh approximation of GELU (arXiv:1606.08415), written as
// x · sigmoid(2u) with u = sqrt(2/π)·(x + 0.044715 x³).
//
// Shapes: gate, up [n].
func GateGELU(gate, up []float32) { gateGELU(gate, up[:len(gate)]) }

const (
	geluLinear = 1.5957691216057308 // 2·sqrt(2/π)
	geluCubic  = 0.07135481627159607
)

func gateGELUGo(gate, up []float32) {
	for i, x := range gate {
		u := x * fma(float32(x*x), geluCubic, geluLinear)
		gate[i] = float32(x/(1+exp32(-u))) * up[i]
	}
}

// SoftCap sets x to limit·tanh(x/limit) (arXiv:2408.00118), written as limit - 2·limit/(1 + e^(2x/limit)). The error is
// about that of a number near limit, not of one near x.
//
// Shapes: x [n]. Limit is above 0.
func SoftCap(x []float32, limit float32) { softCap(x, 2/limit, 2*limit, limit) }

func softCapGo(x []float32, scale, twice, limit float32) {
	for i, v := range x {
		x[i] = limit - float32(twice/(1+exp32(float32(v*scale))))
	}
}
