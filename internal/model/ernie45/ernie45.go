// SPDX-License-Identifier: Apache-2.0

// Package ernie45 is Baidu's dense ERNIE 4.5 family: Llama's block, whose rotation pairs (2m, 2m+1) in every format.
package ernie45

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes ERNIE 4.5 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "ernie45",
		GGUF:     []string{"ernie4_5"},
		HF:       []string{"Ernie4_5ForCausalLM", "Ernie4_5_ForCausalLM"},
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
	c := fields.GGUFConfig("ernie45", f, meta)
	c.Rope.Interleaved = true
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("ernie45", f)
	c.Rope = fields.HFRope(f, "full_attention", 500000, c.HeadDim)
	c.Rope.Interleaved = true
	c.TiedOutput = f.BoolOr("tie_word_embeddings", true)
	f.OneOf("hidden_act", "silu")
	f.FullAttention()
	return f.Finish(c)
}
