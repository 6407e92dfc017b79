// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/token"
)

// vocabOf turns a tokenizer that was read from JSON into what a GGUF file would say of it.
func vocabOf(tb testing.TB, name, model, pre string) Vocab {
	tb.Helper()
	tok := load(tb, name)
	v := NewVocab()
	v.Model, v.Pre = model, pre
	v.UNK = tok.unk
	if id, ok := tok.ID("<s>"); ok {
		v.BOS = id
	}
	for id, piece := range tok.pieces {
		kind := tok.kinds[id]
		if model == "llama" && kind == token.UserDefined {
			piece = strings.ReplaceAll(piece, spaceMark, " ") // as converters write runs of spaces
		}
		if model == "bert" && !(strings.HasPrefix(piece, "[") && strings.HasSuffix(piece, "]")) {
			var continues bool
			if piece, continues = strings.CutPrefix(piece, "##"); !continues {
				piece = spaceMark + piece
			}
		}
		v.Tokens = append(v.Tokens, piece)
		v.Types = append(v.Types, int32(kind))
		v.Scores = append(v.Scores, -float32(id))
	}
	switch m := tok.model.(type) {
	case *unigram:
		for id, score := range m.scores {
			v.Scores[id] = float32(score)
		}
		v.EOS, _ = tok.ID("</s>")
		v.CharsMap = charsMapOf(tb, name)
	case *wordPiece:
		v.CLS, _ = tok.ID("[CLS]")
		v.SEP, _ = tok.ID("[SEP]")
	case *bpe:
		if model == "llama" {
			break
		}
		v.Merges = make([]string, countPairs(m.pairs))
		for _, s := range m.pairs.slots {
			if s.key != 0 {
				v.Merges[s.rank] = tok.Piece(token.ID(s.key>>32)-1) + " " + tok.Piece(token.ID(uint32(s.key)))
			}
		}
	}
	return v
}

