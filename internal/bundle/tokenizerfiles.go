// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights"
)

// tokenizerReaders read the kinds of tokenizer files, best first. Each is given the content of its file.
var tokenizerReaders = []struct {
	file string // a name, or a pattern that one name matches
	read func(dir string, data, config []byte) (*tokenizer.Tokenizer, error)
}{
	{"tekken.json", func(_ string, data, _ []byte) (*tokenizer.Tokenizer, error) { return tokenizer.FromTekken(data) }},
	{"tokenizer.model", readTokenizerModel},
	{"tiktoken.model", readTokenizerModel},
	{"*.tiktoken", readTokenizerModel},
	{"vocab.json", readVocabFiles},
	{"vocab.txt", func(_ string, data, config []byte) (*tokenizer.Tokenizer, error) {
		return tokenizer.FromVocabFiles(tokenizer.VocabFiles{Vocab: data, Config: config})
	}},
}

// readTokenizer builds the tokenizer of dir. Its specialMap is older than its config, and names special tokens that this leaves out.
func (b *Bundle) readTokenizer(dir string, config, specialMap *ordjson.Object) error {
	data, err := weights.ReadIn(dir, "tokenizer.json", maxTokenizerBytes)
	if err == nil {
		b.Tokenizer, err = tokenizer.FromJSON(data, source(config))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	config = withMissing(config, specialMap)
	for _, r := range tokenizerReaders {
		names, err := fs.Glob(os.DirFS(dir), r.file)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			continue
		}
		b.facts.Tokenizer = names[0]
		data, err := weights.ReadIn(dir, names[0], maxTokenizerBytes)
		if err == nil {
			b.Tokenizer, err = r.read(dir, data, source(config))
		}
		return err
	}
	return errors.New("no tokenizer: want a tokenizer.json, tekken.json, tokenizer.model, tiktoken file, vocab.json with merges.txt, or vocab.txt")
}

// source returns the text of an object, nil for none.
func source(o *ordjson.Object) []byte {
	if o == nil {
		return nil
	}
	return ordjson.Append(nil, o)
}

// withMissing returns the entries of o, and those of more that it lacks.
func withMissing(o, more *ordjson.Object) *ordjson.Object {
	if o == nil || more == nil {
		if o == nil {
			return more
		}
		return o
	}
	all := o.Clone()
	for key, value := range more.All() {
		if _, ok := all.Get(key); !ok {
			all.Set(key, value)
		}
	}
	return all
}

// readTokenizerModel reads what is called tokenizer.model: SentencePiece's file, or tiktoken's.
func readTokenizerModel(_ string, data, config []byte) (*tokenizer.Tokenizer, error) {
	if tokenizer.IsTiktoken(data) {
		return tokenizer.FromTiktoken(data, config)
	}
	return tokenizer.FromSentencePiece(data, config)
}

// readVocabFiles reads a vocab.json and the files that go with it.
func readVocabFiles(dir string, data, config []byte) (*tokenizer.Tokenizer, error) {
	f := tokenizer.VocabFiles{Vocab: data, Config: config}
	for name, at := range map[string]*[]byte{"merges.txt": &f.Merges, "added_tokens.json": &f.Added} {
		more, err := weights.ReadIn(dir, name, maxTokenizerBytes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		*at = more
	}
	if f.Merges == nil {
		return nil, errors.New("vocab.json without merges.txt is not supported")
	}
	return tokenizer.FromVocabFiles(f)
}
