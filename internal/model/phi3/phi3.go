// SPDX-License-Identifier: Apache-2.0

// Package phi3 is the dense Phi-3, Phi-3.5, Phi-4 and Phi-4-mini family.
//
// Abdin et al. 2024 (arXiv:2404.14219, 2412.08905): Llama's block with one matrix for q, k and v and one for gate and up;
// some sizes with a window in all layers, with LongRoPE (arXiv:2402.13753), or with a rotation of the first part of each
// head only. Rotation pairs halves in every format.
//
// Which list of LongRoPE counts is decided by the length of each sequence, as in the reference code: docs/adr/0007.
package phi3

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Phi-3 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "phi3",
		GGUF:     []string{"phi3"},
		HF:       []string{"Phi3ForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
		HFParts:  hfParts,
	}
}

// hfParts are the names that differ from other families'.
var hfParts = map[string]string{"ffn_up": "mlp.gate_up_proj"}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, hfParts)
	if naming == model.GGUF && !l.Has("rope_factors_long.weight") {
		c.Rope.Long, c.WindowRope.Long = nil, nil
	}
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.PreNorm(c, layer, l.Attention(c, layer), l.FusedMLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("phi3", f, meta)
	// Files do not name the scaling: those that have it have its lists, as tensors.
	c.Rope.Long = &model.LongRope{OriginalContext: f.IntOr("rope.scaling.original_context_length", c.MaxContext)}
	c.Rope.Magnitude = f.FloatOr("rope.scaling.attn_factor", 1)
	fields.AllWindow(&c, f.IntOr("attention.sliding_window", 0))
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("phi3", f)
	c.Rope = fields.HFPartialRope(f, "full_attention", 10000, c.HeadDim)
	if c.Rope.Yarn != nil {
		f.Fail("rope type \"yarn\" is not supported by this family")
	}
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	fields.AllWindow(&c, f.WindowOr(0))
	f.OneOf("hidden_act", "silu")
	f.FullAttention()
	return f.Finish(c)
}
