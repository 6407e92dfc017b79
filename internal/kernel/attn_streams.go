// SPDX-License-Identifier: Apache-2.0

package kernel

import "unsafe"

const (
	KVSegmentKeys = KVTileBlocks * KVBlock // positions of a segment
	KVStreams     = 4                      // streams in which memory is read
	KVStreamRows  = 4                      // rows at most where there are several
)

// A KVSegment is what both products need of one whole segment: the rows' scores, which become their weights, and what its values
// add up to. Next is the block that comes after those of the table when keys are read, and again when values are: its first lines
// are asked for in time.
//
// Shapes: Scores [Rows, KVSegmentKeys]; Values [Rows, W], DstStride of the product with values apart; Table [KVTileBlocks].
type KVSegment struct {
	Scores, Values []float32
	Table          []int32
	Next           int32
}

// kvStreamArgs is what the assembly reads to do all blocks of some keys and values. Steps are in bytes.
type kvStreamArgs struct {
	of     [KVStreams]kvStream
	size   uintptr // of those that are done
	bytes  uintptr // of a block
	piece  uintptr // of a block that is done at a time
	skip   uintptr // bytes of a piece that the other streams ask for
	pieces int     // of a block
	left   int     // of those
	block  uintptr // 8 times the index of the block
	at     uintptr // how far the piece is from the first one in a block
}

// A kvStream is the keys or the values of a segment. If there are two, the other streams say what else is asked for: lines of the
// same blocks, half a piece further.
type kvStream struct {
	blocks   [KVTileBlocks + 1]unsafe.Pointer // and Next
	ask      uintptr                          // what is a piece further than the one that is done, if it were counted from here
	dst      *float32
	a        unsafe.Pointer // *float32 or *fixedGroup
	lda, ldd uintptr
	atA      int            // how far the piece is in A,
	atDst    int            // and in dst
	steps    [3]kvStep      // to the next piece: from the first half of a group, or a whole one; from the second half; between blocks
	more     kvPlace        // bits that a piece has all 0 if it is the first of its sums, which dst does not have yet
	keys     uintptr        // 1 if these are keys
	fixed    unsafe.Pointer // of values of bytes: fixed groups of the piece, and behind them weights times units of the block
	weights  [KVStreamRows*(fixedStride+2*BlockCols) + 63]byte
}

// A kvStep leads to another piece.
type kvStep struct{ a, dst int }

// A kvPlace is at and block of a piece.
type kvPlace struct{ at, block uintptr }

// floatPiece is the size of a piece of floats of 16 bits: half a group.
const floatPiece = KVBlock * BlockCols

// fixedStride is how far the fixed groups of rows lie apart: a multiple of half a line.
const fixedStride = 96

// SegmentsTogether is how many segments are done in one go, at best, by the tier in use where rows are few.
func SegmentsTogether() int {
	if hasStreams() {
		return KVStreams
	}
	return 1
}

// Streams reports whether whole segments are best done by MulSegments, p being the product with keys.
func (p *KVProduct) Streams() bool { return streamKernel(p) != nil }

// MulSegments sets the scores of some segments, and what the values of others add up to: see MulKeys and MulValues, which give
// the same bits. There are KVStreams of them in all, or half as many. Memory is read as so many streams, a piece of each in turn:
// the processor looks ahead in each of them, and so has more lines on their way. SetA must have been called.
func MulSegments(k, v *KVProduct, keys, values []KVSegment) {
	run := streamKernel(k)
	if run == nil {
		mulEach(k, v, keys, values)
		return
	}
	a := &k.streams
	for i := range keys {
		a.of[i].keysOf(k, &keys[i])
	}
	for i := range values {
		a.of[len(keys)+i].valuesOf(v, &values[i])
	}
	a.begin(&k.B, len(keys)+len(values))
	run(a)
	if k.B.Type == KVBF16 {
		sortSegments(k, v, keys, values)
	}
}

// mulEach is MulSegments without kernels for it.
func mulEach(k, v *KVProduct, keys, values []KVSegment) {
	for _, s := range keys {
		alone := *k
		alone.Dst, alone.DstStride, alone.Table, alone.NextTable = s.Scores, KVSegmentKeys, s.Table, nil
		MulKeys(&alone)
	}
	for _, s := range values {
		alone := *v
		alone.A, alone.AStride, alone.Dst, alone.Table, alone.NextTable = s.Scores, KVSegmentKeys, s.Values, s.Table, nil
		MulValues(&alone, KVSegmentKeys, true)
	}
}

