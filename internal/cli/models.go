// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/engine"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/prompt"
	"github.com/sampo-ai/sampo/internal/registry"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// registry returns the models of this machine.
func (e *Env) registry() (*registry.Registry, error) {
	folders, err := e.modelFolders()
	locations := registry.Locate(e.HomeDir, e.home(), e.Getenv)
	locations.Folders = folders
	return registry.New(registry.Config{
		Locations: locations,
		Embedded:  map[string][]byte{assets.MiniChatName: assets.MiniChat()},
	}), err
}

// modelFolders returns the folders that --models-dir, its variable or the configuration names.
func (e *Env) modelFolders() ([]string, error) {
	if !e.modelsDir.Changed { // serve has looked already
		file, _, err := readConfig(e, e.config)
		if err == nil {
			err = fillFlag(e, e.modelsDir, file)
		}
		if err != nil {
			return nil, err
		}
	}
	folders := slices.Clone(e.modelsDirs)
	for i, f := range folders {
		folders[i] = e.inHome(f)
	}
	return folders, nil
}

// inHome replaces the sign of the user's home that a path begins with: a shell does so for an argument, and nobody for the value of
// a variable or of the configuration.
func (e *Env) inHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok {
		return filepath.Join(e.HomeDir, rest)
	}
	return path
}

// modelFlags are the flags of every command that runs a model.
type modelFlags struct {
	threads       int
	maxMemory     byteSize
	context       int
	maxNumSeqs    int
	kvCacheDtype  string
	queueTimeout  time.Duration
	noPrefixCache bool
	draftModel    string
	draftTokens   int
	diskCache     string
	diskBytes     byteSize
	modelID       string
	chatTemplate  string
	defaults      string
}

func (f *modelFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.threads, "threads", 0, "workers of the computation (default: one for each core)")
	flags.Var(&f.maxMemory, "max-memory", "most memory for keys and values of a model, and of its draft model, such as 4GiB (default: 40 % of the free memory)")
	flags.IntVar(&f.context, "context", 0, "most tokens of prompt plus output (default: what the model was trained for, if it fits)")
	flags.IntVar(&f.maxNumSeqs, "max-num-seqs", 0, "sequences that run at once (default 64)")
	registerCacheType(flags, &f.kvCacheDtype)
	flags.DurationVar(&f.queueTimeout, "queue-timeout", 0, "end requests that waited longer for their first step, such as 30s (default: no limit)")
	flags.BoolVar(&f.noPrefixCache, "no-prefix-cache", false, "compute every prompt from its first token")
	flags.StringVar(&f.draftModel, "draft-model", "", "small model with the same vocabulary that guesses tokens; answers stay the same")
	flags.IntVar(&f.draftTokens, "draft-tokens", 0, "most tokens to guess at a time (default 7); -1 turns guessing off")
	flags.StringVar(&f.diskCache, "disk-cache", "", "folder that keeps the cache of idle conversations (default: none)")
	flags.Var(&f.diskBytes, "disk-cache-bytes", "most bytes in that folder for a model (default 8GiB)")
	flags.StringVar(&f.modelID, "model-id", "", "name of the model towards clients (alias --served-model-name)")
	flags.StringVar(&f.chatTemplate, "chat-template", "", "file with a chat template to use in place of the model's own")
	flags.StringVar(&f.defaults, "generation-config", "auto", "sampling where a request says nothing: auto, as the model's makers recommend, or neutral")
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if own, ok := flagAliases[name]; ok {
			name = own
		}
		return pflag.NormalizedName(name)
	})
}

// flagAliases are further names of flags, and of their variables and keys of the configuration.
var flagAliases = map[string]string{"served-model-name": "model-id"}

// maxModelID is the length of a name in bytes.
const maxModelID = 256

// checkThreads refuses a number of workers that no machine could use; 0 is one for each core.
func checkThreads(n int) error {
	if n < 0 || n > tensor.MaxThreads {
		return usagef("--threads: got %d, want 1 to %d", n, tensor.MaxThreads)
	}
	return nil
}

// check refuses values that no model could take.
func (f *modelFlags) check() error {
	if err := checkThreads(f.threads); err != nil {
		return err
	}
	if err := checkCacheType(f.kvCacheDtype); err != nil {
		return err
	}
	switch {
	case strings.ContainsFunc(f.modelID, func(r rune) bool { return !unicode.IsPrint(r) }) || len(f.modelID) > maxModelID:
		return usagef("--model-id: got %.40q, want at most %d printable characters", f.modelID, maxModelID)
	case f.context < 0:
		return usagef("--context: got %d, want at least 1", f.context)
	case f.maxNumSeqs < 0 || f.maxNumSeqs > engine.MostRunning:
		return usagef("--max-num-seqs: got %d, want 1 to %d", f.maxNumSeqs, engine.MostRunning)
	case f.draftTokens < -1 || f.draftTokens > engine.MostDraftTokens:
		return usagef("--draft-tokens: got %d, want -1 to %d", f.draftTokens, engine.MostDraftTokens)
	case f.diskBytes > 0 && f.diskCache == "":
		return usagef("--disk-cache-bytes needs --disk-cache")
	case f.queueTimeout < 0:
		return usagef("--queue-timeout: got %v, want at least 0", f.queueTimeout)
	case f.defaults != "auto" && f.defaults != "neutral":
		return usagef("--generation-config: got %q, want auto or neutral", f.defaults)
	}
	return nil
}

