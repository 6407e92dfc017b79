// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// TestServerAndTokenizeAgreeOnMarkers has what once differed: a user-defined [INST] of the template was a control token
// to the server, and not to the command.
func TestServerAndTokenizeAgreeOnMarkers(t *testing.T) {
	const template = "{{ '[INST]' }}<tool_response>\n\n\n"
	open := func() *tokenizer.Tokenizer {
		v := tokenizer.NewVocab()
		v.Model, v.Pre = "gpt2", "gpt-2"
		for b := range rune(94) {
			v.Tokens, v.Types = append(v.Tokens, string('!'+b)), append(v.Types, int32(token.Normal))
		}
		for _, added := range []string{"[INST]", "<tool_response>", "<other>", "\n\n\n"} {
			v.Tokens, v.Types = append(v.Tokens, added), append(v.Types, int32(token.UserDefined))
		}
		tok, err := tokenizer.FromGGUF(v)
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	served, commanded := open(), open()
	engine := scripted.Say(inference.Info{VocabSize: 98, MaxContext: 64})
	defer engine.Close()
	answer.New(answer.Config{Engine: engine, Tokenizer: served, Source: template})
	bundle.MarkControl(commanded, template)
	const text = "[INST]<tool_response><other>\n\n\n"
	got, want := served.Encode(text, tokenizer.Options{}), commanded.Encode(text, tokenizer.Options{})
	if !slices.Equal(got, want) {
		t.Errorf("served %v, tokenize %v", got, want)
	}
	if id, _ := served.ID("[INST]"); slices.Contains(got, id) {
		t.Errorf("data [INST] became token %d", id)
	}
}
