// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// Attention is flash-style attention of many sequences over paged keys and values.
//
// Keys are visited in order of position, in segments of segmentKeys counted from position 0. Each segment has a softmax of its
// own; they are merged as softmaxTree says. A key that a row does not see, or a segment without any that it sees, leaves the row's
// numbers exactly as they are. So a row's bits depend on its own query, keys and values only. Keys and values of the batch
// itself are read from the cache as stored.
//
// The queries of all heads that share a KV head are rows of one tile, so keys and values are read once for them.
//
// Dao et al. 2022 (arXiv:2205.14135); grouped heads 2305.13245; paging 2309.06180.
type Attention struct {
	heads, kvHeads, headDim int
	window                  int     // positions that a row sees, its own included; 0: all
	softCap                 float32 // scores become softCap·tanh(score/softCap); 0: they stay
	positions               []int32
	spans                   []Span
	tasks                   []attentionTask // first the long ones, long of them, then those of shared tiles
	long                    int
	shares                  shares // of the latter
	shared                  []sharedTile
	partials                int // nodes that tasks leave for others to merge

	out, q  []float32
	scale   float32
	kv      *KV
	scratch []attentionScratch // one for each worker
	parts   []float32          // [partials, R·(2+W)] their states
	nodes   []treeNode         // [partials]
	next    atomic.Int64       // of the long tasks
	work    func(i, worker int)
}

// A Span is a run of query rows that belong to one sequence.
type Span struct {
	First, Rows int
	Table       []int32 // blocks of the sequence: position/KVBlock indexes it
}

const (
	segmentKeys = kernel.KVSegmentKeys // a row of scores: 1 KiB; enough to be worth a claim by a thread: about 5 µs

	// noMaximum is the running maximum before any score. It is finite, so that differences are not NaN.
	noMaximum = -1e30
)

// An attentionTask is one tile of query rows of one KV head. Rows are counted (row of the span)·H/K + head of the group.
type attentionTask struct {
	span, head  int32
	first, end  int32 // rows
	low, high   int32 // segments, where the tile is shared; else it does all of them
	part        int32 // where the nodes of those begin
	sharedIndex int32 // in shared, or -1
}

// A sharedTile is a tile whose segments several tasks do. The last of them merges the nodes that they left.
type sharedTile struct {
	part, parts int32 // its first node, and how many
	tasks       int32
	left        atomic.Int32 // tasks that are not done
}

// NewAttention prepares attention of these sizes; window 0 means that a row sees all earlier positions.
//
// Shapes: queries [N, heads, headDim]; keys and values as KV has them.
func NewAttention(p *Pool, heads, kvHeads, headDim, window int) *Attention {
	if heads%kvHeads != 0 {
		panic(fmt.Sprintf("tensor: attention: %d heads, %d KV heads", heads, kvHeads))
	}
	a := &Attention{heads: heads, kvHeads: kvHeads, headDim: headDim, window: window}
	a.scratch, a.shares = make([]attentionScratch, p.Threads()), make(shares, p.Threads())
	for i := range a.scratch {
		a.scratch[i].init(headDim)
	}
	a.work = a.worker
	return a
}

// WithSoftCap makes the attention cap its scores (arXiv:2408.00118): s becomes limit·tanh(s/limit). Limit 0 does not.
func (a *Attention) WithSoftCap(limit float32) *Attention {
	a.softCap = limit
	return a
}

// Plan cuts the work of a batch into tasks; Run may then be called for each layer.
//
// Shapes: positions [N], one for each query row; spans cover them in order. Both must stay unchanged until the last Run.
func (a *Attention) Plan(positions []int32, spans []Span) {
	a.positions, a.spans, a.tasks, a.shared, a.partials = positions, spans, a.tasks[:0], a.shared[:0], 0
	segments, most := 0, 0
	for i, span := range spans {
		most = max(most, a.segments(span))
		if a.short(span) {
			segments += a.segments(span) * a.kvHeads
		} else {
			a.planTiles(i, span)
		}
	}
	for i := range a.scratch {
		a.scratch[i].tree.reserve(most)
	}
	a.planShares(segments)
}

// planTiles makes a task of each tile of a long span.
func (a *Attention) planTiles(i int, span Span) {
	for head := range a.kvHeads {
		// The last rows have most keys: they go first, so that threads end together.
		for end := span.Rows * (a.heads / a.kvHeads); end > 0; end -= kernel.KVTileRows {
			a.tasks = append(a.tasks, attentionTask{
				span: int32(i), head: int32(head), first: int32(max(0, end-kernel.KVTileRows)), end: int32(end), sharedIndex: -1,
			})
		}
	}
}

// short reports whether a span is one tile for each KV head, with several segments that threads can share.
func (a *Attention) short(span Span) bool {
	return span.Rows*(a.heads/a.kvHeads) <= kernel.KVTileRows && a.segments(span) > 1
}

// A sharePlan is how far the segments of all heads of the short spans are divided: evenly among threads, and what each gets into
// tasks, half of what is left of it at a time, so that there are few at first and short ones in the end, where threads would
// wait for each other. The shortest are as many segments as are done together.
type sharePlan struct{ segments, done, thread int }

