// SPDX-License-Identifier: Apache-2.0

package quant

import "math"

// F16ToF32 gives the value of an IEEE half float. It is exact.
//
// Shapes: one value. Infinities and NaN payloads are kept.
func F16ToF32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	// Exponent and mantissa moved to their places in a float32 give a number that is 2^112 too small (the
	// biases are 15 and 127). The product sets that right, for half subnormals too.
	magnitude := uint32(h&0x7fff) << 13
	if h&0x7c00 == 0x7c00 {
		return math.Float32frombits(sign | magnitude | 0x7f800000)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(magnitude)*0x1p112))
}

// F32ToF16 rounds to the nearest half float, ties to even. What exceeds 65504 by half a step or more becomes an
// infinity, and a NaN becomes a quiet NaN.
//
// Shapes: one value.
func F32ToF16(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00
	case b >= 0x477ff000: // 65520, halfway from the largest half float to the next step
		return sign | 0x7c00
	case b < 0x38800000: // below 2^-14 the step is 2^-24, which is also the step of float32 between 0.5 and 1
		return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-0x3f000000)
	}
	b += 0xfff + b>>13&1 // 13 mantissa bits go away
	return sign | uint16((b-0x38000000)>>13)
}

// BF16ToF32 gives the value of a bfloat16, the upper half of a float32. It is exact.
//
// Shapes: one value.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToBF16 rounds to the nearest bfloat16, ties to even; a NaN becomes a quiet NaN.
//
// Shapes: one value.
func F32ToBF16(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// F8E4M3ToF32 gives the value of an 8-bit float with a sign, 4 bits of exponent (bias 7) and 3 of mantissa. It is exact.
//
// Shapes: one value. There are no infinities; 0x7f and 0xff are NaN, so the largest value is 448.
func F8E4M3ToF32(b byte) float32 {
	sign, magnitude := uint32(b&0x80)<<24, uint32(b&0x7f)
	if magnitude == 0x7f {
		return math.Float32frombits(sign | 0x7fc00000)
	}
	// As in F16ToF32: moved to their places the bits give a number that is 2^120 too small.
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(magnitude<<20)*0x1p120))
}
