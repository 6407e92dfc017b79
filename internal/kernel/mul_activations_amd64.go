// SPDX-License-Identifier: Apache-2.0

package kernel

//go:noescape
func quantizeAVX2(dst *byte, stride uintptr, x *float32, blocks int)

func addQuantizeKernels() {
	quantizeTiers[avx2], quantizeTiers[avx512] = quantizeAVX2, quantizeAVX2
}
