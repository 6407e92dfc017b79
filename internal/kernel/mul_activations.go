// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// A quantizeFunc writes the records of one activation row.
type quantizeFunc func(dst *byte, stride uintptr, x *float32, blocks int)

var quantizeTiers [tiers]quantizeFunc

// tinyActivation is the largest magnitude that a block may have and still be taken for zero. Below it the reciprocal of
// the scale would overflow.
const tinyActivation = 0x1p-100

// Quantize turns one row of activations into records of signed bytes: see RecordBytes.
//
// Shapes: x [32*blocks]; record b is the 64 bytes at dst[b*stride].
//
// With m the largest magnitude of a block, its scale is m/127 and a code is x*(127/m) rounded to the nearest integer,
// ties to even. Values must be finite.
func Quantize(dst []byte, stride int, x []float32) {
	blocks := len(x) / BlockCols
	if blocks == 0 {
		return
	}
	_ = dst[(blocks-1)*stride+RecordBytes-1]
	quantizeTiers[active](&dst[0], uintptr(stride), &x[0], blocks)
}

// quantizeTwin is the definition of Quantize.
func quantizeTwin(dst *byte, stride uintptr, x *float32, blocks int) {
	out := unsafe.Slice(dst, uintptr(blocks-1)*stride+RecordBytes)
	in := unsafe.Slice(x, blocks*BlockCols)
	for b := range blocks {
		quantizeBlock((*[RecordBytes]byte)(out[uintptr(b)*stride:]), (*[BlockCols]float32)(in[b*BlockCols:]))
	}
}

func quantizeBlock(record *[RecordBytes]byte, x *[BlockCols]float32) {
	largest := float32(0)
	for _, v := range x {
		largest = max(largest, float32(math.Abs(float64(v))))
	}
	scale, inverse := float32(0), float32(0)
	if largest > tinyActivation {
		scale, inverse = largest/127, 127/largest
	}
	var sums [2]int32
	for i, v := range x {
		code := int8(math.RoundToEven(float64(v * inverse)))
		record[i] = byte(code)
		sums[i/16] += int32(code)
	}
	sum := sums[0] + sums[1]
	binary.LittleEndian.PutUint32(record[recordScale:], math.Float32bits(scale))
	binary.LittleEndian.PutUint32(record[recordSum:], math.Float32bits(scale*float32(sum)))
	for at, v := range [...]int32{-8 * sum, -16 * sum, -128 * sum, -32 * sums[0], -32 * sums[1], 0} {
		binary.LittleEndian.PutUint32(record[recordZero8+4*at:], uint32(v))
	}
}
