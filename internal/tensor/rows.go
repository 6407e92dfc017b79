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

// GateSiLU sets gate to SiLU(gate) · up.
//
// Shapes: gate, up [n].
//
// Shazeer 2020 (arXiv:2002.05202).
func GateSiLU(gate, up []float32) { kernel.GateSiLU(gate, up) }

// GateGELU is GateSiLU with the tanh approximation of GELU.
//
// Shapes: gate, up [n].
func GateGELU(gate, up []float32) { kernel.GateGELU(gate, up) }

// Scale multiplies x by c.
//
// Shapes: x [n].
func Scale(x []float32, c float32) { kernel.Scale(x, x, c) }

// SoftCap sets x to limit·tanh(x/limit).
//
// Shapes: x [n].
func SoftCap(x []float32, limit float32) { kernel.SoftCap(x, limit) }
