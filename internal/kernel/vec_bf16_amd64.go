// SPDX-License-Identifier: Apache-2.0

package kernel

//go:noescape
func toBF16AVX2(dst *uint16, x *float32, n int)

//go:noescape
func toBF16AVX512(dst *uint16, x *float32, n int)

func toBF16(dst []uint16, x []float32) {
	whole := vectorLen(len(dst))
	if whole > 0 && active == avx512 {
		toBF16AVX512(&dst[0], &x[0], whole)
	} else if whole > 0 {
		toBF16AVX2(&dst[0], &x[0], whole)
	}
	toBF16Go(dst[whole:], x[whole:])
}
