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
	from, to  int // those that all of them see
	until     int // the task goes on up to this position
	after     kernel.KVBlocks
	afterward []int32 // the keys that are read after that

	first, end [kernel.KVTileRows]int // the positions that each row sees: [first, end)
	q          []float32              // [R, D] scaled queries
	scores     []float32              // [R, segmentKeys] scores, then weights, of each segment that is done with others
	softCap    float32
	tree       softmaxTree // of the segments so far
	keys       kernel.KVProduct
	values     kernel.KVProduct

	streams bool // whether whole segments are done together
	parts   [kernel.KVStreams]kernel.KVSegment
	states  [kernel.KVStreams + 2]softmaxState // of those whose values are not done: segment i has one, and scores, at i mod 6
}

func (s *attentionScratch) init(headDim int) {
	s.q = make([]float32, kernel.KVTileRows*headDim)
	s.scores = make([]float32, max(kernel.KVTileRows, len(s.states)*kernel.KVStreamRows)*segmentKeys)
	s.tree.stride = roundUp(headDim, kernel.KVTileCols)
	s.tree.reserve(1)
	s.keys.A, s.keys.AStride, s.keys.Dst, s.keys.DstStride = s.q, headDim, s.scores, segmentKeys
	s.values.A, s.values.AStride, s.values.DstStride = s.scores, segmentKeys, s.tree.stride
	s.keys.Reserve(headDim)
	s.values.Reserve(headDim)
	for i := range s.states {
		s.states[i] = softmaxStateIn(make([]float32, stateSize(s.tree.stride)))
	}
}

// load gathers the tile's queries and what each row sees.
func (s *attentionScratch) load(a *Attention, task *attentionTask) {
	s.rows, s.softCap = int(task.end-task.first), a.softCap
	s.keys.Rows, s.values.Rows = s.rows, s.rows
	s.tree.begin(s.rows, task.sharedIndex < 0 || a.shared[task.sharedIndex].tasks == 1)
	keys, values := a.kv.keys.of(int(task.head)), a.kv.values.of(int(task.head))
	s.keys.B, s.keys.Next = keys, values
	s.values.B = values
	span, group := a.spans[task.span], a.heads/a.kvHeads
	s.low, s.high = math.MaxInt, 0
	s.from, s.to = 0, math.MaxInt
	for r := range s.rows {
		row, head := a.at(task, r, span, group)
		pos := a.positions[row]
		s.first[r], s.end[r] = a.firstVisible(pos), int(pos)+1
		s.low, s.high = min(s.low, s.first[r]), max(s.high, s.end[r])
		s.from, s.to = max(s.from, s.first[r]), min(s.to, s.end[r])
		q := a.q[(row*a.heads+head)*a.headDim:][:a.headDim]
		kernel.Scale(s.q[r*a.headDim:][:a.headDim], q, a.scale)
	}
	s.keys.SetA()
	s.streams = s.keys.Streams()
	s.until, s.afterward = s.high, nil
	if task.sharedIndex >= 0 {
		s.until = min(s.high, int(task.high)*segmentKeys)
	}
}

// expect tells which task probably comes after the loaded one.
func (s *attentionScratch) expect(a *Attention, task *attentionTask) {
	span := a.spans[task.span]
	first := max(int(task.low)*segmentKeys, a.firstVisible(a.positions[span.First])) / KVBlock
	end := min(first+kernel.KVTileBlocks, blocksOf(int(a.positions[span.First+span.Rows-1])+1))
	s.after, s.afterward = a.kv.keys.of(int(task.head)), span.Table[first:end]
}

// at returns the batch row and the head of row r of a tile.
func (a *Attention) at(task *attentionTask, r int, span Span, group int) (row, head int) {
	flat := int(task.first) + r
	return span.First + flat/group, int(task.head)*group + flat%group
}

// segments adds the segments [low, high) to the tree, some at a time where that is faster.
func (s *attentionScratch) segments(a *Attention, task *attentionTask, low, high int) {
	for low < high {
		if pairs := s.wholePairs(low, high); pairs > 0 {
			s.overlapping(a.spans[task.span].Table, segmentRun{low, low + 2*pairs})
			low += 2 * pairs
		} else {
			s.segment(a, task, low)
			low++
		}
	}
}

// wholePairs is how many pairs of segments from low on can be done together: all rows must see all of them.
func (s *attentionScratch) wholePairs(low, high int) int {
	if !s.streams || low*segmentKeys < s.from {
		return 0
	}
	return max(0, min(high, s.to/segmentKeys)-low) / 2
}

