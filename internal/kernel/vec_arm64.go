// SPDX-License-Identifier: Apache-2.0

package kernel

import "unsafe"

// The vector kernels do whole multiples of 16 numbers; the twins do the rest, with the same bits. They are called
// directly, not through variables, so that their arguments stay on the stack. All tiers share them.

func expNEON(x float32) float32

func exp(x float32) float32 {
	if active == generic {
		return exp32(x)
	}
	return expNEON(x)
}

//go:noescape
func softmaxNEON(s *float32, stride uintptr, rows, n int, maxima, sums *float32, ahead unsafe.Pointer)

func (p *softmax) run() {
	if active == generic {
		p.runGo()
		return
	}
	softmaxNEON(&p.s[0], uintptr(p.stride)*4, len(p.maxima), p.n, &p.maxima[0], &p.sums[0], p.ahead)
}

func merge(all, one []float32, rows, width int) { mergeGo(all, one, rows, width) }

//go:noescape
func sumSquaresNEON(x *float32, n int, sums *[16]float32)

func sumSquares(x []float32, sums *[16]float32) {
	if active == generic {
		sumSquaresGo(x, sums)
		return
	}
	sumSquaresNEON(&x[0], len(x), sums)
}

//go:noescape
func weightSumNEON(e *float32, n int) uint64

func weightSum(e []float32) (sum uint64) {
	whole := vectorLen(len(e))
	if whole > 0 {
		sum = weightSumNEON(&e[0], whole)
	}
	return sum + weightSumGo(e[whole:])
}

//go:noescape
func notAboveNEON(x *float32, n int, bound float32) int

// notAbove is how many of the first numbers, in groups of 16, are at most bound.
func notAbove(x []float32, bound float32) int { return notAboveNEON(&x[0], len(x), bound) }

//go:noescape
func gateSiLUNEON(gate, up *float32, n int)

func gateSiLU(gate, up []float32) {
	whole := vectorLen(len(gate))
	if whole > 0 {
		gateSiLUNEON(&gate[0], &up[0], whole)
	}
	gateSiLUGo(gate[whole:], up[whole:])
}

//go:noescape
func gateGELUNEON(gate, up *float32, n int)

func gateGELU(gate, up []float32) {
	whole := vectorLen(len(gate))
	if whole > 0 {
		gateGELUNEON(&gate[0], &up[0], whole)
	}
	gateGELUGo(gate[whole:], up[whole:])
}

//go:noescape
func softCapNEON(x *float32, n int, scale, twice, limit float32)

func softCap(x []float32, scale, twice, limit float32) {
	whole := vectorLen(len(x))
	if whole > 0 {
		softCapNEON(&x[0], whole, scale, twice, limit)
	}
	softCapGo(x[whole:], scale, twice, limit)
}

//go:noescape
func scaleMulNEON(dst, x, w *float32, c float32, n int)

func scaleMul(dst, x, w []float32, c float32) {
	whole := vectorLen(len(dst))
	if whole > 0 {
		scaleMulNEON(&dst[0], &x[0], &w[0], c, whole)
	}
	scaleMulGo(dst[whole:], x[whole:], w[whole:], c)
}

//go:noescape
func scaleNEON(dst, x *float32, c float32, n int)

func scale(dst, x []float32, c float32) {
	whole := vectorLen(len(dst))
	if whole > 0 {
		scaleNEON(&dst[0], &x[0], c, whole)
	}
	scaleGo(dst[whole:], x[whole:], c)
}

//go:noescape
func addNEON(dst, x *float32, n int)

func add(dst, x []float32) {
	whole := vectorLen(len(dst))
	if whole > 0 {
		addNEON(&dst[0], &x[0], whole)
	}
	addGo(dst[whole:], x[whole:])
}

//go:noescape
func addScaledNEON(dst, x *float32, c float32, n int)

func addScaled(dst, x []float32, c float32) {
	whole := vectorLen(len(dst))
	if whole > 0 {
		addScaledNEON(&dst[0], &x[0], c, whole)
	}
	addScaledGo(dst[whole:], x[whole:], c)
}

//go:noescape
func rotateHalvesNEON(a, b, cos, sin *float32, n int)

func rotateHalves(a, b, cos, sin []float32) {
	whole := vectorLen(len(cos))
	if whole > 0 {
		rotateHalvesNEON(&a[0], &b[0], &cos[0], &sin[0], whole)
	}
	rotateHalvesGo(a[whole:], b[whole:], cos[whole:], sin[whole:])
}

//go:noescape
func rotatePairsNEON(x, cos, sin *float32, n int)

func rotatePairs(x, cos, sin []float32) {
	whole := vectorLen(len(x))
	if whole > 0 {
		rotatePairsNEON(&x[0], &cos[0], &sin[0], whole)
	}
	rotatePairsGo(x[whole:], cos[whole:], sin[whole:])
}

//go:noescape
func toHalfNEON(dst *uint16, x *float32, n int)

func toHalf(dst []uint16, x []float32) {
	whole := vectorLen(len(dst))
	if whole > 0 {
		toHalfNEON(&dst[0], &x[0], whole)
	}
	toHalfGo(dst[whole:], x[whole:])
}

//go:noescape
func toBF16NEON(dst *uint16, x *float32, n int)

func toBF16(dst []uint16, x []float32) {
	whole := vectorLen(len(dst))
	if whole > 0 {
		toBF16NEON(&dst[0], &x[0], whole)
	}
	toBF16Go(dst[whole:], x[whole:])
}

// vectorLen is how many of n numbers the vector kernels of the active tier do.
func vectorLen(n int) int {
	if active == generic {
		return 0
	}
	return n &^ 15
}
