// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "strings"

// A pretokenizer splits a piece into words: it rewrites the piece, then each splitter cuts the words of the one before.
type pretokenizer struct {
	replaceSpace string // put in place of each space, if not empty
	prefix       string // put before a piece that does not begin with it, if not empty
	firstOnly    bool   // only before a piece that begins the text
	splitters    []splitter
}

// prepare rewrites a piece. first is true for one that begins the text.
func (p *pretokenizer) prepare(s string, first bool) string {
	if p.replaceSpace != "" {
		s = strings.ReplaceAll(s, " ", p.replaceSpace)
	}
	if p.prefix != "" && s != "" && (first || !p.firstOnly) && !strings.HasPrefix(s, p.prefix) {
		s = p.prefix + s
	}
	return s
}

// A pattern is a regular expression that models split by, and the scanner that does the same.
type pattern struct {
	regex string
	scan  splitter
}

// patterns are the expressions known, as they are spelled in tokenizer.json files.
var patterns = []pattern{
	{`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, scanGPT2},
	{`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, scanLlama3},
	{`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`, scanQwen2},
}

// A named is a pre-tokenizer under the name that GGUF files give it, with what goes with it.
type named struct {
	names        []string
	splitters    []splitter
	nfc          bool // the family's tokenizer.json normalises; GGUF files don't say so
	ignoreMerges bool
	addBOS       bool // where the file leaves it open
}

// namedPretokenizers are those of byte-level GGUF files.
var namedPretokenizers = []named{
	{names: []string{"gpt-2"}, splitters: []splitter{scanGPT2}},
	{names: []string{"smollm"}, splitters: []splitter{scanDigits, scanGPT2}},
	{names: []string{"llama-bpe", "llama3", "llama-v3"}, splitters: []splitter{scanLlama3}, ignoreMerges: true, addBOS: true},
	{names: []string{"qwen2", "deepseek-r1-qwen"}, splitters: []splitter{scanQwen2}, nfc: true},
}
