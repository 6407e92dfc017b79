// SPDX-License-Identifier: Apache-2.0

// Package starcoder2 is the StarCoder2 family.
//
// Lozhkov et al. 2024 (arXiv:2402.19173): Llama's block with LayerNorms, biases everywhere, a feed-forward part without a gate,
// whose function is GELU, and a window in all layers. Rotation pairs halves in every format.
//
// Most GGUF files do not tell of the window: they are right up to its length, 4096.
package starcoder2

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes StarCoder2 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "starcoder2",
		GGUF:     []string{"starcoder2"},
		HF:       []string{"Starcoder2ForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
		HFParts:  hfParts,
	}
}

// hfParts are the names that differ from other families'.
var hfParts = map[string]string{"ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, hfParts)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.PreNorm(c, layer, l.Attention(c, layer), l.PlainMLP(c, layer))
	})
}

// common sets what both formats leave unsaid.
func common(c *model.Config) {
	c.LayerNorm = true
	c.Activation = tensor.GELUTanh
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("starcoder2", f, meta)
	common(&c)
	c.NormEps = float32(f.Float("attention.layer_norm_epsilon"))
	fields.AllWindow(&c, f.IntOr("attention.sliding_window", 0))
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("starcoder2", f)
	common(&c)
	c.NormEps = float32(f.FloatOr("norm_epsilon", 1e-5))
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", true)
	fields.AllWindow(&c, f.WindowOr(0))
	f.OneOf("hidden_act", "gelu_pytorch_tanh")
	f.FullAttention()
	return f.Finish(c)
}
