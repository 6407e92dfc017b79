// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// preTokenizers are the names that GGUF files have for ways to cut text into words: one for each way, the commonest first.
// Those that this build does not know are passed over.
var preTokenizers = []string{
	"llama-bpe", "qwen2", "smollm", "gpt-2", "gpt-4o", "tekken", "deepseek-v3", "deepseek-llm", "qwen35", "dbrx", "stablelm2",
	"minimax-m2", "kimi-k2", "deepseek-coder", "seed-coder", "bailingmoe", "superbpe", "bloom",
}

// likeGPT2 completes a byte-level vocabulary: it finds the pre-tokenizer that gives the words of t, or else one whose
// words give the same tokens: digits that no merge joins may be one word or several.
func likeGPT2(v *tokenizer.Vocab, t *tokenizer.Tokenizer, merges []string) error {
	v.Model, v.Merges = "gpt2", merges
	for _, strict := range []bool{true, false} {
		for _, v.Pre = range preTokenizers {
			got, err := tokenizer.FromGGUF(*v)
			if err == nil && (!strict || slices.Equal(got.Words(probe), t.Words(probe))) && cutAlike(got, t, v.Types, true) {
				return nil
			}
		}
	}
	return errors.New("GGUF files have no name for this pre-tokenizer")
}

// rankedVocabulary makes the vocabulary of a tekken.json or a tiktoken file. Its pieces merge in the order of their own ranks, so
// every pair that makes a piece is a merge, in the order of what they make.
func rankedVocabulary(t *tokenizer.Tokenizer, rows int) (tokenizer.Vocab, error) {
	v := vocabularyOf(t, rows)
	known := make(map[string]bool, len(v.Tokens))
	for id, piece := range v.Tokens {
		if v.Types[id] == int32(token.Normal) {
			known[piece] = true
		}
	}
	v.Merges = []string{}
	for id, piece := range v.Tokens {
		if v.Types[id] != int32(token.Normal) {
			continue
		}
		for at := range piece { // begins of characters
			if at > 0 && known[piece[:at]] && known[piece[at:]] {
				v.Merges = append(v.Merges, piece[:at]+" "+piece[at:])
			}
		}
	}
	if err := likeGPT2(&v, t, v.Merges); err != nil {
		return v, err
	}
	return v, checkTokens(v, t)
}

// sentencePieceVocabulary makes the vocabulary of a tokenizer.model, which has what GGUF files have. Added tokens are found before
// spaces become marks, and spelled so.
func sentencePieceVocabulary(files *bundle.TokenizerFiles, t *tokenizer.Tokenizer, rows int) (tokenizer.Vocab, error) {
	own, err := tokenizer.SentencePieceVocab(files.Data, files.Config)
	if err != nil {
		return own, err
	}
	if own.Model == "llama" && (len(own.CharsMap) > 0 || *own.RemoveExtraSpaces) {
		return own, errors.New("llama.cpp does not rewrite characters or spaces before a BPE of SentencePiece")
	}
	v := vocabularyOf(t, rows)
	v.Model, v.Pre, v.CharsMap, v.AddSpacePrefix, v.RemoveExtraSpaces = own.Model, "default", own.CharsMap, own.AddSpacePrefix, own.RemoveExtraSpaces
	v.Scores = make([]float32, len(v.Tokens))
	for id, piece := range own.Tokens[:min(len(own.Tokens), rows)] {
		if piece == "" {
			continue // a hole between the pieces and the added tokens
		}
		if token.Kind(v.Types[id]) == token.UserDefined {
			piece = strings.ReplaceAll(piece, "▁", " ")
		}
		v.Tokens[id], v.Scores[id] = piece, own.Scores[id]
	}
	if got, err := tokenizer.FromGGUF(v); err != nil || !cutAlike(got, t, v.Types, false) {
		return v, errors.Join(errNotSentencePiece, err)
	}
	return v, checkTokens(v, t)
}

var errNotSentencePiece = errors.New("this tokenizer does not cut text as GGUF files' SentencePiece model does")

// likeSentencePiece completes a vocabulary with byte fallback. GGUF files have a score for each token in place of merges:
// the best score is merged first, so the number of the first merge that makes a token serves.
func likeSentencePiece(v *tokenizer.Vocab, t *tokenizer.Tokenizer, merges []string) error {
	v.Model, v.Pre = "llama", "default"
	rank := make(map[string]int, len(merges))
	for i, merge := range merges {
		left, right, _ := strings.Cut(merge, " ")
		if _, ok := rank[left+right]; !ok {
			rank[left+right] = i
		}
	}
	v.Scores = make([]float32, len(v.Tokens))
	for id, piece := range v.Tokens {
		n, ok := rank[piece]
		switch {
		case v.Types[id] != int32(token.Normal):
			continue
		case !ok:
			n = len(merges) // a single character
		}
		v.Scores[id] = -float32(n)
	}
	if trySwitches(v, t, true, &v.AddSpacePrefix) || trySwitches(v, t, false, &v.AddSpacePrefix) {
		return nil
	}
	return errNotSentencePiece
}

