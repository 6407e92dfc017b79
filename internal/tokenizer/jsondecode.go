// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// A decoderReader puts together what the stages of a decoder do to each token.
type decoderReader struct {
	b        *builder
	each     []normalizer // rewrite the spelling of a token
	fallback bool         // tokens of single bytes count as these
	fused    bool         // tokens are joined before the stages that follow
	done     bool         // by a stage that nothing may follow
}

func (b *builder) decoder(f *jsonFile) error {
	d := &decoderReader{b: b}
	if err := f.each("decoder", "decoders", d.stage); err != nil {
		return err
	}
	if d.done && b.byteLevel {
		return nil // the bytes are those that the alphabet spells
	}
	if v, _ := f.parts.Get("decoder"); v == nil {
		// Without a decoder tokens are joined by spaces.
		b.t.decoding.first = func(piece string) string { return piece }
		d.each = append(d.each, prepender{" "})
	}
	b.t.setSpelledBytes(d.each, d.fallback)
	for id, piece := range b.t.pieces {
		if _, ok := singleByte(piece); ok && d.fallback && b.t.kinds[id] == token.Normal {
			b.t.kinds[id] = token.Byte
		}
	}
	return nil
}

// stage reads one stage.
func (d *decoderReader) stage(s stage) error {
	if d.done {
		return s.fail("%s after another decoder is not supported", s.kind)
	}
	switch s.kind {
	case "ByteLevel":
		d.done = true
		if !d.b.byteLevel || len(d.each) > 0 || d.fallback {
			return s.fail("ByteLevel does not fit the other stages")
		}
	case "Replace":
		steps, err := s.replace()
		if d.fallback || d.fused {
			return s.fail("Replace after another decoder is not supported")
		}
		d.each = append(d.each, steps...)
		return err
	case "ByteFallback":
		d.fallback = true
	case "Fuse":
		d.fused = true
	case "Strip":
		return d.strip(s)
	case "Metaspace":
		return d.metaspace(s)
	case "WordPiece":
		return d.wordPiece(s)
	default:
		return s.unknown()
	}
	return nil
}

func (d *decoderReader) metaspace(s stage) error {
	if d.fallback || d.fused || d.b.byteLevel {
		return s.fail("Metaspace after another decoder is not supported")
	}
	d.done = true
	scheme, err := s.scheme()
	mark, _ := s.String("replacement")
	if utf8.RuneCountInString(mark) != 1 {
		return s.fail("replacement: want one character")
	}
	before := normalizers(d.each)
	d.each = append(d.each, replacer{mark, " "})
	if scheme != "never" {
		d.b.t.decoding.first = func(piece string) string {
			return strings.ReplaceAll(before.apply(piece, false), mark, "")
		}
	}
	return err
}

// A continuation joins tokens that begin with a prefix to the one before and sets others apart with a space, which tidy removes
// again before some marks and English suffixes.
type continuation struct {
	prefix string
	tidy   bool
}

func (c continuation) apply(s string, _ bool) string {
	if rest, ok := strings.CutPrefix(s, c.prefix); ok {
		s = rest
	} else {
		s = " " + s
	}
	return c.tidied(s)
}

func (c continuation) tidied(s string) string {
	if !c.tidy {
		return s
	}
	for _, r := range tidying {
		s = r.apply(s, false)
	}
	return s
}

// tidying is the clean-up of spaces, in order.
var tidying = []replacer{
	{" .", "."},
	{" ?", "?"},
	{" !", "!"},
	{" ,", ","},
	{" ' ", "'"},
	{" n't", "n't"},
	{" 'm", "'m"},
	{" do not", " don't"},
	{" 's", "'s"},
	{" 've", "'ve"},
	{" 're", "'re"},
}

func (d *decoderReader) wordPiece(s stage) error {
	if len(d.each) > 0 || d.fallback || d.fused || d.b.byteLevel {
		return s.fail("WordPiece after another decoder is not supported")
	}
	d.done = true
	c := continuation{}
	var ok bool
	if c.prefix, ok = s.String("prefix"); !ok || c.prefix == "" {
		return s.fail("prefix: want a string")
	}
	var err error
	c.tidy, err = s.flag("cleanup", true)
	d.each = append(d.each, c)
	d.b.t.decoding.first = c.tidied
	return err
}

// strip reads a Strip of leading spaces of the joined text, or of one character around each token.
func (d *decoderReader) strip(s stage) error {
	count := func(name string) int64 {
		v, _ := s.Get(name)
		n, _ := v.(ordjson.Number)
		i, ok := n.Int64()
		if !ok || i < 0 || i > 16 {
			return -1
		}
		return i
	}
	start, stop := count("start"), count("stop")
	content, _ := s.String("content")
	switch {
	case start < 0 || stop < 0 || utf8.RuneCountInString(content) != 1:
		return s.fail("start, stop or content is out of bounds")
	case d.fused && stop == 0 && content == " ":
		d.b.t.decoding.stripLeft = int(start)
		return nil
	case d.fused || d.fallback:
		return s.fail("only stripping leading spaces of the joined text is supported")
	}
	d.each = append(d.each, trimmer{content, int(start), int(stop)})
	return nil
}

// A trimmer removes a character from the ends of a token, so many times at most.
type trimmer struct {
	char        string
	start, stop int
}

func (t trimmer) apply(s string, _ bool) string {
	for range t.start {
		s = strings.TrimPrefix(s, t.char)
	}
	for range t.stop {
		s = strings.TrimSuffix(s, t.char)
	}
	return s
}
