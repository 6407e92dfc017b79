// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// addedTokens reads added_tokens and what tokenizer_config.json has to say on them, and sets what each token is for. As in
// transformers, an entry of added_tokens_decoder wins over its like in tokenizer.json, and a token that is named as BOS,
// EOS and so on is a special one.
func (b *builder) addedTokens(f *jsonFile) error {
	var all []addedToken
	place := map[string]int{} // content to index in all
	put := func(a addedToken) {
		if i, ok := place[a.content]; ok {
			all[i] = a
		} else if a.content != "" {
			place[a.content] = len(all)
			all = append(all, a)
		}
	}
	for i, v := range f.added {
		where := fmt.Sprintf("added_tokens[%d]", i)
		a, err := readAdded(v, where)
		if err != nil {
			return err
		}
		number, _ := v.(*ordjson.Object).Get("id")
		n, _ := number.(ordjson.Number)
		if a.id, err = parseID(string(n)); err != nil {
			return fmt.Errorf("%s.id: %w", where, err)
		}
		put(a)
	}
	entries, _ := f.config.Object("added_tokens_decoder")
	for key, v := range entries.All() {
		where := "tokenizer_config.json: added_tokens_decoder." + key
		a, err := readAdded(v, where)
		if err != nil {
			return err
		}
		if a.id, err = parseID(key); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		put(a)
	}
	for _, name := range []string{"bos_token", "eos_token", "unk_token", "pad_token"} {
		text, _ := contentOf(f.config, name)
		if _, ok := place[text]; !ok && text != "" && slices.Contains(b.t.pieces, text) {
			put(addedToken{content: text, special: true})
		}
	}
	return b.t.setAdded(all)
}

func parseID(s string) (token.ID, error) {
	id, err := strconv.ParseUint(s, 10, 31)
	if err != nil || id >= maxVocab {
		return 0, fmt.Errorf("%q is not a token ID", s)
	}
	return token.ID(id), nil
}

// readAdded reads what both kinds of lists say of an added token.
func readAdded(v any, where string) (a addedToken, err error) {
	o, ok := v.(*ordjson.Object)
	if !ok {
		return a, fmt.Errorf("%s: want an object", where)
	}
	if a.content, ok = o.String("content"); !ok {
		return a, fmt.Errorf("%s.content: want a string", where)
	}
	if a.special, err = boolOf(o, "special", false); err != nil {
		return a, fmt.Errorf("%s.%w", where, err)
	}
	for _, flag := range []struct {
		name      string
		at        *bool
		byDefault bool
	}{
		{"lstrip", &a.lstrip, false},
		{"rstrip", &a.rstrip, false},
		{"single_word", &a.singleWord, false},
		{"normalized", &a.normalized, !a.special},
	} {
		if *flag.at, err = boolOf(o, flag.name, flag.byDefault); err != nil {
			return a, fmt.Errorf("%s.%w", where, err)
		}
	}
	return a, nil
}

// setAdded adds tokens, whose contents differ, to the vocabulary: those that it spells keep its ID, others lie behind or
// between its pieces.
func (t *Tokenizer) setAdded(added []addedToken) error {
	wanted := map[string]int{} // content to index in added
	for i, a := range added {
		wanted[a.content] = i
	}
	for id, piece := range t.pieces {
		if i, ok := wanted[piece]; ok && piece != "" {
			added[i].id = token.ID(id)
		}
	}
	limit := token.ID(2*(len(t.pieces)+len(added)) + 1<<16)
	top := token.ID(len(t.pieces) - 1)
	for _, a := range added {
		if a.id >= limit {
			return fmt.Errorf("added token %q: ID %d in a vocabulary of %d pieces", a.content, a.id, len(t.pieces))
		}
		top = max(top, a.id)
	}
	t.pieces = append(t.pieces, make([]string, int(top)+1-len(t.pieces))...)
	t.outside = make([]bool, len(t.pieces))
	t.kinds = make([]token.Kind, len(t.pieces))
	t.special = make([]bool, len(t.pieces))
	for _, a := range added {
		if p := t.pieces[a.id]; p != "" && p != a.content {
			return fmt.Errorf("added token %q: ID %d is %q already", a.content, a.id, p)
		}
		t.outside[a.id] = t.pieces[a.id] == ""
		t.pieces[a.id] = a.content
		t.kinds[a.id], t.special[a.id] = token.UserDefined, a.special
		if a.special {
			t.kinds[a.id] = token.Control
		}
	}
	t.added = added
	for id, piece := range t.pieces {
		switch {
		case piece == "":
			t.kinds[id] = token.Unused
		case t.kinds[id] == 0:
			t.kinds[id] = token.Normal
		}
	}
	return nil
}

// configure applies what a tokenizer_config.json says of special tokens.
func (t *Tokenizer) configure(c *ordjson.Object) error {
	for _, s := range []struct {
		name string
		at   *token.ID
	}{
		{"bos_token", &t.bos}, {"eos_token", &t.eos}, {"unk_token", &t.unk}, {"pad_token", &t.pad},
	} {
		text, _ := contentOf(c, s.name)
		if id := slices.Index(t.pieces, text); id >= 0 && text != "" {
			*s.at = token.ID(id)
		}
	}
	return t.configureAround(c)
}

// configureAround obeys add_bos_token and add_eos_token: where one of them is given, both replace the post-processor.
func (t *Tokenizer) configureAround(c *ordjson.Object) error {
	_, bos := c.Get("add_bos_token")
	_, eos := c.Get("add_eos_token")
	if !bos && !eos {
		return nil
	}
	t.prefix, t.suffix = nil, nil
	for _, s := range []struct {
		name string
		id   token.ID
		at   *[]token.ID
	}{
		{"add_bos_token", t.bos, &t.prefix}, {"add_eos_token", t.eos, &t.suffix},
	} {
		add, err := boolOf(c, s.name, false)
		if err != nil {
			return err
		}
		if add && s.id != token.None {
			*s.at = []token.ID{s.id}
		}
	}
	return nil
}

// contentOf returns a special token's text, which stands there as a string or as an object.
func contentOf(c *ordjson.Object, name string) (string, bool) {
	if text, ok := c.String(name); ok {
		return text, true
	}
	o, _ := c.Object(name)
	return o.String("content")
}
