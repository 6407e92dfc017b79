// SPDX-License-Identifier: Apache-2.0

package decoder

import (
	"slices"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A Step is one Forward on its way through the layers: the residual stream and the buffers that layers share. Buffers
// grow to the largest batch seen and are reused.
type Step struct {
	cfg   *model.Config
	pool  *tensor.Pool
	batch *model.Batch
	cache *model.Cache

	layer int
	rows  int       // T, after the last layer's attention N
	x     []float32 // [rows, E] the residual stream

	normed, branch, gathered []float32 // [rows, E]
	q, heads                 []float32 // [rows, H, D]
	k, v                     []float32 // [rows, K, D]
	gate, up                 []float32 // [rows, F]
	hidden                   []float32 // [N, E]
	input                    tensor.Activations
	fineInput                []float32 // [2·rows, I] of fineMul: rows, then their residuals
	fineOutput               []float32 // [2·rows, O]

	slots    [][]int32    // [groups][T] block·P + place in the block of each row
	kinds    [2]layerKind // of layers that see everything, of window layers
	identity []int32      // [T] 0, 1, 2 ...
	long     []bool       // [T] the row belongs to a sequence longer than Config.LongAfter; empty: none does
	tables   [][]int32    // [groups] block tables of all sequences, one after the other

	// What threads work on, and the work, bound once so that a step makes no closures.
	attention                      *Attention
	current                        *Norm
	source                         []float32
	chunk, splitRows               int
	part                           func(first, end int)
	chunkWork                      func(i, worker int)
	embedRows, normRows, addRows   func(first, end int)
	storeRows, queryRows, gateRows func(first, end int)
	logitRows                      func(first, end int)
	fineRows, sumRows              func(first, end int)
	fineDst                        []float32
	fineCols                       int
	embedding                      *tensor.Matrix
}

// A layerKind is what layers that see the same positions share in a step.
type layerKind struct {
	group    int              // cache group
	rotation *tensor.Rotation // nil: there are no such layers
	long     *tensor.Rotation // in sequences longer than Config.LongAfter; nil: they have no other one
	all      queries          // every row asks
	outputs  queries          // the rows of Outputs ask, in the last layer
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
func (s *Step) init(c *model.Config, pool *tensor.Pool) {
	s.cfg, s.pool = c, pool
	for layer := range c.Layers {
		k := &s.kinds[s.kindOf(layer)]
		if k.rotation != nil {
			continue
		}
		rope, window := c.Rope, 0
		if c.IsWindow(layer) {
			rope, window = c.WindowRope, c.Window
		}
		k.group, k.rotation = c.Group(layer), newRotation(rope, 0)
		if rope.Long != nil {
			k.long = newRotation(rope, c.LongAfter()+1)
		}
		k.all.attention = tensor.NewAttention(pool, c.Heads, c.KVHeads, c.HeadDim, window).WithSoftCap(c.AttentionCap)
		k.outputs.attention = tensor.NewAttention(pool, c.Heads, c.KVHeads, c.HeadDim, window).WithSoftCap(c.AttentionCap)
	}
	s.chunkWork = s.runChunk
	s.embedRows, s.normRows, s.addRows, s.logitRows = s.embed, s.norm, s.add, s.finishLogits
	s.fineRows, s.sumRows = s.splitFine, s.sumFine
	s.storeRows, s.queryRows, s.gateRows = s.store, s.turnQueries, s.applyGate
}

// newRotation returns the rotation of sequences of so many tokens.
func newRotation(r model.Rope, length int) *tensor.Rotation {
	rotation := tensor.NewRotation(r.Frequencies(length), r.Interleaved)
	if r.Magnitude != 0 {
		rotation = rotation.WithMagnitude(float32(r.Magnitude))
	}
	return rotation
}

// begin makes the step that of a batch.
func (s *Step) begin(b *model.Batch, cache *model.Cache) {
	s.batch, s.cache = b, cache
	s.rows = len(b.Tokens)
	s.x = grow(s.x, s.rows*s.cfg.Hidden)
	for t := len(s.identity); t < s.rows; t++ {
		s.identity = append(s.identity, int32(t))
	}
	for group := range cache.Groups() {
		s.placeRows(group)
	}
	s.findLong()
	for i := range s.kinds {
		if k := &s.kinds[i]; k.rotation != nil {
			k.rotation.Set(b.Positions)
			if k.long != nil && len(s.long) > 0 {
				k.long.Set(b.Positions)
			}
			s.planAll(k)
		}
	}
	s.planOutputs(&s.kinds[s.kindOf(s.cfg.Layers-1)])
}

// findLong finds the rows of sequences that are longer than Config.LongAfter.
func (s *Step) findLong() {
	s.long = s.long[:0]
	limit := s.cfg.LongAfter()
	isLong := func(q model.Sequence) bool { return max(q.Length, q.Past+q.Rows) > limit }
	if limit == 0 || !slices.ContainsFunc(s.batch.Sequences, isLong) {
		return
	}
	for _, q := range s.batch.Sequences {
		for range q.Rows {
			s.long = append(s.long, isLong(q))
		}
	}
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
			slots = append(slots, int32(table[pos/model.BlockSize])*model.BlockSize+int32(pos%model.BlockSize))
		}
		tables = appendTable(tables, table[:blocksOf(q)])
	}
	s.slots[group], s.tables[group] = slots, tables
}