// charsMapOf returns the character map in a fixture.
func charsMapOf(tb testing.TB, name string) []byte {
	tb.Helper()
	_, rest, _ := strings.Cut(string(unzip(tb, name+".json.gz")), `"precompiled_charsmap":"`)
	text, _, _ := strings.Cut(rest, `"`)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func countPairs(p *pairTable) int {
	n := 0
	for _, s := range p.slots {
		if s.key != 0 {
			n++
		}
	}
	return n
}

func TestGGUFVocabularyGivesTheSameIDs(t *testing.T) {
	no := false
	for _, tt := range []struct {
		name, model, pre string
		addSpacePrefix   *bool
	}{
		{"gpt2", "gpt2", "gpt-2", nil},
		{"smollm", "gpt2", "smollm", nil},
		{"qwen2", "gpt2", "qwen2", nil},
		{"gpt4o", "gpt2", "gpt-4o", nil},
		{"tekken", "gpt2", "tekken", nil},
		{"kimi", "gpt2", "kimi-k2", nil},
		{"qwen35", "gpt2", "qwen35", nil},
		{"deepseek3", "gpt2", "deepseek-v3", nil},
		{"llama2", "llama", "default", nil},
		{"gemma", "llama", "default", &no},
		{"gemma", "gemma4", "", nil},
		{"bert", "bert", "", nil},
		{"t5", "t5", "", nil},
	} {
		t.Run(tt.name+" as "+tt.model, func(t *testing.T) {
			v := vocabOf(t, tt.name, tt.model, tt.pre)
			v.AddSpacePrefix = tt.addSpacePrefix
			tok, err := FromGGUF(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range references(t, tt.name) {
				if tt.model == "bert" && strings.Contains(string(r.Text), spaceMark) {
					continue // the file can't tell such continuations from beginnings
				}
				if got := tok.Encode(string(r.Text), Options{ParseSpecial: true}); !slices.Equal(got, r.IDs) {
					t.Fatalf("Encode(%+q):\n%s", r.Text, cmp.Diff(r.IDs, got))
				}
				around := tok.Encode(string(r.Text), Options{ParseSpecial: true, AddSpecial: true})
				if around = around[:min(2, len(around))]; tt.model != "gpt2" && !slices.Equal(around, r.Around) {
					t.Fatalf("Encode(%+q) with special tokens begins with %v, want %v", r.Text, around, r.Around)
				}
				if got := tok.Decode(r.IDs, false); got != r.Decoded {
					t.Fatalf("Decode(%v):\ngot  %+q\nwant %+q", r.IDs, got, r.Decoded)
				}
			}
		})
	}
}

func TestGGUFRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(v *Vocab)
		want   string
	}{
		{"pre-tokenizer", func(v *Vocab) { v.Pre = "elvish" }, `tokenizer: tokenizer.ggml.pre: unknown pre-tokenizer "elvish", known are gpt-2, phi-2,`},
		{"model", func(v *Vocab) { v.Model = "rwkv" }, `tokenizer: tokenizer.ggml.model: unknown model "rwkv"`},
		{"no tokens", func(v *Vocab) { v.Tokens = nil }, "tokenizer: tokenizer.ggml.tokens: the file has none"},
		{"types missing", func(v *Vocab) { v.Types = v.Types[1:] }, "tokenizer: tokenizer.ggml.token_type: "},
		{"type out of range", func(v *Vocab) { v.Types[3] = 77 }, "tokenizer: tokenizer.ggml.token_type: token 3 has unknown type 77"},
		{"special token out of range", func(v *Vocab) { v.EOS = 1 << 20 }, "tokenizer: tokenizer.ggml.eos_token_id: 1048576 is not one of"},
		{"merge of one piece", func(v *Vocab) { v.Merges[5] = "abc" }, "tokenizer: tokenizer.ggml.merges[5]: not two pieces"},
		{"merge of unknown pieces", func(v *Vocab) { v.Merges[5] = "Ġzqzq t" }, `tokenizer: tokenizer.ggml.merges[5]: " zqzq" is not in the vocabulary`},
		{"scores missing", func(v *Vocab) { v.Model, v.Scores = "llama", nil }, "tokenizer: tokenizer.ggml.scores: 0 entries"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := vocabOf(t, "gpt2", "gpt2", "gpt-2")
			tt.change(&v)
			_, err := FromGGUF(v)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestEndsOfGenerationComeInOrderOnce(t *testing.T) {
	v := vocabOf(t, "smollm", "gpt2", "smollm")
	v.EOS, v.EOT, v.MoreEOG = 7, 9, []token.ID{7, 3}
	tok, err := FromGGUF(v)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tok.EOG(), []token.ID{7, 9, 3}; !slices.Equal(got, want) {
		t.Errorf("EOG() = %v, want %v", got, want)
	}
}

// A converter names rows without a token; the name is no token of any text.
func TestNamesOfPaddingRowsAreText(t *testing.T) {
	v := vocabOf(t, "llama3", "gpt2", "llama-bpe")
	n := len(v.Tokens)
	for _, piece := range []string{fmt.Sprintf("[PAD%d]", n), "[PAD0]", "<reserved>"} {
		v.Tokens, v.Types = append(v.Tokens, piece), append(v.Types, int32(token.Unused))
	}
	tok, err := FromGGUF(v)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "[PAD0]", "<reserved>"} {
		if got := tok.Piece(token.ID(n + i)); got != want {
			t.Errorf("token %d is %q, want %q", n+i, got, want)
		}
	}
	if got := tok.Encode(v.Tokens[n], Options{ParseSpecial: true}); len(got) < 2 || slices.Contains(got, token.ID(n)) {
		t.Errorf("%q becomes %v", v.Tokens[n], got)
	}
	if got := tok.Decode([]token.ID{token.ID(n)}, false); got != "" {
		t.Errorf("a row without a token decodes to %q", got)
	}
}
