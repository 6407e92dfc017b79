// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

const (
	maxDepth   = 4      // folders below a store
	maxFolders = 20_000 // looked into, in one store
)

// A folderContent is what of one folder matters.
type folderContent struct {
	ggufs       []string // names of models
	config      bool
	safetensors bool
	folders     []string
	problem     string // why what Hugging Face's layout needs cannot be opened
	lost        bool   // because it is not there
}

// look reads a folder. What cannot be read is left out, but for links that lead nowhere and are named like a model's files:
// they tell of a model that was here.
func look(dir string) folderContent {
	var c folderContent
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, name)) // follows links: stores are full of them
		switch {
		case err != nil && e.Type()&fs.ModeSymlink == 0:
		case err == nil && info.IsDir():
			c.folders = append(c.folders, name)
		case bundle.IsModelFile(name):
			c.ggufs = append(c.ggufs, name)
		case name == "config.json":
			c.config = true
			c.note(name, err)
		case strings.HasSuffix(name, ".safetensors"):
			c.safetensors = true
			c.note(name, err)
		}
	}
	return c
}

// note keeps the first reason why a file cannot be opened, if there is one.
func (c *folderContent) note(name string, err error) {
	if err != nil && c.problem == "" {
		c.problem, c.lost = unreadable(name, err), errors.Is(err, fs.ErrNotExist)
	}
}

// unreadable says why a file that a folder lists cannot be looked at.
func unreadable(name string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return name + " leads to a file that is not there"
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Sprintf("%s: %v", name, err)
}

// ggufModel describes the model of a GGUF file. Variant is the file as a name spells it.
func ggufModel(s Store, repo, dir, variant string) Model {
	m := Model{Repo: repo, Variant: variant, Quantization: quantizationOf(variant), Store: s.Kind, Path: filepath.Join(dir, filepath.FromSlash(variant))}
	parts := []string{filepath.Base(m.Path)}
	if split, ok := gguf.ParseSplit(parts[0]); ok {
		parts = nil
		for i := range split.Count {
			parts = append(parts, split.Part(i+1))
		}
	}
	for _, part := range parts {
		path := filepath.Join(filepath.Dir(m.Path), part)
		info, err := os.Stat(path)
		switch {
		case err == nil:
			m.Bytes += info.Size()
			m.Modified = later(m.Modified, info.ModTime())
		case there(path):
			m.Problem, m.Lost = unreadable(part, err), errors.Is(err, fs.ErrNotExist)
		default: // a download that is not finished
			m.Problem, m.Lost = part+" is missing", true
		}
		if err != nil {
			break
		}
	}
	return m
}

// folderModel describes a model laid out as Hugging Face does.
func folderModel(s Store, repo, dir string, c folderContent) Model {
	m := Model{Name: repo, Repo: repo, Store: s.Kind, Path: dir, Bytes: folderBytes(dir), Problem: c.problem, Lost: c.lost}
	if info, err := os.Stat(filepath.Join(dir, "config.json")); err == nil {
		m.Modified = info.ModTime()
	}
	return m
}

// folderBytes adds up the weights in a folder.
func folderBytes(dir string) (n int64) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".safetensors") || strings.HasSuffix(e.Name(), ".gguf") {
			if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil {
				n += info.Size()
			}
		}
	}
	return n
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// treeModels lists the models below a plain folder. Those of a sub-folder have its path for a repository; a GGUF file
// right in the store is a repository of its own.
func treeModels(s Store) []Model {
	var all []Model
	left := maxFolders
	var walk func(rel string, above []fs.FileInfo)
	walk = func(rel string, above []fs.FileInfo) {
		dir := filepath.Join(s.Folder, rel)
		info, err := os.Stat(dir)
		// A link to a folder above would show its models again, and again below that.
		again := func(a fs.FileInfo) bool { return os.SameFile(a, info) }
		if left--; left < 0 || err != nil || slices.ContainsFunc(above, again) {
			return
		}
		c := look(dir)
		repo := filepath.ToSlash(rel)
		if rel == "." {
			repo = filepath.Base(s.Folder)
		}
		if c.config && c.safetensors {
			all = append(all, folderModel(s, repo, dir, c))
		}
		var models []Model
		for _, file := range c.ggufs {
			m := ggufModel(s, repo, dir, file)
			if rel == "." {
				m.Repo, m.Name = stem(file), stem(file)
				all = append(all, m)
				continue
			}
			models = append(models, m)
		}
		all = append(all, named(models)...)
		if len(above) == maxDepth {
			return
		}
		above = append(slices.Clip(above), info)
		for _, sub := range c.folders {
			walk(filepath.Join(rel, sub), above)
		}
	}
	walk(".", nil)
	return all
}
