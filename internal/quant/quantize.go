// SPDX-License-Identifier: Apache-2.0

package quant

import (
	"encoding/binary"
	"fmt"
	"math"
)

// quantizers holds the reference quantiser of each type that has one.
var quantizers = map[Type]func(dst []byte, src []float32){
	F32:   quantizeF32,
	F16:   quantizeF16,
	BF16:  quantizeBF16,
	Q40:   quantizeQ40,
	Q41:   quantizeQ41,
	Q50:   quantizeQ50,
	Q51:   quantizeQ51,
	Q80:   quantizeQ80,
	Q4K:   quantizeQ4K,
	Q5K:   quantizeQ5K,
	Q6K:   quantizeQ6K,
	IQ4NL: quantizeIQ4NL,
	MXFP4: quantizeMXFP4,
}

// Quantize sets dst to what type t has for the values of src, block by block and without regard to which values matter
// more. The legacy formats take their scale from the largest magnitude, as ggml's reference routines do; the K formats,
// IQ4_NL and MXFP4 look for the scales that leave the least squared error.
//
// Shapes: src [n], dst the bytes of n values of type t; n is a multiple of t.BlockElems().
// It fails for a type that has no quantiser and for lengths that do not belong together. Values must be finite.
func Quantize(dst []byte, t Type, src []float32) error {
	quantize, ok := quantizers[t]
	if !ok {
		return fmt.Errorf("quant: quantize %v: type not supported", t)
	}
	if err := checkLengths(t, len(src), len(dst)); err != nil {
		return fmt.Errorf("quant: quantize %v: %w", t, err)
	}
	quantize(dst, src)
	return nil
}

func quantizeF32(dst []byte, src []float32) {
	for i, f := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(f))
	}
}

func quantizeF16(dst []byte, src []float32) {
	for i, f := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], F32ToF16(f))
	}
}

func quantizeBF16(dst []byte, src []float32) {
	for i, f := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], F32ToBF16(f))
	}
}

// largest gives the value of x with the largest magnitude, the first of equals.
func largest(x []float32) float32 {
	var best float32
	for _, f := range x {
		if abs(f) > abs(best) {
			best = f
		}
	}
	return best
}

func abs(f float32) float32 { return math.Float32frombits(math.Float32bits(f) &^ (1 << 31)) }

// inverse is 1/d, or 0 for a block of zeros.
func inverse(d float32) float32 {
	if d == 0 {
		return 0
	}
	return 1 / d
}

// level cuts f to an integer from 0 to top.
func level(f float32, top int) uint8 { return uint8(max(0, min(top, int(f)))) }

// The value of largest magnitude becomes the lowest level, which symmetric formats have one more of below zero.

func quantizeQ40(dst []byte, src []float32) {
	bs := blocks[blockQ40](dst)
	for n := range bs {
		b, x := &bs[n], src[32*n:32*n+32]
		d := largest(x) / -8
		id := inverse(d)
		b.d.set(d)
		for i := range b.qs {
			b.qs[i] = level(float32(x[i]*id)+8.5, 15) | level(float32(x[i+16]*id)+8.5, 15)<<4
		}
	}
}

func quantizeQ50(dst []byte, src []float32) {
	bs := blocks[blockQ50](dst)
	for n := range bs {
		b, x := &bs[n], src[32*n:32*n+32]
		d := largest(x) / -16
		id := inverse(d)
		b.d.set(d)
		var high uint32
		for i := range b.qs {
			lo, hi := level(float32(x[i]*id)+16.5, 31), level(float32(x[i+16]*id)+16.5, 31)
			b.qs[i] = lo&15 | hi<<4
			high |= uint32(lo>>4)<<i | uint32(hi>>4)<<(i+16)
		}
		binary.LittleEndian.PutUint32(b.qh[:], high)
	}
}

// span gives the smallest and the largest value of x.
func span(x []float32) (low, high float32) {
	low, high = x[0], x[0]
	for _, f := range x[1:] {
		low, high = min(low, f), max(high, f)
	}
	return low, high
}

func quantizeQ41(dst []byte, src []float32) {
	bs := blocks[blockQ41](dst)
	for n := range bs {
		b, x := &bs[n], src[32*n:32*n+32]
		low, high := span(x)
		d := (high - low) / 15
		id := inverse(d)
		b.d.set(d)
		b.m.set(low)
		for i := range b.qs {
			b.qs[i] = level(float32((x[i]-low)*id)+0.5, 15) | level(float32((x[i+16]-low)*id)+0.5, 15)<<4
		}
	}
}

func quantizeQ51(dst []byte, src []float32) {
	bs := blocks[blockQ51](dst)
	for n := range bs {
		b, x := &bs[n], src[32*n:32*n+32]
		low, high := span(x)
		d := (high - low) / 31
		id := inverse(d)
		b.d.set(d)
		b.m.set(low)
		var fifth uint32
		for i := range b.qs {
			lo, hi := level(float32((x[i]-low)*id)+0.5, 31), level(float32((x[i+16]-low)*id)+0.5, 31)
			b.qs[i] = lo&15 | hi<<4
			fifth |= uint32(lo>>4)<<i | uint32(hi>>4)<<(i+16)
		}
		binary.LittleEndian.PutUint32(b.qh[:], fifth)
	}
}

func quantizeQ80(dst []byte, src []float32) {
	bs := blocks[blockQ80](dst)
	for n := range bs {
		b, x := &bs[n], src[32*n:32*n+32]
		d := abs(largest(x)) / 127
		id := inverse(d)
		b.d.set(d)
		for i := range b.qs {
			b.qs[i] = int8(math.Round(float64(x[i] * id)))
		}
	}
}
