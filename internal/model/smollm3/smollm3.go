// SPDX-License-Identifier: Apache-2.0

// Package smollm3 is the SmolLM3 family: Llama's block, where every fourth layer has no rotary positions (NoPE,
// arXiv:2305.19466, after arXiv:2501.18795).
//
// GGUF has rows of q and k in Llama's order, and no key for which layers turn: every fourth does not.
package smollm3

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes SmolLM3 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "smollm3",
		GGUF:     []string{"smollm3"},
		HF:       []string{"SmolLM3ForCausalLM"},
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

// defaultInterval is the distance of layers without positions.
const defaultInterval = 4

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("smollm3", f, meta)
	c.Rope.Interleaved = true
	c.NoRopeLayers = fields.EachLayer(c.Layers, every(defaultInterval))
	return f.Finish(c)
}

func every(interval int) func(layer int) bool {
	return func(layer int) bool { return (layer+1)%max(1, interval) == 0 }
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("smollm3", f)
	c.Rope = fields.HFRope(f, "full_attention", 2000000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", true)
	c.NoRopeLayers = fields.EachLayer(c.Layers, every(f.IntOr("no_rope_layer_interval", defaultInterval)))
	if turns := f.Numbers("no_rope_layers"); turns != nil { // 1, in spite of the name, for layers that turn
		c.NoRopeLayers = make([]bool, len(turns))
		for i, v := range turns {
			c.NoRopeLayers[i] = v == 0
		}
	}
	f.OneOf("hidden_act", "silu")
	f.Off("use_sliding_window")
	f.FullAttention()
	return f.Finish(c)
}
