// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

func TestMarkersAreWhatTheTemplateWrites(t *testing.T) {
	v := tokenizer.NewVocab()
	v.Model, v.Pre = "gpt2", "gpt-2"
	for b := range rune(94) {
		v.Tokens = append(v.Tokens, string('!'+b))
		v.Types = append(v.Types, int32(token.Normal))
	}
	for _, added := range []string{"<tool_response>", "<other>", "ĊĊĊ"} {
		v.Tokens = append(v.Tokens, added)
		v.Types = append(v.Types, int32(token.UserDefined))
	}
	tok, err := tokenizer.FromGGUF(v)
	if err != nil {
		t.Fatal(err)
	}
	got := answer.Markers("{{ '<tool_response>' }}\n\n\n", tok)
	if diff := cmp.Diff([]string{"<tool_response>"}, got); diff != "" {
		t.Errorf("markers (-want +got):\n%s", diff)
	}
}
