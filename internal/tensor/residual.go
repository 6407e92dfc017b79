// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math"
)

// roundMagic rounds a float32 of magnitude below 2²² to the nearest integer, ties to even, when added and taken away.
const roundMagic = 3 << 22

// Residual sets dst to what is lost of x when it becomes 8-bit activations: x minus scale times code, block by block.
// A matrix times x plus the same matrix times the residual is a product with activations of about 15 bits.
//
// Shapes: dst, x [n], n a multiple of 32. Codes and scales are those of kernel.Quantize.
// The same bits on every tier: each step is a float32 operation of its own.
func Residual(dst, x []float32) {
	if len(dst) != len(x) || len(x)%blockCols != 0 {
		panic(fmt.Sprintf("tensor: residual: got %d and %d values, want equal multiples of %d", len(dst), len(x), blockCols))
	}
	for at := 0; at < len(x); at += blockCols {
		residualBlock((*[blockCols]float32)(dst[at:]), (*[blockCols]float32)(x[at:]))
	}
}

func residualBlock(dst, x *[blockCols]float32) {
	const magnitude = 1<<31 - 1
	largest := uint32(0) // floats without a sign order as their bits
	for _, v := range x {
		largest = max(largest, math.Float32bits(v)&magnitude)
	}
	if largest == 0 {
		*dst = [blockCols]float32{}
		return
	}
	top := math.Float32frombits(largest)
	scale, inverse := top/127, 127/top
	for i, v := range x {
		code := float32(float32(v*inverse)+roundMagic) - roundMagic
		dst[i] = v - float32(scale*code)
	}
}
