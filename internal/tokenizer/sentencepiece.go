// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// A sentencePiece is a tokenizer.model of SentencePiece (arXiv:1808.06226) taken apart. Numbers of fields and defaults are those of
// its sentencepiece_model.proto.
type sentencePiece struct {
	vocab        Vocab
	kind         uint64 // 1: Unigram, 2: BPE
	prefix, trim bool   // add_dummy_prefix, remove_extra_whitespaces
	unusual      string // a part that is not supported, "" if there is none
}

// idsOf are the classes of tokenizer_config.json whose IDs are those of tokenizer.model. Others move them: XLM-R's by one.
var idsOf = []string{
	"LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "T5Tokenizer", "MistralTokenizer", "BaichuanTokenizer", "InternLMTokenizer",
	"InternLM2Tokenizer", "YiTokenizer", "PreTrainedTokenizer",
}

// FromSentencePiece reads SentencePiece's tokenizer.model, BPE or Unigram, and the tokenizer_config.json beside it, which may be nil.
func FromSentencePiece(model, tokenizerConfig []byte) (*Tokenizer, error) {
	loadClasses()
	config, err := parseConfig(tokenizerConfig)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer_config.json: %w", err)
	}
	t, err := fromSentencePiece(model, config)
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer.model: %w", err)
	}
	if err := t.configure(config); err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer_config.json: %w", err)
	}
	t.eog = nil
	if t.eos != token.None {
		t.eog = []token.ID{t.eos}
	}
	t.finish()
	return t, nil
}

// SentencePieceVocab takes a tokenizer.model apart, and adds what the tokenizer_config.json beside it adds. FromSentencePiece builds
// the tokenizer of it.
func SentencePieceVocab(model, tokenizerConfig []byte) (Vocab, error) {
	config, err := parseConfig(tokenizerConfig)
	if err != nil {
		return Vocab{}, fmt.Errorf("tokenizer: tokenizer_config.json: %w", err)
	}
	f, _, err := readSentencePiece(model, config)
	if err != nil {
		return Vocab{}, fmt.Errorf("tokenizer: tokenizer.model: %w", err)
	}
	return f.vocab, nil
}

// readSentencePiece reads the model, and gives the tokens that the configuration adds.
func readSentencePiece(model []byte, config *ordjson.Object) (*sentencePiece, map[token.ID]addedToken, error) {
	if class, _ := config.String("tokenizer_class"); class != "" && !slices.Contains(idsOf, strings.TrimSuffix(class, "Fast")) {
		return nil, nil, fmt.Errorf("tokenizer_class %.80q: which IDs it gives the pieces is not known, want one of %q", class, idsOf)
	}
	f := &sentencePiece{vocab: NewVocab(), kind: 1, prefix: true, trim: true}
	f.vocab.UNK, f.vocab.BOS, f.vocab.EOS = 0, 1, 2
	if err := f.read(model); err != nil {
		return nil, nil, err
	}
	flags, err := f.addTokens(config)
	if err == nil {
		err = checkVocab(&f.vocab)
	}
	return f, flags, err
}

func fromSentencePiece(model []byte, config *ordjson.Object) (*Tokenizer, error) {
	f, flags, err := readSentencePiece(model, config)
	if err != nil {
		return nil, err
	}
	build := fromLlama
	if f.vocab.Model == "t5" {
		build = fromT5
	}
	t, err := build(&f.vocab)
	if err != nil {
		return nil, err
	}
	for i := range t.added {
		if a, ok := flags[t.added[i].id]; ok {
			t.added[i].lstrip, t.added[i].rstrip, t.added[i].singleWord = a.lstrip, a.rstrip, a.singleWord
		}
	}
	legacy, err := boolOf(config, "legacy", false)
	if err != nil {
		return nil, err
	}
	if f.kind == 2 && f.prefix && !f.trim && !legacy {
		t.prefixFirstOnly()
	}
	return t, nil
}

// prefixFirstOnly keeps the mark from pieces that follow an added token: SentencePiece puts one before the whole text. Transformers
// calls it legacy to do so before each piece.
func (t *Tokenizer) prefixFirstOnly() {
	t.normal = slices.DeleteFunc(t.normal, func(n normalizer) bool { _, ok := n.(prepender); return ok })
	mark := func(s string, first bool) string {
		if first && s != "" {
			return spaceMark + s
		}
		return s
	}
	t.pre = append([]preStep{{rewrite: mark}}, t.pre...)
}

