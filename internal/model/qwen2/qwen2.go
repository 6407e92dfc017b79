// SPDX-License-Identifier: Apache-2.0

// Package qwen2 is the dense Qwen2 and Qwen2.5 family, and what was made from it (DeepSeek-R1-Distill-Qwen, QwQ).
//
// Qwen Team 2024 (arXiv:2407.10671, 2412.15115): Llama's block with biases on queries, keys and values. Rotation pairs
// halves in every format. The last layers may see a window, which no released model uses.
package qwen2

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Qwen2 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "qwen2",
		GGUF:     []string{"qwen2"},
		HF:       []string{"Qwen2ForCausalLM"},
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
	return f.Finish(fields.GGUFConfig("qwen2", f, meta))
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("qwen2", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	fields.LateWindows(&c, f)
	return f.Finish(c)
}
