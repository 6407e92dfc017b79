// SPDX-License-Identifier: Apache-2.0

// Package llama is the Llama family: Llama 1 to 3.3, Mistral, SmolLM, SmolLM2 and others of that shape.
//
// Touvron et al. 2023 (arXiv:2302.13971, 2307.09288), Llama Team 2024 (arXiv:2407.21783): pre-norm blocks of RMSNorm,
// grouped attention with rotary positions, and a SwiGLU MLP.
//
// Mistral 7B v0.1 (arXiv:2310.06825) adds a window to every layer. Most GGUF files do not tell of it: they are right up to
// the window's length, 4096.
//
// A GGUF file has the rows of q and k in another order, so that rotation pairs neighbours, (2m, 2m+1), instead of halves,
// and Llama 3.1's scaling as a tensor of divisors, rope_freqs.
package llama

import (
	"slices"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
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

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.PreNorm(c, layer, l.Attention(c, layer), l.MLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("llama", f, meta)
	c.Rope.Interleaved = true
	fields.AllWindow(&c, f.IntOr("attention.sliding_window", 0))
	return f.Finish(c)
}

// mistralWindow is what Mistral's reference code takes if a config.json has no field for it.
const mistralWindow = 4096

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("llama", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	f.FullAttention()
	if slices.Contains(f.Strings("architectures"), "MistralForCausalLM") {
		// Mistral 7B v0.1: every layer sees a window. Llama's own reference code takes no notice of the field.
		fields.AllWindow(&c, f.WindowOr(mistralWindow))
	}
	return f.Finish(c)
}
