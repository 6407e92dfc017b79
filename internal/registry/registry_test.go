// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// tree makes files in a new folder. A content that begins with "->" makes a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range sortedKeys(files) {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(files[name], "->"); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(files[name]), 0o600)
		}
		if err != nil {
			t.Skip(err)
		}
	}
	return root
}

// blob is the name of an Ollama layer.
func blob(n int) string { return fmt.Sprintf("%064x", n) }

func manifestOf(digest string) string {
	return `{"layers":[{"mediaType":"application/vnd.ollama.image.license","digest":"sha256:` + blob(9) + `"},` +
		`{"mediaType":"application/vnd.ollama.image.params","digest":"sha256:` + blob(3) + `"},` +
		`{"mediaType":"application/vnd.ollama.image.model","digest":"` + digest + `"}]}`
}

// machine has every kind of store.
func machine(t *testing.T) Config {
	root := tree(t, map[string]string{
		"sampo/o/pulled/config.json":       "{}",
		"sampo/o/pulled/model.safetensors": "1234",
		"sampo/alone-Q8_0.gguf":            "12345678",

		"hub/models--o--snap/refs/main":                                      "rev1",
		"hub/models--o--snap/blobs/a":                                        "12345",
		"hub/models--o--snap/snapshots/rev1/m-Q4_K_M.gguf":                   "->../../blobs/a",
		"hub/models--o--snap/snapshots/rev1/m-Q8_0.gguf":                     "->../../blobs/a",
		"hub/models--o--snap/snapshots/rev1/mmproj-F16.gguf":                 "->../../blobs/a",
		"hub/models--o--snap/snapshots/rev1/BF16/m-BF16-00001-of-00002.gguf": "->../../../blobs/a",
		"hub/models--o--snap/snapshots/rev1/BF16/m-BF16-00002-of-00002.gguf": "->../../../blobs/a",
		"hub/models--o--snap/snapshots/rev1/part-Q6_K-00001-of-00002.gguf":   "->../../blobs/a",
		"hub/models--o--snap/snapshots/rev1/gone-Q5_K_M.gguf":                "->../../blobs/gone",
		"hub/models--o--snap/snapshots/rev0/old-Q2_K.gguf":                   "->../../blobs/a",
		"hub/models--o--st--x/snapshots/r/config.json":                       "{}",
		"hub/models--o--st--x/snapshots/r/model.safetensors":                 "123456",
		"hub/models--o--evil/refs/main":                                      "../../../sampo/o/pulled",
		"hub/models--o--text/snapshots/r/config.json":                        "{}",
		"hub/datasets--o--d/snapshots/r/x.gguf":                              "1",
		"hub/version.txt":                                                    "1",

		"scope/hub/models/q/Tiny2___5/config.json":       "{}",
		"scope/hub/models/q/Tiny2___5/model.safetensors": "1234567",
		"scope/hub/models/q/Tiny2.5":                     "->Tiny2___5",
		"scope/hub/models/._____temp/q/half.gguf":        "1",
		"scope/hub/q/older/m-Q4_0.gguf":                  "12",
		"scope/hub/q/older/m-Q8_0.gguf":                  "123",

		"lm/o/snap/m-Q4_K_M.gguf":    "1",
		"lm/o/snap/m-Q5_0.gguf":      "1",
		"lm/o/two/first.gguf":        "1",
		"lm/o/two/second.gguf":       "1",
		"lm/o/.hidden/m-Q4_K_M.gguf": "1",

		"ollama/manifests/registry.ollama.ai/library/tiny/latest": manifestOf("sha256:" + blob(1)),
		"ollama/manifests/registry.ollama.ai/library/tiny/1b":     manifestOf("sha256:" + blob(2)),
		"ollama/manifests/registry.ollama.ai/you/tuned/q4":        manifestOf("sha256:" + blob(1)),
		"ollama/manifests/hf.co/o/n/Q4_0":                         manifestOf("sha256:" + blob(1)),
		"ollama/manifests/registry.ollama.ai/library/evil/latest": manifestOf("sha256:../../../sampo/alone-Q8_0.gguf"),
		"ollama/manifests/registry.ollama.ai/library/gone/latest": manifestOf("sha256:" + blob(7)),
		"ollama/manifests/registry.ollama.ai/library/bad/latest":  "{",
		"ollama/blobs/sha256-" + blob(1):                          "123",
		"ollama/blobs/sha256-" + blob(2):                          "1234",
		"ollama/blobs/sha256-" + blob(3):                          `{"temperature":0.3}`,
	})
	return Config{
		Locations: Locations{
			Models:      filepath.Join(root, "sampo"),
			HuggingFace: []string{filepath.Join(root, "hub"), filepath.Join(root, "nothing")},
			ModelScope:  []string{filepath.Join(root, "scope", "hub", "models"), filepath.Join(root, "scope", "hub")},
			LMStudio:    []string{filepath.Join(root, "lm")},
			Ollama:      []string{filepath.Join(root, "ollama")},
		},
		Aliases:  map[string]string{"small": "o/two:first@cpu-q8", "mini": "sampo/mini-chat"},
		Embedded: map[string][]byte{"sampo/mini-chat": tinyGGUF()},
	}
}

