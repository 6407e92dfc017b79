// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/weights"
)

// Config says where models come from.
type Config struct {
	Locations Locations
	Aliases   map[string]string // short name to name or path
	Embedded  map[string][]byte // GGUF models inside the program, by name
}

// A Registry finds models. It keeps nothing: every call looks at the disk.
type Registry struct{ cfg Config }

// New makes a Registry.
func New(cfg Config) *Registry { return &Registry{cfg} }

// Stores lists where it looks, in order.
func (r *Registry) Stores() []Store { return r.cfg.Locations.Stores() }

// In lists the models of one store, under the names that they have there.
func (r *Registry) In(s Store) []Model { return whole(s.models()) }

// List lists the models of this machine: those inside the program, then store by store. One whose name means another, of an earlier
// store, is named by its path.
func (r *Registry) List() []Model {
	all := r.all()
	renamed := whole(all)
	for i, m := range renamed {
		if m.Data != nil {
			renamed[i].Quantization = quantizationInside(m)
		}
		if got, err := r.pick(m.Name, all); err != nil || got.Path != m.Path {
			renamed[i].Name = m.Path
		}
	}
	return renamed
}

// Broken lists the models of the stores whose files are named, and cannot be opened: links that lead nowhere, and downloads
// that are not finished. Their Problem says why.
func (r *Registry) Broken() []Model {
	return slices.DeleteFunc(r.all(), func(m Model) bool { return m.Problem == "" })
}

// whole returns the models that can be opened as far as the names of files tell.
func whole(all []Model) []Model {
	return slices.DeleteFunc(slices.Clone(all), func(m Model) bool { return m.Problem != "" })
}

// all lists the models by the names of their stores, the broken ones too.
func (r *Registry) all() []Model {
	all := r.embedded()
	for _, s := range r.Stores() {
		all = append(all, s.models()...)
	}
	return all
}

// embedded lists the models inside the program.
func (r *Registry) embedded() []Model {
	var all []Model
	for _, name := range sortedKeys(r.cfg.Embedded) {
		data := r.cfg.Embedded[name]
		all = append(all, Model{Name: name, Repo: name, Store: Embedded, Bytes: int64(len(data)), Data: data})
	}
	return all
}

// models lists the models of a store.
func (s Store) models() []Model {
	switch s.Kind {
	case HuggingFace:
		return hubModels(s.Folder)
	case ModelScope:
		return modelScopeModels(s.Folder)
	case Ollama:
		return ollamaModels(s.Folder)
	}
	return treeModels(s)
}

// backendPattern is a name's end that chooses a backend. A path has a separator or a dot behind its "@".
var backendPattern = regexp.MustCompile(`^(.+)@([a-z][a-z0-9-]*)$`)

// Resolve finds the model that a name means.
//
// An alias comes first, then a model inside the program, a path that exists, and the stores. It fails with an
// UnknownError, or with an error that lists the variants if the name fits several.
func (r *Registry) Resolve(name string) (Model, error) {
	name, backend := splitBackend(name)
	if target, ok := r.cfg.Aliases[name]; ok {
		var inner string
		name, inner = splitBackend(target)
		backend = cmp.Or(backend, inner)
	}
	m, err := r.find(name)
	m.Backend = backend
	return m, err
}

// splitBackend cuts "@backend" off a name, unless there is a file of the whole name.
func splitBackend(name string) (rest, backend string) {
	if m := backendPattern.FindStringSubmatch(name); m != nil && !exists(name) {
		return m[1], m[2]
	}
	return name, ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// find finds a model by its name without alias and backend.
func (r *Registry) find(name string) (Model, error) {
	for _, m := range r.embedded() {
		if strings.EqualFold(m.Name, name) {
			return m, nil
		}
	}
	info, err := os.Stat(name)
	if err == nil {
		return atPath(name, info), nil
	}
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist) && (looksLikePath(name) || there(name)):
		return Model{}, fmt.Errorf("registry: %w", err) // no permission, a loop of links
	case looksLikePath(name) && there(name):
		return Model{}, weights.MissingError("registry: " + name + ": the link leads to a file that is not there; get the model again")
	case looksLikePath(name):
		return Model{}, weights.MissingError("registry: " + name + ": no such file or folder; sampo list shows the models on this machine")
	}
	return r.pick(name, r.all())
}

// pick finds the model that a name means among all of them: the first store that has it counts.
func (r *Registry) pick(name string, all []Model) (Model, error) {
	repo, variant, _ := strings.Cut(name, ":")
	var others, broken []Model // of the repository
	for _, kind := range kinds {
		var fits []Model
		for _, m := range all {
			switch {
			case m.Store != kind || !m.from(repo):
			case variant != "" && !m.is(variant):
				others = append(others, m)
			case m.Problem != "":
				broken = append(broken, m)
			default:
				fits = append(fits, m)
			}
		}
		if len(fits) > 0 {
			return choose(name, fits)
		}
	}
	if len(broken) > 0 {
		again := ""
		if broken[0].Lost {
			again = "; get it again"
		}
		return Model{}, fmt.Errorf("registry: %s is on this machine but cannot be opened: %s (in %s)%s", broken[0].Name, broken[0].Problem, broken[0].where(), again)
	}
	if others = whole(others); len(others) > 0 {
		if others[0].Store == Embedded {
			return Model{}, fmt.Errorf("registry: %s is part of the program, which has it in one form: leave out %q", others[0].Name, ":"+variant)
		}
		return Model{}, &UnknownError{Name: name, Variants: names(others)}
	}
	return Model{}, unknown(name, whole(all))
}

// there says whether there is a file or link of this name, of whatever use it is.
func there(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// atPath describes a model that was named by its path.
func atPath(path string, info fs.FileInfo) Model {
	m := Model{Name: path, Repo: path, Store: Folder, Path: path, Modified: info.ModTime(), Bytes: info.Size()}
	if info.IsDir() {
		m.Bytes = folderBytes(path)
		return m
	}
	m.Quantization = quantizationOf(path)
	return m
}

// looksLikePath says whether a name can only be a path.
func looksLikePath(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") ||
		strings.Contains(name, `\`) || strings.HasSuffix(name, ".gguf") && !strings.Contains(name, ":") || strings.HasSuffix(name, ".safetensors")
}

// preferred are the variants to take if the name says none: what people who name none usually want, and what is next.
var preferred = []string{"latest", "Q4_K_M", "Q8_0"}

// choose picks the one of several models that fit a name.
func choose(name string, fits []Model) (Model, error) {
	if len(fits) == 1 {
		return fits[0], nil
	}
	for _, m := range fits {
		if m.Variant == "" || strings.EqualFold(m.Name, name) {
			return m, nil
		}
	}
	for _, variant := range preferred {
		for _, m := range fits {
			if m.is(variant) {
				return m, nil
			}
		}
	}
	return Model{}, fmt.Errorf("registry: %s means several models: name one of %s", name, strings.Join(names(fits), ", "))
}

func names(models []Model) (all []string) {
	for _, m := range models {
		if !slices.Contains(all, m.Name) {
			all = append(all, m.Name)
		}
	}
	return all
}
