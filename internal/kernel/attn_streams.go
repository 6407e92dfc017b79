// SPDX-License-Identifier: Apache-2.0

package kernel

import "unsafe"

const (
	KVSegmentKeys = KVTileBlocks * KVBlock // positions of a segment
	KVStreams     = 4                      // segments that are done together
	KVStreamRows  = 4                      // rows at most where there are several
)

// A KVSegment is what both products need of one whole segment: the rows' scores, which become their weights, and what its values
// add up to.
//
// Shapes: Scores [Rows, KVSegmentKeys]; Values [Rows, W], DstStride of the product with values apart; Table [KVTileBlocks].
type KVSegment struct {
	Scores, Values []float32
	Table          []int32
}

// kvStreamArgs is what the assembly reads for one block of each segment. Strides and steps are in bytes.
type kvStreamArgs struct {
	of       [KVStreams]kvStream
	lda, ldd uintptr
	piece    uintptr // of a block that is done at a time
	nextA    uintptr // from the end of what a group takes of A to what the next one takes
	nextDst  uintptr // from where a group's products go to where the next one's do
	scales   uintptr // of bytes: from a group to the scales that are asked for meanwhile
	groups   int     // that are left
	at       uintptr // how far the next piece is from the first one in a block,
	atA      uintptr // in A
	atDst    uintptr // and in dst
}

// A kvStream is one segment's part.
type kvStream struct {
	dst   *float32
	a     unsafe.Pointer // *float32 or *fixedGroup
	block unsafe.Pointer
}

// floatPiece is the size of a piece of floats of 16 bits: half a group.
const floatPiece = KVBlock * BlockCols

// SegmentsTogether is how many segments the tier in use does at a time where rows are few.
func SegmentsTogether() int {
	if hasStreams() {
		return KVStreams
	}
	return 1
}

// Streams reports whether whole segments are best done KVStreams at a time, p being the product with keys. Memory is then read as
// so many streams, a piece of each in turn: the processor looks ahead in each of them, and so has more lines on their way.
func (p *KVProduct) Streams() bool { return streamKernel(p) != nil }

// MulKeysOf sets the scores of segments: see MulKeys, which gives the same bits. SetA must have been called.
func MulKeysOf(p *KVProduct, segments *[KVStreams]KVSegment) {
	run := streamKernel(p)
	if run == nil {
		for _, s := range segments {
			alone := *p
			alone.Dst, alone.DstStride, alone.Table, alone.NextTable = s.Scores, KVSegmentKeys, s.Table, nil
			MulKeys(&alone)
		}
		return
	}
	queries, a := unsafe.Pointer(&p.A[:(p.Rows-1)*p.AStride+p.B.dim][0]), &p.streams
	a.lda, a.ldd, a.piece, a.nextA, a.nextDst = uintptr(p.AStride)*4, KVSegmentKeys*4, floatPiece, 0, 0
	if p.B.Type == KVQ8 {
		queries = unsafe.Pointer(&p.fixed[0])
		a.lda, a.piece, a.nextA = uintptr(groupsOf(p.B.dim))*fixedBytes, uintptr(p.B.group), fixedBytes
		a.scales = a.piece + uintptr(p.B.scaleAt(0, 0))
	}
	for i := range segments {
		clear(segments[i].Scores[:p.Rows*KVSegmentKeys])
		a.of[i].a = queries
	}
	for block := range KVTileBlocks {
		for i := range segments {
			s, of := &segments[i], &a.of[i]
			of.dst, of.block = &s.Scores[block*KVBlock], p.B.at(s.Table[block])
		}
		a.begin(p.B.dim)
		run(a)
	}
	if p.B.Type == KVBF16 {
		for i := range segments {
			sortColumns(&segments[i].Scores[0], p.Rows*KVSegmentKeys/16)
		}
	}
}

// MulValuesOf sets what the values of segments add up to: see MulValues, which gives the same bits.
func MulValuesOf(p *KVProduct, segments *[KVStreams]KVSegment) {
	run := streamKernel(p)
	if run == nil {
		for _, s := range segments {
			alone := *p
			alone.A, alone.AStride, alone.Dst, alone.Table, alone.NextTable = s.Scores, KVSegmentKeys, s.Values, s.Table, nil
			MulValues(&alone, KVSegmentKeys, true)
		}
		return
	}
	a := &p.streams
	a.lda, a.ldd, a.piece, a.nextA, a.nextDst = KVSegmentKeys*4, uintptr(p.DstStride)*4, floatPiece, ^uintptr(4*KVBlock-1), 4*KVTileCols
	if p.B.Type == KVQ8 {
		p.Reserve(KVStreams * p.B.dim)
		p.beginFix(KVSegmentKeys)
		a.lda, a.piece, a.nextA = fixedBytes, uintptr(p.B.group), KVTileRows*fixedBytes
		a.scales = uintptr(p.B.Bytes + p.B.scaleAt(0, 0))
	}
	for i := range segments {
		for r := range p.Rows {
			clear(segments[i].Values[r*p.DstStride:][:p.B.dim])
		}
		a.of[i].dst = &segments[i].Values[0]
	}
	for block := range KVTileBlocks {
		for i := range segments {
			s, of := &segments[i], &a.of[i]
			weights := &s.Scores[:p.Rows*KVSegmentKeys][block*KVBlock]
			of.a, of.block = unsafe.Pointer(weights), p.B.at(s.Table[block])
			if p.B.Type == KVQ8 {
				of.a = unsafe.Pointer(p.fixBlock(i, weights, of.block))
			}
		}
		a.begin(p.B.dim)
		run(a)
	}
	if p.B.Type == KVBF16 {
		for i := range KVStreams * p.Rows {
			sortColumns(&segments[i/p.Rows].Values[i%p.Rows*p.DstStride], p.B.dim/16)
		}
	}
}

// begin goes to the first piece of a block.
func (a *kvStreamArgs) begin(dim int) {
	a.groups, a.at, a.atA, a.atDst = groupsOf(dim), 0, 0, 0
}

// at is where the head in a block begins.
func (b *KVBlocks) at(block int32) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(b.At(int(block))))
}