// planShares divides so many segments.
func (a *Attention) planShares(segments int) {
	plan := sharePlan{segments: segments}
	a.long = len(a.tasks)
	for i, span := range a.spans {
		for head := 0; head < a.kvHeads && a.short(span); head++ {
			a.planShared(&plan, i, head)
		}
	}
	for ; plan.thread < len(a.shares); plan.thread++ {
		a.shares[plan.thread].end = len(a.tasks)
	}
}

// planShared makes the tasks of a span's tile of one head.
func (a *Attention) planShared(plan *sharePlan, i, head int) {
	span := a.spans[i]
	first, n, tile := a.firstSegment(span), a.segments(span), a.newTile()
	shared := &a.shared[tile]
	for at := 0; at < n; {
		end := plan.segments * (plan.thread + 1) / len(a.shares)
		if plan.done == end {
			a.shares[plan.thread].end = len(a.tasks)
			plan.thread++
			continue
		}
		size := min(n-at, end-plan.done, roundUp((end-plan.done+1)/2, kernel.SegmentsTogether()))
		a.tasks = append(a.tasks, attentionTask{
			span: int32(i), head: int32(head), end: int32(span.Rows * (a.heads / a.kvHeads)),
			low: int32(first + at), high: int32(first + at + size), part: int32(a.partials), sharedIndex: int32(tile),
		})
		shared.tasks++
		a.partials += treeNodes(first+at, first+at+size)
		plan.done += size
		at += size
	}
	shared.parts = int32(a.partials) - shared.part
}

// newTile adds a shared tile without tasks.
func (a *Attention) newTile() int {
	tile := len(a.shared)
	if tile == cap(a.shared) {
		a.shared = append(a.shared, sharedTile{})
	}
	a.shared = a.shared[:tile+1]
	a.shared[tile].part, a.shared[tile].tasks = int32(a.partials), 0
	return tile
}

// firstSegment returns the first segment that the span's first row sees.
func (a *Attention) firstSegment(span Span) int {
	return a.firstVisible(a.positions[span.First]) / segmentKeys
}

// segments returns how many segments the span's rows see.
func (a *Attention) segments(span Span) int {
	return int(a.positions[span.First+span.Rows-1])/segmentKeys + 1 - a.firstSegment(span)
}

func (a *Attention) firstVisible(pos int32) int {
	if a.window == 0 {
		return 0
	}
	return max(0, int(pos)-a.window+1)
}

// Run sets out to the attention of the planned rows: softmax(scale · q·k) · v.
//
// Shapes: out, q [N, H, D].
func (a *Attention) Run(p *Pool, out, q []float32, kv *KV, scale float32) {
	if n := len(a.positions) * a.heads * a.headDim; len(out) < n || len(q) < n {
		panic(fmt.Sprintf("tensor: attention: %d and %d values, want %d", len(out), len(q), n))
	}
	a.out, a.q, a.kv, a.scale = out, q, kv, scale
	a.parts, a.nodes = grow(a.parts, a.partials*a.partSize()), grow(a.nodes, a.partials)
	for i := range a.shared {
		a.shared[i].left.Store(a.shared[i].tasks)
	}
	a.shares.begin(a.long)
	a.next.Store(0)
	p.Do(min(p.Threads(), len(a.tasks)), a.work)
	runtime.KeepAlive(kv)
}

// partSize is the length of a node's state.
func (a *Attention) partSize() int { return stateSize(roundUp(a.headDim, kernel.KVTileCols)) }

// part is the place of a node's state in parts.
func (a *Attention) part(i int32) softmaxState {
	return softmaxStateIn(a.parts[int(i)*a.partSize():][:a.partSize()])
}

// worker does the long tasks that are left, those of its share, and then what others have left of theirs.
func (a *Attention) worker(i, worker int) {
	s := &a.scratch[worker]
	for t := int(a.next.Add(1)) - 1; t < a.long; t = int(a.next.Add(1)) - 1 {
		a.do(&a.tasks[t], s)
	}
	for n := range a.shares {
		share := &a.shares[(i+n)%len(a.shares)]
		for t := range share.left() {
			s.load(a, &a.tasks[t])
			if t+1 < share.end {
				s.expect(a, &a.tasks[t+1])
			}
			a.doShared(&a.tasks[t], s)
		}
	}
}

// do does a long task.
func (a *Attention) do(task *attentionTask, s *attentionScratch) {
	s.load(a, task)
	s.segments(a, task, s.low/segmentKeys, (s.high+segmentKeys-1)/segmentKeys)
	s.store(a, task)
}

// doShared does a task's segments of a shared tile, and if no others are left, merges all.
func (a *Attention) doShared(task *attentionTask, s *attentionScratch) {
	s.segments(a, task, int(task.low), int(task.high))
	tile, tree := &a.shared[task.sharedIndex], &s.tree
	if tile.tasks > 1 {
		for i, node := range tree.nodes {
			part := task.part + int32(i)
			a.nodes[part] = node
			a.part(part).copyFrom(tree.states[i], tree.rows, tree.stride)
		}
		if tile.left.Add(-1) > 0 {
			return
		}
		tree.begin(s.rows, true)
		for i := range tile.parts {
			tree.next().copyFrom(a.part(tile.part+i), tree.rows, tree.stride)
			tree.add(a.nodes[tile.part+i])
		}
	}
	s.store(a, task)
}