// A segmentRun is the segments [low, high).
type segmentRun struct{ low, high int }

// overlapping adds pairs of whole segments. Keys go ahead of values, so that memory is read as four streams all the time: first the
// keys of two pairs, then those of the next pair with the values of the first one, and so on.
func (s *attentionScratch) overlapping(table []int32, all segmentRun) {
	lead := min(kernel.KVStreams, all.high-all.low)
	s.values.NextTable = nil
	s.together(table, segmentRun{all.low, all.low + lead}, segmentRun{}, all.high)
	for at := all.low + lead; at < all.high; at += 2 {
		s.together(table, segmentRun{at, at + 2}, segmentRun{at - lead, at - lead + 2}, all.high)
	}
	s.together(table, segmentRun{}, segmentRun{all.high - lead, all.high}, all.high)
	s.values.A = s.scores
}

// together does the keys of some segments and the values of others, and adds those to the tree. End is where all end.
func (s *attentionScratch) together(table []int32, keys, values segmentRun, end int) {
	parts := s.parts[:0]
	for _, run := range []segmentRun{keys, values} {
		for i := run.low; i < run.high; i++ {
			parts = append(parts, s.whole(table, i, run.high-run.low, end))
		}
	}
	n := keys.high - keys.low
	kernel.MulSegments(&s.keys, &s.values, parts[:n], parts[n:])
	for i := values.low; i < values.high; i++ {
		s.tree.push(&s.states[i%len(s.states)], treeNode{int32(i), 1})
	}
	for i := keys.low; i < keys.high; i++ {
		s.values.A = parts[i-keys.low].Scores
		s.weigh(i*segmentKeys, (i+1)*segmentKeys, s.states[i%len(s.states)])
	}
}

// whole is segment i, which is followed, before end, by the one that is so many further.
func (s *attentionScratch) whole(table []int32, i, further, end int) kernel.KVSegment {
	slot, next := i%len(s.states), i+further
	if next >= end {
		next = i
	}
	return kernel.KVSegment{
		Scores: s.scores[slot*s.rows*segmentKeys:][:s.rows*segmentKeys], Values: s.states[slot].values,
		Table: table[i*kernel.KVTileBlocks:][:kernel.KVTileBlocks], Next: table[next*kernel.KVTileBlocks],
	}
}

// segment adds one segment to the tree. The task's next one is prefetched.
func (s *attentionScratch) segment(a *Attention, task *attentionTask, segment int) {
	state := s.tree.next()
	first := max(segment*segmentKeys, s.low) / KVBlock
	low, high := first*KVBlock, min((segment+1)*segmentKeys, s.high)
	table, end := a.spans[task.span].Table, blocksOf(high)
	s.keys.Table, s.keys.NextTable = table[first:end], table[first:end]
	kernel.MulKeys(&s.keys)
	s.values.Table, s.values.Next, s.values.NextTable = table[first:end], s.keys.B, table[end:max(end, min(2*end-first, blocksOf(s.until)))]
	if (segment+1)*segmentKeys >= s.until {
		s.values.Next, s.values.NextTable = s.after, s.afterward
	}
	s.weigh(low, high, state)
	s.values.Dst = state.values
	kernel.MulValues(&s.values, high-low, true)
	s.tree.add(treeNode{int32(segment), 1})
}

// blocksOf is how many blocks hold so many positions.
func blocksOf(positions int) int { return (positions + KVBlock - 1) / KVBlock }

// weigh turns the scores of keys [low, high), which are what values will be multiplied with, into weights, and sets the state's
// maxima and sums.
func (s *attentionScratch) weigh(low, high int, state softmaxState) {
	width := roundUp(high-low, KVBlock)
	for r := range s.rows {
		row := s.values.A[r*segmentKeys:][:width]
		if s.softCap != 0 {
			kernel.SoftCap(row, s.softCap)
		}
		mask(row, s.first[r]-low, s.end[r]-low)
		state.maximum[r] = noMaximum
	}
	s.values.Softmax(width, state.maximum, state.sum)
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

// store writes the finished rows.
func (s *attentionScratch) store(a *Attention, task *attentionTask) {
	all := s.tree.fold()
	span, group := a.spans[task.span], a.heads/a.kvHeads
	for r := range s.rows {
		row, head := a.at(task, r, span, group)
		out := a.out[(row*a.heads+head)*a.headDim:][:a.headDim]
		kernel.Scale(out, all.values[r*s.tree.stride:], 1/all.sum[r])
	}
}
