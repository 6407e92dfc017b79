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
	place := uint(block + b.First) // divided by a shift
	return b.Data[(place/KVRun*KVRun*uint(b.Heads)+place%KVRun)*uint(b.Bytes):][:b.Bytes]
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

	order   [2 * KVTileBlocks]unsafe.Pointer // the blocks of Table, and as many of those that come next
	fixed   []fixedGroup                     // of bytes: queries [Rows, groups of D], or weights of a block [groups of W, KVTileRows]
	weigh   weighArgs                        // what weights are made of
	args    kvArgs
	streams kvStreamArgs
}

// kvArgs is what the assembly reads. Strides are in bytes.
type kvArgs struct {
	dst    *float32
	ldd    uintptr
	a      unsafe.Pointer // *float32 or *fixedGroup
	lda    uintptr
	order  *unsafe.Pointer // blocks: those to do, and as many that come next
	ahead  int             // how many later in order the block is that goes to the second cache
	offset uintptr         // of the first number to read in each block
	scales uintptr         // keys of bytes: from the end of a group's rows to the scales of the columns
	at     int             // index in order
	count  int             // keys: blocks to do; values: positions to do; values of bytes: groups to do
	depth  int             // rows of a key's components
	fresh  int             // values: whether dst is overwritten
	left   int             // keys of bytes: rows of later groups
	skip   int             // keys of bytes: pairs that a group lacks
}

// Reserve makes room for heads of so many components. Products that go beyond allocate.
func (p *KVProduct) Reserve(dim int) {
	if need := KVTileRows * groupsOf(dim); len(p.fixed) < need {
		p.fixed = make([]fixedGroup, need)
	}
}

// groupsOf is how many groups so many components are.
func groupsOf(dim int) int { return (dim + BlockCols - 1) / BlockCols }

// SetA tells that p.A has changed: MulKeys wants to know. B, Rows and AStride must be set.
func (p *KVProduct) SetA() {
	if p.B.Type != KVQ8 {
		return
	}
	p.Reserve(p.B.dim)
	groups := groupsOf(p.B.dim)
	for r := range p.Rows {
		fixRow(p.fixed[r*groups:][:groups], p.A[r*p.AStride:][:p.B.dim])
	}
}

// MulKeys sets p.Dst to the scores of all positions of the blocks: p.A times the keys. SetA must have been called.
//
// Shapes: A [Rows, D]; blocks [D, P]; Dst [Rows, P·len(Table)].
// Each score is one chain of fused multiply-adds over the components in order, so its bits depend on its own query and key
// only, and are the same on every tier. With KVQ8 it is one over groups of components, of the sum of a group's products, which
// is an integer, and the product of both scales: see fixedGroup.
func MulKeys(p *KVProduct) {
	p.list(len(p.Table)*KVBlock, p.B.dim)
	if len(p.Table) > 0 {
		mulKeys(p)
	}
}

// MulValues computes p.Dst += p.A times the values of the first positions of the blocks, or sets it if fresh says so.
//
// Shapes: A [Rows, positions], with room for whole blocks; blocks [W/32, P, 32], of which positions rows count; Dst [Rows, W].
// Each element is one chain of fused multiply-adds over the positions in order: see MulKeys. With KVQ8 the numbers of A
// behind positions, up to a whole block, must be 0. Those of a block times the scales of the values, rounded, are a fixedGroup: the
// chain is over blocks, of the sum of a block's products, which is an integer, and the scale of the group.
func MulValues(p *KVProduct, positions int, fresh bool) {
	p.list(p.B.dim, (positions+KVBlock-1)/KVBlock*KVBlock)
	if positions > len(p.Table)*KVBlock {
		panic(fmt.Sprintf("kernel: %d positions in %d blocks", positions, len(p.Table)))
	}
	if p.B.Type == KVQ8 {
		p.mulBytes(positions, fresh)
		return
	}
	mulValues(p, positions, fresh)
}

// mulBytes is MulValues for KVQ8.
func (p *KVProduct) mulBytes(positions int, fresh bool) {
	if fresh {
		p.clear(p.B.dim)
	}
	p.Reserve(p.B.dim)
	p.weigh = weighArgs{dst: &p.fixed[0], ldx: uintptr(p.AStride) * 4, lds: uintptr(p.B.group), rows: p.Rows, groups: groupsOf(p.B.dim)}
	for i := 0; i*KVBlock < positions; i++ {
		p.weigh.x, p.weigh.scales = &p.A[i*KVBlock], (*valueScales)(unsafe.Add(p.order[i], p.B.scalesAt(0)))
		weigh(&p.weigh)
		mulBytes(p, i)
	}
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

// list lists the blocks. It panics if memory does not suffice for a result of so many columns from so many columns of A.
func (p *KVProduct) list(columns, depth int) {
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
	for i := range p.Table {
		for c := 0; c < p.B.dim; c += BlockCols {
			if p.B.Type == KVQ8 {
				p.addBytes(i, c)
			} else {
				p.addKeys(i, c)
			}
		}
	}
}

// addBytes is addKeys for KVQ8.
func (p *KVProduct) addBytes(i, first int) {
	block, groups := p.B.At(int(p.Table[i])), groupsOf(p.B.dim)
	for at := range p.Rows * KVBlock {
		r, slot := at/KVBlock, at%KVBlock
		query, sum := &p.fixed[r*groups+first/BlockCols], int32(0)
		for k := range min(BlockCols, p.B.dim-first) {
			sum += query.number(k) * int32(p.B.number(block, slot, first+k))
		}
		score := &p.Dst[r*p.DstStride+i*KVBlock+slot]
		*score = fma(float32(sum), p.B.scale(block, slot, first)*query.scale, *score)
	}
}

// addKeys adds the products of the group of components that begins at first to the scores of block i of the table.
func (p *KVProduct) addKeys(i, first int) {
	var keys [KVBlock]float32 // one component of each
	block := p.B.At(int(p.Table[i]))
	for c := first; c < min(first+BlockCols, p.B.dim); c++ {
		for slot := range keys {
			keys[slot] = p.B.number(block, slot, c)
		}
		for r := range p.Rows {
			addScaledRow(p.Dst[r*p.DstStride+i*KVBlock:], p.A[r*p.AStride+c], &keys)
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
			for r := range p.Rows {
				addScaledRow(p.Dst[r*p.DstStride+c:], p.A[r*p.AStride+pos], &values)
			}
		}
	}
}

// mulBytesGo adds the products of weights with the values of block i of the table.
func mulBytesGo(p *KVProduct, i int) {
	block := p.B.At(int(p.Table[i]))
	for at := range p.Rows * p.B.dim {
		r, c := at%p.Rows, at/p.Rows
		weights, sum := &p.fixed[c/KVTileCols*KVTileRows+r], int32(0)
		for slot := range KVBlock {
			sum += weights.number(slot) * int32(p.B.number(block, slot, c))
		}
		y := &p.Dst[r*p.DstStride+c]
		*y = fma(float32(sum), weights.scale, *y)
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
