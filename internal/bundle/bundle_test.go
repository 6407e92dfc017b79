// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// tiny is a folder of package llama with a checkpoint of 77 tokens in both formats, without a tokenizer.
const tiny = "../model/llama/testdata/odd"

// tokenizerJSON is a byte-level vocabulary of the letters a to z, a pair, and special tokens 28 to 30.
func tokenizerJSON() string {
	var vocab []string
	for c := 'a'; c <= 'z'; c++ {
		vocab = append(vocab, fmt.Sprintf("\"%c\":%d", c, c-'a'))
	}
	vocab = append(vocab, `"Ġ":26`, `"ab":27`)
	return `{"version":"1.0","added_tokens":[
		{"id":28,"content":"<s>","special":true,"normalized":false,"single_word":false,"lstrip":false,"rstrip":false},
		{"id":29,"content":"<end>","special":true,"normalized":false,"single_word":false,"lstrip":false,"rstrip":false},
		{"id":30,"content":"<mark>","special":false,"normalized":false,"single_word":false,"lstrip":false,"rstrip":false}],
		"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},"decoder":{"type":"ByteLevel"},
		"model":{"type":"BPE","vocab":{` + strings.Join(vocab, ",") + `},"merges":["a b"]}}`
}

// hfFiles are the files of a folder as Hugging Face lays it out.
func hfFiles(t *testing.T) map[string]string {
	return map[string]string{
		"config.json":            readFile(t, filepath.Join(tiny, "config.json")),
		"model.safetensors":      readFile(t, filepath.Join(tiny, "model.safetensors")),
		"tokenizer.json":         tokenizerJSON(),
		"tokenizer_config.json":  `{"bos_token":{"content":"<s>"},"eos_token":"<end>"}`,
		"generation_config.json": `{"eos_token_id":[29,5],"temperature":0.6,"top_k":20,"top_p":0.95,"min_p":null,"repetition_penalty":1.05,"max_new_tokens":64}`,
		"README.md":              "---\ntags: [x]\nlicense: apache-2.0\n---\n# Tiny\n",
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// save writes files into a new folder named "tiny" and gives its path.
func save(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// withVocabulary is the GGUF checkpoint with a tokenizer and what change adds to its metadata.
func withVocabulary(t *testing.T, change func(m *gguf.Metadata)) []byte {
	t.Helper()
	f, err := gguf.Open(filepath.Join(tiny, "model.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tokens, types := []string{"<unk>", "<s>", "</s>", "<|im_end|>", "<mark>", "Ġ", "ab"}, []int32{2, 3, 3, 3, 4, 1, 1}
	for c := 'a'; c <= 'z'; c++ {
		tokens, types = append(tokens, string(c)), append(types, 1)
	}
	m := f.Meta()
	m.Set("tokenizer.ggml.model", "gpt2")
	m.Set("tokenizer.ggml.pre", "gpt-2")
	m.Set("tokenizer.ggml.tokens", tokens)
	m.Set("tokenizer.ggml.token_type", types)
	m.Set("tokenizer.ggml.merges", []string{"a b"})
	m.Set("tokenizer.ggml.bos_token_id", uint32(1))
	m.Set("tokenizer.ggml.eos_token_id", uint32(2))
	m.Set("tokenizer.ggml.unknown_token_id", uint32(0))
	m.Set("tokenizer.ggml.padding_token_id", uint32(0xffffffff))
	m.Set("general.license", "mit")
	if change != nil {
		change(m)
	}
	var all []weights.Tensor
	for _, name := range f.Names() {
		tensor, _ := f.Tensor(name)
		all = append(all, tensor)
	}
	var b bytes.Buffer
	if err := gguf.Write(&b, m, all); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// number gives what a pointer among the defaults points to, for comparing.
func number[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func TestFolderOpensAndLoads(t *testing.T) {
	dir := save(t, hfFiles(t))
	for _, path := range []string{dir, filepath.Join(dir, "model.safetensors"), filepath.Join(dir, "config.json")} {
		b, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if b.Name != "tiny" || b.Format != Safetensors || b.Family.Name != "llama" || b.Config.Hidden != 54 {
			t.Errorf("got %q, %s, family %q, hidden size %d", b.Name, b.Format, b.Family.Name, b.Config.Hidden)
		}
		if diff := cmp.Diff(SpecialTokens{BOS: "<s>", EOS: "<end>"}, b.Special); diff != "" {
			t.Errorf("special tokens (-want +got):\n%s", diff)
		}
		d := b.Defaults
		got := []any{number(d.Temperature), number(d.TopK), number(d.TopP), number(d.MinP), number(d.RepetitionPenalty), d.EOS}
		if diff := cmp.Diff([]any{float32(0.6), 20, float32(0.95), nil, float32(1.05), []token.ID{29, 5}}, got); diff != "" {
			t.Errorf("defaults (-want +got):\n%s", diff)
		}
		checkLoads(t, b)
	}
}

// checkLoads builds the model and closes everything.
func checkLoads(t *testing.T, b *Bundle) {
	t.Helper()
	pool := tensor.NewPool(1)
	defer pool.Close()
	m, err := b.LoadModel(pool)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Config().Vocab; got != 77 {
		t.Errorf("the model has %d tokens, want 77", got)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestGGUFOpensAndLoads(t *testing.T) {
	data := withVocabulary(t, func(m *gguf.Metadata) {
		m.Set("tokenizer.chat_template", "main")
		m.Set("tokenizer.chat_template.tool_use", "with tools")
		m.Set("general.sampling.temp", float32(0.5))
		m.Set("general.sampling.top_k", int32(40))
	})
	dir := save(t, map[string]string{"tiny.gguf": string(data)})
	fromFile, err := Open(dir, Options{}) // a folder with one model is that model
	if err != nil {
		t.Fatal(err)
	}
	inMemory, err := OpenBytes("own/tiny", data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fromFile.Name != "tiny" || inMemory.Name != "own/tiny" || fromFile.FileBytes != int64(len(data)) {
		t.Errorf("names are %q and %q, size %d", fromFile.Name, inMemory.Name, fromFile.FileBytes)
	}
	for _, b := range []*Bundle{fromFile, inMemory} {
		if b.TemplateSource != "main" || b.NamedTemplates["tool_use"] != "with tools" {
			t.Errorf("templates are %q and %q", b.TemplateSource, b.NamedTemplates)
		}
		if diff := cmp.Diff(SpecialTokens{BOS: "<s>", EOS: "</s>", UNK: "<unk>"}, b.Special); diff != "" {
			t.Errorf("special tokens (-want +got):\n%s", diff)
		}
		got := []any{number(b.Defaults.Temperature), number(b.Defaults.TopK), b.Defaults.EOS}
		// The end of a turn is found by its text: the file names EOS only.
		if diff := cmp.Diff([]any{float32(0.5), 40, []token.ID{2, 3}}, got); diff != "" {
			t.Errorf("defaults (-want +got):\n%s", diff)
		}
		checkLoads(t, b)
	}
}

func TestStoreParametersComeAfterTheFilesOwn(t *testing.T) {
	data := withVocabulary(t, func(m *gguf.Metadata) {
		m.Set("general.sampling.temp", float32(0.5))
		m.Set("general.sampling.top_k", int32(40))
		m.Set("general.sampling.top_p", float32(0.9))
		m.Set("general.sampling.min_p", float32(0.05))
		m.Set("general.sampling.penalty_repeat", float32(1.1))
	})
	for params, want := range map[string][]any{
		"": {float32(0.5), 40, float32(0.9), float32(0.05), float32(1.1), []token.ID{2, 3}},
		`{"temperature": 0.25, "top_k": 7, "repeat_penalty": 1.25, "num_ctx": 4096, "stop": ["<s>", "a", "not a token"]}`: {
			float32(0.25), 7, float32(0.9), float32(0.05), float32(1.25), []token.ID{2, 3, 1},
		},
	} {
		opt := Options{}
		if params != "" {
			opt.StoreParams = []byte(params)
		}
		b, err := OpenBytes("tiny", data, opt)
		if err != nil {
			t.Fatal(err)
		}
		d := b.Defaults
		got := []any{number(d.Temperature), number(d.TopK), number(d.TopP), number(d.MinP), number(d.RepetitionPenalty), d.EOS}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("defaults with %q (-want +got):\n%s", params, diff)
		}
	}
	facts, err := InspectBytes("tiny", data, Options{StoreParams: []byte(`{"num_ctx": 4096, "top_k": 7, "stop": ["<s>", "User:"]}`)})
	if want := []string{`the store's parameters: passed over are num_ctx, stop "User:"`}; err != nil || !slices.Equal(facts.Notes, want) {
		t.Errorf("notes %q, error %v; want %q", facts.Notes, err, want) // they were passed over in silence
	}
	for params, want := range map[string]string{
		"[]": "no object", "{": "the store's parameters", `{"top_p": 2}`: "top_p is 2, want 0 to 1", `{"top_k": "many"}`: "want a number", `{"top_k": 1.5}`: "top_k is 1.5, want a whole number",
	} {
		if _, err := OpenBytes("tiny", data, Options{StoreParams: []byte(params)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parameters %s: error %v, want one with %q", params, err, want)
		}
	}
}

// They were passed over in silence, or told as if a generation could end with them.
func TestTokensOutsideTheVocabularyAreNamed(t *testing.T) {
	files := hfFiles(t)
	files["generation_config.json"] = `{"eos_token_id":[29,5,4000]}`
	folder, err := Inspect(save(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []any{[]token.ID{29, 5}, []string{"eos_token_id is 4000, outside the vocabulary of 31 tokens, and is passed over"}}
	if diff := cmp.Diff(want, []any{folder.Defaults.EOS, folder.Notes}); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
	data := withVocabulary(t, func(m *gguf.Metadata) {
		m.Set("tokenizer.ggml.eos_token_id", uint32(4000))
		m.Set("tokenizer.ggml.bos_token_id", uint32(33))
		m.Set("tokenizer.ggml.eot_token_id", int32(-1)) // means none, as the padding's 2^32-1
	})
	file, err := InspectBytes("tiny", data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const key = "tokenizer.ggml."
	want = []any{[]token.ID{3, 2}, []string{ // those that are known by their texts
		key + "bos_token_id is 33, outside the vocabulary of 33 tokens, and is passed over",
		key + "eos_token_id is 4000, outside the vocabulary of 33 tokens, and is passed over",
	}}
	if diff := cmp.Diff(want, []any{file.Defaults.EOS, file.Notes}); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestPaddingRowsAreNoTokensOfTheVocabulary(t *testing.T) {
	data := withVocabulary(t, func(m *gguf.Metadata) {
		tokens, _ := m.Strings("tokenizer.ggml.tokens")
		types, _ := m.Ints("tokenizer.ggml.token_type")
		padded := []int32{}
		for _, k := range types {
			padded = append(padded, int32(k))
		}
		m.Set("tokenizer.ggml.tokens", append(slices.Clone(tokens), "[PAD33]", "[PAD34]"))
		m.Set("tokenizer.ggml.token_type", append(padded, 5, 5))
	})
	f, err := InspectBytes("tiny", data, Options{})
	if err != nil || f.Vocab != 33 {
		t.Errorf("vocabulary of %d, %v; want 33", f.Vocab, err)
	}
}

func TestFactsDescribeAModel(t *testing.T) {
	dir := save(t, hfFiles(t))
	f, err := Inspect(dir, Options{Name: "own/tiny"})
	if err != nil {
		t.Fatal(err)
	}
	got := []any{f.Name, f.Format, f.Architecture, f.License, f.Quantization, f.Context, f.Vocab, f.Layers, f.Hidden, f.Template, f.Problem}
	want := []any{"own/tiny", Safetensors, "LlamaForCausalLM", "apache-2.0", "F32", 512, 31, 2, 54, false, ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if len(f.Types) != 1 || f.Types[0].Values != f.Parameters || f.Parameters == 0 || f.Types[0].Bytes != 4*f.Parameters {
		t.Errorf("got %d parameters in %v", f.Parameters, f.Types)
	}
}

func TestModelsThatCannotRunCanBeInspected(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(m *gguf.Metadata)
		want   string
	}{
		{"architecture", func(m *gguf.Metadata) { m.Set("general.architecture", "mamba9") }, `architecture "mamba9" is not supported, want one of ["llama"`},
		{"configuration", func(m *gguf.Metadata) { m.Set("llama.rope.scaling.type", "yarn9") }, `"yarn9" is not supported`},
		{"tokenizer", func(m *gguf.Metadata) { m.Set("tokenizer.ggml.model", "rwkv") }, `rwkv`},
		{"vocabulary", func(m *gguf.Metadata) { m.Set("tokenizer.ggml.tokens", []string{}) }, `key "tokenizer.ggml.tokens" is missing: the file has no vocabulary`},
		{"defaults", func(m *gguf.Metadata) { m.Set("general.sampling.top_p", float32(7)) }, `key general.sampling.top_p is 7, want 0 to 1`},
		{"template", func(m *gguf.Metadata) { m.Set("tokenizer.chat_template", uint8(1)) }, `key "tokenizer.chat_template" is not a string`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := withVocabulary(t, tt.change)
			if _, err := OpenBytes("x", data, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "bundle: x: ") {
				t.Errorf("Open: got %v, want %q", err, tt.want)
			}
			f, err := InspectBytes("x", data, Options{})
			if err != nil || f.Parameters == 0 || !strings.Contains(f.Problem, tt.want) {
				t.Errorf("Inspect: got %v, %d parameters, problem %q, want %q", err, f.Parameters, f.Problem, tt.want)
			}
		})
	}
}

func TestTextOnlyNeedsNoWeights(t *testing.T) {
	b, err := Open(save(t, map[string]string{"tokenizer.json": tokenizerJSON(), "chat_template.jinja": "x"}), Options{TextOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Tokenizer.Encode("ab", tokenizer.Options{}); len(got) != 1 || got[0] != 27 || b.TemplateSource != "x" {
		t.Errorf("got %v, template %q", got, b.TemplateSource)
	}
	if _, err := b.LoadModel(nil); err == nil {
		t.Error("a model without weights loads")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	unknown := withVocabulary(t, func(m *gguf.Metadata) { m.Set("general.architecture", "mamba9") })
	if _, err := OpenBytes("x", unknown, Options{TextOnly: true}); err != nil {
		t.Errorf("the text of an unknown architecture: %v", err)
	}
}

func TestTemplatesAreFoundInAllTheirPlaces(t *testing.T) {
	list := `{"chat_template":[{"name":"default","template":"listed"},{"name":"rag","template":"R"}]}`
	for _, tt := range []struct {
		name  string
		files map[string]string
		main  string
		named map[string]string
	}{
		{"none", nil, "", nil},
		{"file", map[string]string{"chat_template.jinja": "file"}, "file", nil},
		{"field", map[string]string{"tokenizer_config.json": `{"chat_template":"field"}`}, "field", nil},
		{"null", map[string]string{"tokenizer_config.json": `{"chat_template":null}`}, "", nil},
		{"list", map[string]string{"tokenizer_config.json": list}, "listed", map[string]string{"rag": "R"}},
		{"processor", map[string]string{"chat_template.json": `{"chat_template":"processor"}`}, "processor", nil},
		{"file before field", map[string]string{"chat_template.jinja": "file", "tokenizer_config.json": `{"chat_template":"field"}`}, "file", nil},
		{"field before processor", map[string]string{"chat_template.json": `{"chat_template":"processor"}`, "tokenizer_config.json": `{"chat_template":"field"}`}, "field", nil},
		{
			"more files",
			map[string]string{"chat_template.jinja": "file", "additional_chat_templates/rag.jinja": "F", "additional_chat_templates/notes.txt": "-", "tokenizer_config.json": list},
			"file",
			map[string]string{"rag": "F"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"tokenizer.json": tokenizerJSON()}
			for name, data := range tt.files {
				files[name] = data
			}
			dir := save(t, files)
			b, err := Open(dir, Options{TextOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.named, b.NamedTemplates); b.TemplateSource != tt.main || diff != "" {
				t.Errorf("got %q, want %q; named (-want +got):\n%s", b.TemplateSource, tt.main, diff)
			}
			b, err = Open(dir, Options{TextOnly: true, ChatTemplate: "own"})
			if err != nil || b.TemplateSource != "own" || b.NamedTemplates != nil {
				t.Errorf("with another template: %q, %q, %v", b.TemplateSource, b.NamedTemplates, err)
			}
		})
	}
}

func TestMarkersOfTheTemplateAreControlTokens(t *testing.T) {
	for template, want := range map[string]int{"": 1, "a <mark> b": 0} {
		b, err := Open(save(t, map[string]string{"tokenizer.json": tokenizerJSON(), "chat_template.jinja": template}), Options{TextOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, id := range b.Tokenizer.Encode("<mark>", tokenizer.Options{}) {
			if id == 30 {
				n++
			}
		}
		if n != want {
			t.Errorf("with the template %q the text <mark> becomes the token %d times, want %d", template, n, want)
		}
	}
}

func TestBrokenFoldersAreRefusedByFileAndReason(t *testing.T) {
	for _, tt := range []struct{ name, file, data, want string }{
		{"no configuration", "config.json", "", "no config.json; a model is a .gguf file, or a folder"},
		{"broken JSON", "config.json", "{", "config.json"},
		{"no object", "config.json", "[]", "config.json: got a JSON value that is no object"},
		{"deep JSON", "generation_config.json", strings.Repeat("[", 100), "generation_config.json"},
		{"no architecture", "config.json", "{}", "config.json: architectures is missing"},
		{"unknown architecture", "config.json", `{"architectures":["MambaForCausalLM"]}`, `architecture "MambaForCausalLM" is not supported`},
		{"no weights", "model.safetensors", "", "no .safetensors file"},
		{"no tokenizer", "tokenizer.json", "", "no tokenizer: want a tokenizer.json, tekken.json, tokenizer.model"},
		{"negative temperature", "generation_config.json", `{"temperature":-1}`, "generation_config.json: temperature is -1, want a finite number of 0 or more"},
		{"no penalty", "generation_config.json", `{"repetition_penalty":0}`, "generation_config.json: repetition_penalty is 0, want a finite number above 0"},
		{"top k of 32 bits", "generation_config.json", `{"top_k":4294967295}`, "generation_config.json: top_k is 4294967295, want -1 to 2147483647"},
		{"temperature of text", "generation_config.json", `{"temperature":"hot"}`, `generation_config.json: temperature is "hot", want a number`},
		{"eos of text", "generation_config.json", `{"eos_token_id":["x"]}`, `generation_config.json: eos_token_id is ["x"], want token IDs`},
		{"template of a number", "tokenizer_config.json", `{"chat_template":3}`, "tokenizer_config.json: chat_template is neither a string nor a list"},
		{"template without a name", "tokenizer_config.json", `{"chat_template":[{"template":""}]}`, "an entry has no name or no template"},
		{"huge template", "chat_template.jinja", strings.Repeat("x", maxTemplateBytes+1), "file exceeds 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := hfFiles(t)
			files[tt.file] = tt.data
			if tt.data == "" {
				delete(files, tt.file)
			}
			dir := save(t, files)
			if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got %v, want an error in %s with %q", err, dir, tt.want)
			}
		})
	}
}

func TestFolderOfSeveralModelsAsksForOne(t *testing.T) {
	dir := save(t, map[string]string{"a.gguf": "", "b.gguf": "", "mmproj-a.gguf": ""})
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "got 2 models (a.gguf, b.gguf), want one: name the file") {
		t.Errorf("got %v", err)
	}
}

func TestNamesComeFromPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/m/tiny.gguf":                          "tiny",
		"/m/tiny-Q4_0-00001-of-00002.gguf":      "tiny-Q4_0",
		"/m/folder":                             "folder",
		"/m/folder/":                            "folder",
		"/h/models--o--n/snapshots/0a1b":        "o/n",
		"/h/models--o--n/snapshots/0a1b/m.gguf": "m",
	} {
		if got := nameOf(path); got != want {
			t.Errorf("nameOf(%q) = %q, want %q", path, got, want)
		}
	}
}

// A file whose name was not UTF-8 ended the server with a panic, as labels of metrics have to be.
func TestNamesAreText(t *testing.T) {
	for _, opt := range []Options{{}, {Name: "m\xe8"}} {
		dir := filepath.Join(t.TempDir(), "m\xe8")
		if got := modelName(dir, opt); got != "m\uFFFD" {
			t.Errorf("the name of %q with %q is %q", dir, opt.Name, got)
		}
	}
}
