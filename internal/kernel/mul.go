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

// mulTiers holds the kernels of each tier for 1, 2, 4 and 8 rows. Those that a tier lacks are nil; avx2 has pairs instead
// (mul_pair.go).
var mulTiers [tiers][formats][4]mulFunc

// Mul sets dst to the product of panels with a tile of activations.
//
// Shapes: dst [T, O] with ldd floats from row to row, T being the rows of the tile; w [O, E]; x [T, E].
//
// For output o and row t, with codes w, zero point z, weight scale s, activation codes a and scale d, block after block:
//
//	i = sum of (w-z)*a over the block, exactly
//	y = fma(float32(i), s*d, y)
//	y = fma(m, d*(sum of a), y)             if the format has a minimum m; y = fma(-m, ...) in the K formats
//
// Q6_K, Q3_K and Q2_K do this for each half of the block, which have scales of their own; Q2_K adds its minimum as
// fma((m/32)*d, -32*(sum of a), y).
// Every operation rounds once to float32, so the bits do not depend on the tier or on the number of rows.
func Mul(dst []float32, ldd int, w Panels, x Tile) {
	if Pairs(w.Format) {
		mulInPairs(dst, ldd, w, Tiles{x.Rows, w.Blocks, x.Records})
		return
	}
	panels, stride := w.Count(), x.Rows*RecordBytes
	if panels == 0 || x.Rows == 0 {
		return
	}
	_ = dst[(x.Rows-1)*ldd+panels*PanelRows-1]
	_ = x.Records[w.Blocks*stride-1]
	kernels := &mulTiers[active][w.Format]
	size, codes := w.Format.PanelBytes(w.Blocks), w.Blocks*w.Format.CodeBytes()
	for i := range panels {
		panel := w.Bytes[i*size:][:size]
		for t := 0; t < x.Rows; {
			log := 3
			for 1<<log > x.Rows-t || kernels[log] == nil {
				log--
			}
			kernels[log](&dst[t*ldd+i*PanelRows], uintptr(ldd)*4, &panel[0], &panel[codes], &x.Records[t*RecordBytes], uintptr(stride), w.Blocks)
			t += 1 << log
		}
	}
}

//go:generate go run ../../tools/kernelgen -out .

func init() {
	for f := range formats {
		mulTiers[generic][f][0] = func(dst *float32, _ uintptr, codes, _, act *byte, stride uintptr, blocks int) {
			w := Panels{f, blocks, unsafe.Slice(codes, f.PanelBytes(blocks))}
			mulTwin(unsafe.Slice(dst, PanelRows), w, unsafe.Slice(act, (blocks-1)*int(stride)+RecordBytes), int(stride))
		}
	}
	addMulKernels()
	quantizeTiers[generic] = quantizeTwin
	addQuantizeKernels()
	addDotKernels()
}
