// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/tokenizer"
)

func TestATokenizerThatIsABrokenLinkIsNotReplacedByTheNextBest(t *testing.T) {
	files := hfFiles(t)
	delete(files, "tokenizer.json")
	files["vocab.json"], files["merges.txt"] = `{"a":0,"aa":1}`, "a a\n"
	dir := save(t, files)
	if err := os.Symlink("gone", filepath.Join(dir, "tokenizer.json")); err != nil {
		t.Skip(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "tokenizer.json: the link leads to a file that is not there") {
		t.Errorf("got %v", err)
	}
}

// TestFoldersWithoutTokenizerJSONOpen has each kind of older file, with its smallest content.
func TestFoldersWithoutTokenizerJSONOpen(t *testing.T) {
	const proto = "\x0a\x09\x0a\x05<unk>\x18\x02" + "\x0a\x07\x0a\x03<s>\x18\x03" + "\x0a\x08\x0a\x04</s>\x18\x03" + "\x0a\x03\x0a\x01a" + "\x12\x02\x18\x02"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  int // tokens of "aa"
	}{
		{"SentencePiece", map[string]string{"tokenizer.model": proto}, 3},
		{"tiktoken under SentencePiece's name", map[string]string{"tokenizer.model": "YQ== 0\nYWE= 1\n", "tokenizer_config.json": `{"tokenizer_class":"LlamaTokenizer"}`}, 1},
		{"tiktoken", map[string]string{"qwen.tiktoken": "YQ== 0\n", "tokenizer_config.json": `{"tokenizer_class":"QWenTokenizer"}`}, 2},
		{"vocab.json", map[string]string{
			"vocab.json": `{"a":0,"aa":1,"<|endoftext|>":2}`, "merges.txt": "#version: 0.2\na a\n", "special_tokens_map.json": `{"eos_token":"<|endoftext|>"}`,
			"tokenizer_config.json": `{"tokenizer_class":"GPT2Tokenizer"}`,
		}, 1},
		{"vocab.txt", map[string]string{"vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\n", "tokenizer_config.json": `{"tokenizer_class":"BertTokenizer"}`}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Open(save(t, tt.files), Options{TextOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := b.Tokenizer.Encode("aa", tokenizer.Options{}); len(got) != tt.want {
				t.Errorf("aa becomes %v, want %d tokens", got, tt.want)
			}
			if _, ok := tt.files[b.Facts().Tokenizer]; !ok {
				t.Errorf("the tokenizer is said to be in %q", b.Facts().Tokenizer)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	_, err := Open(save(t, map[string]string{"vocab.json": `{"a":0}`}), Options{TextOnly: true})
	if err == nil || !strings.Contains(err.Error(), "vocab.json without merges.txt is not supported") {
		t.Errorf("got %v", err)
	}
}
