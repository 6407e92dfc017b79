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
// Keys are visited in order of position: in segments of segmentKeys, within them in chunks of chunkKeys, both counted
// from position 0. A segment is an online softmax over its chunks; segments are merged in order. A key that a row does
// not see, or a chunk or segment without any that it sees, leaves the row's numbers exactly as they are. So a row's bits
// depend on its own query, keys and values only. Keys and values of the batch itself are read from the cache as stored.
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
	tasks                   []attentionTask
	shared                  []sharedTile
	partials                int // segments that are computed apart and merged afterwards

	out, q  []float32
	scale   float32
	kv      *KV
	scratch []attentionScratch // one for each worker
	parts   []float32          // [partials, R·(2+W)]
	work    func(i, worker int)
}

// A Span is a run of query rows that belong to one sequence.
type Span struct {
	First, Rows int
	Table       []int32 // blocks of the sequence: position/KVBlock indexes it
}

const (
	chunkKeys   = 4 * KVBlock // a row of scores: 512 B
	segmentKeys = 256         // enough to be worth a claim by a thread: about 5 µs

	// tasksPerThread is how finely the segments of short spans are divided. A task with several segments in a row
	// prefetches the next while it computes one.
	tasksPerThread = 6

	// noMaximum is the running maximum before any score. It is finite, so that differences are not NaN.
	noMaximum = -1e30
)

// An attentionTask is one tile of query rows of one KV head. Rows are counted (row of the span)·H/K + head of the group.
type attentionTask struct {
	span, head  int32
	first, end  int32 // rows
	low, high   int32 // segments, where the tile is shared; else it does all of them
	sharedIndex int32 // in shared, or -1
}

// A sharedTile is a tile whose segments several tasks do. The last of them merges what they left in parts.
type sharedTile struct {
	first, part, parts int32 // its first segment, the part of that, and how many
	tasks              int32
	left               atomic.Int32 // tasks that are not done
}

// NewAttention prepares attention of these sizes; window 0 means that a row sees all earlier positions.
//
// Shapes: queries [N, heads, headDim]; keys and values as KV has them.
func NewAttention(p *Pool, heads, kvHeads, headDim, window int) *Attention {
	if heads%kvHeads != 0 {
		panic(fmt.Sprintf("tensor: attention: %d heads, %d KV heads", heads, kvHeads))
	}
	a := &Attention{heads: heads, kvHeads: kvHeads, headDim: headDim, window: window}
	a.scratch = make([]attentionScratch, p.Threads())
	for i := range a.scratch {
		a.scratch[i].init(headDim)
	}
	a.work = a.do
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
	group := a.heads / a.kvHeads
	for i, span := range spans {
		rows := span.Rows * group
		if rows <= kernel.KVTileRows && a.segments(span) > 1 {
			a.planSegments(i, span, rows)
			continue
		}
		for head := range a.kvHeads {
			// The last rows have most keys: they go first, so that threads end together.
			for end := rows; end > 0; end -= kernel.KVTileRows {
				a.tasks = append(a.tasks, attentionTask{
					span: int32(i), head: int32(head), first: int32(max(0, end-kernel.KVTileRows)), end: int32(end), sharedIndex: -1,
				})
			}
		}
	}
}

// planSegments divides the segments of a short span among tasks.
func (a *Attention) planSegments(i int, span Span, rows int) {
	first, n := a.firstSegment(span), a.segments(span)
	wanted := len(a.scratch) * tasksPerThread
	step := max(1, n*a.kvHeads*len(a.spans)/wanted)
	for head := range a.kvHeads {
		tile := len(a.shared)
		if tile == cap(a.shared) {
			a.shared = append(a.shared, sharedTile{})
		}
		a.shared = a.shared[:tile+1]
		shared := &a.shared[tile]
		shared.first, shared.part, shared.parts, shared.tasks = int32(first), int32(a.partials), int32(n), 0
		for at := 0; at < n; at += step {
			a.tasks = append(a.tasks, attentionTask{
				span: int32(i), head: int32(head), end: int32(rows),
				low: int32(first + at), high: int32(first + min(at+step, n)), sharedIndex: int32(tile),
			})
			shared.tasks++
		}
		a.partials += n
	}
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
	a.parts = grow(a.parts, a.partials*a.partSize())
	for i := range a.shared {
		a.shared[i].left.Store(a.shared[i].tasks)
	}
	p.Do(len(a.tasks), a.work)
	runtime.KeepAlive(kv)
}

// partSize is the length of a partial result: for each row of a tile its maximum, its sum and its values.
func (a *Attention) partSize() int {
	return kernel.KVTileRows * (2 + roundUp(a.headDim, kernel.KVTileCols))
}

func (a *Attention) part(i int32) []float32 { return a.parts[int(i)*a.partSize():][:a.partSize()] }

func (a *Attention) do(i, worker int) {
	task, s := &a.tasks[i], &a.scratch[worker]
	s.load(a, task)
	if task.sharedIndex >= 0 {
		a.doShared(task, s)
		return
	}
	for segment := s.low / segmentKeys; segment*segmentKeys < s.high; segment++ {
		s.segment(a, task, segment)
		s.merge(&s.one)
	}
	s.store(a, task)
}

// doShared does a task's segments of a shared tile, and if no others are left, merges all.
func (a *Attention) doShared(task *attentionTask, s *attentionScratch) {
	tile := &a.shared[task.sharedIndex]
	for segment := task.low; segment < task.high; segment++ {
		s.segment(a, task, int(segment))
		s.one.save(a.part(tile.part+segment-tile.first), s.rows)
	}
	if tile.left.Add(-1) > 0 {
		return
	}
	for i := range tile.parts {
		s.one.restore(a.part(tile.part+i), s.rows)
		s.merge(&s.one)
	}
	s.store(a, task)
}
