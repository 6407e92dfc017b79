// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/token"
)

func TestTekkenGivesTheIDsOfItsMerges(t *testing.T) {
	tok, err := FromTekken(unzip(t, "ranked.tekken.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range references(t, "ranked") {
		got := tok.Encode(string(r.Text), Options{ParseSpecial: true})
		if !slices.Equal(got, r.IDs) {
			t.Fatalf("Encode(%+q):\n%s", r.Text, cmp.Diff(r.IDs, got))
		}
		around := tok.Encode(string(r.Text), Options{ParseSpecial: true, AddSpecial: true})
		if around = around[:min(2, len(around))]; !slices.Equal(around, r.Around) {
			t.Fatalf("Encode(%+q) with special tokens begins with %v, want %v", r.Text, around, r.Around)
		}
		if got := tok.Decode(r.IDs, false); got != r.Decoded {
			t.Fatalf("Decode(%v):\ngot  %+q\nwant %+q", r.IDs, got, r.Decoded)
		}
		for _, id := range tok.Encode(string(r.Text), Options{}) {
			if tok.Kind(id) == token.Control {
				t.Fatalf("Encode(%+q) as data has control token %q", r.Text, tok.Piece(id))
			}
		}
	}
	if got := tok.EOG(); !slices.Equal(got, []token.ID{2}) {
		t.Errorf("EOG() = %v, want that of </s>", got)
	}
	if got := tok.Piece(29); got != "<SPECIAL_29>" {
		t.Errorf("a special token without a name is %q", got)
	}
}

const smallTekken = `{"config":{"pattern":"\\p{L}+|\\P{L}","default_vocab_size":6,"default_num_special_tokens":3,"version":"v3"},
"vocab":[{"rank":0,"token_bytes":"YQ=="},{"rank":1,"token_bytes":"Yg=="},{"rank":2,"token_bytes":"YWI="},{"rank":3,"token_bytes":"Yw=="}],"image":{}}`

func TestTekkenMergesByRank(t *testing.T) {
	tok, err := FromTekken([]byte(smallTekken))
	if err != nil {
		t.Fatal(err)
	}
	// Bytes that the vocabulary lacks are dropped; c is behind the end of the vocabulary.
	if got, want := tok.Encode("aabb c<s>", Options{AddSpecial: true}), []token.ID{1, 3, 5, 4}; !slices.Equal(got, want) {
		t.Errorf("Encode = %v, want %v", got, want)
	}
}

func TestTekkenIsRefusedByName(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{`"pattern":"\\p{L}+|\\P{L}"`, `"x":1`, "config.pattern: missing"},
		{`\\p{L}+|`, `(?<=a)`, "config.pattern: pattern, byte 2: this kind of group"},
		{`\\p{L}+|`, `\\b`, "config.pattern: a pattern that looks back"},
		{`"rank":1`, `"rank":7`, "vocab[1]: not a piece of rank 1"},
		{`YWI=`, `YWI`, "vocab[2]: not a piece"},
		{`"default_vocab_size":6`, `"default_vocab_size":8`, "config: 8 tokens, 3 of them special, of 4 pieces"},
		{`"image":{}`, `"special_tokens":[{"rank":5,"token_str":"x"}]`, `special_tokens: "x" has rank 5 of 3`},
		{`"image":{}`, `"special_tokens":[{"rank":1}]`, `special_tokens[0]: want a rank`},
		{`"image":{}}`, `"image":{`, "at byte"},
	} {
		_, err := FromTekken([]byte(strings.Replace(smallTekken, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), "tokenizer: tekken.json: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.new, err, tt.want)
		}
	}
}

func FuzzFromTekken(f *testing.F) {
	f.Add([]byte(smallTekken), "aabb c<s>")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := FromTekken(data)
		if err != nil {
			return
		}
		ids := tok.Encode(text, Options{ParseSpecial: true, AddSpecial: true})
		if !utf8.ValidString(tok.Decode(ids, false)) {
			t.Errorf("Decode(%v) is not valid UTF-8", ids)
		}
	})
}
