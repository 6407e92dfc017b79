// SPDX-License-Identifier: Apache-2.0

package quant

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// The table formats: a code of four bits is the place of a value in a fixed table.
type (
	// blockIQ4NL: 32 values; value = d nonlinear[q], nibbles in the order of Q4_0.
	blockIQ4NL struct {
		d  half
		qs [16]byte
	}
	// blockIQ4XS: eight sub-blocks b of 32 values like those of IQ4_NL; value = (d (scale - 32)) nonlinear[q]. The low
	// four bits of a scale are a nibble of scalesLow, the upper two are bits 2b and 2b+1 of scalesHigh.
	blockIQ4XS struct {
		d          half
		scalesHigh [2]byte
		scalesLow  [4]byte
		qs         [128]byte
	}
	// blockMXFP4: 32 values; value = 2^(e-128) halves[q], nibbles in the order of Q4_0.
	blockMXFP4 struct {
		e  byte
		qs [16]byte
	}
)

// The sizes that files rely on.
var (
	_ [18]byte  = [unsafe.Sizeof(blockIQ4NL{})]byte{}
	_ [136]byte = [unsafe.Sizeof(blockIQ4XS{})]byte{}
	_ [17]byte  = [unsafe.Sizeof(blockMXFP4{})]byte{}
)

// nonlinear are the values of IQ4_NL and IQ4_XS: closer together near zero, where most weights are.
var nonlinear = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// fp4Halves are the values of a 4-bit float (a sign, two bits of exponent, one of mantissa) in halves.
var fp4Halves = [16]int8{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}

// PowerOfTwo is 2^(e-128), the scale of an MXFP4 block that counts in halves.
//
// Shapes: one value. Exact, being subnormal for e below 2.
func PowerOfTwo(e byte) float32 {
	if e < 2 {
		return math.Float32frombits(0x00200000 << e)
	}
	return math.Float32frombits(uint32(e-1) << 23)
}

// scale gives the scale of sub-block b.
func (block *blockIQ4XS) scale(b int) int {
	low := block.scalesLow[b/2] >> (b % 2 * 4) & 15
	high := binary.LittleEndian.Uint16(block.scalesHigh[:]) >> (2 * b) & 3
	return int(low) + int(high)<<4 - 32
}

// lookUp sets y to the values of 32 nibbles in a table, times d.
func lookUp(y []float32, qs []byte, table *[16]int8, d float32) {
	for i, q := range qs[:16] {
		y[i] = d * float32(table[q&15])
		y[i+16] = d * float32(table[q>>4])
	}
}

func dequantizeIQ4NL(dst []float32, src []byte) {
	for n, block := range blocks[blockIQ4NL](src) {
		lookUp(dst[32*n:][:32], block.qs[:], &nonlinear, block.d.value())
	}
}

func dequantizeIQ4XS(dst []float32, src []byte) {
	for n, block := range blocks[blockIQ4XS](src) {
		d := block.d.value()
		for b := range 8 {
			lookUp(dst[256*n+32*b:][:32], block.qs[16*b:][:16], &nonlinear, d*float32(block.scale(b)))
		}
	}
}

func dequantizeMXFP4(dst []float32, src []byte) {
	for n, block := range blocks[blockMXFP4](src) {
		lookUp(dst[32*n:][:32], block.qs[:], &fp4Halves, PowerOfTwo(block.e))
	}
}
