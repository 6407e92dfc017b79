// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// openAll opens a model and loads it, and gives the first error.
func openAll(path string, pool *tensor.Pool) error {
	b, err := Open(path, Options{})
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = b.LoadModel(pool)
	return err
}

// allFiles are those of a folder with a file of every kind that is read.
func allFiles(t *testing.T) map[string]string {
	files := hfFiles(t)
	files["chat_template.jinja"] = "{% for m in messages %}{{ m.content }}{% endfor %}"
	files["special_tokens_map.json"] = `{"unk_token":{"content":"a"}}`
	files["tokenizer_config.json"] = `{"bos_token":{"content":"<s>"},"eos_token":"<end>","chat_template":[{"name":"default","template":"x"}]}`
	files["additional_chat_templates/rag.jinja"] = "{{ documents }}"
	return files
}

// cuts are where a file of n bytes is cut: everywhere if it is small, else at some places and near both ends.
func cuts(n int) []int {
	var at []int
	for i := range n {
		if n < 100 || i < 20 || i > n-20 || i%(n/40) == 0 {
			at = append(at, i)
		}
	}
	return at
}

func TestEveryTruncationOfAFolderIsAnErrorThatNamesTheFile(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	files := allFiles(t)
	dir := save(t, files)
	for name, data := range files {
		if !strings.HasSuffix(name, "json") && !strings.HasSuffix(name, "safetensors") {
			continue // any text is a licence or a template, and templates are compiled later
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		for _, n := range cuts(len(strings.TrimRight(data, " \n"))) {
			if err := os.WriteFile(path, []byte(data[:n]), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := openAll(dir, pool); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s cut to %d of %d bytes: got %v, want an error that names it", name, n, len(data), err)
				break
			}
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := openAll(dir, pool); err != nil {
		t.Errorf("the whole folder: %v", err)
	}
}

func TestFlippedBytesOfAFolderNeverCrash(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	files := allFiles(t)
	dir := save(t, files)
	rng := rand.New(rand.NewPCG(7, 267))
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		for range 60 {
			damaged := []byte(data)
			at := rng.IntN(len(damaged))
			if strings.HasSuffix(name, "safetensors") {
				at = rng.IntN(min(len(damaged), 4000)) // its header
			}
			damaged[at] ^= []byte{1, 2, 4, 0x10, 0x20, 0x80, 0xff}[rng.IntN(7)]
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			_ = openAll(dir, pool) // some are still models
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// replaced gives a JSON object with another value at a key.
func replaced(t *testing.T, text, key, value string) string {
	t.Helper()
	v, err := ordjson.Parse([]byte(text), maxJSONDepth)
	if err != nil {
		t.Fatal(err)
	}
	o := v.(*ordjson.Object)
	o.Set(key, ordjson.Number(value)) // which is written as it is
	return string(ordjson.Append(nil, o))
}

func TestDamagedConfigurationsAreRefusedByFieldGotAndWant(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	files := hfFiles(t)
	whole := files["config.json"]
	dir := save(t, files)
	for _, tt := range []struct{ key, value, want string }{
		{"hidden_size", `0`, "hidden size is 0, want 1 to"},
		{"hidden_size", `-54`, "hidden size is -54, want 1 to"},
		{"hidden_size", `54.5`, "hidden_size: want one 32-bit integer"},
		{"hidden_size", `"54"`, "hidden_size: want one 32-bit integer"},
		{"hidden_size", `null`, "hidden_size is missing"},
		{"hidden_size", `9223372036854775808`, "hidden_size: want one 32-bit integer"},
		{"hidden_size", `1e400`, "hidden_size: want one 32-bit integer"},
		{"hidden_size", `NaN`, "config.json"},
		{"hidden_size", `[54]`, "hidden_size: want one 32-bit integer"},
		{"hidden_size", `1048576`, `tensor "model.embed_tokens.weight" has shape [77 54], want [77 1048576]`},
		{"num_hidden_layers", `1000000`, "number of layers is 1000000, want 1 to 1024"},
		{"num_hidden_layers", `1024`, `tensor "model.layers.2.`},
		{"num_hidden_layers", `1`, `tensor "model.layers.1.`},
		{"num_attention_heads", `0`, "number of heads is 0, want 1 to"},
		{"num_attention_heads", `2147483647`, "number of heads is 2147483647, want 1 to"},
		{"num_key_value_heads", `2`, "9 heads are not a multiple of 2 KV heads"},
		{"num_key_value_heads", `0`, "number of KV heads is 0, want 1 to 9"},
		{"head_dim", `1`, "head dim is 1, want 2 to"},
		{"head_dim", `11`, "9 heads of 11 with a rotation of 11"},
		{"head_dim", `4096`, `tensor "model.layers.0.self_attn.o_proj.weight" has shape [54 90], want [54 36864]`},
		{"vocab_size", `-1`, "vocab size is -1, want 0 to"},
		{"vocab_size", `16777217`, "vocab size is 16777217, want 0 to 16777216"},
		{"intermediate_size", `0`, "FFN size is 0, want 1 to"},
		{"max_position_embeddings", `0`, "context length is 0, want 1 to"},
		{"rms_norm_eps", `0`, "epsilon of the norms is 0, want above 0 and below 1"},
		{"rms_norm_eps", `-1e-6`, "epsilon of the norms is -1e-06, want above 0 and below 1"},
		{"rms_norm_eps", `1e400`, "rms_norm_eps: want a number"},
		{"hidden_act", `"silu2"`, `hidden_act "silu2" is not supported, want one of`},
		{"hidden_act", `7`, "hidden_act: want a string"},
		{"rope_parameters", `[]`, "rope_parameters: want an object"},
		{"rope_parameters", `{"rope_type":"linear","factor":2,"rope_theta":0}`, "rope base 0"},
		{"rope_parameters", `{"rope_type":"linear","factor":-2,"rope_theta":1e4}`, "factor -2"},
		{"rope_parameters", `{"rope_type":"yarn9"}`, `rope_type "yarn9" is not supported`},
		{"rope_parameters", `{"rope_type":"llama3","factor":0,"low_freq_factor":1,"high_freq_factor":4,"original_max_position_embeddings":64}`, "Llama 3 rope scaling"},
		{"tie_word_embeddings", `"yes"`, "tie_word_embeddings: want true or false"},
		{"architectures", `[]`, "architectures is missing"},
		{"architectures", `[7]`, `architecture "" is not supported`},
		{"architectures", `"LlamaForCausalLM"`, "architectures is missing"},
		{"quantization_config", `{"quant_method":"awq"}`, `quant_method "awq" is not supported`},
		{"quantization_config", `7`, "quantization_config: want an object"},
		{"eos_token_id", `"x"`, ""}, // generation_config.json comes first
	} {
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(replaced(t, whole, tt.key, tt.value)), 0o600); err != nil {
			t.Fatal(err)
		}
		err := openAll(dir, pool)
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s = %s: got %v", tt.key, tt.value, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s = %s: got %v, want an error in %s with %q", tt.key, tt.value, err, dir, tt.want)
		}
	}
}

// A file may ask for much memory in few bytes.
func TestHostileFoldersAllocateLittle(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	vocabulary := func(entry string) string { return strings.Replace(tokenizerJSON(), `"ab":27`, `"ab":27,`+entry, 1) }
	added := func(id string) string { return strings.Replace(tokenizerJSON(), `"id":30`, `"id":`+id, 1) }
	config := func(key, value string) func(t *testing.T) string {
		return func(t *testing.T) string { return replaced(t, hfFiles(t)["config.json"], key, value) }
	}
	text := func(s string) func(*testing.T) string { return func(*testing.T) string { return s } }
	for _, tt := range []struct {
		name, file string
		data       func(t *testing.T) string
	}{
		{"added token far away", "tokenizer.json", text(added("2147483647"))},
		{"added token farther away", "tokenizer.json", text(added("4294967296"))},
		{"added token before all", "tokenizer.json", text(added("-1"))},
		{"token far away", "tokenizer.json", text(vocabulary(`"zz":2147483000`))},
		{"token of a fraction", "tokenizer.json", text(vocabulary(`"zz":1.5`))},
		{"deep tokenizer", "tokenizer.json", text(`{"model":` + strings.Repeat(`[`, 100_000))},
		{"deep configuration", "config.json", text(strings.Repeat(`{"a":`, 100_000))},
		{"layers", "config.json", config("num_hidden_layers", "1024")},
		{"layer types", "config.json", config("layer_types", `["`+strings.Repeat(`full_attention","`, 5000)+`"]`)},
		{"width", "config.json", config("hidden_size", "1048576")},
		{"heads", "config.json", config("num_attention_heads", "4096")},
		{"vocabulary", "config.json", config("vocab_size", "16777216")},
		{"context", "config.json", config("max_position_embeddings", "2147483647")},
		{"rope lists", "config.json", config("rope_parameters", `{"rope_type":"longrope","short_factor":[`+strings.Repeat("1,", 5000)+`1],"long_factor":[1]}`)},
	} {
		files := hfFiles(t)
		files[tt.file] = tt.data(t)
		dir := save(t, files)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := openAll(dir, pool)
		runtime.ReadMemStats(&after)
		size := 0
		for _, data := range files {
			size += len(data)
		}
		// A reader may hold a file, its values, and what it makes of them.
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(16<<20+10*size) {
			t.Errorf("%s: a folder of %d bytes made allocations of %d bytes (%v)", tt.name, size, got, err)
		}
		if err == nil && tt.name != "context" {
			t.Errorf("%s: opens", tt.name)
		}
	}
}

func TestDamagedVocabulariesOfGGUFAreRefusedByKey(t *testing.T) {
	const p = "tokenizer.ggml."
	for _, tt := range []struct {
		key   string
		value any
		want  string
	}{
		{"tokens", []string{}, `key "tokenizer.ggml.tokens" is missing`},
		{"tokens", []int32{1, 2}, `key "tokenizer.ggml.tokens" is not a list of strings`},
		{"tokens", "a", `key "tokenizer.ggml.tokens" is not a list of strings`},
		{"tokens", []string{"a"}, "token_type: 33 entries for 1 tokens"},
		{"token_type", []int32{1}, "token_type: 1 entries for 33 tokens"},
		{"token_type", make([]int32, 33), "token_type: token 0 has unknown type 0"},
		{"model", "sentence", `unknown model "sentence"`},
		{"model", uint32(7), "tokenizer.ggml.model"},
		{"model", "llama", "scores: 0 entries for 33 tokens"},
		{"pre", "no-such", `unknown pre-tokenizer "no-such"`},
		{"merges", []string{"a"}, "merges"},
		{"merges", []string{"a zz"}, "merges"},
	} {
		data := withVocabulary(t, func(m *gguf.Metadata) { m.Set(p+tt.key, tt.value) })
		if _, err := OpenBytes("damaged.gguf", data, Options{}); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "damaged.gguf") {
			t.Errorf("%s = %v: got %v, want an error in damaged.gguf with %q", tt.key, tt.value, err, tt.want)
		}
	}
	// IDs outside the vocabulary are none: some writers put 2^32-1 for that.
	for _, key := range []string{"bos", "eos", "eot", "eom", "unknown", "padding", "cls"} {
		for _, id := range []any{uint32(33), int32(-1), uint64(1) << 63} {
			data := withVocabulary(t, func(m *gguf.Metadata) { m.Set(p+key+"_token_id", id) })
			if _, err := OpenBytes("x", data, Options{}); err != nil {
				t.Errorf("%s = %v: %v", key, id, err)
			}
		}
	}
}

// A key of another type is no missing key: without its merges or kinds of tokens a model would answer to other tokens than
// those of the text.
func TestKeysOfAnotherTypeDoNotChangeTheTokensUnnoticed(t *testing.T) {
	const p = "tokenizer.ggml."
	for key, want := range map[string]string{
		p + "model": "a string", p + "pre": "a string", p + "merges": "a list of strings", p + "scores": "a list of numbers",
		p + "token_type": "a list of integers", p + "bos_token_id": "an integer", p + "fim_sep_token_id": "an integer",
		p + "precompiled_charsmap": "a list of bytes", p + "add_bos_token": "true or false", p + "add_space_prefix": "true or false",
		"general.architecture": "a string",
	} {
		data := withVocabulary(t, func(m *gguf.Metadata) { m.Set(key, []bool{true}) })
		_, err := OpenBytes("damaged.gguf", data, Options{})
		if want := `key "` + key + `" is not ` + want; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", key, err, want)
		}
	}
}