// blocksOf is the number of blocks that a sequence has after this batch.
func blocksOf(q *model.Sequence) int {
	return (q.Past + q.Rows + model.BlockSize - 1) / model.BlockSize
}

func appendTable(dst []int32, table []kvcache.BlockID) []int32 {
	for _, b := range table {
		dst = append(dst, int32(b))
	}
	return dst
}

// planAll plans attention of all rows.
func (s *Step) planAll(k *layerKind) {
	q, group := &k.all, k.group
	q.rows, q.batchRows, q.positions, q.spans = s.rows, s.identity[:s.rows], s.batch.Positions, q.spans[:0]
	row, at := 0, 0
	for i := range s.batch.Sequences {
		seq := &s.batch.Sequences[i]
		blocks := blocksOf(seq)
		q.spans = append(q.spans, tensor.Span{First: row, Rows: seq.Rows, Table: s.tables[group][at : at+blocks]})
		row, at = row+seq.Rows, at+blocks
	}
	q.attention.Plan(q.positions, q.spans)
}

// planOutputs plans attention of the rows of Outputs, for the last layer.
func (s *Step) planOutputs(k *layerKind) {
	q, group := &k.outputs, k.group
	q.rows, q.batchRows, q.positions, q.spans = len(s.batch.Outputs), s.batch.Outputs, q.positions[:0], q.spans[:0]
	row, at := 0, 0
	for i := range s.batch.Sequences {
		seq := &s.batch.Sequences[i]
		span := tensor.Span{First: len(q.positions), Table: s.tables[group][at : at+blocksOf(seq)]}
		row, at = row+seq.Rows, at+blocksOf(seq)
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
	k := &s.kinds[s.kindOf(s.layer)]
	if s.layer == s.cfg.Layers-1 && s.batch.Tap == nil {
		return &k.outputs
	}
	return &k.all
}

// turn rotates the heads of a row in the way of the current layer.
func (s *Step) turn(heads []float32, row int) {
	if !s.cfg.TurnsHeads(s.layer) {
		return
	}
	k := &s.kinds[s.kindOf(s.layer)]
	rotation := k.rotation
	if k.long != nil && len(s.long) > 0 && s.long[row] {
		rotation = k.long
	}
	rotation.Turn(heads, s.cfg.HeadDim, row)
}

// kindOf returns the kind of a layer: 0 if it sees everything, 1 if it sees a window.
func (s *Step) kindOf(layer int) int {
	if s.cfg.IsWindow(layer) {
		return 1
	}
	return 0
}

// narrow shrinks the residual stream to the rows that ask.
func (s *Step) narrow(q *queries) {
	if q.rows == s.rows {
		return
	}
	s.x = gather(s.x, s.x, q.batchRows, s.cfg.Hidden) // in place: the rows ascend
	s.rows = q.rows
}
