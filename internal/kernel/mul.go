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

// Mul sets dst to the product of a panel with a tile of activations.
//
// Shapes: dst [T, 16] with ldd floats from row to row, T being the rows of the tile; w [16, E]; x [T, E].
//
// For output o and row t, with codes w, zero point z, weight scale s, activation codes a and scale d, block after block:
//
//	i = sum of (w-z)*a over the block, exactly
//	y = fma(float32(i), s*d, y)
//	y = fma(m, d*(sum of a), y)             if the format has a minimum m; y = fma(-m, ...) in the K formats
//
// Q6_K does the first two lines for each half of the block, which have scales of their own.
// Every operation rounds once to float32, so the bits do not depend on the tier or on the number of rows.
func Mul(dst []float32, ldd int, w Panel, x Tile) {
	stride := x.Rows * RecordBytes
	_ = dst[(x.Rows-1)*ldd+PanelRows-1]
	_ = w.Bytes[w.Format.PanelBytes(w.Blocks)-1]
	_ = x.Records[w.Blocks*stride-1]
	kernels := &mulTiers[active][w.Format]
	scales := &w.scales()[0]
	for t := 0; t < x.Rows; {
		size := 3
		for 1<<size > x.Rows-t || kernels[size] == nil {
			size--
		}
		kernels[size](&dst[t*ldd], uintptr(ldd)*4, &w.Bytes[0], scales, &x.Records[t*RecordBytes], uintptr(stride), w.Blocks)
		t += 1 << size
	}
}

//go:generate go run ../../tools/kernelgen -out .

func init() {
	for f := range formats {
		mulTiers[generic][f][0] = func(dst *float32, _ uintptr, codes, _, act *byte, stride uintptr, blocks int) {
			w := Panel{f, blocks, unsafe.Slice(codes, f.PanelBytes(blocks))}
			mulTwin(unsafe.Slice(dst, PanelRows), w, unsafe.Slice(act, (blocks-1)*int(stride)+RecordBytes), int(stride))
		}
	}
	addMulKernels()
	quantizeTiers[generic] = quantizeTwin
	addQuantizeKernels()
	addDotKernels()
}