func TestBytePairsWithoutMergesAreRefused(t *testing.T) {
	meta := gguf.NewMetadata()
	withVocabulary(t, func(m *gguf.Metadata) {
		for _, key := range m.Keys() {
			if value, _ := m.Value(key); key != "tokenizer.ggml.merges" {
				meta.Set(key, value)
			}
		}
	})
	_, err := (&vocabReader{meta: meta}).vocab()
	if want := `key "tokenizer.ggml.merges" is missing`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

// TestMissingPreTokenizerWasCalledUnknown is about files of before May 2024, whose error listed all names and not what is wrong.
func TestMissingPreTokenizerWasCalledUnknown(t *testing.T) {
	for _, pre := range []string{"", "default"} {
		data := withVocabulary(t, func(m *gguf.Metadata) { m.Set("tokenizer.ggml.pre", pre) })
		_, err := OpenBytes("tiny", data, Options{})
		if want := `key "tokenizer.ggml.pre" does not say`; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", pre, err, want)
		}
	}
}

// FuzzGGUF opens a file with a vocabulary as a whole: header, configuration, tokenizer, templates and defaults.
func FuzzGGUF(f *testing.F) {
	pool := tensor.NewPool(1)
	f.Cleanup(pool.Close)
	t := &testing.T{} // for the helpers, which fail only if the checkpoint is gone
	whole := withVocabulary(t, nil)
	f.Add(whole)
	for _, model := range []string{"llama", "t5", "bert", "gemma4"} {
		f.Add(withVocabulary(t, func(m *gguf.Metadata) {
			m.Set("tokenizer.ggml.model", model)
			m.Set("tokenizer.ggml.scores", make([]float32, 33))
			m.Set("tokenizer.chat_template", "{{ messages }}")
			m.Set("general.sampling.temp", float32(0.5))
		}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := OpenBytes("fuzz.gguf", data, Options{})
		if err != nil {
			return
		}
		ids := b.Tokenizer.Encode("ab <mark> Ünï 你", tokenizer.Options{ParseSpecial: true})
		b.Tokenizer.Decode(ids, false)
		_, _ = b.LoadModel(pool)
	})
}

// FuzzFolder opens a folder, one file of which is what the fuzzer makes.
func FuzzFolder(f *testing.F) {
	pool := tensor.NewPool(1)
	f.Cleanup(pool.Close)
	t := &testing.T{}
	files := allFiles(t)
	var names []string
	for _, name := range []string{"config.json", "tokenizer_config.json", "generation_config.json", "special_tokens_map.json", "tokenizer.json", "README.md"} {
		f.Add(byte(len(names)), []byte(files[name]))
		names = append(names, name)
	}
	dir := f.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		name := names[int(which)%len(names)]
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = openAll(dir, pool)
		_, _ = Inspect(dir, Options{})
		if err := os.WriteFile(path, []byte(files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	})
}
