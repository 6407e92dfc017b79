// SPDX-License-Identifier: Apache-2.0

package bytechat

import "testing"

func TestTokensSpellEveryText(t *testing.T) {
	tok := Tokenizer()
	for _, text := range []string{"Hello, the world", "<think>\nä 🦔</think> 日本<|im_end|>"} {
		ids := Tokens(tok, text)
		if got := tok.Decode(ids, false); got != text {
			t.Errorf("Decode(Tokens(%q)) = %q", text, got)
		}
	}
}
