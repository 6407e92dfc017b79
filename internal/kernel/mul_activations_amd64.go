// SPDX-License-Identifier: Apache-2.0

package kernel

import "unsafe"

//go:noescape
func quantizeAVX2(dst *byte, stride uintptr, x *float32, blocks int)

//go:noescape
func quantizeFoursAVX512(dst *byte, stride uintptr, x *float32, fours int)

// quantizeAVX512 leaves to AVX2 what does not fill four blocks.
func quantizeAVX512(dst *byte, stride uintptr, x *float32, blocks int) {
	fours := blocks / 4
	if fours > 0 {
		quantizeFoursAVX512(dst, stride, x, fours)
	}
	if done := 4 * fours; done < blocks {
		quantizeAVX2((*byte)(unsafe.Add(unsafe.Pointer(dst), uintptr(done)*stride)), stride,
			(*float32)(unsafe.Add(unsafe.Pointer(x), done*BlockCols*4)), blocks-done)
	}
}

func addQuantizeKernels() {
	quantizeTiers[avx2], quantizeTiers[avx512] = quantizeAVX2, quantizeAVX512
}
