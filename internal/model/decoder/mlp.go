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

// An MLP is the feed-forward part of a layer: down(act(gate·x) ⊙ (up·x)), SwiGLU and its kin (arXiv:2002.05202), or without
// a gate down(act(up·x)).
//
// Shapes: gate, up [F, E], the gate's matrix nil if there is none; down [E, F].
type MLP struct {
	gate, up, down Linear
}

// MLP fetches a layer's feed-forward weights.
//
// Shapes: as MLP.
func (l *Loader) MLP(c *model.Config, layer int) MLP {
	return MLP{
		gate: l.Linear(layerPart(layer, "ffn_gate"), c.FFN, c.Hidden),
		up:   l.Linear(layerPart(layer, "ffn_up"), c.FFN, c.Hidden),
		down: l.Linear(layerPart(layer, "ffn_down"), c.Hidden, c.FFN),
	}
}

// FusedMLP is MLP where one matrix has the rows of gate and up, in this order.
//
// Shapes: the matrix is [2·F, E].
func (l *Loader) FusedMLP(c *model.Config, layer int) MLP {
	parts := l.Split(layerPart(layer, "ffn_up"), c.Hidden, c.FFN, c.FFN)
	return MLP{
		gate: parts[0], up: parts[1],
		down: l.Linear(layerPart(layer, "ffn_down"), c.Hidden, c.FFN),
	}
}

// PlainMLP is MLP without a gate.
//
// Shapes: as MLP.
func (l *Loader) PlainMLP(c *model.Config, layer int) MLP {
	return MLP{
		up:   l.Linear(layerPart(layer, "ffn_up"), c.FFN, c.Hidden),
		down: l.Linear(layerPart(layer, "ffn_down"), c.Hidden, c.FFN),
	}
}

// Forward returns the branch that the layer adds to the residual stream; it is valid until the next branch.
//
// Shapes: x, result [T, E].
func (m *MLP) Forward(s *Step, x []float32) []float32 {
	n := s.rows * s.cfg.FFN
	s.set(&s.input, x, s.rows)
	if m.gate.W == nil {
		s.gate, s.up = grow(s.gate, n), s.up[:0]
		s.mul(&s.input, product{s.gate, &m.up})
	} else {
		s.gate, s.up = grow(s.gate, n), grow(s.up, n)
		s.mul(&s.input, product{s.gate, &m.gate}, product{s.up, &m.up})
	}
	s.split(s.rows, s.cfg.FFN, s.gateRows)
	s.branch = grow(s.branch, s.rows*s.cfg.Hidden)
	s.set(&s.input, s.gate, s.rows)
	s.mul(&s.input, product{s.branch, &m.down})
	return s.branch
}

// applyGate is the work of one thread between the products.
func (s *Step) applyGate(first, end int) {
	f := s.cfg.FFN
	gate := s.gate[first*f : end*f]
	if len(s.up) == 0 {
		s.cfg.Activation.Apply(gate)
		return
	}
	s.cfg.Activation.Gate(gate, s.up[first*f:end*f])
}
