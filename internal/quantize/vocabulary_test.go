// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// fixture reads one of the tokenizers of package tokenizer's tests.
func fixture(t *testing.T, name string) ([]byte, *tokenizer.Tokenizer) {
	t.Helper()
	data := inflated(t, "../tokenizer/testdata/"+name+".json.gz")
	tok, err := tokenizer.FromJSON(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data, tok
}

// inflated reads a compressed file.
func inflated(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestVocabularyFindsThePreTokenizer(t *testing.T) {
	for name, want := range map[string]struct{ model, pre string }{
		"smollm": {"gpt2", "smollm"}, "llama3": {"gpt2", "llama-bpe"}, "qwen2": {"gpt2", "qwen2"}, "gpt2": {"gpt2", "gpt-2"},
		"gpt4o": {"gpt2", "gpt-4o"}, "tekken": {"gpt2", "tekken"}, "deepseek": {"gpt2", "deepseek-llm"}, "deepseek3": {"gpt2", "deepseek-v3"},
		"qwen35": {"gpt2", "qwen35"}, "kimi": {"gpt2", "kimi-k2"},
		"gemma": {"llama", "default"}, "llama2": {"llama", "default"},
		"t5": {"t5", "default"}, "bert": {"bert", "default"}, "bertcased": {"bert", "default"},
	} {
		data, _ := fixture(t, name)
		data = bytes.ReplaceAll(data, []byte(`"single_word":true`), []byte(`"single_word":false`))
		data = bytes.ReplaceAll(data, []byte(`"##▁▁"`), []byte(`"##zq▁"`))
		tok, err := tokenizer.FromJSON(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := vocabulary(data, tok, tok.VocabSize()+2)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v.Model != want.model || v.Pre != want.pre {
			t.Errorf("%s: got %s %s, want %v", name, v.Model, v.Pre, want)
		}
		last := len(v.Tokens) - 1
		if len(v.Types) != last+1 || v.Types[last] != int32(token.Unused) || v.Tokens[last] == v.Tokens[last-1] {
			t.Errorf("%s: rows without tokens are %q, %q of type %d", name, v.Tokens[last-1], v.Tokens[last], v.Types[last])
		}
	}
}

func TestTokenizersOfOtherKindsAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"words":     `a model of type "WordLevel" cannot be written as GGUF, want BPE, Unigram or WordPiece`,
		"metaspace": "this tokenizer does not cut text as GGUF files' SentencePiece model does", // it never joins spaces
		"xlmr":      "this tokenizer does not cut text as GGUF files' Unigram model does",       // it drops line breaks
		"unibytes":  "this tokenizer does not cut text as GGUF files' Unigram model does",       // it falls back to bytes
		"splits1":   "GGUF files have no name for this pre-tokenizer",
		"bert":      `tokens 251 and 777 would both be spelled "▁▁" in a GGUF file`,
		"llama3":    `GGUF files cannot tell where the added token "lock" is found (single_word, lstrip, rstrip, normalized)`,
	} {
		data, tok := fixture(t, name)
		if _, err := vocabulary(data, tok, tok.VocabSize()); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// Mistral's newer files put a space before the first word only, and none before a space.
func TestPrefixOfTheFirstWordIsWritten(t *testing.T) {
	data, _ := fixture(t, "metaspace")
	data = bytes.Replace(data, []byte(`"split":true`), []byte(`"split":false`), 1)
	data = bytes.Replace(data, []byte(`"split": true`), []byte(`"split": false`), 1)
	tok, err := tokenizer.FromJSON(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := vocabulary(data, tok, tok.VocabSize())
	if err != nil || v.Model != "llama" || !*v.AddSpacePrefix {
		t.Errorf("got %s, %v", v.Model, err)
	}
}

func TestPiecesOfTekkenBecomeMerges(t *testing.T) {
	data := inflated(t, "../tokenizer/testdata/ranked.tekken.json.gz")
	tok, err := tokenizer.FromTekken(data)
	if err != nil {
		t.Fatal(err)
	}
	v, err := rankedVocabulary(tok, tok.VocabSize())
	if err != nil || v.Pre != "tekken" || len(v.Merges) == 0 || !*v.AddBOS {
		t.Fatalf("got %q with %d merges, %v", v.Pre, len(v.Merges), err)
	}
	got, err := tokenizer.FromGGUF(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(string(inflated(t, "../tokenizer/testdata/texts.jsonl.gz")), "\n") {
		if a, b := got.Encode(text, tokenizer.Options{}), tok.Encode(text, tokenizer.Options{}); !slices.Equal(a, b) {
			t.Errorf("%.60q: got %v, want %v", text, a, b)
		}
	}
}

func TestTypesOfAddedTokens(t *testing.T) {
	v := tokenizer.Vocab{Tokens: []string{"<s>", "<tool_call>", "<|fim_prefix|>", "<unused7>", "<unk>"}, Types: []int32{1, 3, 4, 4, 2}}
	var f tokenizerFile
	for id, content := range v.Tokens {
		f.AddedTokens = append(f.AddedTokens, struct {
			ID      int    `json:"id"`
			Content string `json:"content"`
			Special bool   `json:"special"`
		}{id, content, content == "<s>"})
	}
	f.setTypes(&v)
	for i, want := range []token.Kind{token.Control, token.UserDefined, token.Control, token.Control, token.Unknown} {
		if v.Types[i] != int32(want) {
			t.Errorf("%s: got type %d, want %d", v.Tokens[i], v.Types[i], want)
		}
	}
}
