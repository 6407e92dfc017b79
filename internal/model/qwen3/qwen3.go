// SPDX-License-Identifier: Apache-2.0

// Package qwen3 is the dense Qwen3 family.
//
// Qwen Team 2025 (arXiv:2505.09388): Llama's block without biases, and an RMSNorm of each query and key head before the
// rotation (after arXiv:2302.05442), with one weight vector for all heads of a layer. Rotation pairs halves in every
// format. H·D need not be E.
package qwen3

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Qwen3 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "qwen3",
		GGUF:     []string{"qwen3"},
		HF:       []string{"Qwen3ForCausalLM"},
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
	} else if c.TiedOutput {
		l.Skip("lm_head.weight")
	}
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return &block{
			attentionNorm: l.Norm(decoder.LayerPart(layer, "attn_norm"), c.Hidden, 0),
			attention:     decoder.NewAttention(l, c, layer).WithHeadNorms(l, c, layer),
			ffnNorm:       l.Norm(decoder.LayerPart(layer, "ffn_norm"), c.Hidden, 0),
			mlp:           decoder.NewMLP(l, c, layer),
		}
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := decoder.GGUFFields(meta)
	c := decoder.GGUFConfig("qwen3", f, meta)
	f.Off("attention.sliding_window")
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := decoder.HFFields(config)
	c := decoder.HFConfig("qwen3", f)
	c.Rope = decoder.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	f.Off("use_sliding_window")
	f.FullAttention()
	return f.Finish(c)
}
