// SPDX-License-Identifier: Apache-2.0

// Package olmo2 is the OLMo 2 and OLMo 3 family.
//
// OLMo Team 2025 (arXiv:2501.00656): norms after the branches instead of before them, and an RMSNorm of the queries and of
// the keys of all heads together. In OLMo 3 three layers see a window for each that sees everything; the scaling of rotary
// positions holds for the latter only. Rotation pairs halves in every format.
package olmo2

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

// Family describes OLMo 2 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "olmo2",
		GGUF:     []string{"olmo2"},
		HF:       []string{"Olmo2ForCausalLM", "Olmo3ForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
		HFParts:  hfParts,
	}
}

// hfParts are the names that differ from other families'.
var hfParts = map[string]string{
	"post_attention_norm": "post_attention_layernorm",
	"post_ffw_norm":       "post_feedforward_layernorm",
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, hfParts)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		attention := l.Attention(c, layer).WithProjectionNorms(l, c, layer)
		return l.PostNorm(c, layer, attention, l.MLP(c, layer))
	})
}

const (
	olmo3Pattern = 4 // every fourth layer sees everything
	olmo3Window  = 4096
	olmo3Base    = 500000
)

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("olmo2", f, meta)
	if c.Window = f.IntOr("attention.sliding_window", 0); c.Window != 0 {
		c.WindowLayers = f.WindowPattern(c.Layers, olmo3Pattern)
		c.WindowRope = model.Rope{Base: f.FloatOr("rope.freq_base_swa", c.Rope.Base), Width: c.Rope.Width}
	}
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("olmo2", f)
	if slices.Contains(f.Strings("architectures"), "Olmo3ForCausalLM") {
		c.Window = f.WindowOr(olmo3Window)
		c.WindowLayers = f.WindowLayers(c.Layers, func(layer int) bool { return (layer+1)%olmo3Pattern != 0 })
		c.Rope = fields.HFRope(f, "full_attention", olmo3Base, c.HeadDim)
		c.WindowRope = model.Rope{Base: f.FloatOr("rope_theta", olmo3Base), Width: c.HeadDim}
		if f.Has("rope_parameters") {
			c.WindowRope = fields.HFRope(f, "sliding_attention", olmo3Base, c.HeadDim)
		}
	} else {
		c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
		f.FullAttention()
	}
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	return f.Finish(c)
}
