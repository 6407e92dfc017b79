// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"fmt"
	"unsafe"
)

// KVTileRows and KVTileCols are the sizes of a tile of attention's products: rows at most, columns exactly.
const (
	KVTileRows = 12
	KVTileCols = 32
)

// KVBlocks are the keys or the values of one head in all blocks of a cache. Data begins with the head in block 0; Stride
// bytes lie between blocks.
type KVBlocks struct {
	KVLayout
	Data   []byte
	Stride int
}

// at gives the head in a block.
func (b *KVBlocks) at(block int32) []byte { return b.Data[int(block)*b.Stride:][:b.Bytes] }

// A KVProduct is a product of rows of floats with blocks of a cache: both products of attention, queries by keys and weights
// by values. It is kept by its user, who changes what differs from one product to the next.
//
// Next names blocks that will be read soon: the kernels prefetch as many of their lines as they read themselves.
type KVProduct struct {
	Rows      int
	Dst       []float32
	DstStride int
	A         []float32
	AStride   int
	B         KVBlocks
	Table     []int32 // the blocks of B, in order
	Next      KVBlocks
	NextTable []int32

	args kvArgs
}

// kvArgs is what the assembly reads. Strides are in bytes.
type kvArgs struct {
	dst        *float32
	ldd        uintptr
	a          *float32
	lda        uintptr
	base       unsafe.Pointer // of block 0, the first of the columns
	stride     uintptr        // between blocks
	ldb        uintptr        // between rows of a block
	scales     uintptr        // from the base to the scales of the columns
	next       unsafe.Pointer // what to prefetch, laid out as the blocks are
	nextStride uintptr
	table      *int32
	nextTable  *int32
	at         int // index in the tables
	count      int // keys: blocks to do; values: positions to do
	depth      int // components of a key
	fresh      int // values: whether dst is overwritten
}

// MulKeys sets p.Dst to the scores of all positions of the blocks: p.A times the keys.
//
// Shapes: A [Rows, D]; blocks [D, P]; Dst [Rows, P·len(Table)].
// Each score is one chain of fused multiply-adds over the components in order, so its bits depend on its own query and key
// only, and are the same on every tier. A number of KVQ8 is first multiplied by its scale and rounded.
func MulKeys(p *KVProduct) {
	p.check(len(p.Table)*KVBlock, p.B.dim)
	if len(p.Table) > 0 {
		mulKeys(p)
	}
}

// MulValues computes p.Dst += p.A times the values of the first positions of the blocks, or sets it if fresh says so.
//
// Shapes: A [Rows, positions]; blocks [P, W], of which positions rows count; Dst [Rows, W].
// Each element is one chain of fused multiply-adds over the positions in order: see MulKeys.
func MulValues(p *KVProduct, positions int, fresh bool) {
	p.check(p.B.dim, positions)
	if positions > len(p.Table)*KVBlock {
		panic(fmt.Sprintf("kernel: %d positions in %d blocks", positions, len(p.Table)))
	}
	mulValues(p, positions, fresh)
}

// check panics if memory does not suffice for a result of so many columns from so many columns of A.
func (p *KVProduct) check(columns, depth int) {
	if p.Rows < 1 || p.Rows > KVTileRows || depth < 1 {
		panic(fmt.Sprintf("kernel: product with %d rows of %d", p.Rows, depth))
	}
	if columns > 0 {
		_ = p.Dst[(p.Rows-1)*p.DstStride+columns-1]
	}
	_ = p.A[(p.Rows-1)*p.AStride+depth-1]
	for _, block := range p.Table {
		_ = p.B.at(block)
	}
}

func mulKeysGo(p *KVProduct) {
	var keys [KVBlock]float32 // one component of each
	p.clear(len(p.Table) * KVBlock)
	for i, block := range p.Table {
		for k := range p.B.dim {
			p.B.row(&keys, p.B.at(block), k, 0)
			p.addRows(i*KVBlock, k, &keys)
		}
	}
}

func mulValuesGo(p *KVProduct, positions int, fresh bool) {
	var values [KVTileCols]float32 // some components of one
	if fresh {
		p.clear(p.B.dim)
	}
	for pos := range positions {
		for c := 0; c < p.B.dim; c += KVTileCols {
			p.B.row(&values, p.B.at(p.Table[pos/KVBlock]), pos%KVBlock, c)
			p.addRows(c, pos, &values)
		}
	}
}

// clear sets columns of the result to 0.
func (p *KVProduct) clear(columns int) {
	for r := range p.Rows {
		clear(p.Dst[r*p.DstStride:][:columns])
	}
}

// addRows adds number k of each row of A times b to the columns from c on.
func (p *KVProduct) addRows(c, k int, b *[KVTileCols]float32) {
	for r := range p.Rows {
		dst, a := p.Dst[r*p.DstStride+c:][:KVTileCols], p.A[r*p.AStride+k]
		for i, v := range b {
			dst[i] = fma(a, v, dst[i])
		}
	}
}
