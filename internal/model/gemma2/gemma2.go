// SPDX-License-Identifier: Apache-2.0

// Package gemma2 is the Gemma 2 family.
//
// Gemma Team 2024 (arXiv:2408.00118): embeddings times √E; norms before and after each branch; every other layer sees a
// window, the first one included; soft caps on attention scores and on logits; a GELU gate; tied output.
//
// Hugging Face stores norm weights as w of (1+w), GGUF stores the sum.
package gemma2

import (
	"math"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Gemma 2 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "gemma2",
		GGUF:     []string{"gemma2"},
		HF:       []string{"Gemma2ForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
		HFParts:  hfParts,
	}
}

// hfParts are the names that differ from other families': what they call post_attention_layernorm is before the MLP.
var hfParts = map[string]string{
	"post_attention_norm": "post_attention_layernorm",
	"ffn_norm":            "pre_feedforward_layernorm",
	"post_ffw_norm":       "post_feedforward_layernorm",
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, hfParts)
	if naming == model.HuggingFace {
		c.EmbeddingScale = l.Rounded("token_embd.weight", c.EmbeddingScale)
	}
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.Sandwich(c, layer, l.Attention(c, layer), l.MLP(c, layer))
	})
}

// What files may leave to the reference code.
const (
	defaultWindow       = 4096
	defaultAttentionCap = 50
	defaultLogitCap     = 30
)

// common sets what both formats leave unsaid.
func common(c *model.Config) {
	c.Activation = tensor.GELUTanh
	c.TiedOutput = true
	c.EmbeddingScale = float32(math.Sqrt(float64(c.Hidden)))
	c.WindowRope = c.Rope
}

// even says which layers see a window.
func even(layer int) bool { return layer%2 == 0 }

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("gemma2", f, meta)
	common(&c)
	c.Window = f.IntOr("attention.sliding_window", defaultWindow)
	c.WindowLayers = fields.EachLayer(c.Layers, even)
	c.AttentionCap = float32(f.FloatOr("attn_logit_softcapping", defaultAttentionCap))
	c.LogitCap = float32(f.FloatOr("final_logit_softcapping", defaultLogitCap))
	if c.Layers == 46 { // 27B: the only size whose queries are scaled by E/H; the file does not say it
		c.AttentionScale = float32(1 / math.Sqrt(float64(c.Hidden)/float64(max(1, c.Heads))))
	}
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("gemma2", f)
	c.Rope = fields.HFRope(f, "full_attention", 10000, c.HeadDim)
	common(&c)
	c.NormOffset = 1
	c.AttentionScale = float32(1 / math.Sqrt(f.FloatOr("query_pre_attn_scalar", 256)))
	c.Window = f.WindowOr(defaultWindow)
	c.WindowLayers = f.WindowLayers(c.Layers, even)
	c.AttentionCap, c.LogitCap = softCap(f, "attn_logit_softcapping", defaultAttentionCap), softCap(f, "final_logit_softcapping", defaultLogitCap)
	f.OneOf("hidden_activation", "gelu_pytorch_tanh")
	f.Off("use_bidirectional_attention")
	return f.Finish(c)
}

// softCap reads a soft cap: null is none, and a missing field is the reference code's default.
func softCap(f *fields.Fields, key string, other float64) float32 {
	if f.HasNull(key) {
		return 0
	}
	return float32(f.FloatOr(key, other))
}
