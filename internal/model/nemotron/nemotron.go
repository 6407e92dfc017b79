// SPDX-License-Identifier: Apache-2.0

// Package nemotron is NVIDIA's Nemotron 4 and Minitron family.
//
// Parmar et al. 2024 (arXiv:2402.16819): Llama's block with LayerNorms, a feed-forward part without a gate, whose function is
// max(x, 0)², and a rotation of the first half of each head, which pairs halves of it in every format.
//
// Hugging Face stores norm weights as w of (1+w), GGUF stores the sum.
package nemotron

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Nemotron to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "nemotron",
		GGUF:     []string{"nemotron"},
		HF:       []string{"NemotronForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.PreNorm(c, layer, l.Attention(c, layer), l.PlainMLP(c, layer))
	})
}

// common sets what both formats leave unsaid.
func common(c *model.Config) {
	c.LayerNorm = true
	c.Activation = tensor.ReLU2
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("nemotron", f, meta)
	common(&c)
	c.NormEps = float32(f.Float("attention.layer_norm_epsilon"))
	return f.Finish(c)
}

// defaultPartial is the share of a head that is turned if a config.json does not say it.
const defaultPartial = 0.5

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config).Default(map[string]float64{"partial_rotary_factor": defaultPartial})
	c := fields.HFConfig("nemotron", f)
	common(&c)
	c.NormOffset = 1
	c.NormEps = float32(f.FloatOr("norm_eps", 1e-5))
	c.Rope = fields.HFPartialRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "relu2")
	f.FullAttention()
	return f.Finish(c)
}
