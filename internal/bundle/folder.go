// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/packed"
	"github.com/sampo-ai/sampo/internal/weights/safetensors"
)

// readFolder takes the parts of a model from a folder as Hugging Face lays it out.
func (b *Bundle) readFolder(dir string, opt Options) error {
	b.Name, b.Format = modelName(dir, opt), Safetensors
	config, err := readJSON(dir, "config.json")
	if err != nil {
		return fmt.Errorf("bundle: %s: %w", dir, err)
	}
	if !opt.TextOnly {
		if config == nil {
			return weights.MissingError("bundle: " + dir + ": no config.json; a model is a .gguf file, or a folder with config.json and .safetensors files")
		}
		if err := b.openWeights(dir); err != nil {
			return err
		}
	}
	b.facts = folderFacts(dir, config)
	b.facts.count(b.Source)
	if !opt.TextOnly {
		config = b.unpack(config)
		b.fail(b.configureHF(config))
	}
	b.fail(b.textOfFolder(dir, config))
	b.finishText(opt)
	return nil
}

// openWeights opens the safetensors files of dir.
func (b *Bundle) openWeights(dir string) error {
	path := dir
	if filepath.Ext(b.Path) == ".safetensors" {
		path = b.Path
	}
	m, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	b.Source, b.FileBytes, b.naming = m, m.Bytes(), model.HuggingFace
	return nil
}

// unpack puts matrices in place of packed ones, and gives the config.json of a model that has them. Other kinds of
// quantisation are left to the family, which refuses them.
func (b *Bundle) unpack(config *ordjson.Object) *ordjson.Object {
	q, ok := config.Object("quantization_config")
	if !ok || !packed.Reads(q) {
		return config
	}
	src, err := packed.Open(b.Source, q)
	if err != nil {
		b.fail(err)
		return config
	}
	b.Source = src
	config = config.Clone()
	config.Delete("quantization_config")
	return config
}

// configureHF finds the family and reads the configuration.
func (b *Bundle) configureHF(config *ordjson.Object) error {
	list, _ := config.Array("architectures")
	if len(list) == 0 {
		return errors.New("config.json: architectures is missing")
	}
	arch, _ := list[0].(string)
	family, ok := families.ByHF(arch)
	if !ok {
		return unknownArchitecture(arch, func(f *model.Family) []string { return f.HF })
	}
	c, err := family.FromHF(config)
	if err != nil {
		return err
	}
	b.Family, b.Config = family, c
	return nil
}

// textOfFolder reads tokenizer, templates and defaults.
func (b *Bundle) textOfFolder(dir string, config *ordjson.Object) error {
	tokenizerConfig, err := readJSON(dir, "tokenizer_config.json")
	if err != nil {
		return err
	}
	specialMap, err := readJSON(dir, "special_tokens_map.json")
	if err != nil {
		return err
	}
	generation, err := readJSON(dir, "generation_config.json")
	if err != nil {
		return err
	}
	b.Special = specialTokens(tokenizerConfig, specialMap)
	all, err := folderTemplates(dir, tokenizerConfig)
	if err != nil {
		return err
	}
	b.TemplateSource, b.NamedTemplates = all.split()
	if err := b.Defaults.fromJSON(generation); err != nil {
		return err
	}
	if err := b.readTokenizer(dir, tokenizerConfig, specialMap); err != nil {
		return err
	}
	return b.endsOf(generation, config)
}

// endsOf collects the tokens that end a generation: the tokenizer's own, and those of generation_config.json, or of
// config.json where that says nothing.
func (b *Bundle) endsOf(generation, config *ordjson.Object) error {
	ids, err := eosOf(generation, "generation_config.json")
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		if ids, err = eosOf(config, "config.json"); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if int(id) >= b.Tokenizer.VocabSize() {
			b.notes = append(b.notes, outside("eos_token_id", int64(id), b.Tokenizer.VocabSize()))
			continue
		}
		b.Defaults.addEOS(id)
	}
	b.Defaults.addEOS(b.Tokenizer.EOG()...)
	return nil
}

// specialTokens reads the texts of special tokens from tokenizer_config.json, or from the older file beside it. A token
// is a string or an object with its content.
func specialTokens(objects ...*ordjson.Object) SpecialTokens {
	text := func(key string) string {
		for _, o := range objects {
			if s, ok := o.String(key); ok {
				return s
			}
			if inner, ok := o.Object(key); ok {
				if s, ok := inner.String("content"); ok {
					return s
				}
			}
		}
		return ""
	}
	return SpecialTokens{BOS: text("bos_token"), EOS: text("eos_token"), UNK: text("unk_token"), PAD: text("pad_token")}
}

// readJSON reads an object from a file of dir; nil if there is no such file.
func readJSON(dir, name string) (*ordjson.Object, error) {
	data, err := weights.ReadIn(dir, name, maxConfigBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value, err := ordjson.Parse(data, maxJSONDepth)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	object, ok := value.(*ordjson.Object)
	if !ok {
		return nil, fmt.Errorf("%s: got a JSON value that is no object", name)
	}
	return object, nil
}