// cacheTypes are the values of --kv-cache-dtype.
var cacheTypes = map[string]tensor.KVType{"auto": tensor.KVF16, "f16": tensor.KVF16, "bf16": tensor.KVBF16, "q8_0": tensor.KVQ8}

func registerCacheType(flags *pflag.FlagSet, name *string) {
	flags.StringVar(name, "kv-cache-dtype", "auto", "numbers in the cache: f16 (auto), bf16, or q8_0, which takes about half the memory")
}

func checkCacheType(name string) error {
	if _, ok := cacheTypes[name]; !ok {
		return usagef("--kv-cache-dtype: got %q, want auto, f16, bf16 or q8_0", name)
	}
	return nil
}

// bundleOptions reads what the flags say of files.
func (f *modelFlags) bundleOptions() (bundle.Options, error) {
	source, err := readTemplate(f.chatTemplate)
	if err == nil && source != "" {
		if _, bad := prompt.New(source, prompt.Options{Name: f.chatTemplate, Clock: time.Now}); bad != nil {
			err = usagef("--chat-template: %v", bad)
		}
	}
	return bundle.Options{Name: f.modelID, ChatTemplate: source}, err
}

// readTemplate reads the template that --chat-template names. There are no built-in ones yet, so a bare name is an
// error unless a file has it.
func readTemplate(name string) (string, error) {
	if name != "" && !fileExists(name) && !strings.ContainsAny(name, `/\`) && !strings.HasSuffix(name, ".jinja") {
		return "", usagef("--chat-template: there is no file %q, and this version has no built-in template; a model's own is used without the flag", name)
	}
	return readTemplateFile(name)
}

// readTemplateFile reads a template; without a name it is "".
func readTemplateFile(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := readSmall(path)
	if err != nil {
		return "", usagef("chat template: %v", err)
	}
	if len(text) == 0 {
		return "", usagef("chat template: %s is empty", path)
	}
	return string(text), nil
}

// A host is what models are opened on.
type host struct {
	pool     *tensor.Pool
	log      *slog.Logger
	reserved int64 // memory that the caches of models that are open may come to take
}

// open loads the model of b, which it closes, and starts its engine.
func (f *modelFlags) open(env *Env, b *bundle.Bundle, on host) (*local.Model, error) {
	draft, err := f.openDraft(env)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return local.Open(b, on.pool, local.Options{
		Reserved: on.reserved, CacheBytes: int64(f.maxMemory), Context: f.context, MaxRunning: f.maxNumSeqs, NoPrefixCache: f.noPrefixCache,
		CacheType: cacheTypes[f.kvCacheDtype], QueueTimeout: f.queueTimeout,
		Draft: draft, DraftTokens: f.draftTokens, DiskCache: f.diskCache, DiskBytes: int64(f.diskBytes),
		NeutralDefaults: f.defaults == "neutral", Now: env.Now, Log: on.log,
	})
}

// openDraft opens the files of the model that guesses; nil if there is none.
func (f *modelFlags) openDraft(env *Env) (*bundle.Bundle, error) {
	if f.draftModel == "" {
		return nil, nil
	}
	found, err := env.find(f.draftModel)
	if err != nil {
		return nil, fmt.Errorf("--draft-model: %w", err)
	}
	return found.Open(bundle.Options{})
}

// find finds a model on this machine, for the only backend that this build has.
func (e *Env) find(name string) (registry.Model, error) {
	r, err := e.registry()
	if err != nil {
		return registry.Model{}, err
	}
	m, err := r.Resolve(name)
	if errors.Is(err, registry.ErrUnknownModel) {
		warnOfMissingFolders(e, r) // it may lie there
	}
	if err == nil && m.Backend != "" && m.Backend != "cpu" {
		err = usagef("%s: backend %q is not part of this build; it has @cpu", name, m.Backend)
	}
	return m, err
}

// findAll finds several models.
func (e *Env) findAll(names []string) ([]registry.Model, error) {
	found := make([]registry.Model, len(names))
	for i, name := range names {
		var err error
		if found[i], err = e.find(name); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// tighten makes a key file readable by its owner only, and reports whether others could read it.
func tighten(path string) (loose bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	if info.Mode().Perm()&0o077 == 0 || !posixModes {
		return false, nil
	}
	return true, os.Chmod(path, fs.FileMode(0o600))
}

// ensureDir makes a folder that only its owner may enter.
func ensureDir(path string) error {
	if err := os.MkdirAll(filepath.Clean(path), 0o700); err != nil {
		return fmt.Errorf("cli: %w", err)
	}
	return nil
}
