// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// VocabFiles are the files of a tokenizer that has no tokenizer.json. All but the first may be nil.
type VocabFiles struct {
	Vocab  []byte // vocab.json, or vocab.txt
	Merges []byte // merges.txt
	Added  []byte // added_tokens.json: texts to IDs
	Config []byte // tokenizer_config.json
}

// byteLevelClasses are the classes of tokenizer_config.json whose vocab.json and merges.txt are read, without "Fast" at the end. What such
// files lack follows from the class: the pattern, the normalisation, the special tokens.
var byteLevelClasses = map[string]struct {
	normalizer, pattern string
	special             map[string]any // unless the configuration names others
}{
	"GPT2Tokenizer":    {special: map[string]any{"bos_token": endOfText, "eos_token": endOfText, "unk_token": endOfText}},
	"CodeGenTokenizer": {special: map[string]any{"bos_token": endOfText, "eos_token": endOfText, "unk_token": endOfText}},
	"Qwen2Tokenizer":   {normalizer: "NFC", pattern: patternQwen2, special: map[string]any{"eos_token": endOfText, "pad_token": endOfText}},
}

const (
	endOfText = "<|endoftext|>"
	bertClass = "BertTokenizer"
)

// FromVocabFiles reads vocab.json with merges.txt, or vocab.txt.
func FromVocabFiles(f VocabFiles) (*Tokenizer, error) {
	data, config, err := f.JSON()
	if err != nil {
		return nil, err
	}
	return FromJSON(data, config)
}

// JSON makes of the files the tokenizer.json that transformers makes of them, and a tokenizer_config.json with what follows from its class.
func (f *VocabFiles) JSON() (data, tokenizerConfig []byte, err error) {
	config, err := parseConfig(f.Config)
	if err != nil {
		return nil, nil, fmt.Errorf("tokenizer: tokenizer_config.json: %w", err)
	}
	config = config.Clone()
	whole := f.byteLevel
	if f.Merges == nil {
		whole = f.wordPiece
	}
	parts, err := whole(config)
	if err != nil {
		return nil, nil, fmt.Errorf("tokenizer: %w", err)
	}
	added, err := f.added(config)
	if err != nil {
		return nil, nil, fmt.Errorf("tokenizer: added_tokens.json: %w", err)
	}
	own, _ := parts["added_tokens"].([]any)
	parts["added_tokens"] = append(own, added...)
	if data, err = json.Marshal(parts); err != nil {
		return nil, nil, fmt.Errorf("tokenizer: %w", err)
	}
	return data, ordjson.Append(nil, config), nil
}

// tokenizerClass returns the tokenizer_class if it is one of known.
func tokenizerClass(config *ordjson.Object, files string, known []string) (string, error) {
	name, _ := config.String("tokenizer_class")
	name = strings.TrimSuffix(name, "Fast")
	if !slices.Contains(known, name) {
		slices.Sort(known)
		return "", fmt.Errorf("%s: their pattern is not known for tokenizer_class %.80q in tokenizer_config.json, want one of %q", files, name, known)
	}
	return name, nil
}

