// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
	"github.com/sampo-ai/sampo/internal/weights/packed"
)

// Options say how a bundle is opened. The zero value takes everything as the files say.
type Options struct {
	Name         string // in place of the name of the file or folder
	ChatTemplate string // source of a chat template in place of the model's own
	// StoreParams is a JSON object with parameters that a store keeps beside the model, under Ollama's names
	// (temperature, top_k, top_p, min_p, repeat_penalty, stop); nil: none.
	StoreParams []byte
	// TextOnly opens tokenizer and template only: configuration and weights may be missing or unsupported.
	TextOnly bool
}

// A Bundle is an open model. Its parts do not change.
type Bundle struct {
	Name      string
	Path      string // file or folder; for a model in memory its name
	Format    string // GGUF or Safetensors
	FileBytes int64  // of the weights

	Family *model.Family // nil if only the text was opened
	Config model.Config
	Source weights.Source

	Tokenizer      *tokenizer.Tokenizer
	Special        SpecialTokens
	TemplateSource string            // chat template; "" for a base model
	NamedTemplates map[string]string // further ones, such as "tool_use"
	Defaults       GenerationDefaults

	naming model.Naming
	facts  Facts
	// problem is the first reason why the model cannot run; files that can't be read are not opened at all.
	problem error
	notes   []string // Facts.Notes
}

// SpecialTokens are the texts of special tokens that templates use, "" where there is none.
type SpecialTokens struct{ BOS, EOS, UNK, PAD string }

// Open opens the model at path: a GGUF file, any part of a split one, a safetensors file, or a folder. It fails if this
// build cannot run it.
func Open(path string, opt Options) (*Bundle, error) {
	return usable(read(path, opt))
}

// OpenBytes opens a GGUF model that is in memory. Nobody may write to data as long as the Bundle is in use.
func OpenBytes(name string, data []byte, opt Options) (*Bundle, error) {
	return usable(readBytes(name, data, opt))
}

// Inspect tells the facts of the model at path, which this build need not be able to run.
func Inspect(path string, opt Options) (Facts, error) {
	return inspected(read(path, opt))
}

// InspectBytes tells the facts of a GGUF model that is in memory.
func InspectBytes(name string, data []byte, opt Options) (Facts, error) {
	return inspected(readBytes(name, data, opt))
}

// usable lets a bundle through that can run.
func usable(b *Bundle, err error) (*Bundle, error) {
	if err != nil {
		return nil, err
	}
	if b.problem != nil {
		return nil, errors.Join(b.problem, b.Close())
	}
	return b, nil
}

func inspected(b *Bundle, err error) (Facts, error) {
	if err != nil {
		return Facts{}, err
	}
	return b.Facts(), b.Close()
}

// read opens the files at path and takes from them what it can.
func read(path string, opt Options) (*Bundle, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	b := &Bundle{Path: path}
	dir := path
	switch {
	case info.IsDir():
		if one, ok, err := onlyGGUF(path); err != nil {
			return nil, err
		} else if ok {
			return read(filepath.Join(path, one), opt)
		}
	case strings.HasSuffix(path, ".safetensors"), strings.HasSuffix(path, ".json"):
		dir = filepath.Dir(path)
	default:
		f, err := gguf.Open(path)
		if err != nil {
			return nil, err
		}
		b.readGGUF(f, opt)
		return b, nil
	}
	if err := b.readFolder(dir, opt); err != nil {
		return nil, err
	}
	return b, nil
}

func readBytes(name string, data []byte, opt Options) (*Bundle, error) {
	f, err := gguf.OpenBytes(name, data)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Path: name}
	if opt.Name == "" {
		opt.Name = name
	}
	b.readGGUF(f, opt)
	return b, nil
}

// onlyGGUF finds the one GGUF model in a folder that is not laid out as Hugging Face's.
func onlyGGUF(dir string) (name string, ok bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", false, fmt.Errorf("bundle: %w", err)
	}
	var models []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "config.json", name == "tokenizer.json":
			return "", false, nil
		case IsModelFile(name):
			models = append(models, name)
		}
	}
	switch len(models) {
	case 0:
		return "", false, nil
	case 1:
		return models[0], true, nil
	}
	return "", false, fmt.Errorf("bundle: %s: got %d models (%s), want one: name the file", dir, len(models), strings.Join(models, ", "))
}

// IsModelFile says whether the name of a file is that of a GGUF model: not that of a projector, which goes with one, nor
// that of a later part of a split model.
func IsModelFile(name string) bool {
	if !strings.HasSuffix(name, ".gguf") || strings.HasPrefix(strings.ToLower(name), "mmproj") {
		return false
	}
	split, ok := gguf.ParseSplit(name)
	return !ok || split.Number == 1
}

// modelName gives the name that the model at path goes by, which is UTF-8.
func modelName(path string, opt Options) string {
	name := opt.Name
	if name == "" {
		name = nameOf(path)
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// nameOf gives the name of the model at path: that of the folder, or of the file without its ending and split suffix.
// A snapshot in a Hugging Face cache has the name of its repository.
func nameOf(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if revisions := filepath.Dir(path); filepath.Base(revisions) == "snapshots" {
		if repo, ok := strings.CutPrefix(filepath.Base(filepath.Dir(revisions)), "models--"); ok {
			return strings.ReplaceAll(repo, "--", "/")
		}
	}
	base := filepath.Base(path)
	if split, ok := gguf.ParseSplit(base); ok {
		return split.Prefix
	}
	return strings.TrimSuffix(base, ".gguf")
}

// fail keeps the first reason why the model cannot run.
func (b *Bundle) fail(err error) {
	if b.problem == nil && err != nil {
		b.problem = fmt.Errorf("bundle: %s: %w", b.Path, err)
	}
}

// LoadModel builds the model, with copies of the weights: the Bundle may be closed then.
func (b *Bundle) LoadModel(pool *tensor.Pool) (model.Model, error) {
	if b.Family == nil || b.Source == nil {
		return nil, fmt.Errorf("bundle: %s: it was opened without its weights", b.Path)
	}
	if p, ok := b.Source.(*packed.Source); ok {
		p.Parallel(pool.Do)
		defer p.Parallel(nil)
	}
	m, err := b.Family.Load(b.Config, b.Source, pool, b.naming)
	if err != nil {
		return nil, fmt.Errorf("bundle: %s: %w", b.Path, err)
	}
	return m, nil
}

// Close closes the files.
func (b *Bundle) Close() error {
	if b.Source == nil {
		return nil
	}
	return b.Source.Close()
}

// finishText does what remains once tokenizer and template are known.
func (b *Bundle) finishText(opt Options) {
	if opt.ChatTemplate != "" {
		b.TemplateSource, b.NamedTemplates = opt.ChatTemplate, nil
	}
	if b.Tokenizer != nil {
		MarkControl(b.Tokenizer, append(slices.Collect(maps.Values(b.NamedTemplates)), b.TemplateSource)...)
		if b.Format == GGUF {
			b.Defaults.addEOS(endsByText(b.Tokenizer)...)
		}
		note, err := b.Defaults.fromStore(opt.StoreParams, b.Tokenizer)
		b.fail(err)
		if note != "" {
			b.notes = append(b.notes, note)
		}
	}
}
