// SPDX-License-Identifier: Apache-2.0

package decoder

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// An Attention is the attention part of a layer, with grouped KV heads (arXiv:2305.13245), rotary positions, and
// optionally a norm of queries and keys: of each head, or of all heads of a token together.
//
// Shapes: q [H·D, E]; k, v [K·D, E]; o [E, H·D]; qNorm [D] or [H·D], or none; kNorm [D] or [K·D], or none.
type Attention struct {
	q, k, v, o   Linear
	qNorm, kNorm Norm
	late         bool // norms come after the rotation
}

// Attention fetches a layer's attention weights, and those biases that the file has. One matrix may have the rows of q, k
// and v, in this order; then the biases may be together or apart.
//
// Shapes: as Attention; the fused matrix is [(H+2·K)·D, E].
func (l *Loader) Attention(c *model.Config, layer int) Attention {
	part := func(name string) string { return layerPart(layer, name) }
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	a := Attention{o: l.Linear(part("attn_output"), c.Hidden, queries)}
	if !l.Has(part("attn_qkv.weight")) {
		a.q = l.Linear(part("attn_q"), queries, c.Hidden)
		a.k = l.Linear(part("attn_k"), keys, c.Hidden)
		a.v = l.Linear(part("attn_v"), keys, c.Hidden)
		return a
	}
	fused := l.Split(part("attn_qkv"), c.Hidden, queries, keys, keys)
	for i, name := range []string{"attn_q.bias", "attn_k.bias", "attn_v.bias"} {
		if l.Has(part(name)) {
			fused[i].Bias = l.Vector(part(name), []int{queries, keys, keys}[i])
		}
	}
	a.q, a.k, a.v = fused[0], fused[1], fused[2]
	return a
}

// WithHeadNorms adds the norms of query and key heads.
//
// Shapes: qNorm, kNorm [D].
func (a Attention) WithHeadNorms(l *Loader, c *model.Config, layer int) Attention {
	a.qNorm = l.Norm(layerPart(layer, "attn_q_norm"), c.HeadDim, c.NormOffset)
	a.kNorm = l.Norm(layerPart(layer, "attn_k_norm"), c.HeadDim, c.NormOffset)
	return a
}

// WithLateHeadNorms adds norms of query and key heads that come after the rotation.
//
// Shapes: qNorm, kNorm [D].
func (a Attention) WithLateHeadNorms(l *Loader, c *model.Config, layer int) Attention {
	a = a.WithHeadNorms(l, c, layer)
	a.late = true
	return a
}

// WithProjectionNorms adds norms of the queries and of the keys of all heads of a token.
//
// Shapes: qNorm [H·D]; kNorm [K·D].
func (a Attention) WithProjectionNorms(l *Loader, c *model.Config, layer int) Attention {
	a.qNorm = l.Norm(layerPart(layer, "attn_q_norm"), c.Heads*c.HeadDim, c.NormOffset)
	a.kNorm = l.Norm(layerPart(layer, "attn_k_norm"), c.KVHeads*c.HeadDim, c.NormOffset)
	return a
}

// Forward returns the branch that the layer adds to the residual stream; it is valid until the next branch. Keys and
// values of all rows go to the cache first; what attends is then read from there.
//
// In the last layer only the rows whose hidden state is wanted go on: the residual stream shrinks to them.
//
// Shapes: x [T, E]; result [T, E], in the last layer [N, E].
func (a *Attention) Forward(s *Step, x []float32) []float32 {
	c, rows := s.cfg, s.rows
	queries := s.queries()
	s.q = grow(s.q, queries.rows*c.Heads*c.HeadDim)
	s.k, s.v = grow(s.k, rows*c.KVHeads*c.HeadDim), grow(s.v, rows*c.KVHeads*c.HeadDim)
	s.set(&s.input, x, rows)
	if queries.rows == rows {
		s.mul(&s.input, product{s.q, &a.q}, product{s.k, &a.k}, product{s.v, &a.v})
	} else {
		s.mul(&s.input, product{s.k, &a.k}, product{s.v, &a.v})
		s.gathered = gather(s.gathered, x, s.batch.Outputs, c.Hidden)
		s.set(&s.input, s.gathered, queries.rows)
		s.mul(&s.input, product{s.q, &a.q})
	}

	s.attention = a
	cost := c.KVHeads * c.HeadDim * 4
	if rows == len(s.batch.Sequences) { // each row goes to a block of its own
		s.split(rows, cost, s.storeRows)
	} else { // whole blocks at once, so that threads do not write to the same lines of the cache
		s.splitBy(model.BlockSize, rows, cost, s.storeRows)
	}
	s.split(queries.rows, c.Heads*c.HeadDim*2, s.queryRows)

	s.heads = grow(s.heads, len(s.q))
	queries.attention.Run(s.pool, s.heads, s.q, s.cache.Layer(s.layer), c.AttentionScale)
	s.narrow(queries)
	s.set(&s.input, s.heads, s.rows)
	s.branch = grow(s.branch, s.rows*c.Hidden)
	s.mul(&s.input, product{s.branch, &a.o})
	return s.branch
}

// store turns the keys of some rows and writes keys and values to the cache.
func (s *Step) store(first, end int) {
	c, kv, slots := s.cfg, s.cache.Layer(s.layer), s.slots[s.cfg.Group(s.layer)]
	size := c.KVHeads * c.HeadDim
	for t := first; t < end; t++ {
		k := s.k[t*size : (t+1)*size]
		s.normAndTurn(k, &s.attention.kNorm, t)
		kv.Store(int(slots[t])/model.BlockSize, int(slots[t])%model.BlockSize, k, s.v[t*size:(t+1)*size])
	}
}

// turnQueries norms, turns and scales the queries of some rows.
func (s *Step) turnQueries(first, end int) {
	c, rows := s.cfg, s.queries().batchRows
	size := c.Heads * c.HeadDim
	for i := first; i < end; i++ {
		q := s.q[i*size : (i+1)*size]
		s.normAndTurn(q, &s.attention.qNorm, int(rows[i]))
		if c.QueryScale != nil {
			tensor.Scale(q, c.QueryScale.At(s.batch.Positions[rows[i]]))
		}
	}
}

// normAndTurn norms the heads of one row, if the layer has norms for them, and turns them; row is the row of the batch.
func (s *Step) normAndTurn(heads []float32, n *Norm, row int) {
	late := s.attention.late
	if n.weight != nil && !late {
		n.apply(s.cfg, heads, heads)
	}
	s.turn(heads, row)
	if n.weight != nil && late {
		n.apply(s.cfg, heads, heads)
	}
}
