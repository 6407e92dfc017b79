// SPDX-License-Identifier: Apache-2.0

package quant

import (
	"math"
	"math/rand/v2"
	"testing"
)

// relativeError is the squared error of x after a round trip through type t, over the sum of squares of x.
func relativeError(t *testing.T, typ Type, x []float32) float64 {
	t.Helper()
	data, got := make([]byte, typ.RowBytes(len(x))), make([]float32, len(x))
	if err := Quantize(data, typ, x); err != nil {
		t.Fatal(err)
	}
	if err := Dequantize(got, typ, data); err != nil {
		t.Fatal(err)
	}
	rest, all := 0.0, 0.0
	for i, v := range x {
		d := float64(got[i]) - float64(v)
		rest += d * d
		all += float64(v) * float64(v)
	}
	return rest / all
}

// The limits are 1.02 times what was measured, so that a worse search shows. tests/quantize compares with llama.cpp.
func TestErrorOfEachTypeIsSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	x := make([]float32, 256*256)
	for i := range x {
		x[i] = float32(r.NormFloat64() * 0.02)
	}
	for _, tt := range []struct {
		typ   Type
		limit float64
	}{
		{Q80, 2.94e-5}, {Q6K, 3.05e-4}, {Q5K, 1.333e-3}, {Q4K, 5.18e-3}, {IQ4NL, 5.75e-3}, {Q40, 7.58e-3}, {MXFP4, 1.28e-2},
	} {
		if got := relativeError(t, tt.typ, x); got > tt.limit {
			t.Errorf("%v: relative error %.4g, want at most %.4g", tt.typ, got, tt.limit)
		}
	}
}

func TestQuantizeKeepsWhatATypeCanHold(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, typ := range []Type{Q4K, Q5K, Q6K, IQ4NL, MXFP4} {
		zeros := make([]float32, 512)
		data, got := make([]byte, typ.RowBytes(512)), make([]float32, 512)
		for i := range data {
			data[i] = 0xAA // what the buffer held before
		}
		if err := Quantize(data, typ, zeros); err != nil {
			t.Fatal(err)
		}
		if err := Dequantize(got, typ, data); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != 0 {
				t.Fatalf("%v: zero %d became %v", typ, i, v)
			}
		}
		// Blocks of very different size, one of them tiny.
		x := make([]float32, 512)
		for i := range x {
			x[i] = float32(r.NormFloat64() * math.Exp2(float64(i/32%8)-20))
		}
		if got := relativeError(t, typ, x); got > 0.02 {
			t.Errorf("%v: relative error %.3g where blocks differ in size", typ, got)
		}
		// One value only in a block, positive and negative.
		for _, sign := range []float32{1, -1} {
			clear(x)
			x[7], x[300] = sign, 3*sign
			if got := relativeError(t, typ, x); got > 0.02 {
				t.Errorf("%v: relative error %.3g for lone values of sign %v", typ, got, sign)
			}
		}
	}
}

func TestNearestRoundsTiesToEven(t *testing.T) {
	for v, want := range map[float32]int32{0: 0, 0.5: 0, 1.5: 2, -0.5: 0, -1.5: -2, 2.6: 3, -2.6: -3, 1000.4: 1000, -4e6: -4e6} {
		if got := nearest(v); got != want {
			t.Errorf("nearest(%v) = %d, want %d", v, got, want)
		}
	}
}

func TestTableCodesAreTheNearestValues(t *testing.T) {
	check := func(name string, values []int8, code func(float32) uint8, v float32) {
		got := values[code(v)]
		for _, value := range values {
			if abs(v-float32(value)) < abs(v-float32(got)) {
				t.Errorf("%s: %v became %d, but %d is nearer", name, v, got, value)
			}
		}
	}
	for i := -1700; i <= 1700; i++ {
		v := float32(i)/10 + 0.01
		check("IQ4_NL", nonlinear[:], nonlinearCode, v)
		check("MXFP4", fp4Halves[:], float4Code, v/10)
	}
}

func TestPackedScalesKeepSixBits(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	var p packedScales
	var want [8][2]uint8
	for b := range want {
		want[b] = [2]uint8{uint8(r.IntN(64)), uint8(r.IntN(64))}
		p.set(b, want[b][0], want[b][1])
	}
	for b, w := range want {
		if scale, minimum := p.at(b); scale != w[0] || minimum != w[1] {
			t.Errorf("sub-block %d: got %d, %d, want %v", b, scale, minimum, w)
		}
	}
}

func BenchmarkQuantize(b *testing.B) {
	r := rand.New(rand.NewPCG(17, 18))
	x := make([]float32, 4096)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	for _, typ := range []Type{Q80, Q6K, Q5K, Q4K, Q40, IQ4NL, MXFP4} {
		dst := make([]byte, typ.RowBytes(len(x)))
		b.Run(typ.String(), func(b *testing.B) {
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				if err := Quantize(dst, typ, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
