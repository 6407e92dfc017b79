// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tokenizer"
	"github.com/sampo-ai/sampo/internal/weights"
)

// TokenizerFiles are what the tokenizer of a folder is made of.
type TokenizerFiles struct {
	Name   string // of the file that decides what kind it is, such as tokenizer.json
	Data   []byte // its content
	Config []byte // tokenizer_config.json, with what only the older special_tokens_map.json names; nil: there is none
	Merges []byte // merges.txt beside a vocab.json
	Added  []byte // added_tokens.json beside a vocab.json
}

// tokenizerNames are names of the files that decide, best first, or patterns that one name matches.
var tokenizerNames = []string{"tokenizer.json", "tekken.json", "tokenizer.model", "tiktoken.model", "*.tiktoken", "vocab.json", "vocab.txt"}

// ReadTokenizerFiles reads the tokenizer files of dir without making sense of them.
func ReadTokenizerFiles(dir string) (TokenizerFiles, error) {
	config, err := readJSON(dir, "tokenizer_config.json")
	if err != nil {
		return TokenizerFiles{}, err
	}
	specialMap, err := readJSON(dir, "special_tokens_map.json")
	if err != nil {
		return TokenizerFiles{}, err
	}
	return readTokenizerFiles(dir, config, specialMap)
}

func readTokenizerFiles(dir string, config, specialMap *ordjson.Object) (TokenizerFiles, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return TokenizerFiles{}, err
	}
	for _, pattern := range tokenizerNames {
		for _, e := range entries { // a link that leads nowhere is among them, and no reason to take the next best file
			if ok, err := path.Match(pattern, e.Name()); ok && err == nil {
				return readFiles(dir, e.Name(), config, specialMap)
			}
		}
	}
	return TokenizerFiles{}, errors.New("no tokenizer: want a tokenizer.json, tekken.json, tokenizer.model, tiktoken file, vocab.json with merges.txt, or vocab.txt")
}

// readFiles reads the file called name and those that go with it.
func readFiles(dir, name string, config, specialMap *ordjson.Object) (TokenizerFiles, error) {
	f := TokenizerFiles{Name: name}
	var err error
	if f.Data, err = weights.ReadIn(dir, name, MaxTokenizerBytes); err != nil {
		return f, err
	}
	if name != "tokenizer.json" { // which has special tokens of its own
		config = withMissing(config, specialMap)
	}
	f.Config = source(config)
	if name != "vocab.json" {
		return f, nil
	}
	for name, at := range map[string]*[]byte{"merges.txt": &f.Merges, "added_tokens.json": &f.Added} {
		more, err := weights.ReadIn(dir, name, MaxTokenizerBytes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f, err // it names the file
		}
		*at = more
	}
	if f.Merges == nil {
		return f, errors.New("vocab.json without merges.txt is not supported")
	}
	return f, nil
}

// Vocab gives the files of a vocabulary by Hugging Face's older classes. It is not ok for other kinds.
func (f *TokenizerFiles) Vocab() (files tokenizer.VocabFiles, ok bool) {
	return tokenizer.VocabFiles{Vocab: f.Data, Merges: f.Merges, Added: f.Added, Config: f.Config}, f.Name == "vocab.json" || f.Name == "vocab.txt"
}

// IsTiktoken says whether the kind is tiktoken's. SentencePiece's file may have the same name.
func (f *TokenizerFiles) IsTiktoken() bool {
	switch f.Name {
	case "tokenizer.json", "tekken.json", "vocab.json", "vocab.txt":
		return false
	}
	return tokenizer.IsTiktoken(f.Data)
}

// open builds the tokenizer.
func (f *TokenizerFiles) open() (*tokenizer.Tokenizer, error) {
	if files, ok := f.Vocab(); ok {
		return tokenizer.FromVocabFiles(files)
	}
	switch {
	case f.Name == "tokenizer.json":
		return tokenizer.FromJSON(f.Data, f.Config)
	case f.Name == "tekken.json":
		return tokenizer.FromTekken(f.Data)
	case f.IsTiktoken():
		return tokenizer.FromTiktoken(f.Data, f.Config)
	}
	return tokenizer.FromSentencePiece(f.Data, f.Config)
}

// readTokenizer builds the tokenizer of dir. Its specialMap is older than its config, and names special tokens that this leaves out.
func (b *Bundle) readTokenizer(dir string, config, specialMap *ordjson.Object) error {
	files, err := readTokenizerFiles(dir, config, specialMap)
	if err != nil {
		return err
	}
	b.facts.Tokenizer = files.Name
	b.Tokenizer, err = files.open()
	return err
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
