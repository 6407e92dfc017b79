// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
)

func TestTruncationAndPaddingOfTokenizerJSONAreIgnored(t *testing.T) {
	file := strings.Replace(small, `"truncation":{"max_length":2},"padding":null`,
		`"truncation":{"direction":"Right","max_length":2,"strategy":"LongestFirst","stride":0},"padding":{"strategy":{"Fixed":12},"direction":"Right","pad_id":0,"pad_token":"a"}`, 1)
	tok, err := FromJSON([]byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tok.Encode("ab ab ab ab", Options{AddSpecial: true}), []token.ID{5, 3, 4, 4, 4}; !slices.Equal(got, want) {
		t.Errorf("Encode = %v, want %v: neither cut to 2 tokens nor filled to 12", got, want)
	}
}

func TestPrecompiledMapGoesByGraphemeAsInHuggingFace(t *testing.T) {
	normal := load(t, "t5").normal
	for text, want := range map[string]string{
		"\ufb01":             "fi",
		"\u2460":             "1",
		"\u1100\u1161":       "\u1100\u1161", // SentencePiece itself makes one syllable of them
		"\u1100\u1161\u11a8": "\u1100\u1161\u11a8",
		// The rule for U+0E33 counts for the whole cluster, which a control character before it does not join.
		"\u0e33\u0301":           "\u0e4d\u0e32",
		"a\u0e33\u0301":          "a\u0e4d\u0e32\u0301",
		"\x00\u0e33\u0301":       "\x00\u0e4d\u0e32",
		"\U000e0001\u0e33\u0301": "\U000e0001\u0e4d\u0e32",
		"\U0001d173\u0e33\u0301": "\U0001d173\u0e4d\u0e32",
	} {
		if got := normal.apply(text, false); got != want {
			t.Errorf("%+q becomes %+q, want %+q", text, got, want)
		}
	}
}

// The IDs are those of tokenizers 0.23.3, which keeps the place of a character that the map drops.
func TestTextBehindADroppedCharacterIsStillTheBeginning(t *testing.T) {
	tok := load(t, "unibytes")
	want := tok.Encode("Camel", Options{})
	for _, text := range []string{"\u200bCamel", "\ufeff\u200bCamel", "\u00adCamel"} {
		if got := tok.Encode(text, Options{}); !slices.Equal(got, want) {
			t.Errorf("Encode(%+q) = %v, want %v", text, got, want)
		}
	}
	if got := tok.Encode("\u200b", Options{}); len(got) > 0 {
		t.Errorf("a dropped character alone becomes %v", got)
	}
}

func TestLlama3FilesThatAddNoBOSGetNone(t *testing.T) {
	on, off := true, false
	v := vocabOf(t, "llama3", "gpt2", "llama-bpe")
	v.BOS = token.ID(len(v.Tokens) - 1)
	for _, tt := range []struct {
		name string
		add  *bool
		want bool
	}{{"the file says nothing", nil, true}, {"the file says yes", &on, true}, {"the file says no", &off, false}} {
		v.AddBOS = tt.add
		tok, err := FromGGUF(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode("a", Options{AddSpecial: true})[0] == v.BOS; got != tt.want {
			t.Errorf("GGUF, %s: BOS added is %t, want %t", tt.name, got, tt.want)
		}
	}
	const post = `"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<s>":{"ids":[5]}}}`
	for config, file := range map[string]string{
		`{"bos_token":"<s>"}`:                       strings.Replace(small, post, `"post_processor":null`, 1),
		`{"bos_token":"<s>","add_bos_token":false}`: small,
	} {
		tok, err := FromJSON([]byte(file), []byte(config))
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode("a", Options{AddSpecial: true}); !slices.Equal(got, []token.ID{0}) {
			t.Errorf("%s: Encode(a) = %v, want no BOS", config, got)
		}
	}
}
