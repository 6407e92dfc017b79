// SPDX-License-Identifier: Apache-2.0

// Package seedoss is ByteDance's Seed-OSS family: Llama's block with biases on q, k and v. Rotation pairs halves in every
// format. GGUF calls the norm before the MLP post_attention_norm.
package seedoss

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Seed-OSS to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "seedoss",
		GGUF:     []string{"seed_oss"},
		HF:       []string{"SeedOssForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	l.Rename("ffn_norm", "post_attention_norm")
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.PreNorm(c, layer, l.Attention(c, layer), l.MLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	return f.Finish(fields.GGUFConfig("seedoss", f, meta))
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("seedoss", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	f.FullAttention()
	return f.Finish(c)
}
