// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/token"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// readGGUF takes the parts of a model from an open file, which the bundle then owns.
func (b *Bundle) readGGUF(f *gguf.File, opt Options) {
	b.Name, b.Format, b.FileBytes = modelName(b.Path, opt), GGUF, f.Bytes()
	b.Source, b.naming = f, model.GGUF
	meta := f.Meta()
	b.facts = ggufFacts(meta)
	b.facts.count(f)
	if !opt.TextOnly {
		b.fail(b.configureGGUF(meta))
		b.fail(supportedTypes(f))
	}
	b.fail(b.textOfGGUF(meta))
	b.finishText(opt)
}

// configureGGUF finds the family and reads the configuration.
func (b *Bundle) configureGGUF(meta *gguf.Metadata) error {
	const name = "general.architecture"
	arch, ok := meta.String(name)
	if _, there := meta.Value(name); there && !ok {
		return fmt.Errorf("key %q is not a string", name)
	}
	if !ok {
		return fmt.Errorf("key %q is missing", name)
	}
	family, ok := families.ByGGUF(arch)
	if !ok {
		return unknownArchitecture(arch, func(f *model.Family) []string { return f.GGUF })
	}
	config, err := family.FromGGUF(meta)
	if err != nil {
		return err
	}
	b.Family, b.Config = family, config
	return nil
}

// unknownArchitecture says which architectures there are.
func unknownArchitecture(arch string, names func(*model.Family) []string) error {
	var known []string
	for _, f := range families.All() {
		known = append(known, names(f)...)
	}
	return fmt.Errorf("architecture %.80q is not supported, want one of %q", arch, known)
}

// supportedTypes refuses quantised tensors that cannot be read.
func supportedTypes(f *gguf.File) error {
	for _, name := range f.Names() {
		if t, _ := f.Tensor(name); t.Type.BlockElems() > 1 && !t.Type.Supported() {
			return fmt.Errorf("tensor %q is of type %v, which is not supported", name, t.Type)
		}
	}
	return nil
}

// textOfGGUF reads tokenizer, templates and defaults.
func (b *Bundle) textOfGGUF(meta *gguf.Metadata) error {
	all, err := ggufTemplates(meta)
	if err != nil {
		return err
	}
	b.TemplateSource, b.NamedTemplates = all.split()
	if err := b.Defaults.fromGGUF(meta); err != nil {
		return err
	}
	r := &vocabReader{meta: meta}
	vocab, err := r.vocab()
	if err != nil {
		return err
	}
	b.notes = append(b.notes, r.notes...)
	text := func(id token.ID) string {
		if id == token.None {
			return ""
		}
		return vocab.Tokens[id]
	}
	b.Special = SpecialTokens{BOS: text(vocab.BOS), EOS: text(vocab.EOS), UNK: text(vocab.UNK), PAD: text(vocab.PAD)}
	b.Tokenizer, err = tokenizer.FromGGUF(vocab)
	if err != nil {
		return err
	}
	b.Defaults.addEOS(b.Tokenizer.EOG()...)
	return nil
}

// A vocabReader reads keys of a tokenizer. It keeps the first error: a key that is there with a value of another type.
type vocabReader struct {
	meta  *gguf.Metadata
	err   error
	notes []string // of tokens that are none
}

// key gives the value of a key if the file has it.
func key[T any](r *vocabReader, name string, get func(*gguf.Metadata, string) (T, bool), want string) (T, bool) {
	name = "tokenizer.ggml." + name
	v, ok := get(r.meta, name)
	if _, there := r.meta.Value(name); there && !ok && r.err == nil {
		r.err = fmt.Errorf("key %q is not %s", name, want)
	}
	return v, ok
}

