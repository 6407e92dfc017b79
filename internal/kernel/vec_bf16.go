// SPDX-License-Identifier: Apache-2.0

package kernel

import "math"

// maxBF16 is the largest BF16 number. ToBF16 gives it for everything larger: see maxHalf.
const maxBF16 = 0x1.FEp127

// ToBF16 converts floats to BF16, rounding to even, with everything beyond ±maxBF16 set to that.
//
// Shapes: dst, x [n].
func ToBF16(dst []uint16, x []float32) { toBF16(dst, x[:len(dst)]) }

func toBF16Go(dst []uint16, x []float32) {
	for i, v := range x {
		dst[i] = bf16(v)
	}
}

// bf16 rounds one float to BF16.
func bf16(x float32) uint16 {
	if x != x {
		return 0x7fc0
	}
	bits := math.Float32bits(max(-maxBF16, min(maxBF16, x)))
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