// likeT5 completes a Unigram vocabulary.
func (f *tokenizerFile) likeT5(v *tokenizer.Vocab, t *tokenizer.Tokenizer) error {
	v.Model, v.Pre = "t5", "default"
	var entries [][]any
	if err := json.Unmarshal(f.Model.Vocab, &entries); err != nil {
		return fmt.Errorf("model.vocab: %w", err)
	}
	v.Scores = make([]float32, len(v.Tokens))
	for id, entry := range entries {
		if id < len(v.Scores) && len(entry) == 2 {
			score, _ := entry[1].(float64)
			v.Scores[id] = float32(score)
		}
	}
	var err error
	if v.CharsMap, err = f.charsMap(); err != nil {
		return err
	}
	if trySwitches(v, t, true, &v.AddSpacePrefix, &v.RemoveExtraSpaces) {
		return nil
	}
	return errors.New("this tokenizer does not cut text as GGUF files' Unigram model does")
}

// charsMap finds the map of characters among the normalizers, nil if there is none.
func (f *tokenizerFile) charsMap() ([]byte, error) {
	type step struct {
		Type        string            `json:"type"`
		CharsMap    string            `json:"precompiled_charsmap"`
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	for list := []json.RawMessage{f.Normalizer}; len(list) > 0; list = list[1:] {
		var s step
		if len(list[0]) == 0 {
			continue
		}
		if err := json.Unmarshal(list[0], &s); err != nil {
			return nil, fmt.Errorf("normalizer: %w", err)
		}
		if s.Type == "Precompiled" {
			return base64.StdEncoding.DecodeString(s.CharsMap)
		}
		list = append(list, s.Normalizers...)
	}
	return nil, nil
}

// likeBERT completes a WordPiece vocabulary. GGUF files mark the beginnings of words in place of the continuations.
func likeBERT(v *tokenizer.Vocab, t *tokenizer.Tokenizer) error {
	const mark = "##"
	v.Model, v.Pre = "bert", "default"
	around := t.Encode("a", tokenizer.Options{AddSpecial: true})
	inside := t.Encode("a", tokenizer.Options{})
	if len(around) == len(inside)+2 {
		v.CLS, v.SEP, v.AddSEP = around[0], around[len(around)-1], v.AddEOS
	}
	for id, piece := range v.Tokens {
		rest, continues := strings.CutPrefix(piece, mark)
		switch kind := token.Kind(v.Types[id]); {
		case kind == token.Control || kind == token.Unknown || strings.HasPrefix(piece, "[") && strings.HasSuffix(piece, "]"):
		case continues:
			v.Tokens[id] = rest
		default:
			v.Tokens[id] = "▁" + piece
		}
	}
	if trySwitches(v, t, true, &v.Lowercase, &v.StripAccents) {
		return nil
	}
	return errors.New("this tokenizer does not cut text as GGUF files' WordPiece model does")
}

// trySwitches sets switches of a vocabulary so that it cuts as t does. It reports whether there is such a setting.
//
// Without strict, texts that begin with a space may differ: SentencePiece puts one more before them, and so does who reads
// the file; the newer kind of tokenizer.json does not.
func trySwitches(v *tokenizer.Vocab, t *tokenizer.Tokenizer, strict bool, switches ...**bool) bool {
	for setting := range 1 << len(switches) {
		for i, s := range switches {
			on := setting>>i&1 == 0
			*s = &on
		}
		if got, err := tokenizer.FromGGUF(*v); err == nil && cutAlike(got, t, v.Types, strict) {
			return true
		}
	}
	return false
}

// cutAlike says whether two tokenizers give the same tokens, for a text that has a bit of everything and for the text of
// each ordinary token. Strict is as in trySwitches.
func cutAlike(got, t *tokenizer.Tokenizer, types []int32, strict bool) bool {
	same := func(text string, opt tokenizer.Options) bool {
		if !strict && strings.HasPrefix(text, " ") {
			text = "x" + text
		}
		return slices.Equal(got.Encode(text, opt), t.Encode(text, opt))
	}
	for _, text := range []string{probe, "a", " a", "\n"} {
		if !same(text, tokenizer.Options{AddSpecial: true}) {
			return false
		}
	}
	for id := range min(t.VocabSize(), len(types)) {
		if types[id] == int32(token.Normal) && !same(string(t.Bytes(token.ID(id))), tokenizer.Options{}) {
			return false
		}
	}
	return true
}
