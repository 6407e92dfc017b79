// SPDX-License-Identifier: Apache-2.0

package kernel

import "unsafe"

// The vector kernels do whole multiples of 16 numbers; the twins do the rest, with the same bits. They are called
// directly, not through variables, so that their arguments stay on the stack.

func expAVX2(x float32) float32

func expAVX512(x float32) float32

func exp(x float32) float32 {
	switch active {
	case avx512:
		return expAVX512(x)
	case avx2:
		return expAVX2(x)
	default:
		return exp32(x)
	}
}

//go:noescape
func softmaxAVX2(s *float32, stride uintptr, rows, n int, maxima, sums *float32, ahead unsafe.Pointer)

//go:noescape
func softmaxAVX512(s *float32, stride uintptr, rows, n int, maxima, sums *float32, ahead unsafe.Pointer)

func (p *softmax) run() {
	switch active {
	case avx512:
		softmaxAVX512(&p.s[0], uintptr(p.stride)*4, len(p.maxima), p.n, &p.maxima[0], &p.sums[0], p.ahead)
	case avx2:
		softmaxAVX2(&p.s[0], uintptr(p.stride)*4, len(p.maxima), p.n, &p.maxima[0], &p.sums[0], p.ahead)
	default:
		p.runGo()
	}
}

//go:noescape
func mergeAVX2(all, one *float32, rows, width int)

// merge waits for the exponential function of two numbers most of all, so both tiers with vectors have the same.
func merge(all, one []float32, rows, width int) {
	if active == generic {
		mergeGo(all, one, rows, width)
		return
	}
	mergeAVX2(&all[0], &one[0], rows, width)
}

//go:noescape
func sumSquaresAVX2(x *float32, n int, sums *[16]float32)

//go:noescape
func sumSquaresAVX512(x *float32, n int, sums *[16]float32)

func sumSquares(x []float32, sums *[16]float32) {
	switch active {
	case avx512:
		sumSquaresAVX512(&x[0], len(x), sums)
	case avx2:
		sumSquaresAVX2(&x[0], len(x), sums)
	default:
		sumSquaresGo(x, sums)
	}
}

//go:noescape
func notAboveAVX2(x *float32, n int, bound float32) int

// notAbove is how many of the first numbers, in groups of 16, are at most bound.
func notAbove(x []float32, bound float32) int { return notAboveAVX2(&x[0], len(x), bound) }

//go:noescape
func gateSiLUAVX2(gate, up *float32, n int)

//go:noescape
func gateSiLUAVX512(gate, up *float32, n int)

func gateSiLU(gate, up []float32) {
	whole := vectorLen(len(gate))
	if whole > 0 && active == avx512 {
		gateSiLUAVX512(&gate[0], &up[0], whole)
	} else if whole > 0 {
		gateSiLUAVX2(&gate[0], &up[0], whole)
	}
	gateSiLUGo(gate[whole:], up[whole:])
}

//go:noescape
func gateGELUAVX2(gate, up *float32, n int)

//go:noescape
func gateGELUAVX512(gate, up *float32, n int)

func gateGELU(gate, up []float32) {
	whole := vectorLen(len(gate))
	if whole > 0 && active == avx512 {
		gateGELUAVX512(&gate[0], &up[0], whole)
	} else if whole > 0 {
		gateGELUAVX2(&gate[0], &up[0], whole)
	}
	gateGELUGo(gate[whole:], up[whole:])
}

//go:noescape
func softCapAVX2(x *float32, n int, scale, twice, limit float32)

//go:noescape
func softCapAVX512(x *float32, n int, scale, twice, limit float32)

func softCap(x []float32, scale, twice, limit float32) {
	whole := vectorLen(len(x))
	if whole > 0 && active == avx512 {
		softCapAVX512(&x[0], whole, scale, twice, limit)
	} else if whole > 0 {
		softCapAVX2(&x[0], whole, scale, twice, limit)
	}
	softCapGo(x[whole:], scale, twice, limit)
}

//go:noescape
func scaleMulAVX2(dst, x, w *float32, c float32, n int)