// sortSegments puts the columns of BF16 in order.
func sortSegments(k, v *KVProduct, keys, values []KVSegment) {
	for i := range keys {
		sortColumns(&keys[i].Scores[0], k.Rows*KVSegmentKeys/16)
	}
	for i := range values {
		for r := range v.Rows {
			sortColumns(&values[i].Values[r*v.DstStride], v.B.dim/16)
		}
	}
}

// keysOf makes the stream one of keys.
func (s *kvStream) keysOf(p *KVProduct, segment *KVSegment) {
	s.list(&p.B, segment)
	s.keys, s.dst, s.ldd = 1, &segment.Scores[:p.Rows*KVSegmentKeys][0], KVSegmentKeys*4
	s.more = kvPlace{at: ^uintptr(0)}
	if p.B.Type == KVQ8 {
		s.a, s.lda = unsafe.Pointer(&p.fixed[0]), uintptr(groupsOf(p.B.dim))*fixedBytes
		s.steps = [...]kvStep{{int(fixedBytes), 0}, {}, {-int(s.lda), 4 * KVBlock}}
		return
	}
	s.a, s.lda = unsafe.Pointer(&p.A[:(p.Rows-1)*p.AStride+p.B.dim][0]), uintptr(p.AStride)*4
	s.steps = [...]kvStep{{2 * KVBlock, 0}, {2 * KVBlock, 0}, {-4 * p.B.dim, 4 * KVBlock}}
}

// valuesOf makes the stream one of values.
func (s *kvStream) valuesOf(p *KVProduct, segment *KVSegment) {
	s.list(&p.B, segment)
	weights, back := segment.Scores[:p.Rows*KVSegmentKeys], -4*p.B.dim
	s.keys, s.dst, s.ldd = 0, &segment.Values[:(p.Rows-1)*p.DstStride+p.B.dim][0], uintptr(p.DstStride)*4
	s.a, s.lda = unsafe.Pointer(&weights[0]), KVSegmentKeys*4
	if p.B.Type == KVQ8 {
		s.fixed = unsafe.Add(unsafe.Pointer(&s.weights), -uintptr(unsafe.Pointer(&s.weights))&63) // a store to two lines takes longer
		s.lda = fixedStride                                                                       // what is fixed is A then
		s.steps = [...]kvStep{{0, 4 * KVTileCols}, {}, {4 * KVBlock, back}}
		s.more = kvPlace{block: ^uintptr(0)}
		return
	}
	s.steps = [...]kvStep{{2 * KVBlock, 0}, {-2 * KVBlock, 4 * KVTileCols}, {4 * KVBlock, back}}
	s.more = kvPlace{at: floatPiece, block: ^uintptr(0)}
}

// list lists the blocks and goes to the first.
func (s *kvStream) list(b *KVBlocks, segment *KVSegment) {
	for i, block := range segment.Table[:KVTileBlocks] {
		s.blocks[i] = b.at(block)
	}
	s.blocks[KVTileBlocks] = b.at(segment.Next)
	s.atA, s.atDst = 0, 0
}

// at is where the head in a block begins.
func (b *KVBlocks) at(block int32) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(b.At(int(block))))
}

// begin goes to the first piece of so many streams.
func (a *kvStreamArgs) begin(b *KVBlocks, streams int) {
	a.size, a.bytes, a.block, a.at = uintptr(streams)*unsafe.Sizeof(a.of[0]), uintptr(b.Bytes), 0, 0
	a.piece, a.pieces = floatPiece, 2*groupsOf(b.dim)
	if b.Type == KVQ8 {
		a.piece, a.pieces = uintptr(b.group), groupsOf(b.dim)
	}
	a.left, a.skip = a.pieces, 0
	if streams < KVStreams {
		a.spread(streams)
		a.skip += a.piece / 2
	}
	for i := range a.of {
		s := &a.of[i]
		s.ask = uintptr(s.blocks[0])
		if a.pieces == 1 {
			s.ask = uintptr(s.blocks[1]) - a.bytes
		}
	}
}

// spread makes the other streams ask for what the first ones, half as many as there can be, have no time for.
func (a *kvStreamArgs) spread(first int) {
	for i, s := range a.of[:first] {
		for k, block := range s.blocks {
			a.of[first+i].blocks[k] = unsafe.Add(block, a.piece/2)
		}
	}
}
