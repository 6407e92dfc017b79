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
	groups   int     // of a block that are left
	at       uintptr // how far the next piece is from the first one in a block,
	atA      uintptr // in A
	atDst    uintptr // and in dst
	nextA    uintptr // from the end of what a group takes of A to what the next one takes
	nextDst  uintptr // from where a group's products go to where the next one's do
}

// A kvStream is one segment's part.
type kvStream struct {
	dst, a *float32
	block  unsafe.Pointer
}

// Streams reports whether whole segments are best done KVStreams at a time, p being the product with keys. Memory is then read as so many streams, a piece of each
// in turn: the processor looks ahead in each of them, and so has more lines on their way.
func (p *KVProduct) Streams() bool { return streamKernel(p) != nil }

// MulKeysOf sets the scores of segments: see MulKeys, which gives the same bits.
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
	_ = p.A[(p.Rows-1)*p.AStride+p.B.dim-1]
	a := p.streamsOf(segments)
	a.lda, a.ldd, a.nextA, a.nextDst = uintptr(p.AStride)*4, KVSegmentKeys*4, 0, 0
	for i := range segments {
		clear(segments[i].Scores[:p.Rows*KVSegmentKeys])
		a.of[i].a = &p.A[0]
	}
	for block := range KVTileBlocks {
		for i := range segments {
			s, of := &segments[i], &a.of[i]
			of.dst, of.block = &s.Scores[block*KVBlock], p.B.at(s.Table[block])
		}
		a.groups, a.at, a.atA, a.atDst = groupsOf(p.B.dim), 0, 0, 0
		run(a)
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
	a := p.streamsOf(segments)
	a.lda, a.ldd, a.nextA, a.nextDst = KVSegmentKeys*4, uintptr(p.DstStride)*4, ^uintptr(4*KVBlock-1), 4*KVTileCols
	for i := range segments {
		for r := range p.Rows {
			clear(segments[i].Values[r*p.DstStride:][:p.B.dim])
		}
		a.of[i].dst = &segments[i].Values[0]
	}
	for block := range KVTileBlocks {
		for i := range segments {
			s, of := &segments[i], &a.of[i]
			of.a, of.block = &s.Scores[block*KVBlock], p.B.at(s.Table[block])
		}
		a.groups, a.at, a.atA, a.atDst = groupsOf(p.B.dim), 0, 0, 0
		run(a)
	}
}

// streamsOf checks that the scores have room, and returns the arguments.
func (p *KVProduct) streamsOf(segments *[KVStreams]KVSegment) *kvStreamArgs {
	for i := range segments {
		_ = segments[i].Scores[p.Rows*KVSegmentKeys-1]
	}
	return &p.streams
}

// at is where the head in a block begins.
func (b *KVBlocks) at(block int32) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(b.At(int(block))))
}
