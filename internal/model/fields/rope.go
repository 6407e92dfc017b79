// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"math"

	"github.com/sampo-ai/sampo/internal/model"
)

// HFRope reads rotary parameters in either spelling: "rope_parameters", which may have an object for each kind of layer,
// or "rope_theta" with "rope_scaling". Kind is "full_attention" or "sliding_attention". Heads are turned as a whole.
func HFRope(f *Fields, kind string, base float64, headDim int) model.Rope {
	r := HFPartialRope(f, kind, base, headDim)
	if r.Width != headDim {
		f.Fail("partial_rotary_factor: %d of %d components of a head is not supported by this family", r.Width, headDim)
	}
	return r
}

// HFPartialRope is HFRope for families that may turn the first part of a head only.
func HFPartialRope(f *Fields, kind string, base float64, headDim int) model.Rope {
	scaling, ok := f.scaling(kind)
	partial, theta := f.FloatOr("partial_rotary_factor", 1), f.FloatOr("rope_theta", base)
	if !ok {
		return model.Rope{Base: theta, Width: int(float64(headDim) * partial)}
	}
	partial = scaling.FloatOr("partial_rotary_factor", partial)
	r := model.Rope{Base: scaling.FloatOr("rope_theta", theta), Width: int(float64(headDim) * partial)}
	key := "rope_type"
	if !scaling.Has(key) {
		key = "type"
	}
	switch scaling.OneOf(key, "default", "linear", "llama3", "yarn", "longrope", "su") {
	case "linear":
		r.Linear = scaling.Float("factor")
	case "llama3":
		r.Llama3 = &model.Llama3Rope{
			Factor:          scaling.Float("factor"),
			LowFreqFactor:   scaling.Float("low_freq_factor"),
			HighFreqFactor:  scaling.Float("high_freq_factor"),
			OriginalContext: scaling.Float("original_max_position_embeddings"),
		}
	case "yarn":
		hfYarn(f, scaling, &r)
	case "longrope", "su":
		hfLongRope(f, scaling, &r)
	}
	return r
}

// scaling returns the fields of the rotary parameters in either spelling.
func (f *Fields) scaling(kind string) (*Fields, bool) {
	parameters, ok := f.object("rope_parameters")
	if !ok {
		return f.object("rope_scaling")
	}
	if nested, isNested := parameters.object(kind); isNested {
		return nested, true
	}
	return parameters, true
}

// HFAlphaRope is HFRope for files in which "dynamic" means a constant alpha that enlarges the base.
func HFAlphaRope(f *Fields, base float64, headDim int) model.Rope {
	scaling, ok := f.scaling("full_attention")
	if !ok || scaling.StringOr("rope_type", scaling.StringOr("type", "")) != "dynamic" {
		return HFRope(f, "full_attention", base, headDim)
	}
	base = scaling.FloatOr("rope_theta", f.FloatOr("rope_theta", base))
	d := float64(headDim)
	return model.Rope{Base: base * math.Pow(scaling.Float("alpha"), d/(d-2)), Width: headDim}
}

// RopeParameter returns a number of a config.json's rotary parameters, 0 if it has none of this name.
func (f *Fields) RopeParameter(key string) float64 {
	parameters, ok := f.object("rope_parameters")
	if !ok {
		return 0
	}
	return parameters.FloatOr(key, 0)
}

// hfContext returns the context length before scaling, and how many times longer it is after.
func hfContext(f, scaling *Fields) (original, factor float64) {
	longest := f.Float("max_position_embeddings")
	original = f.FloatOr("original_max_position_embeddings", scaling.FloatOr("original_max_position_embeddings", longest))
	return original, scaling.FloatOr("factor", longest/max(1, original))
}

// hfYarn reads YaRN's parameters.
func hfYarn(f, scaling *Fields, r *model.Rope) {
	original, factor := hfContext(f, scaling)
	r.Yarn = &model.YarnRope{
		Factor: factor, OriginalContext: original,
		BetaFast: scaling.FloatOr("beta_fast", yarnBetaFast), BetaSlow: scaling.FloatOr("beta_slow", yarnBetaSlow),
		Exact: !scaling.BoolOr("truncate", true),
	}
	r.Magnitude = model.YarnMagnitude(factor, 1)
	if a, b := scaling.FloatOr("mscale", 0), scaling.FloatOr("mscale_all_dim", 0); a != 0 && b != 0 {
		r.Magnitude = model.YarnMagnitude(factor, a) / model.YarnMagnitude(factor, b)
	}
	r.Magnitude = scaling.FloatOr("attention_factor", r.Magnitude)
}

// What YaRN's parameters are unless a file says otherwise.
const (
	yarnBetaFast = 32
	yarnBetaSlow = 1
)

// hfLongRope reads LongRoPE's parameters.
func hfLongRope(f, scaling *Fields, r *model.Rope) {
	original, factor := hfContext(f, scaling)
	for _, key := range []string{"short_factor", "long_factor"} {
		if !scaling.Has(key) {
			scaling.Fail("%s is missing", key)
		}
	}
	r.Long = &model.LongRope{
		Short: floats(scaling.Numbers("short_factor")), Long: floats(scaling.Numbers("long_factor")), OriginalContext: int(original),
	}
	r.Magnitude = scaling.FloatOr("attention_factor", model.LongMagnitude(factor, original))
}

func floats(numbers []float64) []float32 {
	list := make([]float32, len(numbers))
	for i, x := range numbers {
		list[i] = float32(x)
	}
	return list
}

// ggufRope reads rotary parameters of a head. LongRoPE's lists are tensors, which decoder.NewDecoder adds.
func ggufRope(f *Fields, headDim, longest int) model.Rope {
	r := model.Rope{Base: f.FloatOr("rope.freq_base", 10000), Width: f.IntOr("rope.dimension_count", headDim)}
	original := f.IntOr("rope.scaling.original_context_length", longest)
	switch f.OneOf("rope.scaling.type", "linear", "none", "yarn", "longrope") {
	case "linear": // files without a type, too, as in llama.cpp, and without a factor they have none
		r.Linear = f.FloatOr("rope.scaling.factor", f.FloatOr("rope.scale_linear", 0))
	case "yarn":
		factor := f.Float("rope.scaling.factor")
		if ext := f.FloatOr("rope.scaling.yarn_ext_factor", 1); ext != 1 {
			f.Fail("%s is %g, want 1", f.src.describe("rope.scaling.yarn_ext_factor"), ext)
		}
		r.Yarn = &model.YarnRope{
			Factor: factor, OriginalContext: float64(original),
			BetaFast: f.FloatOr("rope.scaling.yarn_beta_fast", yarnBetaFast), BetaSlow: f.FloatOr("rope.scaling.yarn_beta_slow", yarnBetaSlow),
		}
		r.Magnitude = model.YarnMagnitude(factor, 1)
		if weight := f.FloatOr("rope.scaling.yarn_log_multiplier", 0); weight != 0 {
			r.Magnitude /= model.YarnMagnitude(factor, weight)
		}
		r.Magnitude = f.FloatOr("rope.scaling.yarn_attn_factor", r.Magnitude)
	case "longrope":
		r.Long = &model.LongRope{OriginalContext: original}
		r.Magnitude = f.FloatOr("rope.scaling.attn_factor", 1)
	}
	return r
}
