// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
// are the model's defaults.
func ollamaModels(dir string) []Model {
	var all []Model
	root := filepath.Join(dir, "manifests")
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // what cannot be read has no models for us
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		parts := strings.Split(filepath.ToSlash(rel), "/")
		if e.IsDir() || len(parts) != 4 {
			return nil
		}
		if m, ok := ollamaModel(dir, rel); ok {
			m.Repo = ollamaRepo(parts[0], parts[1], parts[2])
			m.Variant = parts[3]
			m.Name = m.Repo + ":" + m.Variant
			all = append(all, m)
		}
		return nil
	})
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
func ollamaModel(dir, rel string) (Model, bool) {
	data, err := weights.ReadIn(filepath.Join(dir, "manifests"), rel, maxManifestBytes)
	if err != nil {
		return Model{}, false
	}
	var m manifest
	if json.Unmarshal(data, &m) != nil {
		return Model{}, false
	}
	model := Model{Store: Ollama}
	for _, layer := range m.Layers {
		if !digestPattern.MatchString(layer.Digest) {
			continue
		}
		blob := strings.Replace(layer.Digest, ":", "-", 1)
		switch layer.MediaType {
		case "application/vnd.ollama.image.model":
			path := filepath.Join(dir, "blobs", blob)
			model.Path = path
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() {
				model.Problem = blob + " is missing"
				continue
			}
			model.Bytes, model.Modified = info.Size(), info.ModTime()
		case "application/vnd.ollama.image.params":
			if model.Params, err = weights.ReadIn(filepath.Join(dir, "blobs"), blob, maxManifestBytes); err != nil {
				return Model{}, false
			}
		}
	}
	return model, model.Path != ""
}
