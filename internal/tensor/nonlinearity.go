// SPDX-License-Identifier: Apache-2.0

package tensor

import "github.com/sampo-ai/sampo/internal/kernel"

// A Nonlinearity is the function between the matrices of a feed-forward part.
type Nonlinearity uint8

// The nonlinearities.
const (
	SiLU     Nonlinearity = iota // x · sigmoid(x)
	GELUTanh                     // tanh approximation of GELU (arXiv:1606.08415)
	ReLU2                        // max(x, 0)² (arXiv:2109.08668)
)

// ones is what a function without a gate multiplies.
var ones = func() (v [256]float32) {
	for i := range v {
		v[i] = 1
	}
	return v
}()

// Apply sets x to f(x).
//
// Shapes: x [n].
func (f Nonlinearity) Apply(x []float32) {
	for len(x) > 0 {
		n := min(len(x), len(ones))
		f.Gate(x[:n], ones[:n])
		x = x[n:]
	}
}

// Gate sets gate to f(gate) · up.
//
// Shapes: gate, up [n].
//
// Shazeer 2020 (arXiv:2002.05202).
func (f Nonlinearity) Gate(gate, up []float32) {
	switch f {
	case GELUTanh:
		kernel.GateGELU(gate, up)
	case ReLU2:
		for i, x := range gate {
			positive := max(x, 0)
			gate[i] = float32(positive*positive) * up[i]
		}
	default:
		kernel.GateSiLU(gate, up)
	}
}
