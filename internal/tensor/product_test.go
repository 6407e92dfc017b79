// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/quant"
)

var allTypes = []quant.Type{
	quant.F32, quant.F16, quant.BF16, quant.Q40, quant.Q41, quant.Q50, quant.Q51, quant.Q80, quant.Q4K, quant.Q5K, quant.Q6K,
	quant.Q81, quant.Q2K, quant.Q3K, quant.IQ4NL, quant.IQ4XS, quant.MXFP4,
}

// randomWeights makes bytes of type t whose values are of sensible size: half floats are between 2^-7 and 2^-4.
func randomWeights(r *rand.Rand, t quant.Type, rows, cols int) []byte {
	data := make([]byte, rows*t.RowBytes(cols))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	half := func(at int) {
		binary.LittleEndian.PutUint16(data[at:], uint16(r.Uint32())&0x8FFF|0x2000)
	}
	for at := 0; at < len(data); at += t.BlockBytes() {
		switch t {
		case quant.F32:
			binary.LittleEndian.PutUint32(data[at:], math.Float32bits(float32(r.NormFloat64())))
		case quant.BF16:
			binary.LittleEndian.PutUint16(data[at:], quant.F32ToBF16(float32(r.NormFloat64())))
		case quant.Q41, quant.Q51, quant.Q4K, quant.Q5K:
			half(at)
			half(at + 2)
		case quant.Q6K:
			half(at + 208)
		case quant.Q2K:
			half(at + 80)
			half(at + 82)
		case quant.Q3K:
			half(at + 108)
		case quant.MXFP4:
			data[at] = byte(116 + r.IntN(8))
		default:
			half(at)
		}
	}
	return data
}

func randomMatrix(t testing.TB, p *Pool, r *rand.Rand, typ quant.Type, rows, cols int) (*Matrix, []byte) {
	t.Helper()
	data := randomWeights(r, typ, rows, cols)
	m, err := NewMatrix(p, typ, rows, cols, data)
	if err != nil {
		t.Fatal(err)
	}
	return m, data
}

func randomRows(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func TestRowGivesTheStoredValues(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for _, typ := range allTypes {
		rows, cols := 1+r.IntN(50), 512
		m, data := randomMatrix(t, p, r, typ, rows, cols)
		got, want := make([]float32, cols), make([]float32, cols)
		for i := range rows {
			m.Row(got, i)
			if err := quant.Dequantize(want, typ, data[i*typ.RowBytes(cols):][:typ.RowBytes(cols)]); err != nil {
				t.Fatal(err)
			}
			for c := range want {
				if math.Float32bits(got[c]) != math.Float32bits(want[c]) {
					t.Fatalf("%v: row %d, column %d: got %v, want %v", typ, i, c, got[c], want[c])
				}
			}
		}
	}
}

// TestMulGivesTheSameBitsForAnyNeighbours computes rows alone on one thread and together on several.
func TestMulGivesTheSameBitsForAnyNeighbours(t *testing.T) {
	one := NewPool(1)
	defer one.Close()
	r := rand.New(rand.NewPCG(5, 6))
	for _, threads := range []int{1, 2, 3} {
		p := NewPool(threads)
		for _, typ := range allTypes {
			rows, cols, tokens := 1+r.IntN(200), 256*(1+r.IntN(3)), 1+r.IntN(33)
			m, _ := randomMatrix(t, p, r, typ, rows, cols)
			other, _ := randomMatrix(t, p, r, typ, 33, cols)
			x := randomRows(r, tokens*cols)
			var a, single Activations
			a.Set(x, tokens, cols)
			together, before, after := make([]float32, tokens*rows), make([]float32, tokens*33), make([]float32, tokens*33)
			p.Mul(&a, Product{before, other}, Product{together, m}, Product{after, other})
			alone := make([]float32, rows)
			for row := range tokens {
				single.Set(x[row*cols:], 1, cols)
				one.Mul(&single, Product{alone, m})
				for o, want := range alone {
					if got := together[row*rows+o]; math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("%v [%d, %d], %d threads, row %d of %d, output %d: got %v, alone %v", typ, rows, cols, threads, row, tokens, o, got, want)
					}
				}
			}
		}
		p.Close()
	}
}