// tinyGGUF is a file that can be inspected and nothing more.
func tinyGGUF() []byte {
	m := gguf.NewMetadata()
	m.Set("general.architecture", "unheard-of")
	var b bytes.Buffer
	_ = gguf.Write(&b, m, nil)
	return b.Bytes()
}

// withVocabulary is a file whose text can be opened too.
func withVocabulary() []byte {
	m := gguf.NewMetadata()
	m.Set("general.architecture", "unheard-of")
	m.Set("tokenizer.ggml.model", "gpt2")
	m.Set("tokenizer.ggml.pre", "gpt-2")
	m.Set("tokenizer.ggml.tokens", []string{"a", "b", "<s>"})
	m.Set("tokenizer.ggml.token_type", []int32{1, 1, 3})
	m.Set("tokenizer.ggml.merges", []string{})
	var b bytes.Buffer
	_ = gguf.Write(&b, m, nil)
	return b.Bytes()
}

func TestALoopOfLinksIsNotCalledMissing(t *testing.T) {
	root := tree(t, map[string]string{"loop": "->loop"})
	_, err := New(Config{}).Resolve(filepath.Join(root, "loop"))
	if err == nil || !strings.Contains(err.Error(), filepath.Join(root, "loop")) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error that names the link and does not say that it is missing", err)
	}
}

func TestALinkToAFolderAboveDoesNotListItsModelsAgain(t *testing.T) {
	root := tree(t, map[string]string{"o/n/m.gguf": "1", "o/self": "->.", "o/n/up": "->../.."})
	got := New(Config{Locations: Locations{Folders: []string{root}}}).List()
	if len(got) != 1 || got[0].Name != "o/n" {
		t.Errorf("got %v, want o/n alone", got)
	}
}

