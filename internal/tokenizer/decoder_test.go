// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/token"
)

// bytesAs returns the tokens of single bytes that spell s.
func bytesAs(tb testing.TB, tok *Tokenizer, s string) []token.ID {
	tb.Helper()
	var ids []token.ID
	for i := range len(s) {
		id := tok.model.(*bpe).byteIDs[s[i]]
		if id == noID {
			tb.Fatalf("no token for byte %#x", s[i])
		}
		ids = append(ids, token.ID(id))
	}
	return ids
}

func TestDecoderHoldsBackUnfinishedRunes(t *testing.T) {
	for _, name := range []string{"gpt2", "gemma"} {
		tok := load(t, name)
		for _, tt := range []struct {
			bytes string
			want  []string // of each Add
		}{
			{"a😀b", []string{"a", "", "", "", "😀", "b"}},
			{"\xf0\x9fa", []string{"", "", "\uFFFDa"}},
			{"\xf0\x9f\xc3\xa4", []string{"", "", "\uFFFD", "ä"}},
			{"\xff\x80", []string{"\uFFFD", "\uFFFD"}},
			{"\xed\xa0\x80", []string{"", "\uFFFD\uFFFD", "\uFFFD"}},
			{"\uFFFD", []string{"", "", "\uFFFD"}},
			{"x\xe2\x82", []string{"x", "", ""}},
		} {
			d := tok.NewDecoder(nil, false)
			var got []string
			for _, id := range bytesAs(t, tok, tt.bytes) {
				got = append(got, d.Add(id))
			}
			if last := d.Flush(); last != "" {
				t.Errorf("%s: %q: Flush() = %q", name, tt.bytes, last)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q:\n%s", name, tt.bytes, cmp.Diff(tt.want, got))
			}
		}
	}
}

func TestDecoderKeepsTheLeadingSpaceAfterAPrompt(t *testing.T) {
	tok := load(t, "llama2")
	bos, _ := tok.ID("<s>")
	prompt := tok.Encode("The", Options{})
	word := tok.Encode("mill", Options{}) // begins with the space mark
	for _, tt := range []struct {
		name string
		tail []token.ID
		want string
	}{
		{"begins a text", nil, "mill"},
		{"begins a text after BOS", []token.ID{bos}, "mill"},
		{"goes on after words", prompt, " mill"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := tok.NewDecoder(tt.tail, true)
			got := ""
			for _, id := range word {
				got += d.Add(id)
			}
			if got += d.Flush(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDecoderFinishesARuneOfThePrompt(t *testing.T) {
	tok := load(t, "gpt2")
	ids := bytesAs(t, tok, "😀")
	d := tok.NewDecoder(ids[:2], false)
	if got := d.Add(ids[2]) + d.Add(ids[3]); got != "😀" {
		t.Errorf("got %q", got)
	}
}

func FuzzDecoder(f *testing.F) {
	names := []string{"gpt2", "gemma", "metaspace"}
	var toks []*Tokenizer
	for _, name := range names {
		toks = append(toks, load(f, name))
	}
	f.Add([]byte{1, 2, 3, 200, 201, 255, 0, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, tok := range toks {
			var ids []token.ID
			for i := 0; i+1 < len(data); i += 2 {
				ids = append(ids, token.ID(int(data[i])|int(data[i+1])<<8)%token.ID(tok.VocabSize()))
			}
			checkStream(t, tok, ids)
		}
	})
}
