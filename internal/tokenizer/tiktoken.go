// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// A tiktokenKind is what a model's own program knows of its tiktoken file: the file has neither pattern nor special tokens.
type tiktokenKind struct {
	classes  []string // tokenizer_class in tokenizer_config.json
	scan     splitter
	nfc      bool
	special  []string // those behind the pieces, one after the other; "" for a reserved one
	reserved string   // name of a reserved token, with %d for its number
	byID     bool     // the number of a reserved token is its ID, not its place among the reserved ones
	eos      string
	prefix   []string // put before a text; the first is BOS
}

// tiktokenKinds are those of Qwen 1, Kimi and Moonlight, GLM-4, and Llama 3.
var tiktokenKinds = []tiktokenKind{
	{
		classes: []string{"QWenTokenizer"}, scan: scanQwen2, nfc: true, eos: "<|endoftext|>",
		special:  append([]string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, make([]string, 205)...),
		reserved: "<|extra_%d|>",
	},
	{
		classes: []string{"TikTokenTokenizer"}, scan: scanKimi, special: make([]string, 258), reserved: "<|reserved_token_%d|>", byID: true,
	},
	{classes: []string{"ChatGLM4Tokenizer"}, scan: scanLlama3, eos: "<|endoftext|>", prefix: []string{"[gMASK]", "<sop>"}},
	{
		classes: []string{"PreTrainedTokenizerFast", "LlamaTokenizer", "Llama3Tokenizer"}, scan: scanLlama3,
		prefix: []string{"<|begin_of_text|>"}, eos: "<|end_of_text|>", reserved: "<|reserved_special_token_%d|>",
		special: append([]string{
			"<|begin_of_text|>", "<|end_of_text|>", "", "", "<|finetune_right_pad_id|>", "", "<|start_header_id|>", "<|end_header_id|>",
			"<|eom_id|>", "<|eot_id|>", "<|python_tag|>",
		}, make([]string, 245)...),
	},
}

// IsTiktoken reports whether a file is tiktoken's and not SentencePiece's: both are called tokenizer.model.
func IsTiktoken(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	_, _, err := tiktokenLine(line)
	return err == nil
}

// FromTiktoken reads tiktoken's file of pieces in base64 with their ranks. What else there is to know follows from the tokenizer_class of
// the tokenizer_config.json beside it, and its added_tokens_decoder.
func FromTiktoken(data, tokenizerConfig []byte) (*Tokenizer, error) {
	loadClasses()
	config, err := parseConfig(tokenizerConfig)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer_config.json: %w", err)
	}
	kind, err := tiktokenOf(config)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tiktoken file: %w", err)
	}
	r := ranked{}
	if r.pieces, err = tiktokenPieces(data); err != nil {
		return nil, fmt.Errorf("tokenizer: tiktoken file: %w", err)
	}
	if r.added, err = kind.addedTokens(config, len(r.pieces)); err != nil {
		return nil, fmt.Errorf("tokenizer: tiktoken file: %w", err)
	}
	t := r.tokenizer()
	t.pre = steps(kind.scan)
	if kind.nfc {
		t.normal = normalizers{nfc}
	}
	if id := slices.Index(t.pieces, kind.eos); id >= 0 && kind.eos != "" {
		t.eos = token.ID(id)
	}
	for _, name := range kind.prefix {
		id := slices.Index(t.pieces, name)
		if id < 0 {
			return nil, fmt.Errorf("tokenizer: tiktoken file: tokenizer_config.json: added_tokens_decoder has no %s", name)
		}
		t.prefix = append(t.prefix, token.ID(id))
	}
	if len(t.prefix) > 0 {
		t.bos = t.prefix[0]
	}
	if err := t.configure(config); err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer_config.json: %w", err)
	}
	if t.eos != token.None {
		t.eog = []token.ID{t.eos}
	}
	t.finish()
	return t, nil
}

// tiktokenOf finds out which model's file it is.
func tiktokenOf(config *ordjson.Object) (tiktokenKind, error) {
	class, _ := config.String("tokenizer_class")
	var known []string
	for _, k := range tiktokenKinds {
		if slices.Contains(k.classes, strings.TrimSpace(class)) {
			return k, nil
		}
		known = append(known, k.classes...)
	}
	return tiktokenKind{}, fmt.Errorf("its pattern is not known for tokenizer_class %.80q in tokenizer_config.json, want one of %q", class, known)
}

// tiktokenPieces reads the pieces by rank.
func tiktokenPieces(data []byte) ([]string, error) {
	var pieces []string
	for number := 1; len(data) > 0; number++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		if line = bytes.TrimRight(line, "\r"); len(line) == 0 {
			continue
		}
		piece, rank, err := tiktokenLine(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", number, err)
		case rank != len(pieces):
			return nil, fmt.Errorf("line %d: rank %d, want %d", number, rank, len(pieces))
		case rank >= maxVocab:
			return nil, fmt.Errorf("more than %d pieces", maxVocab)
		}
		pieces = append(pieces, spell(piece))
	}
	if len(pieces) == 0 {
		return nil, errors.New("it has no pieces")
	}
	return pieces, nil
}

var errNotRanked = errors.New("want a piece in base64 and its rank")

// tiktokenLine reads a piece and its rank.
func tiktokenLine(line []byte) ([]byte, int, error) {
	text, number, ok := strings.Cut(string(line[:min(len(line), 1<<16)]), " ")
	piece, err := base64.StdEncoding.DecodeString(text)
	rank, bad := strconv.ParseUint(strings.TrimSpace(number), 10, 31)
	if !ok || err != nil || bad != nil || len(piece) == 0 {
		return nil, 0, errNotRanked
	}
	return piece, int(rank), nil
}

// addedTokens returns the special tokens behind n pieces: those that the configuration names, then the model's own.
func (k *tiktokenKind) addedTokens(config *ordjson.Object, n int) ([]addedToken, error) {
	entries, _ := config.Object("added_tokens_decoder")
	var all []addedToken
	taken, names := map[token.ID]bool{}, map[string]bool{}
	for key, value := range entries.All() {
		where := "tokenizer_config.json: added_tokens_decoder." + key
		a, err := readAdded(value, where)
		if err != nil {
			return nil, err
		}
		if a.id, err = parseID(key); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if int(a.id) < n || int(a.id) >= n+1<<16 || taken[a.id] || names[a.content] || a.content == "" {
			return nil, fmt.Errorf("%s: want a text of its own, and an ID behind %d pieces", where, n)
		}
		a.normalized = false
		taken[a.id], names[a.content] = true, true
		all = append(all, a)
	}
	reserved := 0
	for i, name := range k.special {
		id := token.ID(n + i)
		if name == "" {
			number := reserved
			if k.byID {
				number = int(id)
			}
			name = fmt.Sprintf(k.reserved, number)
			reserved++
		}
		if !taken[id] && !names[name] {
			all = append(all, addedToken{id: id, content: name, special: true})
		}
	}
	return all, nil
}
