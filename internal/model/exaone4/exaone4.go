// SPDX-License-Identifier: Apache-2.0

// Package exaone4 is LG's EXAONE 4.0 family.
//
// LG AI Research 2025 (arXiv:2507.11407): norms after the branches instead of before them, and an RMSNorm of each query and
// key head. In sizes with windows three layers see one for each that sees everything, and that one has no rotary positions.
// Rotation pairs halves in every format.
package exaone4

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes EXAONE 4.0 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "exaone4",
		GGUF:     []string{"exaone4"},
		HF:       []string{"Exaone4ForCausalLM"},
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
		attention := l.Attention(c, layer).WithHeadNorms(l, c, layer)
		return l.PostNorm(c, layer, attention, l.MLP(c, layer))
	})
}

// defaultPattern is the distance of layers that see everything.
const defaultPattern = 4

// setWindow sets the window and the layers that have it, if any do. The others then have no rotary positions.
func setWindow(c *model.Config, window int, layers []bool) {
	if window == 0 {
		return
	}
	c.Window, c.WindowLayers, c.WindowRope = window, layers, c.Rope
	c.NoRopeLayers = fields.EachLayer(len(layers), func(layer int) bool { return !layers[layer] })
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("exaone4", f, meta)
	setWindow(&c, f.IntOr("attention.sliding_window", 0), f.WindowPattern(c.Layers, defaultPattern))
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("exaone4", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	window := f.WindowOr(4096)
	switch {
	case window == 0:
		f.FullAttention()
	case f.Has("layer_types"):
		setWindow(&c, window, f.WindowLayers(c.Layers, nil))
	default:
		f.Fail("layer_types is missing")
	}
	f.OneOf("hidden_act", "silu")
	return f.Finish(c)
}
