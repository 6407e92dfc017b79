// SPDX-License-Identifier: Apache-2.0

package registry

import "path/filepath"

// Locations are the folders to look for models in. Those that do not exist are skipped.
type Locations struct {
	Models      string   // models that this program pulled: OWNER/NAME/files
	HuggingFace []string // Hugging Face caches: models--OWNER--NAME/snapshots/REVISION/files
	ModelScope  []string // ModelScope caches: OWNER/NAME/files
	LMStudio    []string // OWNER/NAME/files
	Ollama      []string // manifests/ and blobs/
	Folders     []string // anything
}

// Locate gives the usual folders. Home is the user's home, sampoHome this program's (~/.sampo), and env looks up an
// environment variable, "" if it is not set: HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, MODELSCOPE_CACHE and OLLAMA_MODELS
// move stores.
func Locate(home, sampoHome string, env func(string) string) Locations {
	cache := env("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(home, ".cache")
	}
	hub := env("HF_HUB_CACHE")
	if hub == "" {
		hfHome := env("HF_HOME")
		if hfHome == "" {
			hfHome = filepath.Join(cache, "huggingface")
		}
		hub = filepath.Join(hfHome, "hub")
	}
	ollama := []string{env("OLLAMA_MODELS")}
	if ollama[0] == "" {
		// The second is where the service keeps them when it runs as a user of its own on Linux.
		ollama = []string{filepath.Join(home, ".ollama", "models"), "/usr/share/ollama/.ollama/models"}
	}
	return Locations{
		Models:      filepath.Join(sampoHome, "models"),
		HuggingFace: []string{hub},
		ModelScope:  modelScopeRoots(home, env("MODELSCOPE_CACHE")),
		LMStudio:    []string{filepath.Join(home, ".lmstudio", "models"), filepath.Join(cache, "lm-studio", "models")},
		Ollama:      ollama,
	}
}

// modelScopeRoots gives the folders in which versions of ModelScope's library have kept models.
func modelScopeRoots(home, cache string) []string {
	var roots []string
	if cache == "" {
		cache = filepath.Join(home, ".cache", "modelscope")
	} else {
		roots = []string{cache} // what the variable meant first
	}
	hub := filepath.Join(cache, "hub")
	return append([]string{filepath.Join(hub, "models"), filepath.Join(cache, "models"), hub}, roots...)
}

// A Store is one of the Locations, for people.
type Store struct {
	Kind   string // "sampo", "Hugging Face", "ModelScope", "LM Studio", "Ollama", "folder"
	Folder string
}

// The kinds of stores.
const (
	Embedded    = "embedded"
	Sampo       = "sampo"
	HuggingFace = "Hugging Face"
	ModelScope  = "ModelScope"
	LMStudio    = "LM Studio"
	Ollama      = "Ollama"
	Folder      = "folder"
)

// kinds are all kinds in the order in which names are looked up.
var kinds = []string{Embedded, Sampo, HuggingFace, ModelScope, LMStudio, Ollama, Folder}

// Stores lists the folders in the order in which names are looked up.
func (l Locations) Stores() []Store {
	var all []Store
	add := func(kind string, folders ...string) {
		for _, f := range folders {
			if f != "" {
				all = append(all, Store{kind, f})
			}
		}
	}
	add(Sampo, l.Models)
	add(HuggingFace, l.HuggingFace...)
	add(ModelScope, l.ModelScope...)
	add(LMStudio, l.LMStudio...)
	add(Ollama, l.Ollama...)
	add(Folder, l.Folders...)
	return all
}
