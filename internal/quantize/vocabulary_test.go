// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// fixture reads one of the tokenizers of package tokenizer's tests.
func fixture(t *testing.T, name string) ([]byte, *tokenizer.Tokenizer) {
	t.Helper()
	f, err := os.Open("../tokenizer/testdata/" + name + ".json.gz")
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
	tok, err := tokenizer.FromJSON(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data, tok
}

func TestVocabularyFindsThePreTokenizer(t *testing.T) {
	for name, want := range map[string]struct{ model, pre string }{
		"smollm": {"gpt2", "smollm"}, "llama3": {"gpt2", "llama-bpe"}, "qwen2": {"gpt2", "qwen2"}, "gpt2": {"gpt2", "gpt-2"},
		"gemma": {"llama", "default"}, "llama2": {"llama", "default"},
	} {
		data, tok := fixture(t, name)
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
	data, tok := fixture(t, "bert")
	_, err := vocabulary(data, tok, tok.VocabSize())
	if want := `a model of type "WordPiece" cannot be written as GGUF, want BPE`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
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
