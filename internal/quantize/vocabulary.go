// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// probe is a text that different pre-tokenizers cut differently.
const probe = "Hello, world!  It's they'LL 1 22 333 4444 55555 a_b C++ x=y\n\n\tfunc(a, b) {\r\n  return a+b;\r\n}\n   \n" +
	" naïve café cafe\u0301 Ünï ΑΒΓ привет мир 你好，世界。 こんにちは 안녕 שלום مرحبا हिन्दी ١٢٣ ½ ²  🎉👨‍👩‍👧 … ‘q’ “q” don’t WE'RE I'M" +
	" camelCase HTTPServer v1.2.3 https://a.b/c?d=e&f=1 --flag=\"x\" #tag @user $5.00 100% e.g. ... !!! ??? <b>x</b> a中文b .foo (bar)" +
	" \"It'S\" ABCdef \r\n/\n// 1234567 x1y22 Ⅷ ǅ ᾈ A\u0301B\u0301c \u00a0\u3000z !a?b _c-d@e    end"

// A tokenizerFile is what tokenizer.json says and an open tokenizer does not: how its model was made.
type tokenizerFile struct {
	Model struct {
		Type         string            `json:"type"`
		Vocab        json.RawMessage   `json:"vocab"`
		Merges       []json.RawMessage `json:"merges"`
		ByteFallback bool              `json:"byte_fallback"`
	} `json:"model"`
	Normalizer  json.RawMessage `json:"normalizer"`
	AddedTokens []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
}

// setVocabulary writes the tokenizer of a model.
func setVocabulary(meta *gguf.Metadata, b *bundle.Bundle, dir string) error {
	v, err := folderVocabulary(b, dir)
	if err != nil {
		return err
	}
	for _, id := range b.Defaults.EOS {
		switch {
		case id == v.EOS || int(id) >= len(v.Tokens):
		case v.EOT == token.None:
			v.EOT = id
		case v.EOM == token.None:
			v.EOM = id
		}
	}
	writeVocabulary(meta, &v)
	return nil
}

// folderVocabulary makes the vocabulary of the tokenizer in a folder.
func folderVocabulary(b *bundle.Bundle, dir string) (tokenizer.Vocab, error) {
	files, err := bundle.ReadTokenizerFiles(dir)
	if err != nil {
		return tokenizer.Vocab{}, err
	}
	v, err := vocabularyOfFiles(&files, b.Tokenizer, b.Config.Vocab)
	if err != nil {
		err = fmt.Errorf("%s: %w", files.Name, err)
	}
	return v, err
}

// vocabularyOfFiles makes the vocabulary of t, which was read from files, for an embedding of so many rows.
func vocabularyOfFiles(files *bundle.TokenizerFiles, t *tokenizer.Tokenizer, rows int) (tokenizer.Vocab, error) {
	if older, ok := files.Vocab(); ok {
		data, _, err := older.JSON()
		if err != nil {
			return tokenizer.Vocab{}, err
		}
		return vocabulary(data, t, rows)
	}
	switch {
	case files.Name == "tokenizer.json":
		return vocabulary(files.Data, t, rows)
	case files.Name == "tekken.json", files.IsTiktoken():
		return rankedVocabulary(t, rows)
	}
	return sentencePieceVocabulary(files, t, rows)
}

// vocabulary makes the vocabulary of a tokenizer that was read from data, for an embedding of so many rows. It fails for
// tokenizers that GGUF files cannot tell of: what it makes must cut a probe, and what spells each of its tokens, as the
// original does.
func vocabulary(data []byte, t *tokenizer.Tokenizer, rows int) (tokenizer.Vocab, error) {
	var file tokenizerFile
	if err := json.Unmarshal(data, &file); err != nil {
		return tokenizer.Vocab{}, err
	}
	v := vocabularyOf(t, rows)
	file.setTypes(&v)
	if err := file.complete(&v, t); err != nil {
		return v, err
	}
	return v, checkTokens(v, t)
}

// checkTokens refuses tokens that GGUF files cannot have.
func checkTokens(v tokenizer.Vocab, t *tokenizer.Tokenizer) error {
	if err := checkApart(v); err != nil {
		return err
	}
	return checkAdded(v, t)
}

// checkApart refuses tokens that would be spelled alike, which llama.cpp does not read.
func checkApart(v tokenizer.Vocab) error {
	ids := make(map[string]int, len(v.Tokens))
	for id, piece := range v.Tokens {
		if other, ok := ids[piece]; ok {
			return fmt.Errorf("tokens %d and %d would both be spelled %q in a GGUF file", other, id, piece)
		}
		ids[piece] = id
	}
	return nil
}

// complete fills in what depends on the kind of model.
func (f *tokenizerFile) complete(v *tokenizer.Vocab, t *tokenizer.Tokenizer) error {
	switch kind := f.kind(); kind {
	case "WordPiece":
		return likeBERT(v, t)
	case "Unigram":
		return f.likeT5(v, t)
	case "BPE":
	default:
		return fmt.Errorf("a model of type %q cannot be written as GGUF, want BPE, Unigram or WordPiece", kind)
	}
	merges, err := f.merges()
	if err != nil {
		return err
	}
	if f.Model.ByteFallback {
		return likeSentencePiece(v, t, merges)
	}
	return likeGPT2(v, t, merges)
}

