// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

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

func (b *builder) normalizer(f *jsonFile) error {
	return f.each("normalizer", "normalizers", func(s stage) error {
		if form, ok := forms[s.kind]; ok {
			b.t.normal = append(b.t.normal, form)
			return nil
		}
		switch s.kind {
		case "Replace":
			r, err := s.replacer()
			b.t.normal = append(b.t.normal, r)
			return err
		case "Prepend":
			prefix, ok := s.String("prepend")
			if !ok {
				return s.fail("prepend: want a string")
			}
			b.t.normal = append(b.t.normal, prepender{prefix})
			return nil
		}
		return s.unknown()
	})
}

// replacer reads a Replace by a plain string.
func (s stage) replacer() (replacer, error) {
	old, err := s.pattern("String")
	if err != nil {
		return replacer{}, err
	}
	content, ok := s.String("content")
	if !ok {
		return replacer{}, s.fail("content: want a string")
	}
	return replacer{old, content}, nil
}

// pattern returns the pattern of a stage, which must be of the given kind, String or Regex, and not empty.
func (s stage) pattern(kind string) (string, error) {
	p, _ := s.Object.Object("pattern")
	text, ok := p.String(kind)
	if !ok || text == "" || p.Len() != 1 {
		v, _ := s.Get("pattern")
		return "", s.fail("pattern %s is not supported", ordjson.Marshal(v))
	}
	return text, nil
}

func (b *builder) preTokenizer(f *jsonFile) error {
	return f.each("pre_tokenizer", "pretokenizers", func(s stage) error {
		if b.byteLevel {
			return s.fail("%s after ByteLevel is not supported", s.kind)
		}
		switch s.kind {
		case "ByteLevel":
			return b.preByteLevel(s)
		case "Split":
			return b.preSplit(s)
		case "Digits":
			individual, err := s.flag("individual_digits", false)
			if individual {
				b.splitBy(scanDigits)
			} else {
				b.splitBy(scanDigitRuns)
			}
			return err
		case "Metaspace":
			return b.preMetaspace(s)
		}
		return s.unknown()
	})
}

func (b *builder) splitBy(scan splitter) { b.t.pre.splitters = append(b.t.pre.splitters, scan) }

// rewrites notes that a stage rewrites pieces, which must happen before any splitting.
func (b *builder) rewrites(s stage) error {
	if b.prepared || len(b.t.pre.splitters) > 0 {
		return s.fail("%s after another stage is not supported", s.kind)
	}
	b.prepared = true
	return nil
}

func (b *builder) preByteLevel(s stage) error {
	b.byteLevel = true
	prefix, err := s.flag("add_prefix_space", true)
	if err != nil {
		return err
	}
	if prefix {
		if err := b.rewrites(s); err != nil {
			return err
		}
		b.t.pre.prefix = " "
	}
	regex, err := s.flag("use_regex", true)
	if err != nil {
		return err
	}
	if regex {
		b.splitBy(scanGPT2)
	}
	return nil
}

// preSplit reads a Split by one of the known expressions, all of which match every text from end to end, so that keeping
// the matches apart and removing what is between them are the same; or by a string.
func (b *builder) preSplit(s stage) error {
	behavior, _ := s.String("behavior")
	invert, err := s.flag("invert", false)
	if err != nil {
		return err
	}
	if text, err := s.pattern("String"); err == nil {
		switch {
		case behavior == "MergedWithPrevious" && !invert && utf8.RuneCountInString(text) == 1:
			b.splitBy(scanAfter(text))
			return nil
		case behavior == "MergedWithNext" && !invert && utf8.RuneCountInString(text) == 1:
			b.splitBy(scanBefore(text))
			return nil
		}
		return s.fail("splitting by %q with behavior %q, invert %t, is not supported", text, behavior, invert)
	}
	regex, err := s.pattern("Regex")
	if err != nil {
		return err
	}
	if !(behavior == "Isolated" && !invert || behavior == "Removed" && invert) {
		return s.fail("behavior %q with invert %t is not supported", behavior, invert)
	}
	for _, p := range patterns {
		if p.regex == regex {
			b.splitBy(p.scan)
			return nil
		}
	}
	return s.fail("unknown pattern %q", regex)
}

