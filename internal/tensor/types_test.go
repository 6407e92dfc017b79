// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sampo-ai/sampo/internal/quant"
)

// productBounds are the largest errors of a product of each type, as parts of the root of the sum of its squared terms.
// Float weights leave the rounding of sums; with the others activations are rounded to 8 bits in blocks of 32.
var productBounds = map[quant.Type]float64{
	quant.F32: 2e-6, quant.F16: 2e-6, quant.BF16: 2e-6, quant.Q80: 0.03, quant.Q81: 0.03, quant.Q40: 0.03, quant.Q41: 0.03,
	quant.Q50: 0.03, quant.Q51: 0.03, quant.Q2K: 0.03, quant.Q3K: 0.03, quant.Q4K: 0.03, quant.Q5K: 0.03, quant.Q6K: 0.03,
	quant.IQ4NL: 0.03, quant.IQ4XS: 0.03, quant.MXFP4: 0.03,
}

// The figures of docs/parity.md, and a shape that fills no panel and no tile.
func TestProductOfEachTypeStaysWithinItsBound(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for _, typ := range allTypes {
		t.Run(typ.String(), func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, uint64(typ)))
			checkProduct(t, p, r, typ, [3]int{128, 1024, 16})
			checkProduct(t, p, r, typ, [3]int{1 + r.IntN(70), 256 * (1 + r.IntN(3)), 1 + r.IntN(33)})
		})
	}
}

// checkProduct compares a product of so many weight rows, columns and rows of activations with that of the dequantised weights in
// float64.
func checkProduct(t *testing.T, p *Pool, r *rand.Rand, typ quant.Type, shape [3]int) {
	rows, cols, tokens := shape[0], shape[1], shape[2]
	m, data := randomMatrix(t, p, r, typ, rows, cols)
	x := randomRows(r, tokens*cols)
	weights := make([]float32, rows*cols)
	if err := quant.Dequantize(weights, typ, data); err != nil {
		t.Fatal(err)
	}
	var a Activations
	a.Set(x, tokens, cols)
	got := make([]float32, tokens*rows)
	p.Mul(&a, Product{got, m})
	largest, sum := 0.0, 0.0
	for i := range got {
		row, o := i/rows, i%rows
		want, squares := 0.0, 0.0
		for c := range cols {
			term := float64(weights[o*cols+c]) * float64(x[row*cols+c])
			want += term
			squares += term * term
		}
		off := math.Abs(float64(got[i])-want) / math.Sqrt(squares)
		largest, sum = max(largest, off), sum+off
	}
	t.Logf("[%d, %d] with %d rows: error: largest %.2g, mean %.2g", rows, cols, tokens, largest, sum/float64(len(got)))
	bound, ok := productBounds[typ]
	if m.floats.TakesBF16() {
		bound = 0.008 // activations of 8 bits, but with an exponent each
	}
	if !ok || !(largest <= bound) {
		t.Errorf("[%d, %d] with %d rows: error %g, want at most %g", rows, cols, tokens, largest, bound)
	}
}
