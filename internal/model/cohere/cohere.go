// SPDX-License-Identifier: Apache-2.0

// Package cohere is Cohere's Command R, Aya 23 and Expanse, and Command R7B family.
//
// Both branches of a block see the same LayerNorm, which has no bias; logits are multiplied by a constant; tied output.
// Rotation pairs (2m, 2m+1) in every format. In Command R7B three layers see a window for each one that sees everything, and
// that one has no rotary positions (arXiv:2501.18795).
package cohere

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

// Family describes Cohere to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "cohere",
		GGUF:     []string{"command-r", "cohere2"},
		HF:       []string{"CohereForCausalLM", "Cohere2ForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.Parallel(c, layer, l.Attention(c, layer), l.MLP(c, layer))
	})
}

const (
	defaultBase    = 10000
	defaultWindow  = 4096
	defaultPattern = 4 // every fourth layer sees everything
)

// common sets what both formats leave unsaid.
func common(c *model.Config) {
	c.LayerNorm = true
	c.TiedOutput = true
	c.Rope.Interleaved = true
}

// setWindow sets the window and the layers that have it. The others have no rotary positions.
func setWindow(c *model.Config, window int, layers []bool) {
	c.Window, c.WindowLayers, c.WindowRope = window, layers, c.Rope
	c.NoRopeLayers = fields.EachLayer(len(layers), func(layer int) bool { return !layers[layer] })
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("cohere", f, meta)
	common(&c)
	c.NormEps = float32(f.Float("attention.layer_norm_epsilon"))
	c.LogitScale = float32(f.Float("logit_scale"))
	if arch, _ := meta.String("general.architecture"); arch == "cohere2" {
		setWindow(&c, f.Int("attention.sliding_window"), f.WindowPattern(c.Layers, defaultPattern))
	}
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("cohere", f)
	c.Rope = fields.HFRope(f, "full_attention", defaultBase, c.HeadDim)
	common(&c)
	c.NormEps = float32(f.FloatOr("layer_norm_eps", 1e-5))
	c.LogitScale = float32(f.FloatOr("logit_scale", 0.0625))
	if slices.Contains(f.Strings("architectures"), "Cohere2ForCausalLM") {
		pattern := max(1, f.IntOr("sliding_window_pattern", defaultPattern))
		setWindow(&c, f.WindowOr(defaultWindow), f.WindowLayers(c.Layers, func(layer int) bool { return (layer+1)%pattern != 0 }))
		if c.Window == 0 {
			f.Fail("sliding_window is null, which is not supported by this family")
		}
	} else {
		f.FullAttention()
	}
	f.OneOf("hidden_act", "silu")
	f.Off("use_qk_norm")
	return f.Finish(c)
}