// read takes the file apart.
func (f *sentencePiece) read(model []byte) error {
	err := protoFields(model, func(p protoField) error {
		switch p.number {
		case 1:
			return f.piece(p.data)
		case 2:
			return protoFields(p.data, f.trainer)
		case 3:
			return protoFields(p.data, f.normalizer)
		case 5:
			return protoFields(p.data, func(p protoField) error {
				if p.number == 2 && len(p.data) > 0 {
					f.unusual = "a map of characters for decoding"
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range []*token.ID{&f.vocab.BOS, &f.vocab.EOS, &f.vocab.PAD, &f.vocab.UNK} {
		if int(*id) >= len(f.vocab.Tokens) {
			*id = token.None
		}
	}
	switch f.kind {
	case 1:
		f.vocab.Model = "t5"
	case 2:
		f.vocab.Model = "llama"
	default:
		f.unusual = "a model of whole words or single characters"
	}
	if f.unusual != "" {
		return fmt.Errorf("%s is not supported", f.unusual)
	}
	f.vocab.AddSpacePrefix, f.vocab.RemoveExtraSpaces = &f.prefix, &f.trim
	return nil
}

// piece reads an entry of the vocabulary.
func (f *sentencePiece) piece(message []byte) error {
	text, score, kind := "", float32(0), uint64(1)
	err := protoFields(message, func(p protoField) error {
		switch p.number {
		case 1:
			text = string(p.data)
		case 2:
			score = p.float()
		case 3:
			kind = p.bits
		}
		return nil
	})
	v := &f.vocab
	switch {
	case err != nil:
		return err
	case len(v.Tokens) >= maxVocab:
		return fmt.Errorf("more than %d pieces", maxVocab)
	case !utf8.ValidString(text):
		return fmt.Errorf("piece %d is not valid UTF-8", len(v.Tokens))
	case math.IsNaN(float64(score)):
		return fmt.Errorf("the score of piece %d is not a number", len(v.Tokens))
	case kind < 1 || kind > 6:
		return fmt.Errorf("piece %d has unknown type %d", len(v.Tokens), kind)
	}
	v.Tokens, v.Scores, v.Types = append(v.Tokens, text), append(v.Scores, score), append(v.Types, int32(kind)) // as token.Kind
	return nil
}

// trainer reads a field of trainer_spec.
func (f *sentencePiece) trainer(p protoField) error {
	ids := map[int]*token.ID{40: &f.vocab.UNK, 41: &f.vocab.BOS, 42: &f.vocab.EOS, 43: &f.vocab.PAD}
	switch p.number {
	case 3:
		f.kind = p.bits
	case 24:
		if p.bits != 0 {
			f.unusual = "white space at the end of pieces"
		}
	case 40, 41, 42, 43:
		id := int32(p.bits) // -1: there is none
		*ids[p.number] = token.ID(max(id, int32(token.None)))
	}
	return nil
}

// normalizer reads a field of normalizer_spec.
func (f *sentencePiece) normalizer(p protoField) error {
	switch p.number {
	case 2:
		f.vocab.CharsMap = p.data
	case 3:
		f.prefix = p.bits != 0
	case 4:
		f.trim = p.bits != 0
	case 5:
		if p.bits == 0 {
			f.unusual = "white space that is not marked"
		}
	}
	return nil
}

// addTokens adds what tokenizer_config.json adds to the vocabulary, and returns its entries by ID.
func (f *sentencePiece) addTokens(config *ordjson.Object) (map[token.ID]addedToken, error) {
	entries, _ := config.Object("added_tokens_decoder")
	all, v := map[token.ID]addedToken{}, &f.vocab
	limit := token.ID(2*len(v.Tokens) + 1<<16)
	for key, value := range entries.All() {
		where := "tokenizer_config.json: added_tokens_decoder." + key
		a, err := readAdded(value, where)
		if err != nil {
			return nil, err
		}
		if a.id, err = parseID(key); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if a.id >= limit {
			return nil, fmt.Errorf("%s: ID %d in a vocabulary of %d pieces", where, a.id, len(v.Tokens))
		}
		for int(a.id) >= len(v.Tokens) {
			v.Tokens, v.Scores, v.Types = append(v.Tokens, ""), append(v.Scores, 0), append(v.Types, int32(token.Unused))
		}
		if was := v.Tokens[a.id]; was != "" && was != a.content {
			return nil, fmt.Errorf("%s: %q is %q already", where, a.content, was)
		}
		all[a.id] = a
		v.Tokens[a.id] = a.content
		switch kind := token.Kind(v.Types[a.id]); {
		case a.special && !isControl(kind):
			v.Types[a.id] = int32(token.Control)
		case !a.special && kind != token.Byte:
			v.Types[a.id] = int32(token.UserDefined)
		}
	}
	return all, nil
}
