// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// dotFused is the definition of Dot for one output, with true fma.
func dotFused(f Float, w []byte, x []float32) float32 {
	var sums [dotCols]float32
	values := make([]float32, len(x))
	f.decode(values, w)
	for i, v := range x {
		sums[i%dotCols] = fma(values[i], v, sums[i%dotCols])
	}
	return tree(&sums)
}

func TestDotGivesTheBitsOfTheTwin(t *testing.T) {
	withTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for round := range 300 {
			f := Float(round % floats)
			rows, tokens, cols := 1+r.IntN(9), 1+r.IntN(9), dotCols*(1+r.IntN(9))
			if round%10 == 9 {
				cols = 1 + r.IntN(50)
			}
			w, x := randomFloatRows(r, f, rows*cols), make([]float32, tokens*cols)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			ldd := rows + r.IntN(3)
			got := make([]float32, tokens*ldd)
			Dot(got, ldd, FloatRows{Type: f, Cols: cols, Bytes: w}, x)
			for token := range tokens {
				for o := range rows {
					row, input := w[o*cols*f.Bytes():][:cols*f.Bytes()], x[token*cols:][:cols]
					g, want := got[token*ldd+o], dotFused(f, row, input)
					exact := active != generic && cols%dotCols == 0
					if exact && math.Float32bits(g) != math.Float32bits(want) || math.Abs(float64(g-want)) > 1e-5*magnitudes(f, row, input) {
						t.Fatalf("float %d [%d, %d], row %d of %d, output %d: got %v, want %v", f, rows, cols, token, tokens, o, g, want)
					}
				}
			}
		}
	})
}

// dotPairsFused is the definition of DotBF16 for one output, as Intel documents VDPBF16PS: the odd column first, each product
// by an fma of its own.
func dotPairsFused(w []byte, x []uint16) float32 {
	var sums [dotCols]float32
	values := make([]float32, len(x))
	BF16.decode(values, w)
	for i := 0; i < len(x); i += 2 {
		sum := &sums[i/2%dotCols]
		for _, at := range []int{i + 1, i} {
			*sum = fma(values[at], math.Float32frombits(uint32(x[at])<<16), *sum)
		}
	}
	return tree(&sums)
}

// TestDotQuartersGiveTheBitsOfDot does the quarters in two parts.
func TestDotQuartersGiveTheBitsOfDot(t *testing.T) {
	withTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for round := range 180 {
			quarter, cols, tokens := r.IntN(9), dotCols*(1+r.IntN(4)), 1+r.IntN(17)
			if round%5 == 4 {
				cols = 1 + r.IntN(50)
			}
			rows := DotRows*quarter + r.IntN(DotRows)
			x := make([]float32, tokens*cols)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			f := Float(round % floats)
			w := FloatRows{Type: f, Cols: cols, Bytes: randomFloatRows(r, f, rows*cols)}
			got, want := make([]float32, tokens*rows), make([]float32, tokens*rows)
			Dot(want, rows, w, x)
			for token := range tokens {
				clear(want[token*rows+DotRows*quarter : (token+1)*rows])
			}
			middle := quarter / 3
			DotQuarters(got, w, middle, quarter, x)
			DotQuarters(got, w, 0, middle, x)
			if !slices.Equal(got, want) {
				t.Fatalf("float %d [%d, %d] with %d rows: got %v, want %v", f, rows, cols, tokens, got, want)
			}
		}
	})
}

// randomFloatRows makes n weights: those of F16 have any finite bits, others a normal distribution.
func randomFloatRows(r *rand.Rand, f Float, n int) []byte {
	b := make([]byte, n*f.Bytes())
	for i := range n {
		switch v := float32(r.NormFloat64()); f {
		case F32:
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
		case F16:
			binary.LittleEndian.PutUint16(b[2*i:], uint16(r.Uint32())&0xBFFF)
		case BF16:
			binary.LittleEndian.PutUint16(b[2*i:], uint16(math.Float32bits(v)>>16))
		}
	}
	return b
}

func TestDotBF16IsItsDefinitionAndDoesNotDependOnCompany(t *testing.T) {
	if !hasPairs() {
		t.Skip("this CPU, or SAMPO_CPU, has no product of BF16 numbers")
	}
	r := rand.New(rand.NewPCG(5, 6))
	exact, all := 0, 0
	for range 300 {
		rows, tokens, cols := 1+r.IntN(9), 1+r.IntN(13), pairCols*(1+r.IntN(9))
		w, x := make([]byte, rows*cols*2), make([]uint16, tokens*cols)
		for i := range x {
			x[i] = bf16(float32(r.NormFloat64()))
		}
		for i := range rows * cols {
			binary.LittleEndian.PutUint16(w[2*i:], bf16(float32(r.NormFloat64())))
		}
		weights := FloatRows{Type: BF16, Cols: cols, Bytes: w}
		if !weights.TakesBF16() {
			t.Fatalf("%d columns are not taken", cols)
		}
		ldd := rows + r.IntN(3)
		got, alone := make([]float32, tokens*ldd), make([]float32, rows)
		DotBF16(got, ldd, weights, x)
		for token := range tokens {
			input := x[token*cols:][:cols]
			DotBF16(alone, rows, weights, input)
			for o := range rows {
				g, row := got[token*ldd+o], w[o*cols*2:][:cols*2]
				if math.Float32bits(g) != math.Float32bits(alone[o]) {
					t.Fatalf("[%d, %d], row %d of %d, output %d: got %v, alone %v", rows, cols, token, tokens, o, g, alone[o])
				}
				floats := make([]float32, cols)
				for i, v := range input {
					floats[i] = math.Float32frombits(uint32(v) << 16)
				}
				want := dotPairsFused(row, input)
				all++
				if g == want {
					exact++
				}
				if math.Abs(float64(g-want)) > 1e-5*magnitudes(BF16, row, floats) {
					t.Fatalf("[%d, %d], row %d of %d, output %d: got %v, want %v", rows, cols, token, tokens, o, g, want)
				}
			}
		}
	}
	t.Logf("%d of %d outputs have the bits of the definition", exact, all)
}

// magnitudes is the sum of the magnitudes of the products.
func magnitudes(f Float, w []byte, x []float32) (sum float64) {
	values := make([]float32, len(x))
	f.decode(values, w)
	for i, v := range x {
		sum += math.Abs(float64(values[i]) * float64(v))
	}
	return sum
}
