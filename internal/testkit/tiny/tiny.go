// SPDX-License-Identifier: Apache-2.0

// Package tiny makes small models of random weights, the same ones from the same seed on every machine. They say
// nothing, but they run through the code that real models run through, within milliseconds.
package tiny

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
)

// Vocab is the number of tokens of the tiny models.
const Vocab = 224

// MaxContext is their context length.
const MaxContext = 512

// Llama returns a Llama of three layers whose matrices have type t.
func Llama(pool *tensor.Pool, t quant.Type, seed uint64) (model.Model, error) {
	return load(config("llama"), pool, t, seed)
}

// Gemma3 returns a Gemma 3 of three layers, two of which see a window of 40 tokens.
func Gemma3(pool *tensor.Pool, t quant.Type, seed uint64) (model.Model, error) {
	c := config("gemma3")
	c.NormOffset, c.Activation, c.TiedOutput = 1, tensor.GELUTanh, true
	c.EmbeddingScale = 8
	c.Window, c.WindowLayers = 40, []bool{true, true, false}
	c.WindowRope = model.Rope{Base: 1000, Width: c.HeadDim}
	return load(c, pool, t, seed)
}

// Mixed returns a Llama of the types that quantisers give to rows that K-quants do not fit: Q5_0 and Q8_0 beside Q4_K and Q6_K. If plain,
// its matrices have the same values as F32.
func Mixed(pool *tensor.Pool, seed uint64, plain bool) (model.Model, error) {
	c := config("llama")
	c.FFN = 256
	return loadFrom(c, pool, &source{mixed: true, plain: plain, random: rand.New(rand.NewPCG(seed, 0)), tensors: map[string]weights.Tensor{}})
}

// LongRope returns a Llama with LongRoPE, whose sequences of more than 100 tokens have other keys.
func LongRope(pool *tensor.Pool, t quant.Type, seed uint64) (model.Model, error) {
	c := config("llama")
	c.Rope.Long = &model.LongRope{OriginalContext: 100}
	for m := range c.Rope.Width / 2 {
		c.Rope.Long.Short = append(c.Rope.Long.Short, 1+float32(m)/8)
		c.Rope.Long.Long = append(c.Rope.Long.Long, 1+float32(m))
	}
	return load(c, pool, t, seed)
}

func config(family string) model.Config {
	return model.Config{
		Family: family, Vocab: Vocab, Hidden: 64, Layers: 3, Heads: 4, KVHeads: 2, HeadDim: 16, FFN: 96,
		MaxContext: MaxContext, NormEps: 1e-6, AttentionScale: 0.25, EmbeddingScale: 1,
		Rope: model.Rope{Base: 10000, Width: 16},
	}
}

func load(c model.Config, pool *tensor.Pool, t quant.Type, seed uint64) (model.Model, error) {
	return loadFrom(c, pool, &source{kind: t, random: rand.New(rand.NewPCG(seed, 0)), tensors: map[string]weights.Tensor{}})
}

func loadFrom(c model.Config, pool *tensor.Pool, src *source) (model.Model, error) {
	src.fill(&c)
	for _, f := range families.All() {
		if f.Name == c.Family && src.err == nil {
			return f.Load(c, src, pool, model.HuggingFace)
		}
	}
	return nil, fmt.Errorf("tiny: no model of family %s: %w", c.Family, src.err)
}

// A source has its tensors in memory, under Hugging Face's names.
type source struct {
	kind    quant.Type // of matrices
	mixed   bool       // their type follows from the length of rows and the name instead
	plain   bool       // matrices are F32, of the values that they have in their type
	random  *rand.Rand
	tensors map[string]weights.Tensor
	names   []string
	err     error
}

func (s *source) Tensor(name string) (weights.Tensor, bool) {
	t, ok := s.tensors[name]
	return t, ok
}

func (s *source) Names() []string { return s.names }

func (s *source) Close() error { return nil }

func (s *source) fill(c *model.Config) {
	s.matrix("model.embed_tokens", c.Vocab, c.Hidden)
	s.vector("model.norm", c.Hidden, c.NormOffset)
	if !c.TiedOutput {
		s.matrix("lm_head", c.Vocab, c.Hidden)
	}
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	for layer := range c.Layers {
		at := fmt.Sprintf("model.layers.%d.", layer)
		s.vector(at+"input_layernorm", c.Hidden, c.NormOffset)
		s.vector(at+"post_attention_layernorm", c.Hidden, c.NormOffset)
		s.matrix(at+"self_attn.q_proj", queries, c.Hidden)
		s.matrix(at+"self_attn.k_proj", keys, c.Hidden)
		s.matrix(at+"self_attn.v_proj", keys, c.Hidden)
		s.matrix(at+"self_attn.o_proj", c.Hidden, queries)
		s.matrix(at+"mlp.gate_proj", c.FFN, c.Hidden)
		s.matrix(at+"mlp.up_proj", c.FFN, c.Hidden)
		s.matrix(at+"mlp.down_proj", c.Hidden, c.FFN)
		if c.Family == "gemma3" {
			s.vector(at+"pre_feedforward_layernorm", c.Hidden, c.NormOffset)
			s.vector(at+"post_feedforward_layernorm", c.Hidden, c.NormOffset)
			s.vector(at+"self_attn.q_norm", c.HeadDim, c.NormOffset)
			s.vector(at+"self_attn.k_norm", c.HeadDim, c.NormOffset)
		}
	}
}

// matrix adds a matrix whose products keep the size of their input, roughly.
func (s *source) matrix(name string, rows, cols int) {
	values := make([]float32, rows*cols)
	scale := 1.5 / math.Sqrt(float64(cols))
	for i := range values {
		values[i] = float32(s.random.NormFloat64() * scale)
	}
	kind := s.kind
	if s.mixed {
		kind = mixedType(name, cols)
	}
	s.add(name, kind, values, rows, cols)
}

// mixedType is what a quantiser would make of a matrix.
func mixedType(name string, cols int) quant.Type {
	important := strings.HasSuffix(name, "v_proj") || strings.HasSuffix(name, "lm_head") || strings.HasSuffix(name, "0.mlp.down_proj")
	switch fits := cols%256 == 0; {
	case fits && important:
		return quant.Q6K
	case fits:
		return quant.Q4K
	case important:
		return quant.Q80
	}
	return quant.Q50
}

// vector adds the weights of a norm, around 1 when offset is added.
func (s *source) vector(name string, n int, offset float32) {
	values := make([]float32, n)
	for i := range values {
		values[i] = 1 - offset + float32(s.random.NormFloat64()*0.2)
	}
	s.add(name, quant.F32, values, n)
}

func (s *source) add(name string, kind quant.Type, values []float32, shape ...int) {
	name += ".weight"
	data := make([]byte, kind.RowBytes(len(values)))
	if err := quant.Quantize(data, kind, values); err != nil && s.err == nil {
		s.err = fmt.Errorf("%s: %w", name, err)
	}
	if s.plain && kind != quant.F32 {
		if err := quant.Dequantize(values, kind, data); err != nil && s.err == nil {
			s.err = fmt.Errorf("%s: %w", name, err)
		}
		s.add(strings.TrimSuffix(name, ".weight"), quant.F32, values, shape...)
		return
	}
	s.tensors[name] = weights.Tensor{Name: name, Type: kind, Shape: shape, Data: data}
	s.names = append(s.names, name)
}
