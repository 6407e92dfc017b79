// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"fmt"
	"math"
	"strings"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// A keys writes a configuration under the keys of an architecture.
type keys struct {
	meta *gguf.Metadata
	arch string
}

// set writes the key of the architecture with a name.
func (k keys) set(name string, value any) { k.meta.Set(k.arch+"."+name, value) }

// ggufName is the architecture in GGUF files of a family's models with a configuration.
func ggufName(family *model.Family, c model.Config) string {
	if family.Name == "cohere" && c.Window > 0 {
		return "cohere2"
	}
	return family.GGUF[0]
}

// setConfig writes a configuration.
func setConfig(meta *gguf.Metadata, family *model.Family, c model.Config, src weights.Source) {
	k := keys{meta, ggufName(family, c)}
	meta.Set("general.architecture", k.arch)
	meta.Set("general.type", "model")
	k.set("context_length", uint32(c.MaxContext))
	k.set("embedding_length", uint32(c.Hidden))
	k.set("block_count", uint32(c.Layers))
	k.set("feed_forward_length", uint32(c.FFN))
	k.set("attention.head_count", uint32(c.Heads))
	k.set("attention.head_count_kv", uint32(c.KVHeads))
	k.set("attention.key_length", uint32(c.HeadDim))
	k.set("attention.value_length", uint32(c.HeadDim))
	if c.LayerNorm {
		k.set("attention.layer_norm_epsilon", c.NormEps)
	} else {
		k.set("attention.layer_norm_rms_epsilon", c.NormEps)
	}
	k.set("vocab_size", uint32(c.Vocab))
	k.setRope(c.Rope)
	if c.Window > 0 {
		k.set("attention.sliding_window", uint32(c.Window))
		if c.WindowRope.Base != c.Rope.Base {
			k.set("rope.freq_base_swa", float32(c.WindowRope.Base))
		}
	}
	if c.AttentionCap > 0 {
		k.set("attn_logit_softcapping", c.AttentionCap)
	}
	if c.LogitCap > 0 {
		k.set("final_logit_softcapping", c.LogitCap)
	}
	k.setOwn(family.Name, c, src)
}

// setRope writes how positions turn heads. What is a tensor in GGUF files is left to ropeTensors.
func (k keys) setRope(r model.Rope) {
	k.set("rope.dimension_count", uint32(r.Width))
	k.set("rope.freq_base", float32(r.Base))
	if scaled(r) {
		k.set("rope.scaling.type", "linear")
		k.set("rope.scaling.factor", float32(r.Linear))
	}
	if y := r.Yarn; y != nil {
		k.set("rope.scaling.type", "yarn")
		k.set("rope.scaling.factor", float32(y.Factor))
		k.set("rope.scaling.original_context_length", uint32(y.OriginalContext))
		k.set("rope.scaling.yarn_beta_fast", float32(y.BetaFast))
		k.set("rope.scaling.yarn_beta_slow", float32(y.BetaSlow))
		k.setMagnitude(r)
	}
}

// scaled says whether angles are divided by a number.
func scaled(r model.Rope) bool { return r.Linear > 0 && r.Linear != 1 }

// setOwn writes the keys that one family has.
func (k keys) setOwn(family string, c model.Config, src weights.Source) {
	switch family {
	case "cohere":
		k.set("logit_scale", c.LogitScale)
		k.set("rope.scaling.type", "none")
	case "granite":
		k.set("attention.scale", c.AttentionScale)
		k.set("embedding_scale", c.EmbeddingScale)
		k.set("residual_scale", c.ResidualScale)
		k.set("logit_scale", 1/c.LogitScale)
	case "mistral3":
		if q := c.QueryScale; q != nil {
			k.set("attention.temperature_scale", float32(q.Beta))
		}
	case "nemotron", "hunyuan":
		if !scaled(c.Rope) {
			k.set("rope.scaling.type", "none")
		}
	case "exaone4", "olmo2":
		if c.Window > 0 {
			k.set("attention.sliding_window_pattern", c.WindowLayers)
			if family == "olmo2" {
				k.set("rope.freq_base_swa", float32(c.WindowRope.Base))
			}
		}
	case "phi3":
		k.set("attention.sliding_window", uint32(c.Window)) // 0, too: readers tell sizes apart by it
		if long := c.Rope.Long; long != nil {
			k.set("rope.scaling.original_context_length", uint32(long.OriginalContext))
			k.set("rope.scaling.attn_factor", float32(c.Rope.Magnitude))
		}
	case "stablelm":
		_, sequential := src.Tensor("model.layers.0.post_attention_layernorm.weight")
		k.set("use_parallel_residual", !sequential)
	}
}

// setMagnitude writes YaRN's magnitude where it is not the recommended one. Mistral 3's files say that it is g(1)/g(x), with
// g being model.YarnMagnitude.
func (k keys) setMagnitude(r model.Rope) {
	factor := r.Yarn.Factor
	usual := model.YarnMagnitude(factor, 1)
	if near(float32(r.Magnitude), float32(usual)) {
		return
	}
	if x := (usual/r.Magnitude - 1) / (0.1 * math.Log(factor)); k.arch == "mistral3" && x > 1e-6 {
		k.set("rope.scaling.yarn_log_multiplier", float32(x))
		return
	}
	k.set("rope.scaling.yarn_attn_factor", float32(r.Magnitude))
}

