// SPDX-License-Identifier: Apache-2.0

package kernel

import "math"

// maxHalf is the largest half-precision float. ToHalf gives it for everything larger, so that a stored value times a
// weight of 0 is always 0.
const maxHalf = 65504

// ToHalf converts floats to half precision, rounding to even, with everything beyond ±65504 set to that.
//
// Shapes: dst, x [n].
func ToHalf(dst []uint16, x []float32) { toHalf(dst, x[:len(dst)]) }

func toHalfGo(dst []uint16, x []float32) {
	for i, v := range x {
		dst[i] = half(v)
	}
}

// half rounds one float to half precision.
func half(x float32) uint16 {
	if x > maxHalf {
		x = maxHalf
	}
	if x < -maxHalf {
		x = -maxHalf
	}
	bits := math.Float32bits(x)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > 0x7f800000: // NaN
		return sign | 0x7e00 | uint16(bits>>13&0x1ff)
	case bits < 0x38800000: // below the smallest normal half: adding 0.5 leaves the subnormal in the last bits
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+0.5)-0x3f000000)
	}
	bits += 0xfff + bits>>13&1
	return sign | uint16((bits-0x38000000)>>13)
}
