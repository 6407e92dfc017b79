// SPDX-License-Identifier: Apache-2.0

package kernel

// A mulPairFunc multiplies pairs of panels, one after the other, with some rows of an activation tile, both of a pair block by block
// in turn. Memory gives more to two streams than to one, and most where they are long. It is a mulFunc but for
//
//	apart     how far the second panel's outputs lie behind the first one's, in bytes
//	size      of a panel
//	distance  how far the second panel lies behind the first, in bytes
//	panels    how many pairs there are, side by side
type mulPairFunc func(dst *float32, apart, ldd uintptr, codes, scales, act *byte, size, distance, stride uintptr, blocks, panels int)

// mulPairTiers holds those of the tiers that have them, for 1 to 4 rows.
var mulPairTiers [tiers][formats][4]mulPairFunc

// Pairs reports whether a format's panels are multiplied in pairs where rows are few. The halves of a matrix are then the best
// pair, and equal parts of both the best chunks.
func Pairs(f Format) bool { return mulPairTiers[active][f][0] != nil }

// A PairRun is a run of pairs of panels: those from First to End, each with the one that is Distance panels behind it.
type PairRun struct{ First, End, Distance int }

// MulPairs is MulTiles for some pairs of panels, if Pairs says so. The bits are the same; other outputs stay as they are.
//
// Shapes: dst [T, O] with ldd floats from row to row; w [O, E]; x [T, E].
func MulPairs(dst []float32, ldd int, w *Panels, run PairRun, x *Tiles) {
	rows, blocks := x.Rows, w.Blocks
	if run.First >= run.End || rows == 0 {
		return
	}
	size, codes := w.Format.PanelBytes(blocks), blocks*w.Format.CodeBytes()
	behind := run.Distance * PanelRows
	_ = dst[(rows-1)*ldd+run.End*PanelRows+behind-1]
	_ = w.Bytes[(run.End+run.Distance)*size-1]
	_ = x.Records[blocks*rows*RecordBytes-1]
	kernels := &mulPairTiers[active][w.Format]
	together := run.End - run.First
	if rows > len(kernels) {
		together = 1 // several kernels take turns while a pair is in the first cache
	}
	for i := run.First; i < run.End; i += together {
		panel := w.Bytes[i*size:][:size]
		for t := 0; t < rows; {
			tile, within := x.Tile(t/TileRows), t%TileRows
			n := min(tile.Rows-within, len(kernels))
			at := t*ldd + i*PanelRows
			kernels[n-1](&dst[at], uintptr(behind)*4, uintptr(ldd)*4, &panel[0], &panel[codes],
				&tile.Records[within*RecordBytes], uintptr(size), uintptr(run.Distance*size), uintptr(tile.Rows*RecordBytes), blocks, together)
			t += n
		}
	}
}

// mulInPairs is MulTiles by MulPairs: the halves of w make pairs. If one panel is left, it is its own second.
func mulInPairs(dst []float32, ldd int, w Panels, x Tiles) {
	panels := w.Count()
	half := panels / 2
	MulPairs(dst, ldd, &w, PairRun{0, half, half}, &x)
	MulPairs(dst, ldd, &w, PairRun{2 * half, panels, 0}, &x)
}
