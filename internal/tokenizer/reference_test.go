// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/token"
)

// The tokenizers under testdata are of the kinds that models use, trained and asked by tools/tokenizers/fixtures.py.
var fixtureNames = []string{
	"gpt2", "smollm", "llama3", "qwen2", "flags", "llama2", "gemma", "metaspace", "gpt4o", "tekken", "kimi", "qwen35", "deepseek3", "deepseek",
	"splits1", "splits2", "splits3", "bert", "bertcased", "words", "t5", "xlmr", "unibytes",
}

// A reference is one text with what Hugging Face's tokenizers makes of it.
type reference struct {
	Text    []byte     `json:"-"`
	IDs     []token.ID `json:"ids"`
	Around  []token.ID `json:"around"` // the first two IDs with special tokens added
	Decoded string     `json:"decoded"`
	Skipped string     `json:"skipped"` // without special tokens
}

func unzip(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func load(tb testing.TB, name string) *Tokenizer {
	tb.Helper()
	t, err := FromJSON(unzip(tb, name+".json.gz"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func references(tb testing.TB, name string) []reference {
	tb.Helper()
	texts := bytes.Fields(unzip(tb, "texts.jsonl.gz"))
	var out []reference
	for i, line := range bytes.Split(bytes.TrimSpace(unzip(tb, name+".ids.jsonl.gz")), []byte("\n")) {
		var r reference
		if err := json.Unmarshal(texts[i], &r.Text); err != nil {
			tb.Fatal(err)
		}
		// A decoding that is left out is the text itself.
		r.Decoded = repair(string(r.Text))
		r.Skipped = r.Decoded
		if err := json.Unmarshal(line, &r); err != nil {
			tb.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// eachFixture runs check for each tokenizer with its references.
func eachFixture(t *testing.T, check func(t *testing.T, tok *Tokenizer, refs []reference)) {
	for _, name := range fixtureNames {
		t.Run(name, func(t *testing.T) { check(t, load(t, name), references(t, name)) })
	}
}

func TestIDsEqualThoseOfHuggingFace(t *testing.T) {
	eachFixture(t, func(t *testing.T, tok *Tokenizer, refs []reference) {
		for _, r := range refs {
			got := tok.Encode(string(r.Text), Options{ParseSpecial: true})
			if !slices.Equal(got, r.IDs) {
				t.Fatalf("Encode(%+q):\n%s", r.Text, cmp.Diff(r.IDs, got))
			}
			around := tok.Encode(string(r.Text), Options{ParseSpecial: true, AddSpecial: true})
			if around = around[:min(2, len(around))]; !slices.Equal(around, r.Around) {
				t.Fatalf("Encode(%+q) with special tokens begins with %v, want %v", r.Text, around, r.Around)
			}
		}
	})
}

func TestDecodesAsHuggingFace(t *testing.T) {
	eachFixture(t, func(t *testing.T, tok *Tokenizer, refs []reference) {
		for _, r := range refs {
			if got := tok.Decode(r.IDs, false); got != r.Decoded {
				t.Fatalf("Decode(%v):\ngot  %+q\nwant %+q", r.IDs, got, r.Decoded)
			}
			if got := tok.Decode(r.IDs, true); got != r.Skipped {
				t.Fatalf("Decode(%v) without special tokens:\ngot  %+q\nwant %+q", r.IDs, got, r.Skipped)
			}
		}
	})
}

func TestDecodingUndoesByteLevelEncoding(t *testing.T) {
	for _, name := range []string{"gpt2", "smollm", "llama3"} { // no normalizer, no prefix
		tok := load(t, name)
		for _, r := range references(t, name) {
			want := repair(string(r.Text))
			if got := tok.Decode(tok.Encode(want, Options{}), false); got != want {
				t.Errorf("%s: got %+q, want %+q", name, got, want)
			}
		}
	}
}

func TestSegmentsEncodeAsIfJoined(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	eachFixture(t, func(t *testing.T, tok *Tokenizer, refs []reference) {
		for _, r := range refs {
			text := repair(string(r.Text))
			want := tok.Encode(text, Options{})
			var segs []Segment
			for _, part := range cut(random, text) {
				segs = append(segs, Segment{part, true})
			}
			if got := tok.EncodeSegments(segs, Options{}); !slices.Equal(got, want) {
				t.Fatalf("as data %+q:\n%s", text, cmp.Diff(want, got))
			}
			for i := range segs {
				segs[i].Data = false
			}
			if got := tok.EncodeSegments(segs, Options{}); !slices.Equal(got, r.IDs) {
				t.Fatalf("as template %+q:\n%s", text, cmp.Diff(r.IDs, got))
			}
		}
	})
}

// cut cuts text at random borders of runes.
func cut(random *rand.Rand, text string) []string {
	var parts []string
	for text != "" {
		n := 1 + random.IntN(min(len(text), 20))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		parts = append(parts, text[:n])
		text = text[n:]
	}
	return parts
}

func TestDataNeverBecomesControl(t *testing.T) {
	eachFixture(t, func(t *testing.T, tok *Tokenizer, refs []reference) {
		tok.MarkControl("<think>", "</think>")
		for _, r := range refs {
			for _, id := range tok.Encode(string(r.Text), Options{}) {
				if tok.Kind(id) == token.Control {
					t.Fatalf("Encode(%+q) has control token %q", r.Text, tok.Piece(id))
				}
			}
		}
	})
}

func TestStreamingEqualsDecoding(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	eachFixture(t, func(t *testing.T, tok *Tokenizer, _ []reference) {
		for range 300 {
			ids := make([]token.ID, random.IntN(40))
			for i := range ids {
				ids[i] = token.ID(random.IntN(tok.VocabSize()+20) - 10)
			}
			checkStream(t, tok, ids)
		}
	})
}

// checkStream compares what a Decoder emits for ids with Decode, which differ only in a rune cut off at the end.
func checkStream(tb testing.TB, tok *Tokenizer, ids []token.ID) {
	tb.Helper()
	d := tok.NewDecoder(nil, false)
	streamed := ""
	for _, id := range ids {
		part := d.Add(id)
		if !utf8.ValidString(part) {
			tb.Fatalf("Add(%d) = %q, not valid UTF-8, in %v", id, part, ids)
		}
		streamed += part
	}
	streamed += d.Flush()
	whole := tok.Decode(ids, false)
	if whole != streamed && whole != streamed+"\uFFFD" {
		tb.Fatalf("streaming %v:\ngot  %+q\nwant %+q", ids, streamed, whole)
	}
}
