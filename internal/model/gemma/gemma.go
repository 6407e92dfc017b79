// SPDX-License-Identifier: Apache-2.0

// Package gemma is the first Gemma family, CodeGemma included.
//
// Gemma Team 2024 (arXiv:2403.08295): Llama's block with embeddings times √E, a GELU gate, heads wider than E/H, and tied
// output. Rotation pairs halves in every format.
//
// Hugging Face stores norm weights as w of (1+w), GGUF stores the sum.
package gemma

import (
	"math"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Gemma to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "gemma",
		GGUF:     []string{"gemma"},
		HF:       []string{"GemmaForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	if naming == model.HuggingFace {
		c.EmbeddingScale = l.Rounded("token_embd.weight", c.EmbeddingScale)
	}
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.PreNorm(c, layer, l.Attention(c, layer), l.MLP(c, layer))
	})
}

// common sets what both formats leave unsaid.
func common(c *model.Config) {
	c.Activation = tensor.GELUTanh
	c.TiedOutput = true
	c.EmbeddingScale = float32(math.Sqrt(float64(c.Hidden)))
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("gemma", f, meta)
	common(&c)
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("gemma", f)
	common(&c)
	c.NormOffset = 1
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	f.OneOf("hidden_act", "gelu_pytorch_tanh", "gelu") // the second is how the first releases spelled the first
	f.OneOf("hidden_activation", "gelu_pytorch_tanh")
	f.Off("use_bidirectional_attention")
	f.FullAttention()
	return f.Finish(c)
}
