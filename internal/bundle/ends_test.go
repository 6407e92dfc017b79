// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// TestGenerationRanOnBehindEndsThatTheFileDoesNotName is about Llama 3's <|eom_id|>, Qwen's <|endoftext|>, and files that call
// <|im_end|> user-defined.
func TestGenerationRanOnBehindEndsThatTheFileDoesNotName(t *testing.T) {
	for _, tt := range []struct {
		name, template string
		tokens         []string // in place of the last letters; user-defined where the name begins with "user"
		want           []token.ID
	}{
		{"Llama 3", "", []string{"<|eom_id|>", "<|end_of_text|>", "<|start_header_id|>"}, []token.ID{2, 30, 31, 3}},
		{"gpt-oss", "", []string{"<|return|>", "<|call|>", "<|end|>"}, []token.ID{2, 3, 30, 31}},
		{"Phi-3", "", []string{"<|end|>"}, []token.ID{2, 3, 32}},
		{"user-defined, a marker of the template", "{{ '<end_of_turn>' }}", []string{"<end_of_turn>"}, []token.ID{2, 3, 32}},
		{"user-defined, any text", "", []string{"<EOT>"}, []token.ID{2, 3}},
	} {
		data := withVocabulary(t, func(m *gguf.Metadata) {
			tokens, _ := m.Strings("tokenizer.ggml.tokens")
			value, _ := m.Value("tokenizer.ggml.token_type")
			kinds := value.([]int32)
			kind := int32(token.Control)
			if strings.HasPrefix(tt.name, "user") {
				kind = int32(token.UserDefined)
			}
			first := len(tokens) - len(tt.tokens)
			for i, text := range tt.tokens {
				tokens[first+i], kinds[first+i] = text, kind
			}
			m.Set("tokenizer.chat_template", tt.template)
		})
		f, err := InspectBytes("tiny", data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, f.Defaults.EOS); diff != "" {
			t.Errorf("%s: ends (-want +got):\n%s", tt.name, diff)
		}
	}
}
