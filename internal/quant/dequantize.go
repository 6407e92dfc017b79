// SPDX-License-Identifier: Apache-2.0

package quant

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// dequantizers holds the reference dequantiser of each supported type. They are given whole blocks that match dst.
var dequantizers = map[Type]func(dst []float32, src []byte){
	F32:   dequantizeF32,
	F16:   dequantizeF16,
	BF16:  dequantizeBF16,
	Q40:   dequantizeQ40,
	Q41:   dequantizeQ41,
	Q50:   dequantizeQ50,
	Q51:   dequantizeQ51,
	Q80:   dequantizeQ80,
	Q81:   dequantizeQ81,
	Q2K:   dequantizeQ2K,
	Q3K:   dequantizeQ3K,
	Q4K:   dequantizeQ4K,
	Q5K:   dequantizeQ5K,
	Q6K:   dequantizeQ6K,
	IQ4NL: dequantizeIQ4NL,
	IQ4XS: dequantizeIQ4XS,
	MXFP4: dequantizeMXFP4,
}

// Dequantize sets dst to the values of src.
//
// Shapes: dst [n], src the bytes of n values of type t; n is a multiple of t.BlockElems().
// It fails for a type that has no dequantiser and for lengths that do not belong together. The values are those
// of ggml's reference routines, bit for bit.
func Dequantize(dst []float32, t Type, src []byte) error {
	dequantize, ok := dequantizers[t]
	if !ok {
		return fmt.Errorf("quant: dequantize %v: type not supported", t)
	}
	if err := checkLengths(t, len(dst), len(src)); err != nil {
		return fmt.Errorf("quant: dequantize %v: %w", t, err)
	}
	dequantize(dst, src)
	return nil
}

// checkLengths says what is wrong with values as the length of a row of type t, or with bytes as its size.
func checkLengths(t Type, values, bytes int) error {
	if values%t.BlockElems() != 0 {
		return fmt.Errorf("got %d values, want a multiple of %d", values, t.BlockElems())
	}
	if want := t.RowBytes(values); bytes != want {
		return fmt.Errorf("got %d bytes for %d values, want %d", bytes, values, want)
	}
	return nil
}

// blocks views bytes as blocks. B is a struct of bytes only, so any address will do.
func blocks[B any](src []byte) []B {
	var b B
	if len(src) == 0 {
		return nil
	}
	return unsafe.Slice((*B)(unsafe.Pointer(unsafe.SliceData(src))), len(src)/int(unsafe.Sizeof(b)))
}

// half is a little-endian IEEE half float in a block.
type half [2]byte

// value is the half float as a float32.
func (h half) value() float32 { return F16ToF32(binary.LittleEndian.Uint16(h[:])) }

// set rounds f into h.
func (h *half) set(f float32) { binary.LittleEndian.PutUint16(h[:], F32ToF16(f)) }

func dequantizeF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func dequantizeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = F16ToF32(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

func dequantizeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = BF16ToF32(binary.LittleEndian.Uint16(src[2*i:]))
	}
}
