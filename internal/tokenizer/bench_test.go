// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkEncode measures one thread on texts of 64 KiB. SAMPO_TOKENIZER_JSON names a tokenizer.json and SAMPO_TOKENIZER_TEXT a
// text to use in place of the fixtures.
func BenchmarkEncode(b *testing.B) {
	if path := os.Getenv("SAMPO_TOKENIZER_JSON"); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		tok, err := FromJSON(data, nil)
		if err != nil {
			b.Fatal(err)
		}
		benchmarkEncode(b, filepath.Base(path), tok)
		return
	}
	for _, name := range fixtureNames {
		benchmarkEncode(b, name, load(b, name))
	}
}

func benchmarkEncode(b *testing.B, name string, tok *Tokenizer) {
	text := benchmarkText(b)
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for rest := text; rest != ""; {
				n := min(len(rest), 64<<10)
				tok.Encode(rest[:n], Options{})
				rest = rest[n:]
			}
		}
	})
}

func benchmarkText(b *testing.B) string {
	if path := os.Getenv("SAMPO_TOKENIZER_TEXT"); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		return string(data)
	}
	var text []byte
	for _, r := range references(b, "gpt2") {
		text = append(text, r.Text...)
	}
	return repair(string(text))
}

func BenchmarkLoad(b *testing.B) {
	path := os.Getenv("SAMPO_TOKENIZER_JSON")
	data := unzip(b, "gemma.json.gz")
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := FromJSON(data, nil); err != nil {
			b.Fatal(err)
		}
	}
}
