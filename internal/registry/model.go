// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// A Model is one model on this machine.
type Model struct {
	Name         string // the shortest name that means this model only
	Repo         string // owner/name, or what its store has for it
	Variant      string // file or tag, where a repository has several models; "" for a whole folder
	Quantization string // as the file's name says, "" if it does not
	Store        string // kind of store
	Path         string // of the file or folder; "" if Data is set
	Bytes        int64  // of its files
	Modified     time.Time
	Data         []byte // of a model inside the program
	Params       []byte // what its store says of sampling: see bundle.Options.StoreParams
	Backend      string // what the name that was resolved asked for after "@"
	Problem      string // why its files cannot be opened; such a model is in Broken only
	Lost         bool   // the Problem is that files are not there
}

// quantPattern finds a quantisation in a file name, such as Q4_K_M in "m-Q4_K_M" or "m.q4_k_m".
var quantPattern = regexp.MustCompile(`(?i)(?:^|[-._])((?:UD-)?(?:I?Q[0-9]+(?:_[A-Z0-9]+)*|BF16|F16|FP16|F32|MXFP4(?:_MOE)?|TQ[12]_0))(?:[-._]|$)`)

// quantizationOf reads the quantisation from the name of a GGUF file.
func quantizationOf(file string) string {
	last, rest := "", stem(file)
	for {
		at := quantPattern.FindStringSubmatchIndex(rest)
		if at == nil {
			return strings.ToUpper(last)
		}
		last, rest = rest[at[2]:at[3]], rest[at[3]:] // the sign behind one may be the one before the next
	}
}

// stem is the name of a GGUF file without folder, ending and split suffix.
func stem(file string) string {
	base := filepath.Base(file)
	if split, ok := gguf.ParseSplit(base); ok {
		return split.Prefix
	}
	return strings.TrimSuffix(base, ".gguf")
}

// from says whether this is a model of repo. Ollama's commands leave out what most names of its store begin with.
func (m *Model) from(repo string) bool {
	if m.Store == Ollama {
		repo = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(repo), ollamaHost+"/"), ollamaOwner+"/")
	}
	return strings.EqualFold(m.Repo, repo)
}

// is says whether variant means this model: by its file, with or without ending, its tag or its quantisation.
func (m *Model) is(variant string) bool {
	for _, name := range []string{m.Variant, filepath.Base(m.Variant), stem(m.Variant), m.Quantization} {
		if name != "" && strings.EqualFold(name, variant) {
			return true
		}
	}
	return false
}

// quantizationInside reads the quantisation of a model inside the program, which has no file name to say it.
func quantizationInside(m Model) string {
	facts, err := m.Inspect(bundle.Options{TextOnly: true})
	if err != nil {
		return ""
	}
	return facts.Quantization
}

// where is the folder of the model's files.
func (m *Model) where() string {
	if m.Variant == "" {
		return m.Path
	}
	return filepath.Dir(m.Path)
}

// named gives the models of one repository their names: the repository's if it has only one, else with the
// quantisation, or the file where two have the same. Broken ones have that of their file, and take no other its name.
func named(models []Model) []Model {
	count, whole := map[string]int{}, 0
	for _, m := range models {
		if m.Problem == "" {
			count[m.Quantization]++
			whole++
		}
	}
	for i := range models {
		m := &models[i]
		switch {
		case m.Variant == "" || whole == 1 && m.Problem == "":
			m.Name = m.Repo
		case m.Problem == "" && m.Quantization != "" && count[m.Quantization] == 1:
			m.Name = m.Repo + ":" + m.Quantization
		default:
			m.Name = m.Repo + ":" + m.Variant
		}
	}
	return models
}

// Open opens the model.
func (m *Model) Open(opt bundle.Options) (*bundle.Bundle, error) {
	if m.Data != nil {
		return bundle.OpenBytes(m.Name, m.Data, opt)
	}
	return bundle.Open(m.Path, m.options(opt))
}

// Inspect tells the facts of the model.
func (m *Model) Inspect(opt bundle.Options) (bundle.Facts, error) {
	if m.Data != nil {
		return bundle.InspectBytes(m.Name, m.Data, opt)
	}
	return bundle.Inspect(m.Path, m.options(opt))
}

// options gives a bundle the name of the model and its store's parameters. One named by its path is named by the bundle.
func (m *Model) options(opt bundle.Options) bundle.Options {
	if opt.Name == "" && m.Name != m.Path {
		opt.Name = m.Name
	}
	opt.StoreParams = m.Params
	return opt
}
