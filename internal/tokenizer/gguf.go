// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sampo-ai/sampo/internal/token"
)

// FromGGUF builds the tokenizer that a GGUF file describes.
func FromGGUF(v Vocab) (*Tokenizer, error) {
	loadClasses()
	if err := checkVocab(&v); err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer.ggml.%w", err)
	}
	v.Tokens = withoutPadding(v.Tokens, v.Types)
	var t *Tokenizer
	var err error
	switch v.Model {
	case "gpt2":
		t, err = fromGPT2(&v)
	case "llama":
		t, err = fromLlama(&v)
	case "gemma4":
		t, err = fromGemma4(&v)
	case "t5":
		t, err = fromT5(&v)
	case "bert":
		t, err = fromBert(&v)
	default:
		err = fmt.Errorf("model: unknown model %q, known are gpt2, llama, gemma4, t5, bert", v.Model)
	}
	if err != nil {
		return nil, fmt.Errorf("tokenizer: tokenizer.ggml.%w", err)
	}
	t.finish()
	return t, nil
}

// maxVocab bounds the entries of a vocabulary. The largest in use have about 500,000.
const maxVocab = 1 << 22

// withoutPadding takes away the names that converters give to rows of the embedding without a token, "[PAD7]": their spelling is ""
// where the tokenizer comes from a folder, and text must not become such a token.
func withoutPadding(tokens []string, types []int32) []string {
	cloned := false
	for i, kind := range types {
		number, ok := strings.CutPrefix(tokens[i], "[PAD")
		if !ok || token.Kind(kind) != token.Unused || number != strconv.Itoa(i)+"]" {
			continue
		}
		if !cloned {
			tokens, cloned = slices.Clone(tokens), true
		}
		tokens[i] = ""
	}
	return tokens
}

func checkVocab(v *Vocab) error {
	n := len(v.Tokens)
	switch {
	case n == 0:
		return fmt.Errorf("tokens: the file has none")
	case n > maxVocab:
		return fmt.Errorf("tokens: %d tokens, at most %d are read", n, maxVocab)
	case v.Types != nil && len(v.Types) != n:
		return fmt.Errorf("token_type: %d entries for %d tokens", len(v.Types), n)
	case (v.Model == "llama" || v.Model == "t5") && len(v.Scores) != n:
		return fmt.Errorf("scores: %d entries for %d tokens", len(v.Scores), n)
	}
	for i, k := range v.Types {
		if k < int32(token.Normal) || k > int32(token.Byte) {
			return fmt.Errorf("token_type: token %d has unknown type %d", i, k)
		}
	}
	for _, s := range []struct {
		name string
		id   token.ID
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
		if s.id != token.None && (s.id < 0 || int(s.id) >= n) {
			return fmt.Errorf("%s_token_id: %d is not one of %d tokens", s.name, s.id, n)
		}
	}
	return nil
}

// newFromVocab sets what all models share.
func newFromVocab(v *Vocab) *Tokenizer {
	t := &Tokenizer{
		pieces:  slices.Clone(v.Tokens),
		kinds:   make([]token.Kind, len(v.Tokens)),
		special: make([]bool, len(v.Tokens)),
		outside: make([]bool, len(v.Tokens)),
		bos:     v.BOS, eos: v.EOS, unk: v.UNK, pad: v.PAD,
	}
	for i := range t.kinds {
		t.kinds[i] = token.Normal
		if v.Types != nil {
			t.kinds[i] = token.Kind(v.Types[i])
		}
		t.special[i] = isControl(t.kinds[i])
	}
	for _, id := range append([]token.ID{v.EOS, v.EOT, v.EOM}, v.MoreEOG...) {
		if t.has(id) && !slices.Contains(t.eog, id) {
			t.eog = append(t.eog, id)
		}
	}
	return t
}

// addFromKinds makes added tokens of control, unknown and user-defined ones.
func (t *Tokenizer) addFromKinds() {
	for i, k := range t.kinds {
		if isControl(k) || k == token.UserDefined {
			t.added = append(t.added, addedToken{id: token.ID(i), content: t.pieces[i], special: isControl(k)})
		}
	}
}

// surround sets what goes around a text.
func (t *Tokenizer) surround(v *Vocab, bosByDefault bool) {
	if on(v.AddBOS, bosByDefault) && v.BOS != token.None {
		t.prefix = []token.ID{v.BOS}
	}
	if on(v.AddEOS, false) && v.EOS != token.None {
		t.suffix = []token.ID{v.EOS}
	}
}

func on(b *bool, byDefault bool) bool {
	if b == nil {
		return byDefault
	}
	return *b
}

// fromGPT2 builds a byte-level BPE.
func fromGPT2(v *Vocab) (*Tokenizer, error) {
	pre, steps, ok := pretokenizer(v.Pre)
	if !ok {
		var known []string
		for _, n := range namedPretokenizers {
			known = append(known, n.names...)
		}
		return nil, fmt.Errorf("pre: unknown pre-tokenizer %q, known are %s", v.Pre, strings.Join(known, ", "))
	}
	t := newFromVocab(v)
	for i, k := range t.kinds {
		t.outside[i] = k == token.UserDefined
	}
	m := t.newByteLevel()
	if err := m.addMerges(v.Merges); err != nil {
		return nil, err
	}
	m.ignoreMerges = pre.ignoreMerges
	t.addFromKinds()
	t.pre = steps
	if pre.nfc {
		t.normal = normalizers{nfc}
	}
	t.surround(v, pre.addBOS)
	m.ban()
	return t, nil
}

// addMerges enters merges as they are spelled in a GGUF file.
func (m *bpe) addMerges(merges []string) error {
	list := m.newMergeList(len(merges))
	err := error(nil)
	for i := 0; i < len(merges) && err == nil; i++ {
		if left, right, ok := strings.Cut(merges[i], " "); ok {
			err = list.add([]byte(left), []byte(right))
		} else {
			err = list.fail(errNotPair)
		}
	}
	if err == nil {
		err = list.flush()
	}
	if err != nil {
		return fmt.Errorf("merges[%d]: %w", list.next, err)
	}
	return nil
}
