// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A model with an adapter ran without it, and others of which something is missing or of another form were said not to be there.
func TestOllamaModelsThatAreMoreThanTheirWeightsAreNotTakenForThem(t *testing.T) {
	layers := func(kinds ...string) string {
		var list []string
		for i, kind := range kinds {
			list = append(list, `{"mediaType":"application/vnd.ollama.image.`+kind+`","digest":"sha256:`+blob(i+1)+`"}`)
		}
		return `{"layers":[` + strings.Join(list, ",") + `]}`
	}
	library := "ollama/manifests/registry.ollama.ai/library/"
	root := tree(t, map[string]string{
		"ollama/blobs/sha256-" + blob(1): "weights",
		"ollama/blobs/sha256-" + blob(2): "an adapter",
		library + "tuned/latest":         layers("model", "adapter"),
		library + "bare/latest":          layers("model", "license", "params"),
		library + "mlx/latest":           layers("tensor", "tensor"),
		library + "plain/latest":         layers("model", "template"),
	})
	r := New(Config{Locations: Locations{Ollama: []string{filepath.Join(root, "ollama")}}})
	for name, want := range map[string]string{
		"tuned": "tuned:latest is on this machine but cannot be opened: adapters (LoRA) are not part of this build, and it has one (in ",
		"bare":  "sha256-" + blob(3) + " is missing (in ",
		"mlx":   "its weights are not in a GGUF file (in ",
	} {
		_, err := r.Resolve(name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%q): got %v, want %q", name, err, want)
			continue
		}
		if got := strings.HasSuffix(err.Error(), "; get it again"); got != (name == "bare") {
			t.Errorf("Resolve(%q): %v; getting it again helps only where files are missing", name, err)
		}
	}
	if list := r.List(); len(list) != 1 || list[0].Name != "plain:latest" {
		t.Errorf("listed are %v, want plain:latest alone", list)
	}
}

// A store whose manifests lie on another disk, behind a link, had no models.
func TestOllamaManifestsMayLieBehindLinks(t *testing.T) {
	manifest := `{"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:` + blob(1) + `"}]}`
	root := tree(t, map[string]string{
		"whole/blobs/sha256-" + blob(1):           "weights",
		"disk/registry.ollama.ai/library/a/7b":    manifest,
		"parts/blobs/sha256-" + blob(1):           "weights",
		"parts/manifests/hf.co/o/b/latest":        manifest,
		"far/c/latest":                            manifest,
		"parts/manifests/registry.ollama.ai/keep": "",
	})
	for link, target := range map[string]string{
		"whole/manifests": "disk",
		"parts/manifests/registry.ollama.ai/library": "far",
		"disk/registry.ollama.ai/library/a/latest":   "disk/registry.ollama.ai/library/a/7b",
		"disk/registry.ollama.ai/loop":               "disk",
	} {
		if err := os.Symlink(filepath.Join(root, target), filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	r := New(Config{Locations: Locations{Ollama: []string{filepath.Join(root, "whole"), filepath.Join(root, "parts")}}})
	for _, name := range []string{"a", "a:7b", "hf.co/o/b", "c"} {
		if m, err := r.Resolve(name); err != nil || m.Bytes != int64(len("weights")) {
			t.Errorf("Resolve(%q): got %v, %v", name, m, err)
		}
	}
}