//go:noescape
func scaleMulAVX512(dst, x, w *float32, c float32, n int)

func scaleMul(dst, x, w []float32, c float32) {
	whole := vectorLen(len(dst))
	if whole > 0 && active == avx512 {
		scaleMulAVX512(&dst[0], &x[0], &w[0], c, whole)
	} else if whole > 0 {
		scaleMulAVX2(&dst[0], &x[0], &w[0], c, whole)
	}
	scaleMulGo(dst[whole:], x[whole:], w[whole:], c)
}

//go:noescape
func scaleAVX2(dst, x *float32, c float32, n int)

//go:noescape
func scaleAVX512(dst, x *float32, c float32, n int)

func scale(dst, x []float32, c float32) {
	whole := vectorLen(len(dst))
	if whole > 0 && active == avx512 {
		scaleAVX512(&dst[0], &x[0], c, whole)
	} else if whole > 0 {
		scaleAVX2(&dst[0], &x[0], c, whole)
	}
	scaleGo(dst[whole:], x[whole:], c)
}

//go:noescape
func addAVX2(dst, x *float32, n int)

//go:noescape
func addAVX512(dst, x *float32, n int)

func add(dst, x []float32) {
	whole := vectorLen(len(dst))
	if whole > 0 && active == avx512 {
		addAVX512(&dst[0], &x[0], whole)
	} else if whole > 0 {
		addAVX2(&dst[0], &x[0], whole)
	}
	addGo(dst[whole:], x[whole:])
}

//go:noescape
func addScaledAVX2(dst, x *float32, c float32, n int)

//go:noescape
func addScaledAVX512(dst, x *float32, c float32, n int)

func addScaled(dst, x []float32, c float32) {
	whole := vectorLen(len(dst))
	if whole > 0 && active == avx512 {
		addScaledAVX512(&dst[0], &x[0], c, whole)
	} else if whole > 0 {
		addScaledAVX2(&dst[0], &x[0], c, whole)
	}
	addScaledGo(dst[whole:], x[whole:], c)
}

//go:noescape
func rotateHalvesAVX2(a, b, cos, sin *float32, n int)

//go:noescape
func rotateHalvesAVX512(a, b, cos, sin *float32, n int)

func rotateHalves(a, b, cos, sin []float32) {
	whole := vectorLen(len(cos))
	if whole > 0 && active == avx512 {
		rotateHalvesAVX512(&a[0], &b[0], &cos[0], &sin[0], whole)
	} else if whole > 0 {
		rotateHalvesAVX2(&a[0], &b[0], &cos[0], &sin[0], whole)
	}
	rotateHalvesGo(a[whole:], b[whole:], cos[whole:], sin[whole:])
}

//go:noescape
func rotatePairsAVX2(x, cos, sin *float32, n int)

//go:noescape
func rotatePairsAVX512(x, cos, sin *float32, n int)

func rotatePairs(x, cos, sin []float32) {
	whole := vectorLen(len(x))
	if whole > 0 && active == avx512 {
		rotatePairsAVX512(&x[0], &cos[0], &sin[0], whole)
	} else if whole > 0 {
		rotatePairsAVX2(&x[0], &cos[0], &sin[0], whole)
	}
	rotatePairsGo(x[whole:], cos[whole:], sin[whole:])
}

//go:noescape
func toHalfAVX2(dst *uint16, x *float32, n int)

//go:noescape
func toHalfAVX512(dst *uint16, x *float32, n int)

func toHalf(dst []uint16, x []float32) {
	whole := vectorLen(len(dst))
	if whole > 0 && active == avx512 {
		toHalfAVX512(&dst[0], &x[0], whole)
	} else if whole > 0 {
		toHalfAVX2(&dst[0], &x[0], whole)
	}
	toHalfGo(dst[whole:], x[whole:])
}

// vectorLen is how many of n numbers the vector kernels of the active tier do.
func vectorLen(n int) int {
	if active == generic {
		return 0
	}
	return n &^ 15
}
