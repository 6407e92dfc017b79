// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// A stage is one member of a tokenizer.json's pipeline.
type stage struct {
	*ordjson.Object
	kind  string
	where string // such as pre_tokenizer.pretokenizers[1]
}

func (s stage) unknown() error {
	return fmt.Errorf("%s: type %q is not supported", s.where, s.kind)
}

func (s stage) fail(format string, args ...any) error {
	return fmt.Errorf(s.where+": "+format, args...)
}

// flag returns a member that is true, false or null.
func (s stage) flag(name string, byDefault bool) (bool, error) {
	v, err := boolOf(s.Object, name, byDefault)
	if err != nil {
		return v, fmt.Errorf("%s.%w", s.where, err)
	}
	return v, nil
}

// stages lists the members of a pipeline: none for null, those of a Sequence, which stand under the key list, or the one.
func stages(v any, where, list string) ([]stage, error) {
	if v == nil {
		return nil, nil
	}
	o, ok := v.(*ordjson.Object)
	if !ok {
		return nil, fmt.Errorf("%s: want an object or null", where)
	}
	kind, ok := o.String("type")
	if !ok {
		return nil, fmt.Errorf("%s.type: missing", where)
	}
	if kind != "Sequence" {
		return []stage{{o, kind, where}}, nil
	}
	members, ok := o.Array(list)
	if !ok {
		return nil, fmt.Errorf("%s.%s: want an array", where, list)
	}
	var out []stage
	for i, m := range members {
		inner, err := stages(m, fmt.Sprintf("%s.%s[%d]", where, list, i), list)
		if err != nil {
			return nil, err
		}
		out = append(out, inner...)
	}
	return out, nil
}

// each calls read for each member of the pipeline under key.
func (f *jsonFile) each(key, list string, read func(stage) error) error {
	v, _ := f.parts.Get(key)
	all, err := stages(v, key, list)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := read(s); err != nil {
			return err
		}
	}
	return nil
}

// content returns the text that a Replace puts in.
func (s stage) content() (string, error) {
	content, ok := s.String("content")
	if !ok {
		return "", s.fail("content: want a string")
	}
	return content, nil
}

// pattern returns the pattern of a stage, a string or a regular expression; the other one is empty.
func (s stage) pattern() (text, regex string, err error) {
	if old, ok := s.String("pattern"); ok && old != "" { // older files
		return old, "", nil
	}
	p, _ := s.Object.Object("pattern")
	text, isText := p.String("String")
	regex, isRegex := p.String("Regex")
	if p.Len() != 1 || isText && text == "" || !isText && !isRegex {
		v, _ := s.Get("pattern")
		return "", "", s.fail("pattern %s is not supported", ordjson.Marshal(v))
	}
	return text, regex, nil
}

func (b *builder) postProcessor(f *jsonFile) error {
	return f.each("post_processor", "processors", func(s stage) error {
		switch s.kind {
		case "ByteLevel":
			return nil // offsets only
		case "TemplateProcessing":
			return b.template(s)
		case "BertProcessing", "RobertaProcessing":
			return b.bertAround(s)
		}
		return s.unknown()
	})
}

// bertAround reads the tokens that BERT puts before and behind a text.
func (b *builder) bertAround(s stage) error {
	for key, at := range map[string]*[]token.ID{"cls": &b.t.prefix, "sep": &b.t.suffix} {
		pair, _ := s.Array(key)
		if len(pair) != 2 {
			return s.fail("%s: want a token and its ID", key)
		}
		n, _ := pair[1].(ordjson.Number)
		id, ok := n.Int64()
		if !ok || id < 0 || id >= int64(len(b.t.pieces)) {
			return s.fail("%s: %q is not an ID", key, string(n))
		}
		*at = append(*at, token.ID(id))
	}
	return nil
}

// template reads which tokens stand before and behind a single text.
func (b *builder) template(s stage) error {
	single, ok := s.Array("single")
	if !ok {
		return s.fail("single: want an array")
	}
	tokens, _ := s.Object.Object("special_tokens")
	var around [2][]token.ID
	seen := 0
	for i, v := range single {
		piece, _ := v.(*ordjson.Object)
		if seq, ok := piece.Object("Sequence"); ok {
			if id, _ := seq.String("id"); id != "A" || seen > 0 {
				return s.fail("single[%d]: only one sequence A is supported", i)
			}
			seen = 1
			continue
		}
		special, _ := piece.Object("SpecialToken")
		name, _ := special.String("id")
		ids, err := b.specialIDs(tokens, name)
		if err != nil {
			return s.fail("single[%d]: %w", i, err)
		}
		around[seen] = append(around[seen], ids...)
	}
	if seen == 0 {
		return s.fail("single: no sequence A")
	}
	b.t.prefix = append(around[0], b.t.prefix...)
	b.t.suffix = append(b.t.suffix, around[1]...)
	return nil
}

// specialIDs returns what a template's special token stands for.
func (b *builder) specialIDs(tokens *ordjson.Object, name string) ([]token.ID, error) {
	entry, ok := tokens.Object(name)
	if !ok {
		return nil, fmt.Errorf("special token %q is not defined", name)
	}
	list, _ := entry.Array("ids")
	var out []token.ID
	for _, v := range list {
		n, _ := v.(ordjson.Number)
		id, ok := n.Int64()
		if !ok || id < 0 || id >= int64(len(b.t.pieces)) {
			return nil, fmt.Errorf("special token %q: %q is not an ID", name, strings.TrimSpace(string(n)))
		}
		out = append(out, token.ID(id))
	}
	return out, nil
}
