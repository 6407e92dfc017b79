// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// TestRowsWithoutATokenAreNeverSampled has a model whose logits favour rows that have no token: behind the vocabulary, in a hole of it,
// and under the names that converters give them in GGUF files.
func TestRowsWithoutATokenAreNeverSampled(t *testing.T) {
	const letters, rows = 94, 100
	folder, gguf := map[string]int{}, tokenizer.NewVocab()
	gguf.Model, gguf.Pre = "gpt2", "gpt-2"
	for id := range rows {
		piece, kind := fmt.Sprintf("[PAD%d]", id), token.Unused
		if id < letters {
			piece, kind = string(rune('!'+id)), token.Normal
			folder[piece] = id
		}
		gguf.Tokens, gguf.Types = append(gguf.Tokens, piece), append(gguf.Types, int32(kind))
	}
	data, err := json.Marshal(map[string]any{
		"model": map[string]any{"type": "BPE", "vocab": folder, "merges": []string{}}, "pre_tokenizer": map[string]any{"type": "ByteLevel", "use_regex": true},
		"added_tokens": []any{map[string]any{"id": letters + 2, "content": "<end>", "special": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	gguf.Tokens[letters+2], gguf.Types[letters+2] = "<end>", int32(token.Control)
	ofFolder, err := tokenizer.FromJSON(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	ofGGUF, err := tokenizer.FromGGUF(gguf)
	if err != nil {
		t.Fatal(err)
	}
	for name, tok := range map[string]*tokenizer.Tokenizer{"folder": ofFolder, "GGUF": ofGGUF} {
		mask := realTokens(tok, rows)
		if mask == nil {
			t.Fatalf("%s: every row may be sampled", name)
		}
		for id := range token.ID(rows) {
			if got, want := mask.Has(id), id < letters || id == letters+2; got != want {
				t.Errorf("%s: row %d, %q, may be sampled: %t, want %t", name, id, tok.Piece(id), got, want)
			}
		}
	}
	if mask := realTokens(ofGGUF, letters); mask != nil {
		t.Errorf("a mask of %d tokens where all %d have a spelling", mask.Count(), letters)
	}
}
