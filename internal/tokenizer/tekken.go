// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// A tekkenFile is a tekken.json taken apart. The ID of a piece is its rank plus the number of special tokens, which come first.
type tekkenFile struct {
	pattern string
	size    int // of the whole vocabulary
	special int // tokens that are special
	names   map[int]string
	pieces  []string // by rank, in the byte-level alphabet
}

// tekkenNames are the special tokens of files that don't list them.
var tekkenNames = []string{
	"<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]",
	"[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]",
	"[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
}

// FromTekken reads Mistral's tekken.json. A text is split by the file's pattern; a word that is a piece is taken whole; in others the
// pair whose joined bytes have the lowest rank merges first.
func FromTekken(data []byte) (*Tokenizer, error) {
	loadClasses()
	f := &tekkenFile{}
	err := f.read(&jsonReader{data: data})
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tekken.json: %w", err)
	}
	t, err := f.tokenizer()
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tekken.json: config.pattern: %w", err)
	}
	t.finish()
	return t, nil
}

// read takes the file apart.
func (f *tekkenFile) read(r *jsonReader) error {
	return r.object(func(key []byte) error {
		switch string(key) {
		case "config":
			v, err := r.value()
			if err != nil {
				return err
			}
			o, _ := v.(*ordjson.Object)
			f.pattern, _ = o.String("pattern")
			f.size = tekkenCount(o, "default_vocab_size")
			f.special = tekkenCount(o, "default_num_special_tokens")
			return nil
		case "vocab":
			return r.array(func(i int) error { return f.piece(r, i) })
		case "special_tokens":
			v, err := r.value()
			if err != nil {
				return err
			}
			list, _ := v.([]any)
			return f.listed(list)
		}
		_, err := r.skip()
		return err
	})
}

// tekkenCount returns a number of the configuration; -1 if it is missing.
func tekkenCount(o *ordjson.Object, name string) int {
	v, _ := o.Get(name)
	n, _ := v.(ordjson.Number)
	i, ok := n.Int64()
	if !ok || i < 0 || i > maxVocab {
		return -1
	}
	return int(i)
}

// piece reads an entry of the vocabulary.
func (f *tekkenFile) piece(r *jsonReader, i int) error {
	rank, text := -1, []byte(nil)
	err := r.object(func(key []byte) error {
		var err error
		switch string(key) {
		case "rank":
			rank, err = r.integer()
		case "token_bytes":
			text, err = r.str(text[:0])
		default:
			_, err = r.skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil || rank != i || len(raw) == 0 || i >= maxVocab {
		return fmt.Errorf("vocab[%d]: not a piece of rank %d", i, i)
	}
	f.pieces = append(f.pieces, spell(raw))
	return nil
}

// listed reads special_tokens.
func (f *tekkenFile) listed(list []any) error {
	f.names = map[int]string{}
	for i, v := range list {
		o, _ := v.(*ordjson.Object)
		rank := tekkenCount(o, "rank")
		name, ok := o.String("token_str")
		if !ok || name == "" || rank < 0 || f.names[rank] != "" {
			return fmt.Errorf("special_tokens[%d]: want a rank of its own and a text", i)
		}
		f.names[rank] = name
	}
	return nil
}

// check completes the special tokens and cuts the vocabulary to its size.
func (f *tekkenFile) check() error {
	n := f.size - f.special
	if f.size < 0 || f.special < 0 || n < 1 || n > len(f.pieces) {
		return fmt.Errorf("config: %d tokens, %d of them special, of %d pieces", f.size, f.special, len(f.pieces))
	}
	f.pieces = f.pieces[:n]
	if f.pattern == "" {
		return errors.New("config.pattern: missing")
	}
	if f.names == nil {
		f.names = map[int]string{}
		for i, name := range tekkenNames[:min(len(tekkenNames), f.special)] {
			f.names[i] = name
		}
	}
	for rank, name := range f.names {
		if rank >= f.special {
			return fmt.Errorf("special_tokens: %q has rank %d of %d", name, rank, f.special)
		}
	}
	return nil
}

// tokenizer builds the tokenizer.
func (f *tekkenFile) tokenizer() (*Tokenizer, error) {
	r := ranked{pieces: f.pieces, first: f.special}
	for id := range f.special {
		name := f.names[id]
		if name == "" {
			name = fmt.Sprintf("<SPECIAL_%d>", id)
		}
		r.added = append(r.added, addedToken{id: token.ID(id), content: name, special: true})
	}
	t := r.tokenizer()
	for name, at := range map[string]*token.ID{"<s>": &t.bos, "</s>": &t.eos, "<unk>": &t.unk, "<pad>": &t.pad} {
		for id := range f.special {
			if t.pieces[id] == name {
				*at = token.ID(id)
			}
		}
	}
	if t.bos != token.None {
		t.prefix = []token.ID{t.bos}
	}
	if t.eos != token.None {
		t.eog = []token.ID{t.eos}
	}
	scan := scannerOf(f.pattern, "Isolated", false)
	if scan == nil {
		re, err := compileRegex(f.pattern)
		if err != nil {
			return nil, err
		}
		if re.before {
			return nil, errors.New("a pattern that looks back is not supported")
		}
		if scan, err = splitting(re.pieces, "Isolated", false); err != nil {
			return nil, err
		}
	}
	t.pre = steps(scan)
	return t, nil
}
