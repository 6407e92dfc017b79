// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/weights"
)

const maxManifestBytes = 1 << 20

// A manifest lists the layers of an Ollama model, which are files named by their hash.
type manifest struct {
	Layers []struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
	} `json:"layers"`
}

var digestPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// ollamaModels lists the models of an Ollama store: manifests/HOST/OWNER/NAME/TAG name blobs/sha256-HASH. Its own
// templates are in another language than the models' and are not read: the GGUF files have the models'. Its parameters
// are the model's defaults; its system messages are for its own clients.
func ollamaModels(dir string) []Model {
	var all []Model
	var walk func(at string, parts []string)
	walk = func(at string, parts []string) {
		entries, _ := os.ReadDir(at) // what cannot be read has no models for us
		for _, e := range entries {
			path, parts := filepath.Join(at, e.Name()), append(slices.Clip(parts), e.Name())
			if len(parts) < 4 {
				walk(path, parts)
				continue
			}
			if m, ok := ollamaModel(dir, path); ok {
				m.Repo = ollamaRepo(parts[0], parts[1], parts[2])
				m.Variant = parts[3]
				m.Name = m.Repo + ":" + m.Variant
				all = append(all, m)
			}
		}
	}
	walk(filepath.Join(dir, "manifests"), nil) // and through links: a store may lie on several disks
	return all
}

// What Ollama's own commands leave out of names.
const (
	ollamaHost  = "registry.ollama.ai"
	ollamaOwner = "library"
)

// ollamaRepo shortens a name as Ollama's own commands do.
func ollamaRepo(host, owner, name string) string {
	switch {
	case host != ollamaHost:
		return host + "/" + owner + "/" + name
	case owner != ollamaOwner:
		return owner + "/" + name
	}
	return name
}

// ollamaModel reads a manifest and finds the weights.
func ollamaModel(dir, path string) (Model, bool) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Model{}, false
	}
	data, err := weights.ReadIn(filepath.Dir(path), filepath.Base(path), maxManifestBytes)
	if err != nil {
		return Model{}, false
	}
	var m manifest
	if json.Unmarshal(data, &m) != nil {
		return Model{}, false
	}
	model := Model{Store: Ollama}
	for _, layer := range m.Layers {
		if digestPattern.MatchString(layer.Digest) {
			model.takeLayer(dir, layer.MediaType, strings.Replace(layer.Digest, ":", "-", 1))
		}
	}
	return model, model.Path != ""
}

// takeLayer adds what a layer of an Ollama model says. Those that change what the weights compute, and are not read, are a problem.
func (m *Model) takeLayer(dir, mediaType, blob string) {
	kind, ours := strings.CutPrefix(mediaType, "application/vnd.ollama.image.")
	if !ours {
		return
	}
	path := filepath.Join(dir, "blobs", blob)
	switch kind {
	case "model":
		m.Path = path
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			m.Problem, m.Lost = blob+" is missing", true
			return
		}
		m.Bytes, m.Modified = info.Size(), info.ModTime()
	case "tensor":
		m.Path, m.Problem = path, "its weights are not in a GGUF file"
	case "adapter":
		m.Problem, m.Lost = "adapters (LoRA) are not part of this build, and it has one", false
	case "params":
		params, err := weights.ReadIn(filepath.Join(dir, "blobs"), blob, maxManifestBytes)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			m.Problem, m.Lost = blob+" is missing", true
		case err != nil:
			m.Problem = "its parameters: " + err.Error()
		}
		m.Params = params
	}
}
