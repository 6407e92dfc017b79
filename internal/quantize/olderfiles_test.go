// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// openFiles saves tokenizer files into a folder, and reads them back as what they are and as a tokenizer.
func openFiles(t *testing.T, files map[string]string) (bundle.TokenizerFiles, *tokenizer.Tokenizer) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := bundle.ReadTokenizerFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(dir, bundle.Options{TextOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return read, b.Tokenizer
}

// vocabFiles takes a tokenizer.json apart into vocab.json and merges.txt, or vocab.txt.
func vocabFiles(t *testing.T, name, class string) map[string]string {
	t.Helper()
	var file struct {
		Model struct {
			Vocab  map[string]int
			Merges []json.RawMessage
		}
	}
	if err := json.Unmarshal(inflated(t, "../tokenizer/testdata/"+name+".json.gz"), &file); err != nil {
		t.Fatal(err)
	}
	config := `{"tokenizer_class":"` + class + `"}`
	if file.Model.Merges == nil {
		lines := make([]string, len(file.Model.Vocab))
		for piece, id := range file.Model.Vocab {
			lines[id] = strings.Replace(piece, "##▁▁", "##zq▁", 1) // which GGUF files cannot spell
		}
		return map[string]string{"vocab.txt": strings.Join(lines, "\n"), "tokenizer_config.json": config}
	}
	vocab, err := json.Marshal(file.Model.Vocab)
	if err != nil {
		t.Fatal(err)
	}
	var merges strings.Builder
	for _, raw := range file.Model.Merges {
		var pair []string
		if json.Unmarshal(raw, &pair) != nil {
			var one string
			if err := json.Unmarshal(raw, &one); err != nil {
				t.Fatal(err)
			}
			pair = []string{one}
		}
		merges.WriteString(strings.Join(pair, " ") + "\n")
	}
	return map[string]string{
		"vocab.json": string(vocab), "merges.txt": merges.String(), "tokenizer_config.json": config,
		"added_tokens.json": `{"<|endoftext|>":5000}`, "special_tokens_map.json": `{"additional_special_tokens":["<|endoftext|>"]}`,
	}
}

func TestFoldersWithOlderTokenizerFilesAreWritten(t *testing.T) {
	read := func(name string) string { return string(inflated(t, "../tokenizer/testdata/"+name+".gz")) }
	texts := strings.Split(read("texts.jsonl"), "\n")
	for _, tt := range []struct {
		name       string
		files      map[string]string
		model, pre string
	}{
		{"SentencePiece BPE", map[string]string{"tokenizer.model": read("spbpe.model")}, "llama", "default"},
		{"SentencePiece Unigram", map[string]string{"tokenizer.model": read("spunigram.model")}, "t5", "default"},
		{"tiktoken, Qwen 1", map[string]string{"qwen.tiktoken": read("ranked.tiktoken"), "tokenizer_config.json": `{"tokenizer_class":"QWenTokenizer"}`}, "gpt2", "qwen2"},
		{"tiktoken, Kimi", map[string]string{"tiktoken.model": read("ranked.tiktoken"), "tokenizer_config.json": `{"tokenizer_class":"TikTokenTokenizer"}`}, "gpt2", "kimi-k2"},
		{"tiktoken, Llama 3", map[string]string{"tokenizer.model": read("ranked.tiktoken"), "tokenizer_config.json": `{"tokenizer_class":"LlamaTokenizer"}`}, "gpt2", "llama-bpe"},
		{"vocab.json, GPT-2", vocabFiles(t, "gpt2", "GPT2Tokenizer"), "gpt2", "gpt-2"},
		{"vocab.json, Qwen2", vocabFiles(t, "qwen2", "Qwen2Tokenizer"), "gpt2", "qwen2"},
		{"vocab.txt", vocabFiles(t, "bert", "BertTokenizer"), "bert", "default"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, tok := openFiles(t, tt.files)
			rows := tok.VocabSize() + 3
			v, err := vocabularyOfFiles(&files, tok, rows)
			if err != nil {
				t.Fatal(err)
			}
			if v.Model != tt.model || v.Pre != tt.pre || len(v.Tokens) != rows {
				t.Errorf("got %d tokens of %s, %s, want %d of %s, %s", len(v.Tokens), v.Model, v.Pre, rows, tt.model, tt.pre)
			}
			got, err := tokenizer.FromGGUF(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range texts {
				for _, opt := range []tokenizer.Options{{}, {AddSpecial: true, ParseSpecial: true}} {
					if a, b := got.Encode(text, opt), tok.Encode(text, opt); !slices.Equal(a, b) {
						t.Fatalf("%.60q, %+v: got %v, want %v", text, opt, a, b)
					}
				}
			}
		})
	}
}

func TestTokensOfTheConfigurationAreWritten(t *testing.T) {
	model := string(inflated(t, "../tokenizer/testdata/spbpe.model.gz"))
	files, tok := openFiles(t, map[string]string{"tokenizer.model": model, "tokenizer_config.json": `{"tokenizer_class":"LlamaTokenizer","add_bos_token":false,"legacy":true,
		"eos_token":"<|im_end|>","added_tokens_decoder":{"1":{"content":"<s>","special":true},"1600":{"content":"<|im_end|>","special":true},"1601":{"content":"<mark>","normalized":false}}}`})
	v, err := vocabularyOfFiles(&files, tok, 1604)
	if err != nil {
		t.Fatal(err)
	}
	if v.EOS != 1600 || *v.AddBOS || v.Tokens[1601] != "<mark>" || v.Types[1601] != 4 || v.Tokens[1599] != "[PAD1599]" || v.Tokens[1603] != "[PAD1603]" {
		t.Errorf("got EOS %d, add_bos %t, %q of type %d, %q, %q", v.EOS, *v.AddBOS, v.Tokens[1601], v.Types[1601], v.Tokens[1599], v.Tokens[1603])
	}
}
