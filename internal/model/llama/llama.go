// SPDX-License-Identifier: Apache-2.0

// Package llama is the Llama family: Llama 1 to 3.3, Mistral, SmolLM, SmolLM2 and others of that shape.
//
// Touvron et al. 2023 (arXiv:2302.13971, 2307.09288), Llama Team 2024 (arXiv:2407.21783): pre-norm blocks of RMSNorm,
// grouped attention with rotary positions, and a SwiGLU MLP.
//
// A GGUF file has the rows of q and k in another order, so that rotation pairs neighbours, (2m, 2m+1), instead of halves,
// and Llama 3.1's scaling as a tensor of divisors, rope_freqs.
package llama

import (
	"slices"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Llama to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "llama",
		GGUF:     []string{"llama"},
		HF:       []string{"LlamaForCausalLM", "MistralForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

// A block is one layer.
//
// Shapes: norms [E].
type block struct {
	attentionNorm []float32
	attention     decoder.Attention
	ffnNorm       []float32
	mlp           decoder.MLP
}

// Forward computes h = x + Attention(norm(x)) and then x = h + MLP(norm(h)).
func (b *block) Forward(s *decoder.Step) {
	s.Add(b.attention.Forward(s, s.Norm(s.X(), b.attentionNorm)))
	s.Add(b.mlp.Forward(s, s.Norm(s.X(), b.ffnNorm)))
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	if naming == model.GGUF {
		c.TiedOutput = !l.Has("output.weight")
		if l.Has("rope_freqs.weight") {
			c.Rope.Divisors = l.Vector("rope_freqs.weight", c.Rope.Width/2)
		}
	} else if c.TiedOutput {
		l.Skip("lm_head.weight")
	}
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return &block{
			attentionNorm: l.Norm(decoder.LayerPart(layer, "attn_norm"), c.Hidden, 0),
			attention:     decoder.NewAttention(l, c, layer),
			ffnNorm:       l.Norm(decoder.LayerPart(layer, "ffn_norm"), c.Hidden, 0),
			mlp:           decoder.NewMLP(l, c, layer),
		}
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := decoder.GGUFFields(meta)
	c := decoder.GGUFConfig("llama", f, meta)
	c.Rope.Interleaved = true
	f.Off("attention.sliding_window")
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := decoder.HFFields(config)
	c := decoder.HFConfig("llama", f)
	c.Rope = decoder.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	if window := f.IntOr("sliding_window", 0); window != 0 && slices.Contains(f.Strings("architectures"), "MistralForCausalLM") {
		// Mistral 7B v0.1: every layer sees a window. Llama's own reference code takes no notice of the field.
		c.Window, c.WindowRope = window, c.Rope
		c.WindowLayers = slices.Repeat([]bool{true}, max(0, min(c.Layers, 1<<10)))
	} else {
		f.FullAttention()
	}
	return f.Finish(c)
}