func TestMulDoesNotAllocate(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	r := rand.New(rand.NewPCG(7, 8))
	for _, shape := range []struct {
		typ, other quant.Type
		rows, cols int
	}{
		{quant.Q4K, quant.Q80, 3, 256},
		{quant.Q4K, quant.Q80, 300, 2304},
		{quant.F32, quant.BF16, 1, 256},
		{quant.F16, quant.BF16, 2, 256},
		{quant.F32, quant.BF16, 7, 256},
	} {
		m, _ := randomMatrix(t, p, r, shape.typ, 208, shape.cols)
		n, _ := randomMatrix(t, p, r, shape.other, 64, shape.cols)
		x, y, z := randomRows(r, shape.rows*shape.cols), make([]float32, shape.rows*208), make([]float32, shape.rows*64)
		var a Activations
		step := func() {
			a.Set(x, shape.rows, shape.cols)
			p.Mul(&a, Product{y, m}, Product{z, n})
		}
		for range 5 {
			step()
		}
		if got := testing.AllocsPerRun(50, step); got != 0 {
			t.Errorf("%v, %d rows of %d: Set and Mul allocate %v times, want 0", shape.typ, shape.rows, shape.cols, got)
		}
	}
}

func TestNewMatrixRefusesWrongSizes(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	for _, tt := range []struct {
		name              string
		typ               quant.Type
		rows, cols, bytes int
	}{
		{"a type without a kernel", quant.IQ1S, 1, 256, 50},
		{"no rows", quant.F32, 0, 4, 0},
		{"part of a block", quant.Q40, 1, 33, 36},
		{"too few bytes", quant.Q40, 2, 32, 35},
	} {
		if _, err := NewMatrix(p, tt.typ, tt.rows, tt.cols, make([]byte, tt.bytes)); err == nil {
			t.Errorf("%s: got no error", tt.name)
		}
	}
}

// A product of float weights with no rows of activations panicked.
func TestProductOfNoRowsIsNothing(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	r := rand.New(rand.NewPCG(15, 16))
	for _, typ := range allTypes {
		w, _ := randomMatrix(t, p, r, typ, 65, 256)
		var a Activations
		a.Set(nil, 0, 256)
		p.Mul(&a, Product{nil, w})
	}
}

func BenchmarkMul(b *testing.B) {
	p := NewPool(2)
	defer p.Close()
	r := rand.New(rand.NewPCG(9, 10))
	for _, typ := range allTypes {
		for _, tokens := range []int{1, 2, 16, 512} {
			b.Run(fmt.Sprintf("%v/%s/t=%d", typ, kernel.Tier(), tokens), func(b *testing.B) {
				const rows, cols = 2048, 2048
				copies := 1
				if tokens < 512 { // 200 MB: nothing stays in a cache
					copies = 200 << 20 / (rows * typ.RowBytes(cols))
				}
				ws := make([]*Matrix, copies)
				for i := range ws {
					ws[i], _ = randomMatrix(b, p, r, typ, rows, cols)
				}
				x, y := randomRows(r, tokens*cols), make([]float32, tokens*rows)
				var a Activations
				n := 0
				for b.Loop() {
					a.Set(x, tokens, cols)
					p.Mul(&a, Product{y, ws[n%copies]})
					n++
				}
				seconds := b.Elapsed().Seconds()
				b.ReportMetric(float64(n)*float64(ws[0].Bytes())/seconds/1e9, "GB/s")
				b.ReportMetric(float64(n)*rows*cols*float64(tokens)/seconds/1e9, "GMAC/s")
			})
		}
	}
}

// BenchmarkDecode measures products with one row, and with two, as finer activations have, beside reading the same weights.
func BenchmarkDecode(b *testing.B) {
	const rows, cols, unit = 3072, 1024, 512
	p := NewPool(0)
	defer p.Close()
	timer := newQuietTimer(p)
	r := rand.New(rand.NewPCG(11, 12))
	for _, typ := range allTypes {
		ws := make([]*Matrix, benchmarkBytes/4/(rows*typ.RowBytes(cols)))
		for i := range ws {
			ws[i], _ = randomMatrix(b, p, r, typ, rows, cols)
		}
		for _, tokens := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%v/t=%d", typ, tokens), func(b *testing.B) {
				var a Activations
				a.Set(randomRows(r, tokens*cols), tokens, cols)
				y, at := make([]float32, tokens*rows), 0
				next := func() []byte {
					at++
					w := ws[at%len(ws)]
					bytes := w.floats.Bytes
					if w.packed != nil {
						bytes = w.packed.Bytes
					}
					return bytes[:len(bytes)/unit*unit]
				}
				timer.ofReading(b, next, func() { p.Mul(&a, Product{y, ws[at%len(ws)]}) })
			})
		}
	}
}

func BenchmarkNewMatrix(b *testing.B) {
	p := NewPool(2)
	defer p.Close()
	r := rand.New(rand.NewPCG(11, 12))
	for _, typ := range allTypes[3:] {
		b.Run(typ.String(), func(b *testing.B) {
			data := randomWeights(r, typ, 4096, 1024)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := NewMatrix(p, typ, 4096, 1024, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
