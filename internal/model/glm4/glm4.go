// SPDX-License-Identifier: Apache-2.0

// Package glm4 is the dense GLM-4-0414 and GLM-Z1 family.
//
// GLM Team 2024 (arXiv:2406.12793), with norms before and after each branch; biases on q, k and v; one matrix for gate and
// up. The first half of each head is turned, in pairs (2m, 2m+1) in every format.
package glm4

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes GLM-4 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "glm4",
		GGUF:     []string{"glm4"},
		HF:       []string{"Glm4ForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
		HFParts:  hfParts,
	}
}

// hfParts are the names that differ from other families': what they call post_attention_layernorm is before the MLP.
var hfParts = map[string]string{
	"post_attention_norm": "post_self_attn_layernorm",
	"post_ffw_norm":       "post_mlp_layernorm",
	"ffn_up":              "mlp.gate_up_proj",
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, hfParts)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.Sandwich(c, layer, l.Attention(c, layer), l.FusedMLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("glm4", f, meta)
	c.Rope.Interleaved = true
	if f.Has("rope.dimension_sections") {
		f.Fail("rope.dimension_sections: positions with several axes are not supported")
	}
	return f.Finish(c)
}

// defaultPartial is the share of a head that is turned if a config.json does not say it.
const defaultPartial = 0.5

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config).Default(map[string]float64{"partial_rotary_factor": defaultPartial})
	c := fields.HFConfig("glm4", f)
	c.Rope = fields.HFPartialRope(f, "full_attention", 10000, c.HeadDim)
	c.Rope.Interleaved = true
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	f.FullAttention()
	return f.Finish(c)
}