// byteLevel makes a byte-level BPE of vocab.json and merges.txt.
func (f *VocabFiles) byteLevel(config *ordjson.Object) (map[string]any, error) {
	var known []string
	for name := range byteLevelClasses {
		known = append(known, name)
	}
	name, err := tokenizerClass(config, "vocab.json and merges.txt", known)
	if err != nil {
		return nil, err
	}
	c := byteLevelClasses[name]
	setMissing(config, c.special)
	prefix, err := boolOf(config, "add_prefix_space", false)
	if err != nil {
		return nil, fmt.Errorf("tokenizer_config.json: %w", err)
	}
	merges, err := readMergeLines(f.Merges)
	if err != nil {
		return nil, fmt.Errorf("merges.txt: %w", err)
	}
	r := &jsonReader{data: f.Vocab}
	if _, err := r.skip(); err != nil || r.peek() != 0 {
		return nil, errors.New("vocab.json: not one JSON object")
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": prefix, "use_regex": c.pattern == ""}
	parts := map[string]any{
		"pre_tokenizer": level, "decoder": map[string]any{"type": "ByteLevel"},
		"model": map[string]any{"type": "BPE", "vocab": json.RawMessage(f.Vocab), "merges": merges},
	}
	if c.pattern != "" {
		split := map[string]any{"type": "Split", "pattern": map[string]any{"Regex": c.pattern}, "behavior": "Isolated", "invert": false}
		parts["pre_tokenizer"] = map[string]any{"type": "Sequence", "pretokenizers": []any{split, level}}
	}
	if c.normalizer != "" {
		parts["normalizer"] = map[string]any{"type": c.normalizer}
	}
	return parts, nil
}

// setMissing sets what the configuration leaves out.
func setMissing(config *ordjson.Object, values map[string]any) {
	for key, value := range values {
		if _, ok := config.Get(key); !ok {
			config.Set(key, value)
		}
	}
}

// readMergeLines returns the merges of a merges.txt, whose first line may tell a version.
func readMergeLines(data []byte) ([]string, error) {
	merges := make([]string, 0, bytes.Count(data, []byte("\n")))
	for number := 1; len(data) > 0; number++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		if len(line) == 0 || number == 1 && bytes.HasPrefix(line, []byte("#version")) {
			continue
		}
		if bytes.Count(line, []byte(" ")) != 1 {
			return nil, fmt.Errorf("line %d: %w", number, errNotPair)
		}
		merges = append(merges, string(line))
	}
	return merges, nil
}

// wordPiece makes BERT's WordPiece of a vocab.txt.
func (f *VocabFiles) wordPiece(config *ordjson.Object) (map[string]any, error) {
	if _, err := tokenizerClass(config, "vocab.txt", []string{bertClass}); err != nil {
		return nil, err
	}
	special := map[string]any{
		"unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]",
	}
	setMissing(config, special)
	vocab := map[string]int{}
	for id, line := range bytes.Split(bytes.TrimRight(f.Vocab, "\n"), []byte("\n")) {
		if id >= maxVocab {
			return nil, fmt.Errorf("vocab.txt: more than %d pieces", maxVocab)
		}
		vocab[string(bytes.TrimRight(line, "\r"))] = id
	}
	added, around := []any{}, map[string]any{}
	for name := range special {
		text, _ := contentOf(config, name)
		id, ok := vocab[text]
		if !ok {
			return nil, fmt.Errorf("vocab.txt: %s %.80q is not in the vocabulary", name, text)
		}
		around[name] = []any{text, id}
		added = append(added, map[string]any{"id": id, "content": text, "special": true, "normalized": false})
	}
	normalizer := map[string]any{"type": "BertNormalizer", "clean_text": true}
	for key, name := range map[string]string{"lowercase": "do_lower_case", "handle_chinese_chars": "tokenize_chinese_chars"} {
		on, err := boolOf(config, name, true)
		if err != nil {
			return nil, fmt.Errorf("tokenizer_config.json: %w", err)
		}
		normalizer[key] = on
	}
	normalizer["strip_accents"], _ = config.Get("strip_accents")
	unknown, _ := contentOf(config, "unk_token")
	return map[string]any{
		"added_tokens":   added,
		"normalizer":     normalizer,
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "BertProcessing", "sep": around["sep_token"], "cls": around["cls_token"]},
		"decoder":        map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model": map[string]any{
			"type": "WordPiece", "vocab": vocab, "unk_token": unknown, "continuing_subword_prefix": "##", "max_input_chars_per_word": maxWordRunes,
		},
	}, nil
}

// added returns the entries of added_tokens.json in the form of tokenizer.json.
func (f *VocabFiles) added(config *ordjson.Object) ([]any, error) {
	if f.Added == nil {
		return nil, nil
	}
	special := map[string]bool{}
	more, _ := config.Array("additional_special_tokens")
	for _, v := range more {
		text, ok := v.(string)
		if o, isObject := v.(*ordjson.Object); isObject {
			text, ok = o.String("content")
		}
		special[text] = ok
	}
	list := []any{}
	r := &jsonReader{data: f.Added}
	err := r.object(func(key []byte) error {
		id, err := r.integer()
		list = append(list, map[string]any{
			"id": id, "content": string(key), "special": special[string(key)], "normalized": !special[string(key)],
		})
		return err
	})
	if err == nil && r.peek() != 0 {
		err = r.fail("something follows the end")
	}
	return list, err
}
