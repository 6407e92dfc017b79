// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

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
	m := &Model{Meta: gguf.NewMetadata(), source: src}
	m.Traits = Traits{Layers: c.Layers, Heads: c.Heads, KVHeads: c.KVHeads, Tied: c.TiedOutput}
	setConfig(m.Meta, family, c, src)
	read, err := family.FromGGUF(m.Meta)
	if err != nil {
		return nil, fmt.Errorf("a GGUF file cannot tell of this model: %w", err)
	}
	if err := checkConfig(ggufName(family, c), c, read); err != nil {
		return nil, err
	}
	arch := architectureOf(family, c, read, src)
	for _, hf := range src.Names() {
		name, err := arch.name(hf)
		switch {
		case err != nil:
			return nil, err
		case name == "", c.TiedOutput && name == "output.weight":
			continue
		}
		t, _ := weights.Describe(src, hf)
		if !t.Type.Supported() {
			return nil, fmt.Errorf("tensor %q has type %v, whose values are not known", hf, t.Type)
		}
		t.Name, t.Data = name, nil
		in := Input{Tensor: t, as: arch.rewriteOf(name, m.Traits), plain: true, from: hf}
		if in.as.heads > 0 && (len(t.Shape) == 0 || t.Shape[0]%(2*in.as.heads) != 0) {
			return nil, fmt.Errorf("tensor %q has shape %v, which is not of %d heads", hf, t.Shape, in.as.heads)
		}
		m.Inputs = append(m.Inputs, in)
	}
	m.untie(family.Name)
	m.Inputs = append(m.Inputs, ropeTensors(c.Rope)...)
	return m, nil
}

// untied are the families of which llama.cpp wants an output matrix also where the embedding serves as one.
var untied = []string{"olmo2", "phi2", "nemotron", "stablelm"}

// untie adds an output matrix for the families that have one always.
func (m *Model) untie(family string) {
	if !m.Traits.Tied || !slices.Contains(untied, family) {
		return
	}
	for _, in := range m.Inputs {
		if in.Name == "token_embd.weight" {
			in.Name = "output.weight"
			m.Inputs, m.Traits.Tied = append(m.Inputs, in), false
			return
		}
	}
}

// floats makes a tensor of values that are in no file.
func floats(name string, values []float32) weights.Tensor {
	t := weights.Tensor{Name: name, Type: quant.F32, Shape: []int{len(values)}}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
	}
	return t
}
