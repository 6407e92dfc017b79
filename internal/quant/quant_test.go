// SPDX-License-Identifier: Apache-2.0

package quant

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestTypesHaveGGMLNamesAndSizes(t *testing.T) {
	for _, tt := range []struct {
		typ    Type
		number uint32
		name   string
		row    int // bytes of 256 values
	}{
		{F32, 0, "F32", 1024},
		{F16, 1, "F16", 512},
		{Q40, 2, "Q4_0", 144},
		{Q41, 3, "Q4_1", 160},
		{Q50, 6, "Q5_0", 176},
		{Q51, 7, "Q5_1", 192},
		{Q80, 8, "Q8_0", 272},
		{Q81, 9, "Q8_1", 288},
		{Q2K, 10, "Q2_K", 84},
		{Q3K, 11, "Q3_K", 110},
		{Q4K, 12, "Q4_K", 144},
		{Q5K, 13, "Q5_K", 176},
		{Q6K, 14, "Q6_K", 210},
		{IQ4NL, 20, "IQ4_NL", 144},
		{IQ4XS, 23, "IQ4_XS", 136},
		{BF16, 30, "BF16", 512},
		{MXFP4, 39, "MXFP4", 136},
	} {
		if uint32(tt.typ) != tt.number || tt.typ.String() != tt.name || tt.typ.RowBytes(256) != tt.row {
			t.Errorf("got %d %q with %d bytes for 256 values, want %d %q with %d", uint32(tt.typ), tt.typ, tt.typ.RowBytes(256), tt.number, tt.name, tt.row)
		}
		if got, ok := Parse(tt.name); !ok || got != tt.typ {
			t.Errorf("Parse(%q) = %v, %v", tt.name, got, ok)
		}
	}
}

func TestUnknownTypesAreNamedByNumber(t *testing.T) {
	for _, typ := range []Type{4, 5, 31, 36, 43, 99} {
		if typ.Known() || typ.Supported() || typ.InGGUF() || !strings.HasPrefix(typ.String(), "type ") {
			t.Errorf("type number %d counts as known: %v", uint32(typ), typ)
		}
	}
	if F8E4M3.InGGUF() || !F8E4M3.Known() {
		t.Error("F8_E4M3 should be known but have no number in GGUF files")
	}
}

// ggml has no dequantiser of Q8_1, whose blocks are those of Q8_0 with the sum of the values behind the scale.
func TestQ81IsQ80WithSums(t *testing.T) {
	for _, c := range readGolden(t).Dequantize {
		if c.Type != "Q8_0" {
			continue
		}
		var blocks []byte
		for at := 0; at < len(c.Blocks); at += 34 {
			blocks = append(append(append(blocks, c.Blocks[at:at+2]...), 0x12, 0x34), c.Blocks[at+2:at+34]...)
		}
		got, want := make([]float32, len(c.Values)/4), c.Values.floats()
		if err := Dequantize(got, Q81, blocks); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v (%v), want %v", got, err, want)
		}
	}
}

func TestFloatsAreTakenAsTheyAre(t *testing.T) {
	bits := []uint32{0, 0x80000000, 1, 0x3f800000, 0x7f7fffff, 0x7f800000, 0xff800000}
	var src []byte
	for _, b := range bits {
		src = binary.LittleEndian.AppendUint32(src, b)
	}
	got := make([]float32, len(bits))
	if err := Dequantize(got, F32, src); err != nil {
		t.Fatal(err)
	}
	for i, f := range got {
		if math.Float32bits(f) != bits[i] {
			t.Errorf("got %#x, want %#x", math.Float32bits(f), bits[i])
		}
	}
}

func TestRowBytesPanicsOnHalfABlock(t *testing.T) {
	defer func() {
		if got, want := recover(), "quant: a row of 100 values cannot be Q4_K"; got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	Q4K.RowBytes(100)
}

func TestWrongLengthsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		typ           Type
		values, bytes int
		want          string
	}{
		{Q40, 31, 18, "quant: dequantize Q4_0: got 31 values, want a multiple of 32"},
		{Q40, 32, 17, "quant: dequantize Q4_0: got 17 bytes for 32 values, want 18"},
		{IQ1S, 256, 50, "quant: dequantize IQ1_S: type not supported"},
		{99, 256, 50, "quant: dequantize type 99: type not supported"},
	} {
		err := Dequantize(make([]float32, tt.values), tt.typ, make([]byte, tt.bytes))
		if err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	if err := Quantize(make([]byte, 84), Q2K, make([]float32, 256)); err == nil {
		t.Error("Quantize to Q2_K should say that it cannot")
	}
	for typ := range dequantizers {
		if err := Dequantize(nil, typ, nil); err != nil {
			t.Errorf("no values of %v: %v", typ, err)
		}
	}
}

