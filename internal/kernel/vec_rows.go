// SPDX-License-Identifier: Apache-2.0

package kernel

import "fmt"

// SumSquares returns the sum of x², in 16 partial sums (component i in sum i mod 16) added as a tree.
//
// Shapes: x [n].
func SumSquares(x []float32) float32 {
	var sums [16]float32
	whole := len(x) &^ 15
	if whole > 0 {
		sumSquares(x[:whole], &sums)
	}
	sumSquaresGo(x[whole:], &sums) // the rest begins at a multiple of 16
	return tree(&sums)
}

func sumSquaresGo(x []float32, sums *[16]float32) {
	for i, v := range x {
		sums[i%16] = fma(v, v, sums[i%16])
	}
}

// ScaleMul sets dst to (x · c) · w.
//
// Shapes: dst, x, w [n]. dst may be x.
func ScaleMul(dst, x, w []float32, c float32) { scaleMul(dst, x[:len(dst)], w[:len(dst)], c) }

func scaleMulGo(dst, x, w []float32, c float32) {
	for i := range dst {
		dst[i] = float32(x[i]*c) * w[i]
	}
}

// Scale sets dst to x · c.
//
// Shapes: dst, x [n]. dst may be x.
func Scale(dst, x []float32, c float32) { scale(dst, x[:len(dst)], c) }

func scaleGo(dst, x []float32, c float32) {
	for i := range dst {
		dst[i] = x[i] * c
	}
}

// Add adds x to dst.
//
// Shapes: dst, x [n].
func Add(dst, x []float32) { add(dst, x[:len(dst)]) }

func addGo(dst, x []float32) {
	for i := range dst {
		dst[i] += x[i]
	}
}

// AddScaled adds x · c to dst, each rounded once.
//
// Shapes: dst, x [n].
func AddScaled(dst, x []float32, c float32) { addScaled(dst, x[:len(dst)], c) }

func addScaledGo(dst, x []float32, c float32) {
	for i := range dst {
		dst[i] = fma(x[i], c, dst[i])
	}
}

// RotateHalves turns the pairs (x[m], x[m+n]) by angles given as cosines and sines (RoPE, arXiv:2104.09864).
//
// Shapes: x [2n]; cos, sin [n].
func RotateHalves(x, cos, sin []float32) {
	n := len(cos)
	rotateHalves(x[:n], x[n:2*n], cos, sin[:n])
}

func rotateHalvesGo(a, b, cos, sin []float32) {
	for m, c := range cos {
		s, u, v := sin[m], a[m], b[m]
		a[m] = fma(u, c, -float32(v*s))
		b[m] = fma(v, c, float32(u*s))
	}
}

// RotatePairs turns the pairs (x[2m], x[2m+1]) by angles given as cosines and sines, each twice, the first sine negated.
//
// Shapes: x, cos, sin [2n]; cos[2m] = cos[2m+1] = cos(angle m); -sin[2m] = sin[2m+1] = sin(angle m).
func RotatePairs(x, cos, sin []float32) { rotatePairs(x[:len(cos)], cos, sin[:len(cos)]) }

func rotatePairsGo(x, cos, sin []float32) {
	for m := 0; m < len(x); m += 2 {
		u, v := x[m], x[m+1]
		x[m] = fma(u, cos[m], float32(v*sin[m]))
		x[m+1] = fma(v, cos[m+1], float32(u*sin[m+1]))
	}
}

func checkMultiple(n int) {
	if n%16 != 0 {
		panic(fmt.Sprintf("kernel: got %d values, want a multiple of 16", n))
	}
}
