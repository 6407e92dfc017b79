// SPDX-License-Identifier: Apache-2.0

package decoder

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A Linear is a matrix and an optional bias.
//
// Shapes: W [O, E]; Bias [O] or nil.
type Linear struct {
	W    *tensor.Matrix
	Bias []float32
}

// An MLP is the gated feed-forward part of a layer: down(act(gate·x) ⊙ (up·x)), SwiGLU and its kin (arXiv:2002.05202).
//
// Shapes: gate, up [F, E]; down [E, F].
type MLP struct {
	gate, up, down Linear
}

// NewMLP fetches a layer's feed-forward weights.
//
// Shapes: as MLP.
func NewMLP(l *Loader, c *model.Config, layer int) MLP {
	return MLP{
		gate: l.Linear(LayerPart(layer, "ffn_gate"), c.FFN, c.Hidden),
		up:   l.Linear(LayerPart(layer, "ffn_up"), c.FFN, c.Hidden),
		down: l.Linear(LayerPart(layer, "ffn_down"), c.Hidden, c.FFN),
	}
}

// NewFusedMLP is NewMLP where one matrix has the rows of gate and up, in this order.
//
// Shapes: the matrix is [2·F, E].
func NewFusedMLP(l *Loader, c *model.Config, layer int) MLP {
	parts := l.Split(LayerPart(layer, "ffn_up"), c.Hidden, c.FFN, c.FFN)
	return MLP{
		gate: parts[0], up: parts[1],
		down: l.Linear(LayerPart(layer, "ffn_down"), c.Hidden, c.FFN),
	}
}

// Forward returns the branch that the layer adds to the residual stream; it is valid until the next branch.
//
// Shapes: x, result [T, E].
func (m *MLP) Forward(s *Step, x []float32) []float32 {
	n := s.rows * s.cfg.FFN
	s.gate, s.up = grow(s.gate, n), grow(s.up, n)
	s.set(&s.input, x, s.rows)
	s.mul(&s.input, product{s.gate, &m.gate}, product{s.up, &m.up})
	s.split(s.rows, s.cfg.FFN, s.gateRows)
	s.set(&s.input, s.gate, s.rows)
	s.branch = grow(s.branch, s.rows*s.cfg.Hidden)
	s.mul(&s.input, product{s.branch, &m.down})
	return s.branch
}

// applyGate is the work of one thread between the products.
func (s *Step) applyGate(first, end int) {
	f := s.cfg.FFN
	gate, up := s.gate[first*f:end*f], s.up[first*f:end*f]
	if s.cfg.Activation == model.GELUTanh {
		tensor.GateGELU(gate, up)
		return
	}
	tensor.GateSiLU(gate, up)
}
