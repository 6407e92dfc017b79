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

// KVTileBlocks is how many blocks a product takes at most.
const KVTileBlocks = 8

// KVRun is how many blocks of one head lie side by side before the next head's follow. Blocks of a sequence are numbered one
// after the other where they can be, and are then read in pieces that are long enough for the processor to look ahead.
const KVRun = 16

// KVBlocks are the keys or the values of one head in all blocks of a cache of some heads. Data begins with the head's first
// place; block 0 is at place First.
//
// Shapes: all heads of a cache [places/KVRun, heads, KVRun, Bytes].
type KVBlocks struct {
	KVLayout
	Data         []byte
	Heads, First int
}

// At gives the head in a block.
func (b *KVBlocks) At(block int) []byte {
	place := block + b.First
	return b.Data[(place/KVRun*KVRun*b.Heads+place%KVRun)*b.Bytes:][:b.Bytes]
}

// A KVProduct is a product of rows of floats with blocks of a cache: both products of attention, queries by keys and weights
// by values. It is kept by its user, who changes what differs from one product to the next.
//
// Next names blocks that will be read after these. The kernels bring their lines into the second cache while they read as many
// themselves, and into the first cache those of the block that comes after the one they are at.
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

	order [2 * KVTileBlocks]unsafe.Pointer // the blocks of Table, and as many of those that come next
	part  [KVTileRows * KVBlock]float32    // memory for what a type with scales needs: see kvArgs
	args  kvArgs
}

// kvArgs is what the assembly reads. Strides are in bytes.
type kvArgs struct {
	dst    *float32
	ldd    uintptr
	a      *float32
	lda    uintptr
	order  *unsafe.Pointer // blocks: those to do, and as many that come next
	ahead  int             // how many later in order the block is that goes to the second cache
	offset uintptr         // of the first number to read in each block
	scales uintptr         // from there to the scales of the columns; keys: from the end of a group's rows
	at     int             // index in order
	count  int             // keys: blocks to do; values: positions to do
	depth  int             // components of a key
	fresh  int             // values: whether dst is overwritten; keys with scales: whether a group is the first
	left   int             // keys with scales: components of later groups
	scaled *float32        // values with scales: memory for the numbers of A times the scales of a block [Rows, P]
}

// MulKeys sets p.Dst to the scores of all positions of the blocks: p.A times the keys.
//
// Shapes: A [Rows, D]; blocks [D, P]; Dst [Rows, P·len(Table)].
// Each score is one chain of fused multiply-adds over the components in order, so its bits depend on its own query and key
// only, and are the same on every tier. KVQ8 has such a chain for each group of components; times its scale it is rounded, and
// those of later groups are added by a fused multiply-add.
func MulKeys(p *KVProduct) {
	p.prepare(len(p.Table)*KVBlock, p.B.dim)
	if len(p.Table) > 0 {
		mulKeys(p)
	}
}

// MulValues computes p.Dst += p.A times the values of the first positions of the blocks, or sets it if fresh says so.
//
// Shapes: A [Rows, positions], with room for whole blocks; blocks [W/32, P, 32], of which positions rows count; Dst [Rows, W].
// Each element is one chain of fused multiply-adds over the positions in order: see MulKeys. With KVQ8 a number of A is first
// multiplied by the scale of the value, and rounded.
func MulValues(p *KVProduct, positions int, fresh bool) {
	p.prepare(p.B.dim, (positions+KVBlock-1)/KVBlock*KVBlock)
	if positions > len(p.Table)*KVBlock {
		panic(fmt.Sprintf("kernel: %d positions in %d blocks", positions, len(p.Table)))
	}
	mulValues(p, positions, fresh)
}

// Softmax turns the scores in p.A into weights: each row's first scores, so many as columns says, become e^(score-maximum). It
// sets maxima, which it raises to the rows' own, and sums. What Next begins with is prefetched meanwhile.
//
// Shapes: A [Rows, columns], columns a multiple of 16 above 0; maxima, sums [Rows]. A sum is in 16 partial sums, added as a
// tree. A masked score is -Inf and becomes 0. With a finite maximum, all scores of a row may be -Inf.
func (p *KVProduct) Softmax(columns int, maxima, sums []float32) {
	s := softmax{p.A, p.AStride, columns, maxima[:p.Rows], sums, unsafe.Pointer(unsafe.SliceData(p.A))}
	if len(p.NextTable) > 0 {
		s.ahead = unsafe.Pointer(unsafe.SliceData(p.Next.At(int(p.NextTable[0]))))
	}
	s.check()
	s.run()
}

