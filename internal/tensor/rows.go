// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// RMSNorm sets each row of dst to the row of x scaled to unit root mean square, times weight.
//
// Shapes: dst, x [T, E]; weight [E]. dst may be x.
// Eps is added to the mean square (not the root). Sums are float32, in 16 fixed partial sums added as a fixed tree.
// Panics if lengths do not match: a wrong shape is a bug in the caller.
//
// Zhang and Sennrich 2019 (arXiv:1910.07467); eps as in the Llama reference code.
func RMSNorm(dst, x, weight []float32, eps float32) {
	e := len(weight)
	if len(dst) != len(x) || len(x)%e != 0 {
		panic(fmt.Sprintf("tensor: RMSNorm: %d values into %d, rows of %d", len(x), len(dst), e))
	}
	for at := 0; at < len(x); at += e {
		row := x[at : at+e]
		mean := kernel.SumSquares(row) / float32(e)
		kernel.ScaleMul(dst[at:at+e], row, weight, float32(1/math.Sqrt(float64(mean+eps))))
	}
}

// LayerNorm sets each row of dst to the row of x with its mean taken away, scaled to unit root mean square, times weight,
// plus bias.
//
// Shapes: dst, x [T, E]; weight [E]; bias [E] or nil. dst may be x.
// Eps is added to the mean square. Sums are float32, in 16 fixed partial sums.
// Panics if lengths do not match: a wrong shape is a bug in the caller.
//
// Ba et al. 2016 (arXiv:1607.06450).
func LayerNorm(dst, x, weight, bias []float32, eps float32) {
	e := len(weight)
	if len(dst) != len(x) || len(x)%e != 0 || bias != nil && len(bias) != e {
		panic(fmt.Sprintf("tensor: LayerNorm: %d values into %d, rows of %d, %d biases", len(x), len(dst), e, len(bias)))
	}
	for at := 0; at < len(x); at += e {
		row := dst[at : at+e]
		mean := sum(x[at:at+e]) / float32(e)
		for i, v := range x[at : at+e] {
			row[i] = v - mean
		}
		RMSNorm(row, row, weight, eps)
		if bias != nil {
			kernel.Add(row, bias)
		}
	}
}

// sum adds up x.
func sum(x []float32) float32 {
	var sums [16]float32
	for i, v := range x {
		sums[i%16] += v
	}
	total := float32(0)
	for _, s := range sums {
		total += s
	}
	return total
}

// Add adds c·x to dst.
//
// Shapes: dst, x [n].
func Add(dst, x []float32, c float32) {
	if c == 1 {
		kernel.Add(dst, x)
		return
	}
	kernel.AddScaled(dst, x, c)
}

// Scale multiplies x by c.
//
// Shapes: x [n].
func Scale(x []float32, c float32) { kernel.Scale(x, x, c) }

// SoftCap sets x to limit·tanh(x/limit).
//
// Shapes: x [n].
func SoftCap(x []float32, limit float32) { kernel.SoftCap(x, limit) }
