// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/weights"
)

const maxRefBytes = 1 << 10

// hubModels lists the models of a Hugging Face cache.
func hubModels(hub string) []Model {
	entries, _ := os.ReadDir(hub)
	var all []Model
	for _, e := range entries {
		repo, ok := strings.CutPrefix(e.Name(), "models--")
		if !ok {
			continue
		}
		// A cache writes owner--name; names may themselves have two dashes, owners not.
		repo = strings.Replace(repo, "--", "/", 1)
		if snapshot, ok := snapshotOf(filepath.Join(hub, e.Name())); ok {
			all = append(all, snapshotModels(Store{HuggingFace, hub}, repo, snapshot)...)
		}
	}
	return all
}

// snapshotOf finds the revision to use: that of the branch main, else the newest.
func snapshotOf(dir string) (string, bool) {
	snapshots := filepath.Join(dir, "snapshots")
	if ref, err := weights.ReadIn(dir, filepath.Join("refs", "main"), maxRefBytes); err == nil {
		revision := strings.TrimSpace(string(ref))
		if filepath.IsLocal(revision) && exists(filepath.Join(snapshots, revision)) {
			return filepath.Join(snapshots, revision), true
		}
	}
	entries, _ := os.ReadDir(snapshots)
	var newest time.Time
	found := ""
	for _, e := range entries {
		path := filepath.Join(snapshots, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() && (found == "" || info.ModTime().After(newest)) {
			newest, found = info.ModTime(), path
		}
	}
	return found, found != ""
}

// snapshotModels lists the models of a repository: itself if it has safetensors, and its GGUF files, which may be in
// folders by quantisation.
func snapshotModels(s Store, repo, dir string) []Model {
	c := look(dir)
	var models []Model
	add := func(files []string, prefix string) {
		for _, file := range files {
			models = append(models, ggufModel(s, repo, dir, prefix+file))
		}
	}
	add(c.ggufs, "")
	for _, sub := range c.folders {
		add(look(filepath.Join(dir, sub)).ggufs, sub+"/")
	}
	if c.config && c.safetensors {
		models = append([]Model{folderModel(s, repo, dir, c)}, models...)
	}
	return named(models)
}
