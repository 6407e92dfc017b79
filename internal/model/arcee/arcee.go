// SPDX-License-Identifier: Apache-2.0

// Package arcee is Arcee's AFM-4.5B: Llama's block with a feed-forward part without a gate, whose function is max(x, 0)²
// (arXiv:2109.08668), and YaRN.
//
// GGUF has rows of q and k in Llama's order.
package arcee

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Arcee to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "arcee",
		GGUF:     []string{"arcee"},
		HF:       []string{"ArceeForCausalLM"},
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

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("arcee", f, meta)
	c.Rope.Interleaved = true
	c.Activation = tensor.ReLU2
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("arcee", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	c.Activation = tensor.ReLU2
	f.OneOf("hidden_act", "relu2")
	f.FullAttention()
	return f.Finish(c)
}
