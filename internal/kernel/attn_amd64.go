// SPDX-License-Identifier: Apache-2.0

package kernel

import "unsafe"

// A kvFunc computes a tile of a fixed number of rows and columns. Strides are in bytes.
type kvFunc func(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX2X1(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX2X2(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX2X4(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX2X6(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX2X1(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX2X2(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX2X4(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX2X6(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX512X1(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX512X2(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX512X3(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX512X4(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX512X6(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF16AVX512X12(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX512X1(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX512X2(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX512X3(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX512X4(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX512X6(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

//go:noescape
func mulKVF32AVX512X12(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)

// kvKernels are the kernels of a tier for one type of block: by[n] for the most rows up to n that there is one for.
type kvKernels struct {
	columns int
	by      [KVTileRows + 1]kvFunc
	rows    [KVTileRows + 1]int
}

func kvKernelsOf(columns int, kernels map[int]kvFunc) *kvKernels {
	k := &kvKernels{columns: columns}
	for n := 1; n <= KVTileRows; n++ {
		k.by[n], k.rows[n] = k.by[n-1], k.rows[n-1]
		if f := kernels[n]; f != nil {
			k.by[n], k.rows[n] = f, n
		}
	}
	return k
}

// kvTiers has the kernels for half-precision and for float blocks.
var kvTiers = [avx512 + 1][2]*kvKernels{
	avx2: {
		kvKernelsOf(16, map[int]kvFunc{1: mulKVF16AVX2X1, 2: mulKVF16AVX2X2, 4: mulKVF16AVX2X4, 6: mulKVF16AVX2X6}),
		kvKernelsOf(16, map[int]kvFunc{1: mulKVF32AVX2X1, 2: mulKVF32AVX2X2, 4: mulKVF32AVX2X4, 6: mulKVF32AVX2X6}),
	},
	avx512: {
		kvKernelsOf(32, map[int]kvFunc{1: mulKVF16AVX512X1, 2: mulKVF16AVX512X2, 3: mulKVF16AVX512X3, 4: mulKVF16AVX512X4, 6: mulKVF16AVX512X6, 12: mulKVF16AVX512X12}),
		kvKernelsOf(32, map[int]kvFunc{1: mulKVF32AVX512X1, 2: mulKVF32AVX512X2, 3: mulKVF32AVX512X3, 4: mulKVF32AVX512X4, 6: mulKVF32AVX512X6, 12: mulKVF32AVX512X12}),
	},
}

func mulKV(t *KVTile) {
	if active == generic {
		mulKVGo(t)
		return
	}
	kernels, b, size := kvTiers[active][0], unsafe.Pointer(unsafe.SliceData(t.B16)), uintptr(2)
	if t.B32 != nil {
		kernels, b, size = kvTiers[active][1], unsafe.Pointer(unsafe.SliceData(t.B32)), 4
	}
	fresh := 0
	if t.Fresh {
		fresh = 1
	}
	for r := 0; r < t.Rows; {
		n := t.Rows - r
		for c := 0; c < KVTileCols; c += kernels.columns {
			kernels.by[n](&t.Dst[r*t.DstStride+c], uintptr(t.DstStride)*4, &t.A[r*t.AStride], uintptr(t.AStride)*4,
				unsafe.Add(b, uintptr(c)*size), uintptr(t.BStride)*size, t.K, fresh)
		}
		r += kernels.rows[n]
	}
}
