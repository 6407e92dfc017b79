// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/quant"
)

// An identity matrix gives back the activations as the kernels see them: those and the residual are the input.
func TestResidualIsWhatTheKernelsLose(t *testing.T) {
	const n = 64
	pool := NewPool(1)
	defer pool.Close()
	identity := make([]float32, n*n)
	for i := range n {
		identity[i*n+i] = 127 // a weight that Q8_0 keeps exactly
	}
	data := make([]byte, n*quant.Q80.RowBytes(n))
	if err := quant.Quantize(data, quant.Q80, identity); err != nil {
		t.Fatal(err)
	}
	w, err := NewMatrix(pool, quant.Q80, n, n, data)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		x, residual, seen := make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = float32(random.NormFloat64() * math.Exp(4*random.NormFloat64()))
		}
		Residual(residual, x)
		var a Activations
		a.Set(x, 1, n)
		pool.Mul(&a, Product{Dst: seen, W: w})
		for i := range x {
			block := x[i/kernel.BlockCols*kernel.BlockCols:][:kernel.BlockCols]
			top := 0.0
			for _, v := range block {
				top = max(top, math.Abs(float64(v)))
			}
			if diff := math.Abs(float64(seen[i])/127 + float64(residual[i]) - float64(x[i])); diff > 1e-6*top {
				t.Fatalf("x[%d] = %v: activation %v and residual %v, off by %v", i, x[i], seen[i]/127, residual[i], diff)
			}
		}
	}
}

func TestResidualOfNothingIsNothing(t *testing.T) {
	dst := []float32{31: 1}
	Residual(dst, make([]float32, 32))
	for i, v := range dst {
		if v != 0 {
			t.Errorf("dst[%d] = %v, want 0", i, v)
		}
	}
}

func BenchmarkResidual(b *testing.B) {
	x, dst := make([]float32, 1<<16), make([]float32, 1<<16)
	for i := range x {
		x[i] = float32(i%97) - 48
	}
	b.SetBytes(4 << 16)
	for b.Loop() {
		Residual(dst, x)
	}
}
