// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A Block is one layer of a decoder: it changes the step's residual stream.
type Block interface {
	Forward(s *Step)
}

// A Decoder is a stack of blocks between an embedding and an output matrix. It implements Model; what a family adds is
// its blocks.
//
// Shapes: embedding, output [V, E]; norm [E].
type Decoder struct {
	cfg               Config
	blocks            []Block
	norm              []float32
	embedding, output *tensor.Matrix
	step              Step
	headInput         tensor.Activations
}

// NewDecoder fetches the weights that all decoders have and, through newBlock, those of each layer.
//
// Shapes: as Decoder.
func NewDecoder(c Config, l *Loader, newBlock func(c *Config, layer int) Block) (*Decoder, error) {
	d := &Decoder{cfg: c}
	d.embedding = l.Matrix("token_embd.weight", c.Vocab, c.Hidden)
	d.output = d.embedding
	if d.embedding != nil {
		d.cfg.Vocab = d.embedding.Rows()
	}
	if !c.TiedOutput {
		d.output = l.Matrix("output.weight", d.cfg.Vocab, c.Hidden)
	}
	d.norm = l.Norm("output_norm", c.Hidden, c.NormOffset)
	for layer := range c.Layers {
		d.blocks = append(d.blocks, newBlock(&d.cfg, layer))
	}
	if err := l.Finish(); err != nil {
		return nil, err
	}
	d.step.init(&d.cfg, l.pool)
	d.step.embedding = d.embedding
	return d, nil
}

// Config describes the model.
func (d *Decoder) Config() Config { return d.cfg }

// NewCache allocates blocks[g] blocks of keys and values for each cache group g.
//
// Shapes: blocks [groups].
func (d *Decoder) NewCache(blocks []int) *Cache { return newCache(&d.cfg, blocks) }

// Forward runs a batch: see Model.
//
// Shapes: result [N, E].
func (d *Decoder) Forward(b *Batch, c *Cache) ([]float32, error) {
	if err := b.Check(&d.cfg, c); err != nil {
		return nil, err
	}
	s := &d.step
	s.begin(b, c)
	s.split(s.rows, d.cfg.Hidden, s.embedRows)
	for layer, block := range d.blocks {
		s.layer = layer
		block.Forward(s)
		if b.Tap != nil {
			b.Tap(layer, s.X())
		}
	}
	if s.rows != len(b.Outputs) {
		s.narrow(&s.outputs)
	}
	s.hidden = grow(s.hidden, s.rows*d.cfg.Hidden)
	tensor.RMSNorm(s.hidden, s.X(), d.norm, d.cfg.NormEps)
	return s.hidden, nil
}

// Head sets dst to the logits of n hidden rows.
//
// Shapes: dst [n, V]; hidden [n, E].
func (d *Decoder) Head(dst, hidden []float32, n int) {
	if n == 0 {
		return
	}
	d.headInput.Set(d.step.pool, hidden, n, d.cfg.Hidden)
	d.step.pool.Mul(&d.headInput, tensor.Product{Dst: dst, W: d.output})
}

// Close frees nothing: all memory belongs to the weights' mapping or to the garbage collector.
func (d *Decoder) Close() error { return nil }
