// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A Step is one Forward on its way through the layers: the residual stream and the buffers that layers share. Buffers
// grow to the largest batch seen and are reused.
type Step struct {
	cfg   *Config
	pool  *tensor.Pool
	batch *Batch
	cache *Cache

	layer int
	rows  int       // T, after the last layer's attention N
	x     []float32 // [rows, E] the residual stream

	normed, branch, gathered []float32 // [rows, E]
	q, heads                 []float32 // [rows, H, D]
	k, v                     []float32 // [rows, K, D]
	gate, up                 []float32 // [rows, F]
	hidden                   []float32 // [N, E]
	input                    tensor.Activations

	slots     [][]int32           // [groups][T] block·P + place in the block of each row
	rotations [2]*tensor.Rotation // of layers that see everything, of window layers
	all       [2]queries          // every row asks: the same two
	outputs   queries             // the rows of Outputs ask, in the last layer
	identity  []int32             // [T] 0, 1, 2 ...
	tables    [][]int32           // [groups] block tables of all sequences, one after the other

	// What threads work on, and the work, bound once so that a step makes no closures.
	attention                      *Attention
	weight, source                 []float32
	chunk, splitRows               int
	part                           func(first, end int)
	chunkWork                      func(i, worker int)
	embedRows, normRows, addRows   func(first, end int)
	storeRows, queryRows, gateRows func(first, end int)
	embedding                      *tensor.Matrix
}

// queries are the rows that attend to the cache in a layer.
type queries struct {
	rows      int
	batchRows []int32 // [rows]
	positions []int32 // [rows]
	spans     []tensor.Span
	attention *tensor.Attention
}

// A product is a Linear and where its result goes.
type product struct {
	dst    []float32
	linear *Linear
}

// init binds the step to a model.
func (s *Step) init(c *Config, pool *tensor.Pool) {
	s.cfg, s.pool = c, pool
	s.rotations[0] = tensor.NewRotation(c.Rope.Frequencies(), c.Rope.Interleaved)
	s.all[0].attention = tensor.NewAttention(pool, c.Heads, c.KVHeads, c.HeadDim, 0)
	if c.windowLayers() > 0 {
		s.rotations[1] = tensor.NewRotation(c.WindowRope.Frequencies(), c.WindowRope.Interleaved)
		s.all[1].attention = tensor.NewAttention(pool, c.Heads, c.KVHeads, c.HeadDim, c.Window)
	}
	s.outputs.attention = tensor.NewAttention(pool, c.Heads, c.KVHeads, c.HeadDim, c.windowOf(c.Layers-1))
	s.chunkWork = s.runChunk
	s.embedRows, s.normRows, s.addRows = s.embed, s.norm, s.add
	s.storeRows, s.queryRows, s.gateRows = s.store, s.turnQueries, s.applyGate
}

// begin makes the step that of a batch.
func (s *Step) begin(b *Batch, cache *Cache) {
	s.batch, s.cache = b, cache
	s.rows = len(b.Tokens)
	s.x = grow(s.x, s.rows*s.cfg.Hidden)
	for t := len(s.identity); t < s.rows; t++ {
		s.identity = append(s.identity, int32(t))
	}
	for kind, rotation := range s.rotations {
		if s.cfg.kindLayers(kind) > 0 {
			rotation.Set(b.Positions)
		}
	}
	for group := range cache.blocks {
		s.placeRows(group)
	}
	for kind := range s.all {
		if s.cfg.kindLayers(kind) == 0 {
			continue
		}
		q := &s.all[kind]
		q.rows, q.batchRows, q.positions = s.rows, s.identity[:s.rows], b.Positions
		s.planSpans(q, s.cfg.kindGroup(kind))
	}
	s.planOutputs()
}

// placeRows finds the cache slot of each row in one group and copies the sequences' tables.
func (s *Step) placeRows(group int) {
	for len(s.slots) <= group {
		s.slots, s.tables = append(s.slots, nil), append(s.tables, nil)
	}
	slots, tables := s.slots[group][:0], s.tables[group][:0]
	for i := range s.batch.Sequences {
		q := &s.batch.Sequences[i]
		table := q.Tables[group]
		for pos := q.Past; pos < q.Past+q.Rows; pos++ {
			slots = append(slots, int32(table[pos/BlockSize])*BlockSize+int32(pos%BlockSize))
		}
		tables = appendTable(tables, table[:q.blocks()])
	}
	s.slots[group], s.tables[group] = slots, tables
}

// blocks is the number of blocks that a sequence has after this batch.
func (q *Sequence) blocks() int { return (q.Past + q.Rows + BlockSize - 1) / BlockSize }

func appendTable(dst []int32, table []kvcache.BlockID) []int32 {
	for _, b := range table {
		dst = append(dst, int32(b))
	}
	return dst
}

// planSpans plans attention of all rows.
func (s *Step) planSpans(q *queries, group int) {
	q.spans = q.spans[:0]
	row, at := 0, 0
	for i := range s.batch.Sequences {
		seq := &s.batch.Sequences[i]
		blocks := seq.blocks()
		q.spans = append(q.spans, tensor.Span{First: row, Rows: seq.Rows, Table: s.tables[group][at : at+blocks]})
		row, at = row+seq.Rows, at+blocks
	}
	q.attention.Plan(q.positions, q.spans)
}

// planOutputs plans attention of the rows of Outputs, for the last layer.
func (s *Step) planOutputs() {
	q, group := &s.outputs, s.cfg.group(s.cfg.Layers-1)
	q.rows, q.batchRows, q.positions, q.spans = len(s.batch.Outputs), s.batch.Outputs, q.positions[:0], q.spans[:0]
	row, at := 0, 0
	for i := range s.batch.Sequences {
		seq := &s.batch.Sequences[i]
		span := tensor.Span{First: len(q.positions), Table: s.tables[group][at : at+seq.blocks()]}
		row, at = row+seq.Rows, at+seq.blocks()
		for len(q.positions) < q.rows && int(q.batchRows[len(q.positions)]) < row {
			q.positions = append(q.positions, s.batch.Positions[q.batchRows[len(q.positions)]])
			span.Rows++
		}
		if span.Rows > 0 {
			q.spans = append(q.spans, span)
		}
	}
	q.attention.Plan(q.positions, q.spans)
}

// queries returns the rows that attend in the current layer.
func (s *Step) queries() *queries {
	if s.layer == s.cfg.Layers-1 && s.batch.Tap == nil {
		return &s.outputs
	}
	return &s.all[s.cfg.kind(s.layer)]
}

// rotation returns the rotation of the current layer.
func (s *Step) rotation() *tensor.Rotation { return s.rotations[s.cfg.kind(s.layer)] }

// narrow shrinks the residual stream to the rows that attended.
func (s *Step) narrow(q *queries) {
	if q.rows == s.rows {
		return
	}
	s.x = gather(s.x, s.x, q.batchRows, s.cfg.Hidden) // in place: the rows ascend
	s.rows = q.rows
}
