// SPDX-License-Identifier: Apache-2.0

package kernel

import "unsafe"

// A mulFunc multiplies one panel with some rows of an activation tile. The number of rows is fixed by the function.
//
//	dst     row t's outputs are the 16 floats at dst + t*ldd bytes
//	codes   the panel's codes, scales its scales
//	act     the first row's record of block 0; the next row's is RecordBytes further, the next block's stride bytes
//	blocks  at least 1, a multiple of the format's GroupBlocks
type mulFunc func(dst *float32, ldd uintptr, codes, scales, act *byte, stride uintptr, blocks int)

// mulTiers holds the kernels of each tier for 1, 2, 4 and 8 rows. Those that a tier lacks are nil.
var mulTiers [avx512 + 1][formats][4]mulFunc

// Mul sets dst to the product of a panel with rows of an activation tile.
//
// Shapes: dst [rows, 16] with ldd floats from row to row; panel is [16, 32*blocks] in format f; act is
// [blocks, tile, 64] bytes, of which the rows from first on are used; 1 <= first+rows <= tile <= TileRows.
//
// For output o and row t, with codes w, zero point z, weight scale s, activation codes a and scale d, block after block:
//
//	i = sum of (w-z)*a over the block, exactly
//	y = fma(float32(i), s*d, y)
//	y = fma(m, d*(sum of a), y)             if the format has a minimum m; y = fma(-m, ...) in the K formats
//
// Q6_K does the first two lines for each half of the block, which have scales of their own.
// Every operation rounds once to float32, so the bits do not depend on the tier or on the number of rows.
func Mul(f Format, dst []float32, ldd int, panel, act []byte, tile, first, rows, blocks int) {
	_ = dst[(rows-1)*ldd+PanelRows-1]
	_ = panel[f.PanelBytes(blocks)-1]
	_ = act[blocks*tile*RecordBytes-1]
	_ = act[(first+rows-1)*RecordBytes]
	kernels := &mulTiers[active][f]
	scales := &panel[blocks*f.CodeBytes()]
	for t := 0; t < rows; {
		size := 3
		for 1<<size > rows-t || kernels[size] == nil {
			size--
		}
		kernels[size](&dst[t*ldd], uintptr(ldd)*4, &panel[0], scales, &act[(first+t)*RecordBytes], uintptr(tile)*RecordBytes, blocks)
		t += 1 << size
	}
}

//go:generate go run ../../tools/kernelgen -out .

func init() {
	for f := range formats {
		mulTiers[generic][f][0] = func(dst *float32, _ uintptr, codes, scales, act *byte, stride uintptr, blocks int) {
			mulTwin(f, unsafe.Slice(dst, PanelRows), codes, scales, act, int(stride), blocks)
		}
	}
	addMulKernels()
	quantizeTiers[generic] = quantizeTwin
	addQuantizeKernels()
	addDotKernels()
}