func (b *builder) preMetaspace(s stage) error {
	if err := b.rewrites(s); err != nil {
		return err
	}
	mark, ok := s.String("replacement")
	if !ok || utf8.RuneCountInString(mark) != 1 {
		return s.fail("replacement: want one character")
	}
	scheme, err := s.scheme()
	if err != nil {
		return err
	}
	split, err := s.flag("split", true)
	if err != nil {
		return err
	}
	b.t.pre.replaceSpace = mark
	if scheme != "never" {
		b.t.pre.prefix, b.t.pre.firstOnly = mark, scheme == "first"
	}
	if split {
		b.splitBy(scanBefore(mark))
	}
	return nil
}

// scheme returns when a Metaspace puts its mark before a piece: always, first or never.
func (s stage) scheme() (string, error) {
	add, err := s.flag("add_prefix_space", true)
	if err != nil {
		return "", err
	}
	scheme, ok := s.String("prepend_scheme")
	switch {
	case !ok && add:
		return "always", nil
	case !ok, scheme == "never":
		return "never", nil
	case add && (scheme == "always" || scheme == "first"):
		return scheme, nil
	}
	return "", s.fail("prepend_scheme %q with add_prefix_space %t is not supported", scheme, add)
}

func (b *builder) decoder(f *jsonFile) error {
	var replace []replacer
	var fallback, fused, joined bool
	err := f.each("decoder", "decoders", func(s stage) error {
		if joined {
			return s.fail("%s after another decoder is not supported", s.kind)
		}
		switch s.kind {
		case "ByteLevel":
			joined = true
			if !b.byteLevel || len(replace) > 0 || fallback {
				return s.fail("ByteLevel does not fit the other stages")
			}
		case "Replace":
			r, err := s.replacer()
			if fallback || fused {
				return s.fail("Replace after another decoder is not supported")
			}
			replace = append(replace, r)
			return err
		case "ByteFallback":
			fallback = true
		case "Fuse":
			fused = true
		case "Strip":
			return b.decodeStrip(s, fused)
		case "Metaspace":
			joined = true
			scheme, err := s.scheme()
			if mark, _ := s.String("replacement"); mark != spaceMark {
				return s.fail("replacement %q is not supported", mark)
			}
			replace = append(replace, replacer{spaceMark, " "})
			b.t.decoding.firstPlain = scheme != "never"
			return err
		default:
			return s.unknown()
		}
		return nil
	})
	if err != nil || joined && b.byteLevel {
		return err
	}
	if !joined && !fused || b.byteLevel {
		return errors.New("decoder: missing, or one that leaves tokens apart")
	}
	b.t.setSpelledBytes(replace, fallback)
	for id, piece := range b.t.pieces {
		if _, ok := singleByte(piece); ok && fallback && b.t.kinds[id] == token.Normal {
			b.t.kinds[id] = token.Byte
		}
	}
	return nil
}

// decodeStrip reads a Strip of leading spaces.
func (b *builder) decodeStrip(s stage, fused bool) error {
	v, _ := s.Get("start")
	n, _ := v.(ordjson.Number)
	start, ok := n.Int64()
	stop, _ := s.Get("stop")
	content, _ := s.String("content")
	if !fused || !ok || start < 0 || start > 16 || stop != ordjson.Number("0") || content != " " {
		return s.fail("only stripping up to 16 leading spaces of the joined text is supported")
	}
	b.t.decoding.stripLeft = int(start)
	return nil
}

func (b *builder) postProcessor(f *jsonFile) error {
	return f.each("post_processor", "processors", func(s stage) error {
		switch s.kind {
		case "ByteLevel":
			return nil // offsets only
		case "TemplateProcessing":
			return b.template(s)
		}
		return s.unknown()
	})
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
