// SPDX-License-Identifier: Apache-2.0

package kernel

// A kvFunc computes a product for a fixed number of rows.
type kvFunc func(args *kvArgs)

//go:noescape
func fixAVX2(args *fixArgs)

//go:noescape
func weighAVX2(args *weighArgs)

//go:noescape
func keysF16AVX2X1(args *kvArgs)

//go:noescape
func keysF16AVX2X2(args *kvArgs)

//go:noescape
func keysF16AVX2X3(args *kvArgs)

//go:noescape
func keysF16AVX2X4(args *kvArgs)

//go:noescape
func keysF16AVX2X6(args *kvArgs)

//go:noescape
func keysF32AVX2X1(args *kvArgs)

//go:noescape
func keysF32AVX2X2(args *kvArgs)

//go:noescape
func keysF32AVX2X3(args *kvArgs)

//go:noescape
func keysF32AVX2X4(args *kvArgs)

//go:noescape
func keysF32AVX2X6(args *kvArgs)

//go:noescape
func keysBF16AVX2X1(args *kvArgs)

//go:noescape
func keysBF16AVX2X2(args *kvArgs)

//go:noescape
func keysBF16AVX2X3(args *kvArgs)

//go:noescape
func keysBF16AVX2X4(args *kvArgs)

//go:noescape
func keysBF16AVX2X6(args *kvArgs)

//go:noescape
func keysQ8AVX2X1(args *kvArgs)

//go:noescape
func keysQ8AVX2X2(args *kvArgs)

//go:noescape
func keysQ8AVX2X3(args *kvArgs)

//go:noescape
func keysQ8AVX2X4(args *kvArgs)

//go:noescape
func keysQ8AVX2X6(args *kvArgs)

//go:noescape
func valuesF16AVX2X1(args *kvArgs)

//go:noescape
func valuesF16AVX2X2(args *kvArgs)

//go:noescape
func valuesF16AVX2X3(args *kvArgs)

//go:noescape
func valuesF16AVX2X4(args *kvArgs)

//go:noescape
func valuesF16AVX2X6(args *kvArgs)

//go:noescape
func valuesF32AVX2X1(args *kvArgs)

//go:noescape
func valuesF32AVX2X2(args *kvArgs)

//go:noescape
func valuesF32AVX2X3(args *kvArgs)

//go:noescape
func valuesF32AVX2X4(args *kvArgs)

//go:noescape
func valuesF32AVX2X6(args *kvArgs)

//go:noescape
func valuesBF16AVX2X1(args *kvArgs)

//go:noescape
func valuesBF16AVX2X2(args *kvArgs)

//go:noescape
func valuesBF16AVX2X3(args *kvArgs)

//go:noescape
func valuesBF16AVX2X4(args *kvArgs)

//go:noescape
func valuesBF16AVX2X6(args *kvArgs)

//go:noescape
func valuesQ8AVX2X1(args *kvArgs)

//go:noescape
func valuesQ8AVX2X2(args *kvArgs)

//go:noescape
func valuesQ8AVX2X3(args *kvArgs)

//go:noescape
func valuesQ8AVX2X4(args *kvArgs)

//go:noescape
func valuesQ8AVX2X6(args *kvArgs)

//go:noescape
func keysF16AVX512X1(args *kvArgs)

//go:noescape
func keysF16AVX512X2(args *kvArgs)

//go:noescape
func keysF16AVX512X3(args *kvArgs)

//go:noescape
func keysF16AVX512X4(args *kvArgs)

//go:noescape
func keysF16AVX512X6(args *kvArgs)

//go:noescape
func keysF16AVX512X8(args *kvArgs)

//go:noescape
func keysF16AVX512X12(args *kvArgs)

//go:noescape
func keysF32AVX512X1(args *kvArgs)

//go:noescape
func keysF32AVX512X2(args *kvArgs)

//go:noescape
func keysF32AVX512X3(args *kvArgs)

//go:noescape
func keysF32AVX512X4(args *kvArgs)

//go:noescape
func keysF32AVX512X6(args *kvArgs)

//go:noescape
func keysF32AVX512X8(args *kvArgs)