func TestListFindsTheModelsOfEveryStore(t *testing.T) {
	var got []string
	cfg := machine(t)
	for _, m := range New(cfg).List() {
		name := filepath.ToSlash(strings.Replace(m.Name, cfg.Locations.LMStudio[0], "LM", 1))
		got = append(got, fmt.Sprintf("%s [%s] %d", name, m.Store, m.Bytes))
	}
	got[0] = strings.Fields(got[0])[0]
	want := []string{
		"sampo/mini-chat",
		"alone-Q8_0 [sampo] 8",
		"o/pulled [sampo] 4",
		"o/snap:Q4_K_M [Hugging Face] 5",
		"o/snap:Q8_0 [Hugging Face] 5",
		"o/snap:BF16 [Hugging Face] 10",
		"o/st--x [Hugging Face] 6",
		"q/Tiny2.5 [ModelScope] 7",
		"q/older:Q4_0 [ModelScope] 2",
		"q/older:Q8_0 [ModelScope] 3",
		"LM/o/snap/m-Q4_K_M.gguf [LM Studio] 1", // the Hugging Face cache has o/snap:Q4_K_M too
		"o/snap:Q5_0 [LM Studio] 1",
		"o/two:first.gguf [LM Studio] 1",
		"o/two:second.gguf [LM Studio] 1",
		"hf.co/o/n:Q4_0 [Ollama] 3",
		"tiny:1b [Ollama] 4",
		"tiny:latest [Ollama] 3",
		"you/tuned:q4 [Ollama] 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
}

// They were passed over, as if nothing of them were on the machine.
func TestModelsWhoseFilesAreGoneAreListedWithTheReason(t *testing.T) {
	cfg := machine(t)
	hub := cfg.Locations.HuggingFace[0]
	for name, target := range map[string]string{
		"models--o--lost/snapshots/r/config.json":                      "../../blobs/c",
		"models--o--lost/snapshots/r/model-00001-of-00002.safetensors": "../../blobs/w1",
		"models--o--lost/snapshots/r/model-00002-of-00002.safetensors": "../../blobs/w2",
	} {
		path := filepath.Join(hub, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
	}
	r := New(cfg)
	var got []string
	for _, m := range r.Broken() {
		got = append(got, fmt.Sprintf("%s [%s] %s", m.Name, m.Store, m.Problem))
	}
	want := []string{
		"o/lost [Hugging Face] config.json leads to a file that is not there",
		"o/snap:gone-Q5_K_M.gguf [Hugging Face] gone-Q5_K_M.gguf leads to a file that is not there",
		"o/snap:part-Q6_K-00001-of-00002.gguf [Hugging Face] part-Q6_K-00002-of-00002.gguf is missing",
		"gone:latest [Ollama] sha256-" + blob(7) + " is missing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"o/lost":        "registry: o/lost is on this machine but cannot be opened: config.json leads to a file that is not there (in " + filepath.Join(hub, "models--o--lost", "snapshots", "r") + "); get it again",
		"o/snap:q5_k_m": "gone-Q5_K_M.gguf leads to a file that is not there",
		"gone":          "sha256-" + blob(7) + " is missing",
	} {
		if _, err := r.Resolve(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%q): got %v, want %q", name, err, want)
		}
	}
}

func TestResolveFindsModelsByEveryKindOfName(t *testing.T) {
	cfg := machine(t)
	r := New(cfg)
	hub := filepath.Join(cfg.Locations.HuggingFace[0], "models--o--snap", "snapshots", "rev1")
	lm := cfg.Locations.LMStudio[0]
	ollama := filepath.Join(cfg.Locations.Ollama[0], "blobs")
	for _, tt := range []struct{ name, path, backend string }{
		{"sampo/mini-chat", "", ""},
		{"mini", "", ""},
		{"mini@cpu", "", "cpu"},
		{"small", filepath.Join(lm, "o", "two", "first.gguf"), "cpu-q8"},
		{"small@vllm", filepath.Join(lm, "o", "two", "first.gguf"), "vllm"},
		{"o/pulled", filepath.Join(cfg.Locations.Models, "o", "pulled"), ""},
		{"O/Pulled@cpu-q4", filepath.Join(cfg.Locations.Models, "o", "pulled"), "cpu-q4"},
		{"alone-q8_0", filepath.Join(cfg.Locations.Models, "alone-Q8_0.gguf"), ""},
		{"o/snap", filepath.Join(hub, "m-Q4_K_M.gguf"), ""}, // the preferred one of the first store
		{"o/snap:Q8_0", filepath.Join(hub, "m-Q8_0.gguf"), ""},
		{"o/snap:q8_0", filepath.Join(hub, "m-Q8_0.gguf"), ""},
		{"o/snap:m-Q8_0.gguf", filepath.Join(hub, "m-Q8_0.gguf"), ""},
		{"o/snap:m-Q8_0", filepath.Join(hub, "m-Q8_0.gguf"), ""},
		{"o/snap:BF16", filepath.Join(hub, "BF16", "m-BF16-00001-of-00002.gguf"), ""},
		{"o/snap:BF16/m-BF16-00001-of-00002.gguf", filepath.Join(hub, "BF16", "m-BF16-00001-of-00002.gguf"), ""},
		{"o/snap:q5_0", filepath.Join(lm, "o", "snap", "m-Q5_0.gguf"), ""}, // the first store has other files of it
		{"q/tiny2.5", filepath.Join(cfg.Locations.ModelScope[0], "q", "Tiny2.5"), ""},
		{"q/older", filepath.Join(cfg.Locations.ModelScope[1], "q", "older", "m-Q8_0.gguf"), ""},
		{"q/older:q4_0", filepath.Join(cfg.Locations.ModelScope[1], "q", "older", "m-Q4_0.gguf"), ""},
		{"o/two:second", filepath.Join(lm, "o", "two", "second.gguf"), ""},
		{"tiny", filepath.Join(ollama, "sha256-"+blob(1)), ""},
		{"library/tiny:1b", filepath.Join(ollama, "sha256-"+blob(2)), ""},
		{"registry.ollama.ai/library/tiny:1b", filepath.Join(ollama, "sha256-"+blob(2)), ""},
		{"tiny:1b", filepath.Join(ollama, "sha256-"+blob(2)), ""},
		{"you/tuned", filepath.Join(ollama, "sha256-"+blob(1)), ""},
		{filepath.Join(lm, "o", "two", "first.gguf"), filepath.Join(lm, "o", "two", "first.gguf"), ""},
		{filepath.Join(lm, "o", "two", "first.gguf") + "@cpu", filepath.Join(lm, "o", "two", "first.gguf"), "cpu"},
		{hub, hub, ""},
	} {
		m, err := r.Resolve(tt.name)
		if err != nil || m.Path != tt.path || m.Backend != tt.backend {
			t.Errorf("Resolve(%q) = %q @%s, %v, want %q @%s", tt.name, m.Path, m.Backend, err, tt.path, tt.backend)
		}
	}
}

func TestEveryListedNameResolvesToItsModel(t *testing.T) {
	r := New(machine(t))
	seen := map[string]bool{}
	for _, m := range r.List() {
		if seen[strings.ToLower(m.Name)] {
			t.Errorf("two models are called %q", m.Name)
		}
		seen[strings.ToLower(m.Name)] = true
		got, err := r.Resolve(m.Name)
		if err != nil || got.Path != m.Path {
			t.Errorf("Resolve(%q) = %q, %v, want %q", m.Name, got.Path, err, m.Path)
		}
	}
}

func TestUnknownNamesAreAnsweredWithHelp(t *testing.T) {
	r := New(machine(t))
	for _, tt := range []struct {
		name, want string
		is         error
	}{
		{"no/where", `registry: model "no/where" is not on this machine; to get it: hf download no/where, then sampo serve no/where (sampo pull no/where says more)`, ErrUnknownModel},
		{"o/puled", `model "o/puled" is not on this machine; near it: o/pulled`, ErrUnknownModel},
		{"no/where:Q4_K_M@cpu", `"no/where:Q4_K_M" is not on this machine; to get it: hf download no/where, then sampo serve no/where:Q4_K_M`, ErrUnknownModel},
		{"tinny", `near it: tiny:1b, tiny:latest; sampo list shows those that are; to get another: hf download OWNER/NAME, then sampo serve OWNER/NAME (sampo pull OWNER/NAME says more)`, ErrUnknownModel},
		{"mini-chat", `near it: sampo/mini-chat`, ErrUnknownModel},
		{"o/snap:Q3_K", `registry: o/snap has no "Q3_K" on this machine; it has o/snap:Q4_K_M, o/snap:Q8_0, o/snap:BF16, o/snap:Q5_0; to get it: hf download o/snap, then sampo serve o/snap:Q3_K (`, ErrUnknownModel},
		{"o/two", `registry: o/two means several models: name one of o/two:first.gguf, o/two:second.gguf`, nil},
		{"./none", `registry: ./none: no such file or folder; sampo list shows the models on this machine`, fs.ErrNotExist},
		{"none.gguf", `registry: none.gguf: no such file or folder`, fs.ErrNotExist},
		{"/none", `registry: /none: no such file or folder`, fs.ErrNotExist},
		{"evil", `model "evil" is not on this machine`, ErrUnknownModel},
		{"", `model "" is not on this machine`, ErrUnknownModel},
	} {
		_, err := r.Resolve(tt.name)
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("Resolve(%q): got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestALinkThatLeadsNowhereIsNoPathThatIsNotThere(t *testing.T) {
	link := filepath.Join(t.TempDir(), "lost.gguf")
	if err := os.Symlink("nowhere.gguf", link); err != nil {
		t.Skip(err)
	}
	want := "registry: " + link + ": the link leads to a file that is not there; get the model again"
	if _, err := New(Config{}).Resolve(link); !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestInspectNamesTheModelAsItWasFound(t *testing.T) {
	cfg := machine(t)
	r := New(cfg)
	path := filepath.Join(cfg.Locations.LMStudio[0], "o", "two", "first.gguf")
	if err := os.WriteFile(path, tinyGGUF(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"mini": "sampo/mini-chat", "small": "o/two:first.gguf", path: "first"} {
		m, err := r.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.Inspect(bundle.Options{})
		if err != nil || f.Name != want || f.Architecture != "unheard-of" {
			t.Errorf("Inspect(%q) = %q of architecture %q, %v, want %q", name, f.Name, f.Architecture, err, want)
		}
		if _, err := m.Open(bundle.Options{}); err == nil || !strings.Contains(err.Error(), `architecture "unheard-of" is not supported`) {
			t.Errorf("Open(%q) = %v, want that the architecture is not supported", name, err)
		}
	}
}

func TestOllamaParametersAreTheModelsDefaults(t *testing.T) {
	cfg := machine(t)
	if err := os.WriteFile(filepath.Join(cfg.Locations.Ollama[0], "blobs", "sha256-"+blob(1)), withVocabulary(), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := New(cfg).Resolve("tiny")
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Inspect(bundle.Options{})
	if err != nil || f.Defaults.Temperature == nil || *f.Defaults.Temperature != 0.3 {
		t.Errorf("temperature %v, %v, want 0.3", f.Defaults.Temperature, err)
	}
}

func TestLocateFollowsTheEnvironment(t *testing.T) {
	env := map[string]string{}
	locate := func() Locations {
		return Locate("/home/me", "/home/me/.sampo", func(k string) string { return env[k] })
	}
	check := func(what string, got, want string) {
		t.Helper()
		if filepath.ToSlash(got) != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	check("models", locate().Models, "/home/me/.sampo/models")
	check("hub", locate().HuggingFace[0], "/home/me/.cache/huggingface/hub")
	env["XDG_CACHE_HOME"] = "/c"
	check("hub with XDG_CACHE_HOME", locate().HuggingFace[0], "/c/huggingface/hub")
	env["HF_HOME"] = "/hf"
	check("hub with HF_HOME", locate().HuggingFace[0], "/hf/hub")
	env["HF_HUB_CACHE"] = "/h"
	check("hub with HF_HUB_CACHE", locate().HuggingFace[0], "/h")
	check("ModelScope", strings.Join(locate().ModelScope, " "),
		"/home/me/.cache/modelscope/hub/models /home/me/.cache/modelscope/models /home/me/.cache/modelscope/hub")
	env["MODELSCOPE_CACHE"] = "/ms"
	check("ModelScope with MODELSCOPE_CACHE", strings.Join(locate().ModelScope, " "), "/ms/hub/models /ms/models /ms/hub /ms")
	check("Ollama", locate().Ollama[0], "/home/me/.ollama/models")
	env["OLLAMA_MODELS"] = "/o"
	check("Ollama with OLLAMA_MODELS", locate().Ollama[0], "/o")
}

func TestQuantizationIsReadFromFileNames(t *testing.T) {
	for file, want := range map[string]string{
		"SmolLM2-135M-Instruct.Q4_1.gguf": "Q4_1",
		"gemma3-270m-q4_k_m.gguf":         "Q4_K_M",
		"m-UD-Q4_K_XL.gguf":               "UD-Q4_K_XL",
		"m-IQ4_NL.gguf":                   "IQ4_NL",
		"m-BF16-00001-of-00002.gguf":      "BF16",
		"gpt-oss-20b-MXFP4.gguf":          "MXFP4",
		"sub/m.f16.gguf":                  "F16",
		"model.gguf":                      "",
		"Qwen3-4B-Instruct-2507.gguf":     "",
		"q8-study-Q5_K_S.gguf":            "Q5_K_S",
		"q06-Q4_0.gguf":                   "Q4_0", // was Q06: both share a sign
		"m-bf16.Q8_0.gguf":                "Q8_0",
	} {
		if got := quantizationOf(file); got != want {
			t.Errorf("quantizationOf(%q) = %q, want %q", file, got, want)
		}
	}
}

func TestDistanceCountsEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