// vocab copies the tokenizer's keys.
func (r *vocabReader) vocab() (tokenizer.Vocab, error) {
	v := tokenizer.NewVocab()
	v.Model, _ = key(r, "model", (*gguf.Metadata).String, "a string")
	v.Pre, _ = key(r, "pre", (*gguf.Metadata).String, "a string")
	merges, merged := key(r, "merges", (*gguf.Metadata).Strings, "a list of strings")
	v.Merges = merges
	v.Tokens, _ = key(r, "tokens", (*gguf.Metadata).Strings, "a list of strings")
	v.Scores, _ = key(r, "scores", scores, "a list of numbers")
	kinds, _ := key(r, "token_type", (*gguf.Metadata).Ints, "a list of integers")
	for _, k := range kinds {
		v.Types = append(v.Types, int32(min(max(k, 0), math.MaxUint8)))
	}
	r.ids(&v)
	charsMap, _ := key(r, "precompiled_charsmap", (*gguf.Metadata).Ints, "a list of bytes") // with or without sign
	for _, b := range charsMap {
		v.CharsMap = append(v.CharsMap, byte(b))
	}
	for name, dst := range map[string]**bool{
		"add_bos_token": &v.AddBOS, "add_eos_token": &v.AddEOS, "add_sep_token": &v.AddSEP, "add_space_prefix": &v.AddSpacePrefix,
		"remove_extra_whitespaces": &v.RemoveExtraSpaces, "normalizer.lowercase": &v.Lowercase, "normalizer.strip_accents": &v.StripAccents,
	} {
		if on, ok := key(r, name, (*gguf.Metadata).Bool, "true or false"); ok {
			*dst = &on
		}
	}
	switch {
	case r.err != nil:
		return v, r.err
	case len(v.Tokens) == 0:
		return v, errors.New(`key "tokenizer.ggml.tokens" is missing: the file has no vocabulary`)
	case v.Model == "gpt2" && !merged: // every text would fall apart into single characters
		return v, errors.New(`key "tokenizer.ggml.merges" is missing`)
	case v.Model == "gpt2" && (v.Pre == "" || v.Pre == "default"): // converters of before May 2024 knew none
		return v, errors.New(`key "tokenizer.ggml.pre" does not say how the model's tokenizer cuts text into words: convert the model again`)
	}
	return v, nil
}

// ids reads the tokens that mean something.
func (r *vocabReader) ids(v *tokenizer.Vocab) {
	ids := map[string]*token.ID{
		"bos_token_id": &v.BOS, "eos_token_id": &v.EOS, "eot_token_id": &v.EOT, "eom_token_id": &v.EOM,
		"unknown_token_id": &v.UNK, "padding_token_id": &v.PAD, "cls_token_id": &v.CLS,
		"seperator_token_id": &v.SEP, //nolint:misspell // as the key is spelled
	}
	more := make([]token.ID, 3)
	for i, name := range []string{"fim_pad_token_id", "fim_rep_token_id", "fim_sep_token_id"} {
		more[i] = token.None
		ids[name] = &more[i]
	}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		switch n, ok := key(r, name, tokenID, "an integer"); {
		case !ok || n < 0 || n == math.MaxUint32:
		case n < int64(len(v.Tokens)):
			*ids[name] = token.ID(n)
		default:
			r.notes = append(r.notes, outside("tokenizer.ggml."+name, n, len(v.Tokens)))
		}
	}
	for _, id := range more {
		if id != token.None {
			v.MoreEOG = append(v.MoreEOG, id)
		}
	}
}

// outside tells of a token that a file names and does not have.
func outside(key string, id int64, size int) string {
	return fmt.Sprintf("%s is %d, outside the vocabulary of %d tokens, and is passed over", key, id, size)
}

// tokenID reads an integer. Some writers put -1 or 2^32-1 or 2^64-1 for none.
func tokenID(meta *gguf.Metadata, key string) (int64, bool) {
	value, _ := meta.Value(key)
	if u, ok := value.(uint64); ok && u > math.MaxInt64 {
		return int64(token.None), true
	}
	return meta.Int(key)
}

// scores reads a list of float32 without going through wider numbers.
func scores(meta *gguf.Metadata, key string) ([]float32, bool) {
	value, _ := meta.Value(key)
	if s, ok := value.([]float32); ok {
		return s, true
	}
	wide, ok := meta.Floats(key)
	out := make([]float32, len(wide))
	for i, f := range wide {
		out[i] = float32(f)
	}
	return out, ok
}
