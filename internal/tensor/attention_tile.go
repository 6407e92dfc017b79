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
	all, one   softmaxState           // of the segments so far, of the current segment
	empty      bool                   // there is no segment so far
	tile       kernel.KVTile
}

// A softmaxState is an unfinished softmax of each row: values weighted by e^(score-maximum), and the sum of the weights.
type softmaxState struct {
	maximum, sum [kernel.KVTileRows]float32
	values       []float32 // [R, W]
}

func (s *attentionScratch) init(headDim int) {
	s.stride = roundUp(headDim, valueAlign)
	s.q = make([]float32, kernel.KVTileRows*headDim)
	s.scores = make([]float32, kernel.KVTileRows*chunkKeys)
	s.all.values = make([]float32, kernel.KVTileRows*s.stride)
	s.one.values = make([]float32, kernel.KVTileRows*s.stride)
}

// load gathers the tile's queries and what each row sees.
func (s *attentionScratch) load(a *Attention, task *attentionTask) {
	s.reset(int(task.end - task.first))
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

// reset makes the state that of no segment.
func (s *attentionScratch) reset(rows int) { s.rows, s.empty = rows, true }

func (s *softmaxState) reset(rows, stride int) {
	for r := range rows {
		s.maximum[r], s.sum[r] = noMaximum, 0
	}
	clear(s.values[:rows*stride])
}

// segment computes the softmax state of one segment.
func (s *attentionScratch) segment(a *Attention, task *attentionTask, segment int) {
	s.one.reset(s.rows, s.stride)
	low := max(segment*segmentKeys, s.low/KVBlock*KVBlock)
	high := min((segment+1)*segmentKeys, s.high)
	for low < high {
		next := min((low/chunkKeys+1)*chunkKeys, high)
		s.chunk(a, task, low, next)
		low = next
	}
}

// chunk adds the keys at [low, high) to the current segment: low is the start of a block, and the keys lie in one chunk.
func (s *attentionScratch) chunk(a *Attention, task *attentionTask, low, high int) {
	table, head := a.spans[task.span].Table, int(task.head)
	t := &s.tile
	t.Rows, t.Fresh = s.rows, true
	t.A, t.AStride, t.K = s.q, a.headDim, a.headDim
	t.DstStride, t.BStride = chunkKeys, KVBlock
	for pos := low; pos < high; pos += KVBlock {
		t.Dst = s.scores[pos-low:]
		a.kv.keys.load(t, int(table[pos/KVBlock])*a.kvHeads+head, 0)
		kernel.MulKV(t)
	}
	s.weigh(a.softCap, low, high)
	t.Fresh = false
	t.AStride = chunkKeys
	t.DstStride, t.BStride = s.stride, s.stride
	for pos := low; pos < high; pos += KVBlock {
		t.A, t.K = s.scores[pos-low:], min(KVBlock, high-pos)
		for c := 0; c < s.stride; c += kernel.KVTileCols {
			t.Dst = s.one.values[c:]
			a.kv.values.load(t, int(table[pos/KVBlock])*a.kvHeads+head, c)
			kernel.MulKV(t)
		}
	}
}

// weigh turns the scores of keys [low, high) into weights, and brings the segment's state to the new maximum.
func (s *attentionScratch) weigh(softCap float32, low, high int) {
	width := roundUp(high-low, KVBlock)
	for r := range s.rows {
		row := s.scores[r*chunkKeys:][:width]
		if softCap != 0 {
			kernel.SoftCap(row, softCap)
		}
		mask(row, s.first[r]-low, s.end[r]-low)
		maximum, sum := kernel.SoftmaxChunk(row, s.one.maximum[r])
		if maximum != s.one.maximum[r] {
			c := kernel.Exp(s.one.maximum[r] - maximum)
			s.one.maximum[r] = maximum
			s.one.sum[r] *= c
			values := s.one.values[r*s.stride:][:s.stride]
			kernel.Scale(values, values, c)
		}
		s.one.sum[r] += sum
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

// merge adds the current segment to those before it; the first is taken as it is.
func (s *attentionScratch) merge() {
	if s.empty {
		s.all, s.one, s.empty = s.one, s.all, false
		return
	}
	for r := range s.rows {
		all, one := s.all.values[r*s.stride:][:s.stride], s.one.values[r*s.stride:][:s.stride]
		maximum := max(s.all.maximum[r], s.one.maximum[r])
		c, d := kernel.Exp(s.all.maximum[r]-maximum), kernel.Exp(s.one.maximum[r]-maximum)
		s.all.maximum[r] = maximum
		s.all.sum[r] = float32(s.all.sum[r]*c) + float32(s.one.sum[r]*d)
		kernel.Scale(all, all, c)
		kernel.AddScaled(all, one, d)
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

// save writes the current segment's state to part.
func (s *attentionScratch) save(part []float32) {
	n := copy(part, s.one.maximum[:])
	n += copy(part[n:], s.one.sum[:])
	copy(part[n:], s.one.values)
}

// restore reads what save wrote.
func (s *attentionScratch) restore(part []float32) {
	n := copy(s.one.maximum[:], part)
	n += copy(s.one.sum[:], part[n:])
	copy(s.one.values, part[n:])
}
