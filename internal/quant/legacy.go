// SPDX-License-Identifier: Apache-2.0

package quant

import (
	"encoding/binary"
	"unsafe"
)

// The legacy formats: blocks of 32. In all nibble formats byte i holds value i in its low and value i+16 in its
// high nibble; in the 5-bit ones bit i of qh is the fifth bit of value i.
type (
	// blockQ40: value = (q - 8) d.
	blockQ40 struct {
		d  half
		qs [16]byte
	}
	// blockQ41: value = q d + m.
	blockQ41 struct {
		d, m half
		qs   [16]byte
	}
	// blockQ50: value = (q - 16) d.
	blockQ50 struct {
		d  half
		qh [4]byte
		qs [16]byte
	}
	// blockQ51: value = q d + m.
	blockQ51 struct {
		d, m half
		qh   [4]byte
		qs   [16]byte
	}
	// blockQ80: value = q d.
	blockQ80 struct {
		d  half
		qs [32]int8
	}
	// blockQ81 is blockQ80 with d times the sum of qs after d, which says nothing new.
	blockQ81 struct {
		d  half
		_  half
		qs [32]int8
	}
)

// The sizes that files rely on.
var (
	_ [18]byte = [unsafe.Sizeof(blockQ40{})]byte{}
	_ [20]byte = [unsafe.Sizeof(blockQ41{})]byte{}
	_ [22]byte = [unsafe.Sizeof(blockQ50{})]byte{}
	_ [24]byte = [unsafe.Sizeof(blockQ51{})]byte{}
	_ [34]byte = [unsafe.Sizeof(blockQ80{})]byte{}
	_ [36]byte = [unsafe.Sizeof(blockQ81{})]byte{}
)

func dequantizeQ40(dst []float32, src []byte) {
	for n, b := range blocks[blockQ40](src) {
		y, d := dst[32*n:32*n+32], b.d.value()
		for i, q := range b.qs {
			y[i] = float32(int(q&15)-8) * d
			y[i+16] = float32(int(q>>4)-8) * d
		}
	}
}

// The conversions around products keep compilers from fusing them with the sum, which would round only once.

func dequantizeQ41(dst []float32, src []byte) {
	for n, b := range blocks[blockQ41](src) {
		y, d, m := dst[32*n:32*n+32], b.d.value(), b.m.value()
		for i, q := range b.qs {
			y[i] = float32(float32(q&15)*d) + m
			y[i+16] = float32(float32(q>>4)*d) + m
		}
	}
}

func dequantizeQ50(dst []float32, src []byte) {
	for n, b := range blocks[blockQ50](src) {
		y, d := dst[32*n:32*n+32], b.d.value()
		high := binary.LittleEndian.Uint32(b.qh[:])
		for i, q := range b.qs {
			y[i] = float32(int(uint32(q&15)|high>>i&1<<4)-16) * d
			y[i+16] = float32(int(uint32(q>>4)|high>>(i+16)&1<<4)-16) * d
		}
	}
}

func dequantizeQ51(dst []float32, src []byte) {
	for n, b := range blocks[blockQ51](src) {
		y, d, m := dst[32*n:32*n+32], b.d.value(), b.m.value()
		high := binary.LittleEndian.Uint32(b.qh[:])
		for i, q := range b.qs {
			y[i] = float32(float32(uint32(q&15)|high>>i&1<<4)*d) + m
			y[i+16] = float32(float32(uint32(q>>4)|high>>(i+16)&1<<4)*d) + m
		}
	}
}

func dequantizeQ80(dst []float32, src []byte) {
	for n, b := range blocks[blockQ80](src) {
		y, d := dst[32*n:32*n+32], b.d.value()
		for i, q := range b.qs {
			y[i] = float32(q) * d
		}
	}
}

func dequantizeQ81(dst []float32, src []byte) {
	for n, b := range blocks[blockQ81](src) {
		y, d := dst[32*n:32*n+32], b.d.value()
		for i, q := range b.qs {
			y[i] = float32(q) * d
		}
	}
}
