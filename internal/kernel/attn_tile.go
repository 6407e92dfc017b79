// SPDX-License-Identifier: Apache-2.0

package kernel

import "fmt"

// KVTileRows and KVTileCols are the sizes of the result of a MulKV: rows at most, columns exactly.
const (
	KVTileRows = 12
	KVTileCols = 32
)

// A KVTile is the product of a tile of floats and a tile of a cache block: both products of attention, queries by keys and
// weights by values. The block's numbers are half-precision floats (B16) or floats (B32), the other is nil.
//
// Shapes: Dst [Rows, 32] with rows DstStride apart; A [Rows, K] with rows AStride apart; B16 or B32 [K, 32] with rows
// BStride apart.
type KVTile struct {
	Dst       []float32
	DstStride int
	A         []float32
	AStride   int
	B16       []uint16
	B32       []float32
	BStride   int
	K         int
	Rows      int
	Fresh     bool // Dst is overwritten; else added to
}

// MulKV computes t.Dst (+)= t.A · t.B.
//
// Shapes: as KVTile says; Rows at most KVTileRows.
// Each element is one chain of fused multiply-adds in order of K, so its bits depend on its own row and column only, and
// are the same on every tier.
func MulKV(t *KVTile) {
	if t.Rows < 1 || t.Rows > KVTileRows || t.K < 1 || (t.B16 == nil) == (t.B32 == nil) {
		panic(fmt.Sprintf("kernel: KV tile of %d rows, K %d", t.Rows, t.K))
	}
	_ = t.Dst[(t.Rows-1)*t.DstStride+KVTileCols-1]
	_ = t.A[(t.Rows-1)*t.AStride+t.K-1]
	if last := (t.K-1)*t.BStride + KVTileCols - 1; t.B16 != nil {
		_ = t.B16[last]
	} else {
		_ = t.B32[last]
	}
	mulKV(t)
}

func mulKVGo(t *KVTile) {
	for r := range t.Rows {
		dst := t.Dst[r*t.DstStride:][:KVTileCols]
		if t.Fresh {
			clear(dst)
		}
		for k, a := range t.A[r*t.AStride:][:t.K] {
			for c := range dst {
				dst[c] = fma(a, t.b(k, c), dst[c])
			}
		}
	}
}

func (t *KVTile) b(k, c int) float32 {
	if t.B32 != nil {
		return t.B32[k*t.BStride+c]
	}
	return halfValue(t.B16[k*t.BStride+c])
}
