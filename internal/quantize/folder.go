// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// FromFolder opens a folder as Hugging Face lays it out, with safetensors, config.json and tokenizer.json. It fails if the
// model is one that GGUF files cannot tell of: the metadata that it makes are read back and must give the same
// configuration.
func FromFolder(dir string) (*Model, error) {
	b, err := bundle.Open(dir, bundle.Options{})
	if err != nil {
		return nil, err
	}
	m, err := fromBundle(b, dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("quantize: %s: %w", dir, err), b.Close())
	}
	return m, nil
}

func fromBundle(b *bundle.Bundle, dir string) (*Model, error) {
	m, err := fromHF(b.Family, b.Config, b.Source)
	if err != nil {
		return nil, err
	}
	m.Meta.Set("general.name", b.Name)
	if err := setVocabulary(m.Meta, b, dir); err != nil {
		return nil, err
	}
	setDefaults(m.Meta, b.Defaults)
	if b.TemplateSource != "" {
		m.Meta.Set("tokenizer.chat_template", b.TemplateSource)
	}
	for name, source := range b.NamedTemplates {
		m.Meta.Set("tokenizer.chat_template."+name, source)
	}
	return m, nil
}

// fromHF makes the part of a model that config.json and the weights tell of.
func fromHF(family *model.Family, c model.Config, src weights.Source) (*Model, error) {
	arch, ok := architectures[family.Name]
	if !ok {
		return nil, fmt.Errorf("models of family %q cannot be written as GGUF; those that can are %s", family.Name, known())
	}
	m := &Model{Meta: gguf.NewMetadata(), source: src}
	m.Traits = Traits{Layers: c.Layers, Heads: c.Heads, KVHeads: c.KVHeads, Tied: c.TiedOutput}
	for _, hf := range src.Names() {
		name, err := arch.name(hf)
		switch {
		case err != nil:
			return nil, err
		case name == "", c.TiedOutput && name == "output.weight":
			continue
		}
		t, _ := src.Tensor(hf)
		if !t.Type.Supported() {
			return nil, fmt.Errorf("tensor %q has type %v, whose values are not known", hf, t.Type)
		}
		weights.Release(src, t)
		t.Name, t.Data = name, nil // a source may have to make them
		in := Input{Tensor: t, as: arch.rewriteOf(name, m.Traits), plain: true, from: hf}
		if in.as.heads > 0 && (len(t.Shape) == 0 || t.Shape[0]%(2*in.as.heads) != 0) {
			return nil, fmt.Errorf("tensor %q has shape %v, which is not of %d heads", hf, t.Shape, in.as.heads)
		}
		m.Inputs = append(m.Inputs, in)
	}
	divisors := ropeDivisors(c.Rope)
	if divisors != nil {
		m.Inputs = append(m.Inputs, Input{Tensor: floats("rope_freqs.weight", divisors)})
	}
	setConfig(m.Meta, arch.gguf, c)
	return m, checkConfig(family, m.Meta, c, divisors)
}

// ropeDivisors are what Llama 3.1's scaling divides each frequency by, nil without it: GGUF files have it as a tensor.
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

// floats makes a tensor of values that are in no file.
func floats(name string, values []float32) weights.Tensor {
	t := weights.Tensor{Name: name, Type: quant.F32, Shape: []int{len(values)}}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
	}
	return t
}

// setConfig writes a configuration under the keys of an architecture.
func setConfig(meta *gguf.Metadata, arch string, c model.Config) {
	meta.Set("general.architecture", arch)
	meta.Set("general.type", "model")
	set := func(key string, value any) { meta.Set(arch+"."+key, value) }
	set("context_length", uint32(c.MaxContext))
	set("embedding_length", uint32(c.Hidden))
	set("block_count", uint32(c.Layers))
	set("feed_forward_length", uint32(c.FFN))
	set("attention.head_count", uint32(c.Heads))
	set("attention.head_count_kv", uint32(c.KVHeads))
	set("attention.key_length", uint32(c.HeadDim))
	set("attention.value_length", uint32(c.HeadDim))
	set("attention.layer_norm_rms_epsilon", c.NormEps)
	set("vocab_size", uint32(c.Vocab))
	set("rope.dimension_count", uint32(c.Rope.Width))
	set("rope.freq_base", float32(c.Rope.Base))
	if c.Window > 0 {
		set("attention.sliding_window", uint32(c.Window))
		if c.WindowRope.Base != c.Rope.Base {
			set("rope.freq_base_swa", float32(c.WindowRope.Base))
		}
	}
	if c.AttentionCap > 0 {
		set("attn_logit_softcapping", c.AttentionCap)
	}
	if c.LogitCap > 0 {
		set("final_logit_softcapping", c.LogitCap)
	}
	if c.Rope.Linear > 1 {
		set("rope.scaling.type", "linear")
		set("rope.scaling.factor", float32(c.Rope.Linear))
	}
	if y := c.Rope.Yarn; y != nil {
		set("rope.scaling.type", "yarn")
		set("rope.scaling.factor", float32(y.Factor))
		set("rope.scaling.original_context_length", uint32(y.OriginalContext))
	}
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

// checkConfig reads the metadata back and compares.
func checkConfig(family *model.Family, meta *gguf.Metadata, want model.Config, divisors []float32) error {
	got, err := family.FromGGUF(meta)
	if err != nil {
		return fmt.Errorf("a GGUF file cannot tell of this model: %w", err)
	}
	got.Rope.Divisors = divisors
	var lost []string
	compare := func(what string, same bool) {
		if !same {
			lost = append(lost, what)
		}
	}
	compare("sizes", got.Hidden == want.Hidden && got.Layers == want.Layers && got.Heads == want.Heads && got.KVHeads == want.KVHeads &&
		got.HeadDim == want.HeadDim && got.FFN == want.FFN && got.MaxContext == want.MaxContext && got.Vocab == want.Vocab)
	compare("scales", got.NormEps == want.NormEps && near(got.AttentionScale, want.AttentionScale) && near(got.EmbeddingScale, want.EmbeddingScale) &&
		near(or1(got.ResidualScale), or1(want.ResidualScale)) && near(or1(got.LogitScale), or1(want.LogitScale)))
	compare("soft caps", got.AttentionCap == want.AttentionCap && got.LogitCap == want.LogitCap)
	compare("query scale", got.QueryScale == nil && want.QueryScale == nil)
	compare("activation", got.Activation == want.Activation)
	compare("rotary positions", sameRope(got.Rope, want.Rope))
	windows := true
	for layer := range want.Layers {
		windows = windows && got.IsWindow(layer) == want.IsWindow(layer) && got.TurnsHeads(layer) == want.TurnsHeads(layer)
		windows = windows && (!want.IsWindow(layer) || got.Window == want.Window && sameRope(got.WindowRope, want.WindowRope))
	}
	compare("windows of layers", windows)
	if lost != nil {
		return fmt.Errorf("a GGUF file of architecture %q cannot tell of this model's %s", architectures[family.Name].gguf, strings.Join(lost, ", "))
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

// sameRope says whether positions turn heads the same, but for the order of components.
func sameRope(a, b model.Rope) bool {
	if a.Width != b.Width || a.Long != nil || b.Long != nil || !near(or1(float32(a.Magnitude)), or1(float32(b.Magnitude))) {
		return false
	}
	want := b.Frequencies(0)
	for i, f := range a.Frequencies(0) {
		if math.Abs(float64(f)-float64(want[i])) > 1e-5*float64(want[i]) {
			return false
		}
	}
	return true
}