//go:noescape
func keysF32AVX512X12(args *kvArgs)

//go:noescape
func keysBF16AVX512X1(args *kvArgs)

//go:noescape
func keysBF16AVX512X2(args *kvArgs)

//go:noescape
func keysBF16AVX512X3(args *kvArgs)

//go:noescape
func keysBF16AVX512X4(args *kvArgs)

//go:noescape
func keysBF16AVX512X6(args *kvArgs)

//go:noescape
func keysBF16AVX512X8(args *kvArgs)

//go:noescape
func keysBF16AVX512X12(args *kvArgs)

//go:noescape
func keysQ8AVX512X1(args *kvArgs)

//go:noescape
func keysQ8AVX512X2(args *kvArgs)

//go:noescape
func keysQ8AVX512X3(args *kvArgs)

//go:noescape
func keysQ8AVX512X4(args *kvArgs)

//go:noescape
func keysQ8AVX512X6(args *kvArgs)

//go:noescape
func keysQ8AVX512X8(args *kvArgs)

//go:noescape
func keysQ8AVX512X12(args *kvArgs)

//go:noescape
func valuesF16AVX512X1(args *kvArgs)

//go:noescape
func valuesF16AVX512X2(args *kvArgs)

//go:noescape
func valuesF16AVX512X3(args *kvArgs)

//go:noescape
func valuesF16AVX512X4(args *kvArgs)

//go:noescape
func valuesF16AVX512X6(args *kvArgs)

//go:noescape
func valuesF16AVX512X8(args *kvArgs)

//go:noescape
func valuesF16AVX512X12(args *kvArgs)

//go:noescape
func valuesF32AVX512X1(args *kvArgs)

//go:noescape
func valuesF32AVX512X2(args *kvArgs)

//go:noescape
func valuesF32AVX512X3(args *kvArgs)

//go:noescape
func valuesF32AVX512X4(args *kvArgs)

//go:noescape
func valuesF32AVX512X6(args *kvArgs)

//go:noescape
func valuesF32AVX512X8(args *kvArgs)

//go:noescape
func valuesF32AVX512X12(args *kvArgs)

//go:noescape
func valuesBF16AVX512X1(args *kvArgs)

//go:noescape
func valuesBF16AVX512X2(args *kvArgs)

//go:noescape
func valuesBF16AVX512X3(args *kvArgs)

//go:noescape
func valuesBF16AVX512X4(args *kvArgs)

//go:noescape
func valuesBF16AVX512X6(args *kvArgs)

//go:noescape
func valuesBF16AVX512X8(args *kvArgs)

//go:noescape
func valuesBF16AVX512X12(args *kvArgs)

//go:noescape
func valuesQ8AVX512X1(args *kvArgs)

//go:noescape
func valuesQ8AVX512X2(args *kvArgs)

//go:noescape
func valuesQ8AVX512X3(args *kvArgs)

//go:noescape
func valuesQ8AVX512X4(args *kvArgs)

//go:noescape
func valuesQ8AVX512X6(args *kvArgs)

//go:noescape
func valuesQ8AVX512X8(args *kvArgs)

//go:noescape
func valuesQ8AVX512X12(args *kvArgs)

