// SPDX-License-Identifier: Apache-2.0

// Package decoder builds dense decoders: a stack of blocks between an embedding and an output matrix. A family writes its
// blocks in terms of Attention, MLP and Step, or takes one of the blocks here, and fetches its weights through Loader.
//
// Main path of Decoder.Forward: Step.begin places each row in the cache and plans attention; the blocks change the
// residual stream; the last one only for the rows that are wanted. Buffers live in the Step and grow to the largest batch.
//
// Reference: Vaswani et al. 2017 (arXiv:1706.03762) in the pre-norm form of Llama (arXiv:2302.13971).
package decoder

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A Block is one layer of a decoder: it changes the step's residual stream.
type Block interface {
	Forward(s *Step)
}

// A Decoder is a stack of blocks between an embedding and an output matrix. It implements Model; what a family adds is
// its blocks.
//
// Shapes: embedding, output [V, E]; outputBias [V] or nil; norm [E].
type Decoder struct {
	cfg               model.Config
	blocks            []Block
	norm              Norm
	embedding, output *tensor.Matrix
	outputBias        []float32
	step              Step
}

// NewDecoder fetches the weights that all decoders have and, through newBlock, those of each layer.
//
// Shapes: as Decoder.
func NewDecoder(c model.Config, l *Loader, newBlock func(c *model.Config, layer int) Block) (*Decoder, error) {
	d := &Decoder{cfg: c}
	d.cfg.TiedOutput = l.tiedOutput(&c)
	l.rope(&d.cfg)
	d.embedding = l.Matrix("token_embd.weight", c.Vocab, c.Hidden)
	d.output = d.embedding
	if d.embedding != nil {
		d.cfg.Vocab = d.embedding.Rows()
	}
	if !d.cfg.TiedOutput {
		d.output = l.Matrix("output.weight", d.cfg.Vocab, c.Hidden)
	}
	if l.Has("output.bias") {
		d.outputBias = l.Vector("output.bias", d.cfg.Vocab)
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
func (d *Decoder) Config() model.Config { return d.cfg }

// NewCache allocates blocks[g] blocks of keys and values for each cache group g.
//
// Shapes: blocks [groups].
func (d *Decoder) NewCache(blocks []int) *model.Cache { return model.NewCache(&d.cfg, blocks) }

// Forward runs a batch: see Model.
//
// Shapes: result [N, E].
func (d *Decoder) Forward(b *model.Batch, c *model.Cache) ([]float32, error) {
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
		s.narrow(&s.kinds[s.kindOf(d.cfg.Layers-1)].outputs)
	}
	s.hidden = grow(s.hidden, s.rows*d.cfg.Hidden)
	d.norm.apply(&d.cfg, s.hidden, s.X())
	return s.hidden, nil
}

// logitChunk is how many logits a thread scales or caps at a time.
const logitChunk = 16 << 10

// Head sets dst to the logits of n hidden rows.
//
// Shapes: dst [n, V]; hidden [n, E].
func (d *Decoder) Head(dst, hidden []float32, n int) {
	if n == 0 {
		return
	}
	s := &d.step
	s.fineMul(dst, hidden, n, d.output)
	if d.outputBias != nil {
		addBias(dst[:n*d.cfg.Vocab], d.outputBias)
	}
	if d.cfg.LogitCap != 0 || d.cfg.LogitScale != 0 {
		s.source = dst
		s.splitBy(logitChunk, n*d.cfg.Vocab, 1, s.logitRows)
	}
}

// Close frees nothing: memory goes back once nothing refers to the Decoder.
func (d *Decoder) Close() error { return nil }
