// SPDX-License-Identifier: Apache-2.0

// Package stablelm is the StableLM 3B and StableLM 2 1.6B family: Llama's block with LayerNorms, in some sizes with biases on
// q, k and v, and a rotation of the first quarter of each head (arXiv:2402.17834), which pairs halves of it in every format.
// Models whose branches see the same norm have no second one; some GGUF files say so wrongly, so that the tensor decides.
//
// The 12B size, with norms of heads, is refused.
package stablelm

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes StableLM to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "stablelm",
		GGUF:     []string{"stablelm"},
		HF:       []string{"StableLmForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		if l.Has("blk.0.ffn_norm.weight") {
			return l.PreNorm(c, layer, l.Attention(c, layer), l.MLP(c, layer))
		}
		return l.Parallel(c, layer, l.Attention(c, layer), l.MLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("stablelm", f, meta)
	c.LayerNorm = true
	c.NormEps = float32(f.Float("attention.layer_norm_epsilon"))
	return f.Finish(c)
}

// defaultPartial is the share of a head that is turned if a config.json does not say it.
const defaultPartial = 0.25

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config).Default(map[string]float64{"partial_rotary_factor": defaultPartial})
	c := fields.HFConfig("stablelm", f)
	c.LayerNorm = true
	c.NormEps = float32(f.FloatOr("layer_norm_eps", 1e-5))
	c.Rope = fields.HFPartialRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	f.Off("qk_layernorm")
	f.FullAttention()
	return f.Finish(c)
}
