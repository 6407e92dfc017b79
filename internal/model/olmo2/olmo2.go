// SPDX-License-Identifier: Apache-2.0

// Package olmo2 is the OLMo 2 family.
//
// OLMo Team 2025 (arXiv:2501.00656): norms after the branches instead of before them, and an RMSNorm of the queries and of
// the keys of all heads together. Rotation pairs halves in every format.
package olmo2

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes OLMo 2 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "olmo2",
		GGUF:     []string{"olmo2"},
		HF:       []string{"Olmo2ForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

// hfParts are the names that differ from other families'.
var hfParts = map[string]string{
	"post_attention_norm": "post_attention_layernorm",
	"post_ffw_norm":       "post_feedforward_layernorm",
}

// A block is one layer.
//
// Shapes: norms [E].
type block struct {
	attention         decoder.Attention
	postAttentionNorm []float32
	mlp               decoder.MLP
	postFFNNorm       []float32
}

// Forward computes h = x + norm(Attention(x)) and then x = h + norm(MLP(h)).
func (b *block) Forward(s *decoder.Step) {
	s.Add(s.Norm(b.attention.Forward(s, s.X()), b.postAttentionNorm))
	s.Add(s.Norm(b.mlp.Forward(s, s.X()), b.postFFNNorm))
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, hfParts)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return &block{
			attention:         decoder.NewAttention(l, c, layer).WithProjectionNorms(l, c, layer),
			postAttentionNorm: l.Norm(decoder.LayerPart(layer, "post_attention_norm"), c.Hidden, 0),
			mlp:               decoder.NewMLP(l, c, layer),
			postFFNNorm:       l.Norm(decoder.LayerPart(layer, "post_ffw_norm"), c.Hidden, 0),
		}
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	return f.Finish(fields.GGUFConfig("olmo2", f, meta))
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("olmo2", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	f.FullAttention()
	return f.Finish(c)
}