// checkAdded refuses added tokens that are found in other places than those of GGUF files: those that must be whole words,
// that take the spaces around them, or that are found in normalised text.
func checkAdded(v tokenizer.Vocab, t *tokenizer.Tokenizer) error {
	got, err := tokenizer.FromGGUF(v)
	if err != nil {
		return err
	}
	for id, piece := range v.Tokens {
		if v.Types[id] != int32(token.UserDefined) || t.Kind(token.ID(id)) == token.Control {
			continue // what the program takes for a control token is one in GGUF files, too
		}
		for _, text := range []string{"x" + piece + "y", "x " + piece + " y"} {
			if !slices.Equal(got.Encode(text, tokenizer.Options{}), t.Encode(text, tokenizer.Options{})) {
				return fmt.Errorf("GGUF files cannot tell where the added token %q is found (single_word, lstrip, rstrip, normalized)", piece)
			}
		}
	}
	return nil
}

// kind is the type of the model, which older files leave out.
func (f *tokenizerFile) kind() string {
	switch {
	case f.Model.Type != "":
		return f.Model.Type
	case f.Model.Merges == nil && len(f.Model.Vocab) > 0 && f.Model.Vocab[0] == '[':
		return "Unigram"
	}
	return "BPE"
}

// merges gives the merges as "left right".
func (f *tokenizerFile) merges() ([]string, error) {
	out := make([]string, len(f.Model.Merges))
	for i, raw := range f.Model.Merges {
		var pair []string
		if json.Unmarshal(raw, &out[i]) == nil {
			continue
		}
		if err := json.Unmarshal(raw, &pair); err != nil || len(pair) != 2 {
			return nil, fmt.Errorf("model.merges[%d] is no pair", i)
		}
		out[i] = pair[0] + " " + pair[1]
	}
	return out, nil
}

// setTypes sets the types of added tokens. Some that their file does not call special are so in GGUF files.
func (f *tokenizerFile) setTypes(v *tokenizer.Vocab) {
	looks := func(s, start, end string) bool { return strings.HasPrefix(s, start) && strings.HasSuffix(s, end) }
	for _, a := range f.AddedTokens {
		if a.ID < 0 || a.ID >= len(v.Tokens) || v.Tokens[a.ID] != a.Content {
			continue
		}
		kind := token.UserDefined
		switch c := a.Content; {
		case token.Kind(v.Types[a.ID]) == token.Unknown, token.Kind(v.Types[a.ID]) == token.Byte:
			continue
		case a.Special, looks(c, "<|", "|>"), looks(c, "<｜", "｜>"), looks(c, "<unused", ">"), c == "<pad>", c == "<mask>":
			kind = token.Control
		}
		v.Types[a.ID] = int32(kind)
		if kind == token.UserDefined { // which are found before spaces become marks
			v.Tokens[a.ID] = strings.ReplaceAll(a.Content, "▁", " ")
		}
	}
}

// vocabularyOf lists the tokens, one for each row of the embedding. Rows without a token get a name that no text has.
func vocabularyOf(t *tokenizer.Tokenizer, rows int) tokenizer.Vocab {
	v := tokenizer.NewVocab()
	for id := range rows {
		piece, kind := "", token.Unused
		if id < t.VocabSize() {
			piece, kind = t.Piece(token.ID(id)), t.Kind(token.ID(id))
		}
		if piece == "" {
			piece, kind = fmt.Sprintf("[PAD%d]", id), token.Unused
		}
		v.Tokens = append(v.Tokens, piece)
		v.Types = append(v.Types, int32(kind))
	}
	for _, s := range []struct {
		id  *token.ID
		get func() (token.ID, bool)
	}{{&v.BOS, t.BOS}, {&v.EOS, t.EOS}, {&v.UNK, t.UNK}, {&v.PAD, t.PAD}} {
		if id, ok := s.get(); ok {
			*s.id = id
		}
	}
	inside, around := t.Encode("a", tokenizer.Options{}), t.Encode("a", tokenizer.Options{AddSpecial: true})
	if len(inside) == 0 || len(around) == 0 {
		v.AddBOS, v.AddEOS = new(bool), new(bool)
		return v
	}
	v.AddBOS = surrounds(&v.BOS, around[0], inside[0])
	v.AddEOS = surrounds(&v.EOS, around[len(around)-1], inside[len(inside)-1])
	return v
}

// surrounds says whether a token that the file names, or that it does not name, stands at one end of a text.
func surrounds(named *token.ID, with, without token.ID) *bool {
	if with != without && *named == token.None {
		*named = with
	}
	added := with != without && with == *named
	return &added
}

// writeVocabulary writes the keys of a vocabulary.
func writeVocabulary(meta *gguf.Metadata, v *tokenizer.Vocab) {
	set := func(key string, value any) { meta.Set("tokenizer.ggml."+key, value) }
	set("model", v.Model)
	set("pre", v.Pre)
	set("tokens", v.Tokens)
	set("token_type", v.Types)
	if v.Scores != nil {
		set("scores", v.Scores)
	}
	if v.Merges != nil {
		set("merges", v.Merges)
	}
	for _, s := range []struct {
		key string
		id  token.ID
	}{
		{"bos", v.BOS},
		{"eos", v.EOS},
		{"eot", v.EOT},
		{"eom", v.EOM},
		{"unknown", v.UNK},
		{"padding", v.PAD},
		{"cls", v.CLS},
		{"seperator", v.SEP}, //nolint:misspell // as the key is spelled
	} {
		if s.id != token.None {
			set(s.key+"_token_id", uint32(s.id))
		}
	}
	set("add_bos_token", *v.AddBOS)
	set("add_eos_token", *v.AddEOS)
	if v.CharsMap != nil {
		set("precompiled_charsmap", v.CharsMap)
	}
	for key, on := range map[string]*bool{
		"add_space_prefix": v.AddSpacePrefix, "remove_extra_whitespaces": v.RemoveExtraSpaces, "add_sep_token": v.AddSEP,
		"normalizer.lowercase": v.Lowercase, "normalizer.strip_accents": v.StripAccents,
	} {
		if on != nil {
			set(key, *on)
		}
	}
}
