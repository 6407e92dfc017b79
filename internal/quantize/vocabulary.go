// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// maxTokenizerBytes caps a tokenizer.json. The largest in use have about 40 MB.
const maxTokenizerBytes = 256 << 20

// preTokenizers are the names that GGUF files have for ways to cut text into words. Those that this build does not know
// are passed over.
var preTokenizers = []string{
	"llama-bpe", "qwen2", "smollm", "gpt-2", "gpt-4o", "tekken", "deepseek-v3", "deepseek-llm", "qwen35", "olmo", "superbpe",
}

// probe is a text that different pre-tokenizers cut differently.
const probe = "Hello, world!  It's they'LL 1 22 333 4444 55555 a_b C++ x=y\n\n\tfunc(a, b) {\r\n  return a+b;\r\n}\n   \n" +
	" naïve café cafe\u0301 Ünï ΑΒΓ привет мир 你好，世界。 こんにちは 안녕 שלום مرحبا हिन्दी ١٢٣ ½ ²  🎉👨‍👩‍👧 … ‘q’ “q” don’t WE'RE I'M" +
	" camelCase HTTPServer v1.2.3 https://a.b/c?d=e&f=1 --flag=\"x\" #tag @user $5.00 100% e.g. ... !!! ??? <b>x</b>    end"

// A tokenizerFile is what tokenizer.json says and an open tokenizer does not: how its model was made.
type tokenizerFile struct {
	Model struct {
		Type         string            `json:"type"`
		Merges       []json.RawMessage `json:"merges"`
		ByteFallback bool              `json:"byte_fallback"`
	} `json:"model"`
	AddedTokens []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
}

// setVocabulary writes the tokenizer of a model.
func setVocabulary(meta *gguf.Metadata, b *bundle.Bundle, dir string) error {
	data, err := weights.ReadIn(dir, "tokenizer.json", maxTokenizerBytes)
	if err != nil {
		return err
	}
	v, err := vocabulary(data, b.Tokenizer, b.Config.Vocab)
	if err != nil {
		return fmt.Errorf("tokenizer.json: %w", err)
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

// vocabulary makes the vocabulary of a tokenizer that was read from data, for an embedding of so many rows. It fails for
// tokenizers that GGUF files cannot tell of: what it makes must cut a probe as the original does.
func vocabulary(data []byte, t *tokenizer.Tokenizer, rows int) (tokenizer.Vocab, error) {
	var file tokenizerFile
	if err := json.Unmarshal(data, &file); err != nil {
		return tokenizer.Vocab{}, err
	}
	if file.Model.Type != "" && file.Model.Type != "BPE" {
		return tokenizer.Vocab{}, fmt.Errorf("a model of type %q cannot be written as GGUF, want BPE", file.Model.Type)
	}
	merges, err := file.merges()
	if err != nil {
		return tokenizer.Vocab{}, err
	}
	v := vocabularyOf(t, rows)
	file.setTypes(&v)
	if file.Model.ByteFallback {
		return v, likeSentencePiece(&v, t, merges)
	}
	return v, likeGPT2(&v, t, merges)
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

// likeGPT2 completes a byte-level vocabulary: it finds the pre-tokenizer that cuts the probe as t does.
func likeGPT2(v *tokenizer.Vocab, t *tokenizer.Tokenizer, merges []string) error {
	v.Model, v.Merges = "gpt2", merges
	for _, v.Pre = range preTokenizers {
		if cutsAlike(*v, t) {
			return nil
		}
	}
	return errors.New("GGUF files have no name for this pre-tokenizer")
}

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
	for _, prefix := range []bool{false, true} {
		v.AddSpacePrefix = &prefix
		if cutsAlike(*v, t) {
			return nil
		}
	}
	return errors.New("this tokenizer does not cut text as GGUF files' SentencePiece model does")
}

// cutsAlike says whether the vocabulary gives the tokens of t.
func cutsAlike(v tokenizer.Vocab, t *tokenizer.Tokenizer) bool {
	got, err := tokenizer.FromGGUF(v)
	if err != nil {
		return false
	}
	for _, text := range []string{probe, "a", " a", "\n"} {
		if !slices.Equal(got.Encode(text, tokenizer.Options{AddSpecial: true}), t.Encode(text, tokenizer.Options{AddSpecial: true})) {
			return false
		}
	}
	return true
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
		{"bos", v.BOS}, {"eos", v.EOS}, {"eot", v.EOT}, {"eom", v.EOM}, {"unknown", v.UNK}, {"padding", v.PAD},
	} {
		if s.id != token.None {
			set(s.key+"_token_id", uint32(s.id))
		}
	}
	set("add_bos_token", *v.AddBOS)
	set("add_eos_token", *v.AddEOS)
	if v.AddSpacePrefix != nil {
		set("add_space_prefix", *v.AddSpacePrefix)
	}
}
