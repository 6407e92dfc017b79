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
	"github.com/sampo-ai/sampo/internal/model/fields"
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

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		attention := l.Attention(c, layer).WithHeadNorms(l, c, layer)
		return l.PreNorm(c, layer, attention, l.MLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	return f.Finish(fields.GGUFConfig("qwen3", f, meta))
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("qwen3", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	fields.LateWindows(&c, f)
	return f.Finish(c)
}
