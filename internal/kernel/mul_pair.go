// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"math/bits"
	"unsafe"
)

// A mulPairFunc multiplies two panels with some rows of an activation tile, block by block in turn. Memory gives more to
// two streams than to one, and most where they are long. It is a mulFunc but for
//
//	second    the second panel's outputs are here, as the first one's are at dst
//	distance  how far the second panel lies behind the first, in bytes
type mulPairFunc func(dst, second *float32, ldd uintptr, codes, scales, act *byte, distance, stride uintptr, blocks int)

// mulPairTiers holds those of the tiers that have them, for 1, 2 and 4 rows.
var mulPairTiers [tiers][formats][3]mulPairFunc

// Pairs reports whether a format's panels are multiplied in pairs where rows are few. The halves of a matrix are then the best
// pair, and equal parts of both the best chunks.
func Pairs(f Format) bool { return mulPairTiers[active][f][0] != nil }

// A Pair is two runs of as many panels of one format, both in the same piece of memory.
type Pair struct{ First, Second Panels }

// MulPairs is Mul for two runs of panels at once, if Pairs says so. The bits are the same.
//
// Shapes: dst, second [T, O] with ldd floats from row to row; w.First, w.Second [O, E]; x [T, E].
func MulPairs(dst, second []float32, ldd int, w Pair, x Tile) {
	panels, stride, blocks := w.First.Count(), uintptr(x.Rows*RecordBytes), w.First.Blocks
	if panels == 0 || x.Rows == 0 {
		return
	}
	last := (x.Rows-1)*ldd + panels*PanelRows - 1
	_, _ = dst[last], second[last]
	_ = x.Records[blocks*x.Rows*RecordBytes-1]
	f := w.First.Format
	kernels := &mulPairTiers[active][f]
	size, codes := f.PanelBytes(blocks), blocks*f.CodeBytes()
	distance := uintptr(unsafe.Pointer(&w.Second.Bytes[0])) - uintptr(unsafe.Pointer(&w.First.Bytes[0]))
	for i := range panels {
		panel := w.First.Bytes[i*size:][:size]
		for t := 0; t < x.Rows; {
			log := min(bits.Len(uint(x.Rows-t))-1, len(kernels)-1)
			kernels[log](&dst[t*ldd+i*PanelRows], &second[t*ldd+i*PanelRows], uintptr(ldd)*4, &panel[0], &panel[codes],
				&x.Records[t*RecordBytes], distance, stride, blocks)
			t += 1 << log
		}
	}
}

// mulInPairs is Mul by MulPairs: the halves of w are the pair.
func mulInPairs(dst []float32, ldd int, w Panels, x Tile) {
	panels := w.Count()
	half := panels / 2
	MulPairs(dst, dst[half*PanelRows:], ldd, Pair{w.Slice(0, half), w.Slice(half, 2*half)}, x)
	if 2*half < panels { // the last one is its own second
		rest, to := w.Slice(2*half, panels), dst[2*half*PanelRows:]
		MulPairs(to, to, ldd, Pair{rest, rest}, x)
	}
}