func TestEveryHalfFloatHasItsValue(t *testing.T) {
	for h := range 1 << 16 {
		exponent, mantissa := h>>10&31, h&1023
		want := math.Ldexp(float64(mantissa), -24)
		if exponent > 0 {
			want = math.Ldexp(float64(mantissa+1024), exponent-25)
		}
		if h>>15 == 1 {
			want = math.Copysign(want, -1)
		}
		got := F16ToF32(uint16(h))
		switch {
		case exponent == 31 && mantissa != 0:
			if got == got {
				t.Fatalf("F16ToF32(%#x) = %g, want NaN", h, got)
			}
			continue
		case exponent == 31:
			want = math.Inf(1 - h>>15*2)
		}
		if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
			t.Fatalf("F16ToF32(%#x) = %g, want %g", h, got, want)
		}
		if back := F32ToF16(got); back != uint16(h) {
			t.Fatalf("F32ToF16(%g) = %#x, want %#x", got, back, h)
		}
	}
}

func TestHalfFloatsRoundToNearestEven(t *testing.T) {
	for h := range 0x7bff {
		low, high := float64(F16ToF32(uint16(h))), float64(F16ToF32(uint16(h+1)))
		middle := float32((low + high) / 2)
		even := uint16(h + h&1)
		for _, tt := range []struct {
			f    float32
			want uint16
		}{
			{middle, even},
			{math.Nextafter32(middle, 0), uint16(h)},
			{math.Nextafter32(middle, 1e9), uint16(h + 1)},
		} {
			if got := F32ToF16(tt.f); got != tt.want {
				t.Fatalf("F32ToF16(%g) = %#x, want %#x", tt.f, got, tt.want)
			}
			if got := F32ToF16(-tt.f); got != tt.want|0x8000 {
				t.Fatalf("F32ToF16(%g) = %#x, want %#x", -tt.f, got, tt.want|0x8000)
			}
		}
	}
	for f, want := range map[float32]uint16{65519.996: 0x7bff, 65520: 0x7c00, 1e30: 0x7c00, 1e-30: 0, float32(math.Inf(1)): 0x7c00} {
		if got := F32ToF16(f); got != want {
			t.Errorf("F32ToF16(%g) = %#x, want %#x", f, got, want)
		}
	}
	if got := F32ToF16(float32(math.NaN())); got != 0x7e00 {
		t.Errorf("F32ToF16(NaN) = %#x, want 0x7e00", got)
	}
}

func TestBFloatsRoundToNearestEven(t *testing.T) {
	for _, tt := range []struct {
		bits uint32
		want uint16
	}{
		{0x3f800000, 0x3f80},
		{0x3f808000, 0x3f80}, // a tie: to even
		{0x3f818000, 0x3f82}, // a tie: to even
		{0x3f808001, 0x3f81},
		{0x7f7fffff, 0x7f80}, // rounds up to infinity
		{0xff800000, 0xff80},
		{0x7f800001, 0x7fc0}, // a NaN stays one
	} {
		if got := F32ToBF16(math.Float32frombits(tt.bits)); got != tt.want {
			t.Errorf("F32ToBF16(%#x) = %#x, want %#x", tt.bits, got, tt.want)
		}
	}
	for h := range 0x7f81 {
		if got := F32ToBF16(BF16ToF32(uint16(h))); got != uint16(h) {
			t.Fatalf("F32ToBF16(BF16ToF32(%#x)) = %#x", h, got)
		}
	}
}

func TestQuantizedValuesAreClose(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	src := make([]float32, 320)
	for i := range src {
		src[i] = float32(rng.NormFloat64())
	}
	for typ, tolerance := range map[Type]float32{ // about a step of blocks whose largest value is about 3
		F32: 0, F16: 2e-3, BF16: 2e-2, Q40: 0.5, Q41: 0.3, Q50: 0.25, Q51: 0.15, Q80: 0.02,
	} {
		packed, got := make([]byte, typ.RowBytes(len(src))), make([]float32, len(src))
		if err := Quantize(packed, typ, src); err != nil {
			t.Fatal(err)
		}
		if err := Dequantize(got, typ, packed); err != nil {
			t.Fatal(err)
		}
		for i := range src {
			if abs(got[i]-src[i]) > tolerance {
				t.Errorf("%v: value %d of %g comes back as %g", typ, i, src[i], got[i])
				break
			}
		}
	}
}

func BenchmarkDequantize(b *testing.B) {
	dst := make([]float32, 4096)
	for _, typ := range []Type{F16, BF16, Q40, Q50, Q80, Q4K, Q6K} {
		b.Run(typ.String(), func(b *testing.B) {
			src := make([]byte, typ.RowBytes(len(dst)))
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if err := Dequantize(dst, typ, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestEvery8BitFloatHasItsValue(t *testing.T) {
	for b := range 256 {
		exponent, mantissa := b>>3&15, b&7
		want := math.Ldexp(float64(mantissa), -9)
		if exponent > 0 {
			want = math.Ldexp(float64(mantissa+8), exponent-10)
		}
		if b>>7 == 1 {
			want = math.Copysign(want, -1)
		}
		got := F8E4M3ToF32(byte(b))
		if b&0x7f == 0x7f {
			if got == got {
				t.Errorf("F8E4M3ToF32(%#x) = %g, want NaN", b, got)
			}
		} else if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
			t.Errorf("F8E4M3ToF32(%#x) = %g, want %g", b, got, want)
		}
	}
}
