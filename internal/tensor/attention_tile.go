// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// An attentionScratch is what one worker needs to compute a tile of R query rows (at most kernel.KVTileRows).
type attentionScratch struct {
	rows      int
	low, high int // the positions that any row of the tile sees: [low, high)
	stride    int // W: the head dim rounded up to whole kernel tiles

	first, end [kernel.KVTileRows]int // the positions that each row sees: [first, end)
	q          []float32              // [R, D] scaled queries
	scores     []float32              // [R, chunkKeys] scores, then weights
	softCap    float32
	before     [kernel.KVTileRows]float32 // maxima before the current chunk
	sums       [kernel.KVTileRows]float32 // of the chunk's weights
	all, one   softmaxState               // of the segments so far, of the current segment
	empty      bool                       // there is no segment so far
	keys       kernel.KVProduct
	values     kernel.KVProduct
}

// A softmaxState is an unfinished softmax of each row: values weighted by e^(score-maximum), and the sum of the weights.
type softmaxState struct {
	maximum, sum [kernel.KVTileRows]float32
	values       []float32 // [R, W]
}

func (s *attentionScratch) init(headDim int) {
	s.stride = roundUp(headDim, kernel.KVTileCols)
	s.q = make([]float32, kernel.KVTileRows*headDim)
	s.scores = make([]float32, kernel.KVTileRows*chunkKeys)
	s.all.values = make([]float32, kernel.KVTileRows*s.stride)
	s.one.values = make([]float32, kernel.KVTileRows*s.stride)
	s.keys.A, s.keys.AStride, s.keys.Dst, s.keys.DstStride = s.q, headDim, s.scores, chunkKeys
	s.values.A, s.values.AStride, s.values.DstStride = s.scores, chunkKeys, s.stride
}

// load gathers the tile's queries and what each row sees.
func (s *attentionScratch) load(a *Attention, task *attentionTask) {
	s.rows, s.empty, s.softCap = int(task.end-task.first), true, a.softCap
	s.keys.Rows, s.values.Rows = s.rows, s.rows
	keys, values := a.kv.keys.of(int(task.head)), a.kv.values.of(int(task.head))
	s.keys.B, s.keys.Next = keys, values
	s.values.B, s.values.Next = values, keys
	span, group := a.spans[task.span], a.heads/a.kvHeads
	s.low, s.high = math.MaxInt, 0
	for r := range s.rows {
		row, head := a.at(task, r, span, group)
		pos := a.positions[row]
		s.first[r], s.end[r] = a.firstVisible(pos), int(pos)+1
		s.low, s.high = min(s.low, s.first[r]), max(s.high, s.end[r])
		q := a.q[(row*a.heads+head)*a.headDim:][:a.headDim]
		kernel.Scale(s.q[r*a.headDim:][:a.headDim], q, a.scale)
	}
}

// at returns the batch row and the head of row r of a tile.
func (a *Attention) at(task *attentionTask, r int, span Span, group int) (row, head int) {
	flat := int(task.first) + r
	return span.First + flat/group, int(task.head)*group + flat%group
}

// segment computes the softmax state of one segment.
func (s *attentionScratch) segment(a *Attention, task *attentionTask, segment int) {
	for r := range s.rows {
		s.one.maximum[r], s.one.sum[r] = noMaximum, 0
	}
	s.values.Dst = s.one.values
	low := max(segment*segmentKeys, s.low/KVBlock*KVBlock)
	high := min((segment+1)*segmentKeys, s.high)
	for fresh := true; low < high; fresh = false {
		next := min((low/chunkKeys+1)*chunkKeys, high)
		s.chunk(a.spans[task.span].Table, low, next, fresh)
		low = next
	}
}

// chunk adds the keys at [low, high) to the current segment, as its first if fresh says so: low is the start of a block,
// and the keys lie in one chunk. What comes after them in the table is prefetched.
func (s *attentionScratch) chunk(table []int32, low, high int, fresh bool) {
	first, end := low/KVBlock, (high+KVBlock-1)/KVBlock
	s.keys.Table, s.keys.NextTable = table[first:end], table[first:end]
	kernel.MulKeys(&s.keys)
	s.weigh(low, high, fresh)
	s.values.Table, s.values.NextTable = table[first:end], table[end:min(2*end-first, (s.high+KVBlock-1)/KVBlock)]
	kernel.MulValues(&s.values, high-low, fresh)
}

// weigh turns the scores of keys [low, high) into weights, and brings the segment's state to the new maximum. A fresh
// segment has no values yet.
func (s *attentionScratch) weigh(low, high int, fresh bool) {
	width := roundUp(high-low, KVBlock)
	for r := range s.rows {
		row := s.scores[r*chunkKeys:][:width]
		if s.softCap != 0 {
			kernel.SoftCap(row, s.softCap)
		}
		mask(row, s.first[r]-low, s.end[r]-low)
	}
	s.before = s.one.maximum
	sums := &s.sums
	if fresh {
		sums = &s.one.sum
	}
	kernel.SoftmaxRows(s.scores, chunkKeys, width, s.one.maximum[:s.rows], sums[:s.rows])
	if fresh {
		return
	}
	for r, before := range s.before[:s.rows] {
		if maximum := s.one.maximum[r]; maximum != before {
			c := kernel.Exp(before - maximum)
			s.one.sum[r] *= c
			values := s.one.values[r*s.stride:][:s.stride]
			kernel.Scale(values, values, c)
		}
		s.one.sum[r] += s.sums[r]
	}
}

// mask hides all scores but [first, end).
func mask(scores []float32, first, end int) {
	hidden := float32(math.Inf(-1))
	for i := range min(first, len(scores)) {
		scores[i] = hidden
	}
	for i := max(end, 0); i < len(scores); i++ {
		scores[i] = hidden
	}
}

// merge adds a segment to those before it; the first is taken as it is, in exchange for what was there.
func (s *attentionScratch) merge(one *softmaxState) {
	if s.empty {
		s.all, *one, s.empty = *one, s.all, false
		return
	}
	for r := range s.rows {
		all, values := s.all.values[r*s.stride:][:s.stride], one.values[r*s.stride:][:s.stride]
		maximum := max(s.all.maximum[r], one.maximum[r])
		c, d := kernel.Exp(s.all.maximum[r]-maximum), kernel.Exp(one.maximum[r]-maximum)
		s.all.maximum[r] = maximum
		s.all.sum[r] = float32(s.all.sum[r]*c) + float32(one.sum[r]*d)
		kernel.Scale(all, all, c)
		kernel.AddScaled(all, values, d)
	}
}

// store writes the finished rows.
func (s *attentionScratch) store(a *Attention, task *attentionTask) {
	span, group := a.spans[task.span], a.heads/a.kvHeads
	for r := range s.rows {
		row, head := a.at(task, r, span, group)
		out := a.out[(row*a.heads+head)*a.headDim:][:a.headDim]
		kernel.Scale(out, s.all.values[r*s.stride:], 1/s.all.sum[r])
	}
}

// save writes the state of some rows to part.
func (s *softmaxState) save(part []float32, rows int) {
	copy(part, s.maximum[:rows])
	copy(part[kernel.KVTileRows:], s.sum[:rows])
	copy(part[2*kernel.KVTileRows:], s.values[:rows*len(s.values)/kernel.KVTileRows])
}

// restore reads what save wrote.
func (s *softmaxState) restore(part []float32, rows int) {
	copy(s.maximum[:rows], part)
	copy(s.sum[:rows], part[kernel.KVTileRows:])
	copy(s.values[:rows*len(s.values)/kernel.KVTileRows], part[2*kernel.KVTileRows:])
}
