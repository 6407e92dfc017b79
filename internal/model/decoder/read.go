// SPDX-License-Identifier: Apache-2.0

package decoder

import (
	"math"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// HFConfig reads what the config.json of dense decoders has in common. Rope and the choices of a family are left to it.
func HFConfig(family string, f *Fields) model.Config {
	c := model.Config{
		Family:         family,
		Vocab:          f.Int("vocab_size"),
		Hidden:         f.Int("hidden_size"),
		Layers:         f.Int("num_hidden_layers"),
		Heads:          f.Int("num_attention_heads"),
		FFN:            f.Int("intermediate_size"),
		MaxContext:     f.Int("max_position_embeddings"),
		NormEps:        float32(f.Float("rms_norm_eps")),
		EmbeddingScale: 1,
	}
	c.KVHeads = f.IntOr("num_key_value_heads", c.Heads)
	c.HeadDim = f.IntOr("head_dim", c.Hidden/max(1, c.Heads))
	c.AttentionScale = float32(1 / math.Sqrt(float64(c.HeadDim)))
	if f.Has("quantization_config") {
		f.Fail("quantization_config: quantised Hugging Face formats are not supported")
	}
	return c
}

// GGUFConfig reads what the metadata of dense decoders have in common, rope included.
func GGUFConfig(family string, f *Fields, meta *gguf.Metadata) model.Config {
	c := model.Config{
		Family:         family,
		Hidden:         f.Int("embedding_length"),
		Layers:         f.Int("block_count"),
		Heads:          f.Int("attention.head_count"),
		FFN:            f.Int("feed_forward_length"),
		MaxContext:     f.Int("context_length"),
		NormEps:        float32(f.Float("attention.layer_norm_rms_epsilon")),
		EmbeddingScale: 1,
	}
	c.KVHeads = f.IntOr("attention.head_count_kv", c.Heads)
	c.HeadDim = f.IntOr("attention.key_length", c.Hidden/max(1, c.Heads))
	if v := f.IntOr("attention.value_length", c.HeadDim); v != c.HeadDim {
		f.Fail("%s is %d, want the key length %d", f.src.describe("attention.value_length"), v, c.HeadDim)
	}
	c.AttentionScale = float32(1 / math.Sqrt(float64(c.HeadDim)))
	tokens, _ := meta.Strings("tokenizer.ggml.tokens")
	c.Vocab = f.IntOr("vocab_size", len(tokens)) // 0: as many as the embedding has rows
	f.Off("expert_count", "attn_logit_softcapping", "final_logit_softcapping", "attention.scale", "residual_scale", "logit_scale", "embedding_scale")
	c.Rope = model.Rope{Base: f.FloatOr("rope.freq_base", 10000), Width: f.IntOr("rope.dimension_count", c.HeadDim)}
	if f.OneOf("rope.scaling.type", "none", "linear") == "linear" {
		c.Rope.Linear = f.Float("rope.scaling.factor")
	}
	if scale := f.FloatOr("rope.scale_linear", 1); scale != 1 {
		c.Rope.Linear = scale
	}
	return c
}

// HFRope reads rotary parameters in either spelling: "rope_parameters", which may have an object for each kind of layer,
// or "rope_theta" with "rope_scaling". Kind is "full_attention" or "sliding_attention".
func HFRope(f *Fields, kind string, base float64, headDim int) model.Rope {
	r := model.Rope{Base: f.FloatOr("rope_theta", base), Width: headDim}
	scaling, ok := f.object("rope_parameters")
	if ok {
		if nested, isNested := scaling.object(kind); isNested {
			scaling = nested
		}
	} else {
		scaling, ok = f.object("rope_scaling")
	}
	if width := f.FloatOr("partial_rotary_factor", 1); width != 1 {
		f.Fail("partial_rotary_factor %g is not supported by this family", width)
	}
	if !ok {
		return r
	}
	r.Base = scaling.FloatOr("rope_theta", r.Base)
	key := "rope_type"
	if !scaling.Has(key) {
		key = "type"
	}
	switch scaling.OneOf(key, "default", "linear", "llama3") {
	case "linear":
		r.Linear = scaling.Float("factor")
	case "llama3":
		r.Llama3 = &model.Llama3Rope{
			Factor:          scaling.Float("factor"),
			LowFreqFactor:   scaling.Float("low_freq_factor"),
			HighFreqFactor:  scaling.Float("high_freq_factor"),
			OriginalContext: scaling.Float("original_max_position_embeddings"),
		}
	}
	return r
}