// ropeTensors are what GGUF files have as tensors of rotary positions: what Llama 3.1's scaling divides each frequency by,
// and LongRoPE's lists.
func ropeTensors(r model.Rope) []Input {
	var list []Input
	add := func(name string, values []float32) { list = append(list, Input{Tensor: floats(name, values)}) }
	if divisors := ropeDivisors(r); divisors != nil {
		add("rope_freqs.weight", divisors)
	}
	if r.Long != nil {
		add("rope_factors_long.weight", r.Long.Long)
		add("rope_factors_short.weight", r.Long.Short)
	}
	return list
}

// ropeDivisors are what Llama 3.1's scaling divides each frequency by, nil without it.
func ropeDivisors(r model.Rope) []float32 {
	if r.Llama3 == nil {
		return nil
	}
	scaled := r.Frequencies(0)
	r.Llama3 = nil
	divisors := r.Frequencies(0)
	for i := range divisors {
		divisors[i] /= scaled[i]
	}
	return divisors
}

// setDefaults writes the sampling parameters that the model's makers recommend.
func setDefaults(meta *gguf.Metadata, d bundle.GenerationDefaults) {
	for key, value := range map[string]*float32{"temp": d.Temperature, "top_p": d.TopP, "min_p": d.MinP, "penalty_repeat": d.RepetitionPenalty} {
		if value != nil {
			meta.Set("general.sampling."+key, *value)
		}
	}
	if d.TopK != nil {
		meta.Set("general.sampling.top_k", int32(*d.TopK))
	}
}

// checkConfig compares a configuration with what is read of the file.
func checkConfig(arch string, want, got model.Config) error {
	for _, r := range []*model.Rope{&got.Rope, &got.WindowRope} { // with the tensors
		if r.Width > 0 {
			r.Divisors = ropeDivisors(want.Rope)
		}
		if r.Long != nil {
			r.Long = want.Rope.Long
		}
	}
	var lost []string
	compare := func(what string, same bool) {
		if !same {
			lost = append(lost, what)
		}
	}
	compare("sizes", got.Hidden == want.Hidden && got.Layers == want.Layers && got.Heads == want.Heads && got.KVHeads == want.KVHeads &&
		got.HeadDim == want.HeadDim && got.FFN == want.FFN && got.MaxContext == want.MaxContext && got.Vocab == want.Vocab)
	compare("norms", got.NormEps == want.NormEps && got.LayerNorm == want.LayerNorm)
	compare("scales", near(got.AttentionScale, want.AttentionScale) && near(got.EmbeddingScale, want.EmbeddingScale) &&
		near(or1(got.ResidualScale), or1(want.ResidualScale)) && near(or1(got.LogitScale), or1(want.LogitScale)))
	compare("soft caps", got.AttentionCap == want.AttentionCap && got.LogitCap == want.LogitCap)
	compare("query scale", sameScale(got.QueryScale, want.QueryScale))
	compare("activation", got.Activation == want.Activation)
	compare("rotary positions", sameRope(got.Rope, want.Rope))
	windows := true
	for layer := range want.Layers {
		windows = windows && got.IsWindow(layer) == want.IsWindow(layer) && got.TurnsHeads(layer) == want.TurnsHeads(layer)
		windows = windows && (!want.IsWindow(layer) || got.Window == want.Window && sameRope(got.WindowRope, want.WindowRope))
	}
	compare("windows of layers", windows)
	if lost != nil {
		return fmt.Errorf("a GGUF file of architecture %q cannot tell of this model's %s", arch, strings.Join(lost, ", "))
	}
	return nil
}

// or1 is the value of a scale for which 0 is as good as 1.
func or1(scale float32) float32 {
	if scale == 0 {
		return 1
	}
	return scale
}

// near says whether two numbers differ by rounding only.
func near(a, b float32) bool {
	return math.Abs(float64(a)-float64(b)) <= 1e-6*math.Abs(float64(b))
}

// sameScale compares scales of queries.
func sameScale(a, b *model.QueryScale) bool {
	if a == nil || b == nil {
		return a == b
	}
	return near(float32(a.Beta), float32(b.Beta)) && a.Context == b.Context
}

// sameRope says whether positions turn heads the same, but for the order of components.
func sameRope(a, b model.Rope) bool {
	if a.Width != b.Width || (a.Long == nil) != (b.Long == nil) || !near(or1(float32(a.Magnitude)), or1(float32(b.Magnitude))) {
		return false
	}
	for _, longest := range []int{0, math.MaxInt32} {
		want := b.Frequencies(longest)
		for i, f := range a.Frequencies(longest) {
			if math.Abs(float64(f)-float64(want[i])) > 1e-5*float64(want[i]) {
				return false
			}
		}
	}
	return true
}