// prepare lists the blocks. It panics if memory does not suffice for a result of so many columns from so many columns of A.
func (p *KVProduct) prepare(columns, depth int) {
	if p.Rows < 1 || p.Rows > KVTileRows || depth < 1 || len(p.Table) > KVTileBlocks {
		panic(fmt.Sprintf("kernel: product of %d rows of %d with %d blocks", p.Rows, depth, len(p.Table)))
	}
	if columns > 0 {
		_ = p.Dst[(p.Rows-1)*p.DstStride+columns-1]
	}
	_ = p.A[(p.Rows-1)*p.AStride+depth-1]
	n := len(p.Table)
	for i, block := range p.Table {
		p.order[i] = unsafe.Pointer(unsafe.SliceData(p.B.At(int(block))))
	}
	for i := range p.Table {
		p.order[n+i] = p.order[n+i-1] // where nothing is next
		if i < len(p.NextTable) {
			p.order[n+i] = unsafe.Pointer(unsafe.SliceData(p.Next.At(int(p.NextTable[i]))))
		}
	}
}

func mulKeysGo(p *KVProduct) {
	p.clear(len(p.Table) * KVBlock)
	for i, id := range p.Table {
		block := p.B.At(int(id))
		for c := 0; c < p.B.dim; c += BlockCols {
			if p.B.Type != KVQ8 {
				p.addKeys(p.Dst[i*KVBlock:], p.DstStride, block, c)
				continue
			}
			clear(p.part[:])
			p.addKeys(p.part[:], KVBlock, block, c)
			for at := range p.Rows * KVBlock {
				addScaledSum(&p.Dst[at/KVBlock*p.DstStride+i*KVBlock+at%KVBlock], p.part[at], p.B.scale(block, at%KVBlock, c), c == 0)
			}
		}
	}
}

// addScaledSum adds a group's sum times its scale to a score, or makes it the score if it is the first.
func addScaledSum(score *float32, sum, scale float32, first bool) {
	if first {
		*score = sum * scale
		return
	}
	*score = fma(sum, scale, *score)
}

// addKeys adds the products of the group of components that begins at first to rows of dst.
func (p *KVProduct) addKeys(dst []float32, stride int, block []byte, first int) {
	var keys [KVBlock]float32 // one component of each
	for c := first; c < min(first+BlockCols, p.B.dim); c++ {
		for slot := range keys {
			keys[slot] = p.B.number(block, slot, c)
		}
		for r := range p.Rows {
			addScaledRow(dst[r*stride:], p.A[r*p.AStride+c], &keys)
		}
	}
}

func mulValuesGo(p *KVProduct, positions int, fresh bool) {
	var values [KVTileCols]float32 // some components of one
	if fresh {
		p.clear(p.B.dim)
	}
	for pos := range positions {
		block, slot := p.B.At(int(p.Table[pos/KVBlock])), pos%KVBlock
		for c := 0; c < p.B.dim; c += KVTileCols {
			for i := range values {
				values[i] = p.B.number(block, slot, c+i)
			}
			scale := p.B.scale(block, slot, c)
			for r := range p.Rows {
				addScaledRow(p.Dst[r*p.DstStride+c:], p.A[r*p.AStride+pos]*scale, &values)
			}
		}
	}
}

// clear sets columns of the result to 0.
func (p *KVProduct) clear(columns int) {
	for r := range p.Rows {
		clear(p.Dst[r*p.DstStride:][:columns])
	}
}

// addScaledRow adds a times b to dst.
func addScaledRow(dst []float32, a float32, b *[KVTileCols]float32) {
	dst = dst[:KVTileCols]
	for i, v := range b {
		dst[i] = fma(a, v, dst[i])
	}
}
