// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"strings"
	"unicode/utf8"
)

// A Segment is a stretch of output of one origin.
type Segment struct {
	Text string
	Data bool // came from the inputs, not from the template
}

// A Str is a Python string that knows where its bytes came from. It never changes.
type Str struct {
	text string
	data bool  // origin of the whole text when runs is nil
	runs []run // origins of stretches; nil if there is only one
	safe bool  // Python's Markup: already escaped
}

// A run is a stretch of bytes of one origin that ends before end.
type run struct {
	end  int
	data bool
}

// Text returns a string of the template: what may turn into control tokens.
func Text(s string) *Str { return &Str{text: s} }

// Data returns a string of the inputs: what must stay plain text.
func Data(s string) *Str { return &Str{text: strings.ToValidUTF8(s, "\ufffd"), data: true} }

// String returns the text without its origins.
func (s *Str) String() string { return s.text }

var emptyStr = &Str{}

func bare(s string) *Str { return &Str{text: s} }

// anyData reports whether some byte came from the inputs. An empty string is what it was made as.
func (s *Str) anyData() bool {
	if s.runs == nil {
		return s.data
	}
	for _, r := range s.runs {
		if r.data {
			return true
		}
	}
	return false
}

// like returns a string of one origin: data if any of s is.
func (s *Str) like(text string) *Str { return &Str{text: text, data: s.anyData()} }

// plain returns s as Python's str: not Markup.
func (s *Str) plain() *Str {
	if !s.safe {
		return s
	}
	c := *s
	c.safe = false
	return &c
}

// markup returns s as Python's Markup.
func (s *Str) markup() *Str {
	if s.safe {
		return s
	}
	c := *s
	c.safe = true
	return &c
}

// slice returns the bytes from i to j.
func (s *Str) slice(i, j int) *Str {
	if i == 0 && j == len(s.text) {
		return s
	}
	out := &Str{text: s.text[i:j], data: s.data, safe: s.safe}
	if s.runs == nil {
		return out
	}
	start := 0
	for _, r := range s.runs {
		from, to := max(start, i), min(r.end, j)
		start = r.end
		if from < to {
			out.runs = append(out.runs, run{end: to - i, data: r.data})
		}
	}
	out.settle()
	return out
}

// settle drops the runs of a string that has only one origin.
func (s *Str) settle() {
	switch len(s.runs) {
	case 0:
		s.runs = nil
	case 1:
		s.data, s.runs = s.runs[0].data, nil
	}
}

// dataAt reports the origin of the byte at i.
func (s *Str) dataAt(i int) bool {
	for _, r := range s.runs {
		if i < r.end {
			return r.data
		}
	}
	return s.data
}

func (s *Str) isASCII() bool { return isASCII(s.text) }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// length returns the number of characters.
func (s *Str) length() int { return utf8.RuneCountInString(s.text) }

// offset returns the byte offset of character n, which may be the one after the last.
func (s *Str) offset(n int) int {
	if s.isASCII() {
		return n
	}
	at := 0
	for ; n > 0; n-- {
		_, size := utf8.DecodeRuneInString(s.text[at:])
		at += size
	}
	return at
}

// char returns the character at byte offset i, and the offset after it.
func (s *Str) char(i int) (*Str, int) {
	_, size := utf8.DecodeRuneInString(s.text[i:])
	return s.slice(i, i+size), i + size
}

// A builder joins strings and keeps their origins.
type builder struct {
	buf  []byte
	runs []run
	mark bool     // origin of texts that text adds
	m    *machine // is charged for what is added; may be nil
}

// add appends s.
func (b *builder) add(s *Str) {
	if len(s.text) == 0 {
		return
	}
	if s.runs == nil {
		b.write(s.text, s.data)
		return
	}
	start := 0
	for _, r := range s.runs {
		b.write(s.text[start:r.end], r.data)
		start = r.end
	}
}

// text appends what the interpreter itself makes.
func (b *builder) text(s string) { b.write(s, b.mark) }

func (b *builder) write(s string, data bool) {
	if s == "" {
		return
	}
	if b.m != nil {
		b.m.charge(len(s))
	}
	b.buf = append(b.buf, s...)
	b.extend(data)
}

// extend gives the bytes that were just appended an origin.
func (b *builder) extend(data bool) {
	if n := len(b.runs); n > 0 && b.runs[n-1].data == data {
		b.runs[n-1].end = len(b.buf)
		return
	}
	b.runs = append(b.runs, run{end: len(b.buf), data: data})
}

// pad appends the text n times. The caller has charged for it.
func (b *builder) pad(s *Str, n int) {
	for range max(n, 0) {
		b.add(s)
	}
}

// str returns what was built. The builder must not be used after it.
func (b *builder) str() *Str {
	if len(b.buf) == 0 {
		return &Str{data: b.mark}
	}
	out := &Str{text: string(b.buf), runs: b.runs}
	out.settle()
	return out
}

// segments returns what was built as segments.
func (b *builder) segments() []Segment {
	text := string(b.buf)
	out := make([]Segment, 0, len(b.runs))
	start := 0
	for _, r := range b.runs {
		out = append(out, Segment{Text: text[start:r.end], Data: r.data})
		start = r.end
	}
	return out
}

// mapRunes returns s with each character replaced by what f makes of character i.
func (s *Str) mapRunes(f func(rs []rune, i int) string) *Str {
	rs := []rune(s.text)
	b := builder{mark: s.data}
	at := 0
	for i, r := range rs {
		b.write(f(rs, i), s.dataAt(at))
		at += utf8.RuneLen(r)
	}
	out := b.str()
	out.safe = s.safe
	return out
}

// mapText returns f of the whole text where that keeps the origins apart, else nil.
func (s *Str) mapText(f func(string) string) *Str {
	if s.runs != nil {
		return nil
	}
	return &Str{text: f(s.text), data: s.data, safe: s.safe}
}

// replace returns s with up to n (all if negative) occurrences of old replaced.
func (s *Str) replace(m *machine, old string, by *Str, n int) *Str {
	b := builder{mark: s.data, m: m}
	at := 0
	for n != 0 {
		i := strings.Index(s.text[at:], old)
		if i < 0 {
			break
		}
		if old == "" && at == len(s.text) {
			b.add(by)
			break
		}
		b.add(s.slice(at, at+i))
		b.add(by)
		at += i + len(old)
		if old == "" {
			var c *Str
			c, at = s.char(at)
			b.add(c)
		}
		n--
	}
	b.add(s.slice(at, len(s.text)))
	return b.str()
}

// Append returns s followed by text of the same origin as the last byte of s.
func (s *Str) Append(text string) *Str {
	b := builder{mark: s.data}
	b.add(s)
	last := s.data
	if s.text != "" {
		last = s.dataAt(len(s.text) - 1)
	}
	b.write(text, last)
	return b.str()
}
