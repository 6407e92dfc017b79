// SPDX-License-Identifier: Apache-2.0

// Package gemma3 is the text model of the Gemma 3 family.
//
// Gemma Team 2025 (arXiv:2503.19786): embeddings times √E; norms before and after each branch; an RMSNorm of each query
// and key head; five layers that see a window, with their own rope base, for each one that sees everything; a GELU gate;
// tied output.
//
// Hugging Face stores norm weights as w of (1+w), GGUF stores the sum.
package gemma3

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

// Family describes Gemma 3 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "gemma3",
		GGUF:     []string{"gemma3"},
		HF:       []string{"Gemma3ForCausalLM", "Gemma3ForConditionalGeneration"},
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
		l.Skip("lm_head.weight", "language_model.lm_head.weight", "vision_tower.*", "model.vision_tower.*",
			"multi_modal_projector.*", "model.multi_modal_projector.*")
		c.EmbeddingScale = l.Rounded("token_embd.weight", c.EmbeddingScale)
	}
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		attention := l.Attention(c, layer).WithHeadNorms(l, c, layer)
		return l.Sandwich(c, layer, attention, l.MLP(c, layer))
	})
}

const (
	defaultPattern    = 6 // every sixth layer sees everything
	defaultWindowBase = 10000
	defaultBase       = 1000000
)

// common sets what both formats leave unsaid.
func common(c *model.Config) {
	c.Activation = tensor.GELUTanh
	c.TiedOutput = true
	c.EmbeddingScale = float32(math.Sqrt(float64(c.Hidden)))
}

// every returns which layers see a window only, if each pattern-th sees everything.
func every(pattern int) func(layer int) bool {
	return func(layer int) bool { return (layer+1)%max(1, pattern) != 0 }
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("gemma3", f, meta)
	common(&c)
	if !f.Has("rope.freq_base") {
		c.Rope.Base = defaultBase
	}
	c.Window = f.IntOr("attention.sliding_window", 0)
	c.WindowLayers = f.WindowPattern(c.Layers, defaultPattern)
	c.WindowRope = model.Rope{Base: f.FloatOr("rope.freq_base_swa", defaultWindowBase), Width: c.Rope.Width}
	if c.Layers == 62 { // 27B: the only size whose queries are scaled by E/H; the file does not say it
		c.AttentionScale = float32(1 / math.Sqrt(float64(c.Hidden)/float64(max(1, c.Heads))))
	}
	return f.Finish(c)
}

// hfDefaults are what released files of the larger sizes leave out.
var hfDefaults = map[string]float64{
	"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
	"max_position_embeddings": 131072, "rms_norm_eps": 1e-6,
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config).Text().Default(hfDefaults)
	c := fields.HFConfig("gemma3", f)
	common(&c)
	c.NormOffset = 1
	c.AttentionScale = float32(1 / math.Sqrt(f.FloatOr("query_pre_attn_scalar", 256)))
	c.Window = f.IntOr("sliding_window", 0)
	pattern := f.IntOr("sliding_window_pattern", f.IntOr("_sliding_window_pattern", defaultPattern))
	c.WindowLayers = f.WindowLayers(c.Layers, every(pattern))
	c.Rope = fields.HFRope(f, "full_attention", defaultBase, c.HeadDim)
	c.WindowRope = model.Rope{Base: f.FloatOr("rope_local_base_freq", defaultWindowBase), Width: c.HeadDim}
	if f.Has("rope_parameters") {
		c.WindowRope = fields.HFRope(f, "sliding_attention", defaultWindowBase, c.HeadDim)
	}
	f.OneOf("hidden_activation", "gelu_pytorch_tanh")
	f.Off("attn_logit_softcapping", "final_logit_softcapping", "use_bidirectional_attention", "attention_bias")
	return f.Finish(c)
}
