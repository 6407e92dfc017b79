// SPDX-License-Identifier: Apache-2.0

// Package phi2 is the Phi-1, Phi-1.5 and Phi-2 family.
//
// Li et al. 2023 (arXiv:2309.05463): both branches of a block see the same LayerNorm; biases everywhere, of logits too; a
// feed-forward part without a gate, whose function is GELU; a rotation of the first part of each head, which pairs halves
// of it in every format.
package phi2

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Phi-2 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "phi2",
		GGUF:     []string{"phi2"},
		HF:       []string{"PhiForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
		HFParts:  hfParts,
	}
}

// hfParts are the names that differ from other families'.
var hfParts = map[string]string{
	"attn_output": "self_attn.dense",
	"ffn_up":      "mlp.fc1",
	"ffn_down":    "mlp.fc2",
	"output_norm": "final_layernorm",
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, hfParts)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.Parallel(c, layer, l.Attention(c, layer), l.PlainMLP(c, layer))
	})
}

// common sets what both formats leave unsaid.
func common(c *model.Config) {
	c.LayerNorm = true
	c.Activation = tensor.GELUTanh
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("phi2", f, meta)
	common(&c)
	c.NormEps = float32(f.Float("attention.layer_norm_epsilon"))
	return f.Finish(c)
}

// defaultPartial is the share of a head that is turned if a config.json does not say it.
const defaultPartial = 0.5

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config).Default(map[string]float64{"partial_rotary_factor": defaultPartial})
	c := fields.HFConfig("phi2", f)
	common(&c)
	c.NormEps = float32(f.FloatOr("layer_norm_eps", 1e-5))
	c.Rope = fields.HFPartialRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "gelu_new")
	f.Off("qk_layernorm")
	f.FullAttention()
	return f.Finish(c)
}
