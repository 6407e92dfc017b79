// SPDX-License-Identifier: Apache-2.0

package fields

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
		NormEps:        float32(f.FloatOr("rms_norm_eps", 0)), // families with LayerNorms have another name for it
		EmbeddingScale: 1,
	}
	c.KVHeads = f.IntOr("num_key_value_heads", c.Heads)
	c.HeadDim = f.IntOr("head_dim", c.Hidden/max(1, c.Heads))
	c.AttentionScale = float32(1 / math.Sqrt(float64(c.HeadDim)))
	refuseQuantization(f)
	return c
}

func refuseQuantization(f *Fields) {
	if q, ok := f.object("quantization_config"); ok {
		f.Fail("quantization_config: quant_method %q is not supported", q.StringOr("quant_method", "unnamed"))
	}
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
		NormEps:        float32(f.FloatOr("attention.layer_norm_rms_epsilon", 0)), // as above
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
	c.Rope = ggufRope(f, c.HeadDim, c.MaxContext)
	return c
}

// AllWindow makes every layer see a window only. 0, or a window as long as the context, leaves the layers as they are.
func AllWindow(c *model.Config, window int) {
	if window == 0 || window >= c.MaxContext && c.Rope.Yarn == nil {
		return
	}
	c.Window, c.WindowRope = window, c.Rope
	c.WindowLayers = EachLayer(c.Layers, func(int) bool { return true })
}

// EachLayer lists what f says of each layer. A number of layers that no model has gives an empty list.
func EachLayer(layers int, f func(layer int) bool) []bool {
	if layers < 0 || layers > model.MaxLayers {
		return nil
	}
	list := make([]bool, layers)
	for i := range list {
		list[i] = f(i)
	}
	return list
}

// WindowOr reads a config.json's window: null is none, and a missing field is the reference code's default.
func (f *Fields) WindowOr(other int) int {
	if f.HasNull("sliding_window") {
		return 0
	}
	return f.IntOr("sliding_window", other)
}

// WindowLayers reads layer_types: which layers see a window only. Without the list other says it.
func (f *Fields) WindowLayers(layers int, other func(layer int) bool) []bool {
	types := f.Strings("layer_types")
	if types == nil {
		return EachLayer(layers, other)
	}
	if len(types) != layers {
		f.Fail("layer_types has %d entries, want %d", len(types), layers)
	}
	local := make([]bool, len(types))
	for i, t := range types {
		local[i] = t == "sliding_attention"
		if !local[i] && t != "full_attention" {
			f.Fail("layer_types: %q is not supported", t)
		}
	}
	return local
}

// WindowPattern reads which layers see a window only from a GGUF file: a list, or a number n of which every n-th sees
// everything.
func (f *Fields) WindowPattern(layers, other int) []bool {
	const key = "attention.sliding_window_pattern"
	if list, ok := f.src.bools(key); ok {
		return list
	}
	n := max(1, f.IntOr(key, other))
	return EachLayer(layers, func(layer int) bool { return (layer+1)%n != 0 })
}

// LateWindows reads Qwen's windows: if they are switched on, the layers from max_window_layers on have them.
func LateWindows(c *model.Config, f *Fields) {
	if !f.BoolOr("use_sliding_window", false) {
		f.FullAttention()
		return
	}
	first := f.IntOr("max_window_layers", qwenWindowLayer)
	c.Window, c.WindowRope = f.WindowOr(qwenWindow), c.Rope
	c.WindowLayers = f.WindowLayers(c.Layers, func(layer int) bool { return layer >= first })
}

// What Qwen's reference code takes for missing fields.
const (
	qwenWindow      = 4096
	qwenWindowLayer = 28
)
