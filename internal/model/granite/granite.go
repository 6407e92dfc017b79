// SPDX-License-Identifier: Apache-2.0

// Package granite is the dense Granite 3 family: Llama's block with four constants. Embeddings, what a branch adds to the
// residual stream, and attention scores are multiplied by one each; logits are divided by one (after µP,
// arXiv:2203.03466).
//
// GGUF has rows of q and k in Llama's order.
package granite

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Granite to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "granite",
		GGUF:     []string{"granite"},
		HF:       []string{"GraniteForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.PreNorm(c, layer, l.Attention(c, layer), l.MLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("granite", f, meta)
	c.Rope.Interleaved = true
	c.EmbeddingScale = float32(f.FloatOr("embedding_scale", 1))
	c.ResidualScale = float32(f.FloatOr("residual_scale", 1))
	c.LogitScale = float32(1 / f.FloatOr("logit_scale", 1))
	c.AttentionScale = float32(f.FloatOr("attention.scale", float64(c.AttentionScale)))
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("granite", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	c.EmbeddingScale = float32(f.FloatOr("embedding_multiplier", 1))
	c.ResidualScale = float32(f.FloatOr("residual_multiplier", 1))
	c.LogitScale = float32(1 / f.FloatOr("logits_scaling", 1))
	c.AttentionScale = float32(f.FloatOr("attention_multiplier", 1))
	f.OneOf("hidden_act", "silu")
	f.FullAttention()
	return f.Finish(c)
}
