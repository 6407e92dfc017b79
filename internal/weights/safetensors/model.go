// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/weights"
)

const (
	suffix      = ".safetensors"
	indexSuffix = ".safetensors.index.json"
)

// A Model is an open file, or all files of a sharded one. It is a weights.Source. It may be used by several
// goroutines at once, until one closes it.
type Model struct {
	files    []*weights.Mapping
	metadata map[string]string
	names    []string
	tensors  map[string]weights.Tensor
}

// Open opens the model at path: a .safetensors file, an index, a file that an index beside it names, or a folder that
// holds model.safetensors, model.safetensors.index.json or a single other .safetensors file.
func Open(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	if info.IsDir() {
		name, err := find(path)
		if err != nil {
			return nil, err
		}
		return openIn(path, name)
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	if m := shardPattern.FindStringSubmatch(name); m != nil {
		return openIn(dir, m[1]+indexSuffix)
	}
	if strings.HasSuffix(name, indexSuffix) {
		return openIn(dir, name)
	}
	m, err := weights.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return assemble([]*weights.Mapping{m})
}

var shardPattern = regexp.MustCompile(`^(.+)-[0-9]{5}-of-[0-9]{5}\.safetensors$`)

// find gives the name of the file in dir that leads to the whole model.
func find(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("safetensors: %w", err)
	}
	var names []string
	other := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "model"+suffix:
			return name, nil
		case strings.HasSuffix(name, suffix), strings.HasSuffix(name, indexSuffix):
			names = append(names, name)
		case strings.HasSuffix(name, ".bin"), strings.HasSuffix(name, ".pt"), strings.HasSuffix(name, ".pth"):
			other = " (" + name + " is in a format that is not read)"
		}
	}
	switch {
	case slices.Contains(names, "model"+indexSuffix):
		return "model" + indexSuffix, nil
	case len(names) == 1 && !shardPattern.MatchString(names[0]):
		return names[0], nil
	case len(names) == 0:
		return "", weights.MissingError("safetensors: " + dir + ": no " + suffix + " file" + other + "; get the weights in this format, too")
	}
	return "", fmt.Errorf("safetensors: %s: got %d files, want model%s or model%s to say which belong together", dir, len(names), suffix, indexSuffix)
}

// openIn opens a file or an index of the folder dir.
func openIn(dir, name string) (*Model, error) {
	if !strings.HasSuffix(name, indexSuffix) {
		m, err := weights.MapIn(dir, name)
		if err != nil {
			return nil, fmt.Errorf("safetensors: %w", err)
		}
		return assemble([]*weights.Mapping{m})
	}
	index, err := readIndex(dir, name)
	if err != nil {
		return nil, err
	}
	var shards []*weights.Mapping
	for _, shard := range index.shards() {
		m, err := weights.MapIn(dir, shard)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("safetensors: shard %q of %s: %w", shard, filepath.Join(dir, name), err), closeAll(shards))
		}
		shards = append(shards, m)
	}
	m, err := assemble(shards)
	if err != nil {
		return nil, err
	}
	if err := index.check(m); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// An index says which file holds which tensor.
type index struct {
	path      string
	WeightMap map[string]string `json:"weight_map"`
}

// readIndex reads an index and checks that it names files of its folder only.
func readIndex(dir, name string) (*index, error) {
	data, err := weights.ReadIn(dir, name, maxIndexBytes)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	x := &index{path: filepath.Join(dir, name)}
	if err := json.Unmarshal(data, x); err != nil {
		return nil, x.fail("index", "JSON: %v", err)
	}
	if len(x.WeightMap) == 0 || len(x.WeightMap) > maxTensors {
		return nil, x.fail("weight_map", "%d tensors, want 1 to %d", len(x.WeightMap), maxTensors)
	}
	for tensor, file := range x.WeightMap {
		if file != filepath.Base(file) || !filepath.IsLocal(file) || !strings.HasSuffix(file, suffix) {
			return nil, x.fail(fmt.Sprintf("tensor %.80q", tensor), "file %.80q is not a %s file of this folder", file, suffix)
		}
	}
	if n := len(x.shards()); n > maxShards {
		return nil, x.fail("weight_map", "%d files, want at most %d", n, maxShards)
	}
	return x, nil
}

func (x *index) fail(what, format string, args ...any) error {
	return &weights.FileError{Format: "safetensors", File: x.path, What: what, Offset: -1, Reason: fmt.Sprintf(format, args...)}
}

// shards lists the files in the order of their names.
func (x *index) shards() []string {
	return slices.Compact(slices.Sorted(maps.Values(x.WeightMap)))
}

// check fails if a shard lacks a tensor that the index promises.
func (x *index) check(m *Model) error {
	for _, name := range slices.Sorted(maps.Keys(x.WeightMap)) {
		if _, ok := m.tensors[name]; !ok {
			return x.fail(fmt.Sprintf("tensor %q", name), "%s does not have it", x.WeightMap[name])
		}
	}
	return nil
}

// assemble reads the files of a model and puts them together. It closes them if it fails.
func assemble(files []*weights.Mapping) (*Model, error) {
	m := &Model{files: files, tensors: map[string]weights.Tensor{}}
	for _, file := range files {
		if err := m.add(file); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	return m, nil
}

// add takes the tensors of a file.
func (m *Model) add(file *weights.Mapping) error {
	h, err := parse(file.Path(), file.Bytes())
	if err != nil {
		return err
	}
	if m.metadata == nil {
		m.metadata = h.metadata
	}
	for _, t := range h.tensors {
		if _, ok := m.tensors[t.Name]; ok {
			return &weights.FileError{Format: "safetensors", File: file.Path(), What: fmt.Sprintf("tensor %q", t.Name), Offset: t.at, Reason: "another file of the model has it too"}
		}
		m.tensors[t.Name] = t.Tensor
		m.names = append(m.names, t.Name)
	}
	return nil
}

// Metadata is what the first file says about itself, such as the program that wrote it.
func (m *Model) Metadata() map[string]string { return m.metadata }

// Names lists the tensors in the order of the headers. The caller must not change it.
func (m *Model) Names() []string { return m.names }

// Tensor gives the tensor with a name.
func (m *Model) Tensor(name string) (weights.Tensor, bool) {
	t, ok := m.tensors[name]
	return t, ok
}

// Bytes is the size of all files together.
func (m *Model) Bytes() int64 {
	var n int64
	for _, f := range m.files {
		n += int64(len(f.Bytes()))
	}
	return n
}

// Release gives back the memory that mirrors the bytes of a tensor (see weights.Release).
func (m *Model) Release(data []byte) {
	for _, f := range m.files {
		f.Release(data)
	}
}

// Close closes the files. Tensors must not be used after it.
func (m *Model) Close() error { return closeAll(m.files) }

func closeAll(files []*weights.Mapping) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