// kvTiers has the kernels of each tier and type.
var kvTiers = [avx512 + 1][kvTypes]kvKernels{
	avx2: {
		KVF16: {
			wide:   3,
			keys:   bySize(map[int]kvFunc{1: keysF16AVX2X1, 2: keysF16AVX2X2, 3: keysF16AVX2X3, 4: keysF16AVX2X4, 6: keysF16AVX2X6}),
			values: bySize(map[int]kvFunc{1: valuesF16AVX2X1, 2: valuesF16AVX2X2, 3: valuesF16AVX2X3, 4: valuesF16AVX2X4, 6: valuesF16AVX2X6}),
		},
		KVF32: {
			wide:   3,
			keys:   bySize(map[int]kvFunc{1: keysF32AVX2X1, 2: keysF32AVX2X2, 3: keysF32AVX2X3, 4: keysF32AVX2X4, 6: keysF32AVX2X6}),
			values: bySize(map[int]kvFunc{1: valuesF32AVX2X1, 2: valuesF32AVX2X2, 3: valuesF32AVX2X3, 4: valuesF32AVX2X4, 6: valuesF32AVX2X6}),
		},
		KVBF16: {
			wide:   3,
			keys:   bySize(map[int]kvFunc{1: keysBF16AVX2X1, 2: keysBF16AVX2X2, 3: keysBF16AVX2X3, 4: keysBF16AVX2X4, 6: keysBF16AVX2X6}),
			values: bySize(map[int]kvFunc{1: valuesBF16AVX2X1, 2: valuesBF16AVX2X2, 3: valuesBF16AVX2X3, 4: valuesBF16AVX2X4, 6: valuesBF16AVX2X6}),
		},
		KVQ8: {
			wide:   3,
			keys:   bySize(map[int]kvFunc{1: keysQ8AVX2X1, 2: keysQ8AVX2X2, 3: keysQ8AVX2X3, 4: keysQ8AVX2X4, 6: keysQ8AVX2X6}),
			values: bySize(map[int]kvFunc{1: valuesQ8AVX2X1, 2: valuesQ8AVX2X2, 3: valuesQ8AVX2X3, 4: valuesQ8AVX2X4, 6: valuesQ8AVX2X6}),
		},
	},
	avx512: {
		KVF16: {
			wide:   KVTileRows,
			keys:   bySize(map[int]kvFunc{1: keysF16AVX512X1, 2: keysF16AVX512X2, 3: keysF16AVX512X3, 4: keysF16AVX512X4, 6: keysF16AVX512X6, 8: keysF16AVX512X8, 12: keysF16AVX512X12}),
			values: bySize(map[int]kvFunc{1: valuesF16AVX512X1, 2: valuesF16AVX512X2, 3: valuesF16AVX512X3, 4: valuesF16AVX512X4, 6: valuesF16AVX512X6, 8: valuesF16AVX512X8, 12: valuesF16AVX512X12}),
		},
		KVF32: {
			wide:   KVTileRows,
			keys:   bySize(map[int]kvFunc{1: keysF32AVX512X1, 2: keysF32AVX512X2, 3: keysF32AVX512X3, 4: keysF32AVX512X4, 6: keysF32AVX512X6, 8: keysF32AVX512X8, 12: keysF32AVX512X12}),
			values: bySize(map[int]kvFunc{1: valuesF32AVX512X1, 2: valuesF32AVX512X2, 3: valuesF32AVX512X3, 4: valuesF32AVX512X4, 6: valuesF32AVX512X6, 8: valuesF32AVX512X8, 12: valuesF32AVX512X12}),
		},
		KVBF16: {
			wide:   KVTileRows,
			keys:   bySize(map[int]kvFunc{1: keysBF16AVX512X1, 2: keysBF16AVX512X2, 3: keysBF16AVX512X3, 4: keysBF16AVX512X4, 6: keysBF16AVX512X6, 8: keysBF16AVX512X8, 12: keysBF16AVX512X12}),
			values: bySize(map[int]kvFunc{1: valuesBF16AVX512X1, 2: valuesBF16AVX512X2, 3: valuesBF16AVX512X3, 4: valuesBF16AVX512X4, 6: valuesBF16AVX512X6, 8: valuesBF16AVX512X8, 12: valuesBF16AVX512X12}),
		},
		KVQ8: {
			wide:   KVTileRows,
			keys:   bySize(map[int]kvFunc{1: keysQ8AVX512X1, 2: keysQ8AVX512X2, 3: keysQ8AVX512X3, 4: keysQ8AVX512X4, 6: keysQ8AVX512X6, 8: keysQ8AVX512X8, 12: keysQ8AVX512X12}),
			values: bySize(map[int]kvFunc{1: valuesQ8AVX512X1, 2: valuesQ8AVX512X2, 3: valuesQ8AVX512X3, 4: valuesQ8AVX512X4, 6: valuesQ8AVX512X6, 8: valuesQ8AVX512X8, 12: valuesQ8AVX512X12}),
		},
	},
}
