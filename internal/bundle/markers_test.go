// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// withAdded returns a byte-level tokenizer with added tokens.
func withAdded(t *testing.T, control, userDefined []string) *tokenizer.Tokenizer {
	t.Helper()
	v := tokenizer.NewVocab()
	v.Model, v.Pre = "gpt2", "gpt-2"
	for b := range rune(94) {
		v.Tokens, v.Types = append(v.Tokens, string('!'+b)), append(v.Types, int32(token.Normal))
	}
	for _, text := range control {
		v.Tokens, v.Types = append(v.Tokens, text), append(v.Types, int32(token.Control))
	}
	for _, text := range userDefined {
		v.Tokens, v.Types = append(v.Tokens, text), append(v.Types, int32(token.UserDefined))
	}
	tok, err := tokenizer.FromGGUF(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// TestMarkersOfFamiliesAreControlTokens has of each family the tokens whose kind files get wrong, with parts of its template.
func TestMarkersOfFamiliesAreControlTokens(t *testing.T) {
	for _, tt := range []struct {
		family      string
		templates   []string
		control     []string // by the file
		userDefined []string // by the file
		marked      []string // of those
	}{
		{
			"Mistral",
			[]string{`{%- for m in messages %}{{ "[INST]" + m.content + "[/INST]" }}{% endfor %}`, `{{ "[AVAILABLE_TOOLS]" }}[/AVAILABLE_TOOLS]`},
			nil,
			[]string{"[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[IMG]", "for", "[/"},
			[]string{"[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"},
		},
		{
			"Qwen",
			[]string{`<|im_start|>{{ role }}<tool_response>{{ content }}</tool_response><tools>`},
			[]string{"<|im_start|>"},
			[]string{"<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<|fim_prefix|>"},
			[]string{"<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"},
		},
		{
			"DeepSeek",
			[]string{`{{ '<｜User｜>' + content + '<｜Assistant｜>' }}{{ '<｜tool▁calls▁begin｜>' }}{{ '</think>' }}`},
			[]string{"<｜end▁of▁sentence｜>"},
			[]string{"<｜User｜>", "<｜Assistant｜>", "<｜tool▁calls▁begin｜>", "<think>", "</think>", "<｜fim▁hole｜>"},
			[]string{"<｜User｜>", "<｜Assistant｜>", "<｜tool▁calls▁begin｜>", "<think>", "</think>"},
		},
		{
			// In Gemma's GGUF files <mask> and <unused0> are control tokens, elsewhere added ones like any other.
			"Gemma from GGUF",
			[]string{"{%- if x -%}\n\n  <start_of_turn>{{ role }}\n\n"},
			[]string{"<start_of_turn>", "<mask>", "<unused0>"},
			[]string{"\n\n", "  ", "<table>", "[multimodal]"},
			nil,
		},
		{
			"Gemma from tokenizer.json",
			[]string{"{%- if x -%}\n\n  <start_of_turn>{{ role }}\n\n"},
			[]string{"<start_of_turn>"},
			[]string{"\n\n", "  ", "<mask>", "<unused0>", "<table>", "[multimodal]"},
			nil,
		},
		{"no template", nil, nil, []string{"<think>", "[INST]"}, []string{"<think>"}},
	} {
		t.Run(tt.family, func(t *testing.T) {
			tok := withAdded(t, tt.control, tt.userDefined)
			MarkControl(tok, tt.templates...)
			var marked []string
			for _, text := range append(tt.control, tt.userDefined...) {
				id, ok := tok.ID(text)
				if !ok {
					t.Fatalf("no token %q", text)
				}
				if tok.Kind(id) == token.Control && !tok.Special(id) {
					marked = append(marked, text)
				}
				got := tok.Encode(text, tokenizer.Options{})
				if whole := len(got) == 1 && got[0] == id; whole == (tok.Kind(id) == token.Control) {
					t.Errorf("data %q becomes %v; the token is %d, of kind %v", text, got, id, tok.Kind(id))
				}
				if got := tok.Encode(text, tokenizer.Options{ParseSpecial: true}); len(got) != 1 || got[0] != id {
					t.Errorf("the template's %q becomes %v, want %d", text, got, id)
				}
			}
			if diff := cmp.Diff(tt.marked, marked); diff != "" {
				t.Errorf("marked tokens (-want +got):\n%s", diff)
			}
		})
	}
}
