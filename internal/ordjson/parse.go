// SPDX-License-Identifier: Apache-2.0

package ordjson

import (
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"
)

// DefaultDepth is a nesting that no honest input reaches and no stack minds.
const DefaultDepth = 512

// A SyntaxError says where the input stops being JSON.
type SyntaxError struct {
	Offset int // in bytes
	Msg    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("json: %s at byte %d", e.Msg, e.Offset)
}

// Parse reads exactly one value, with white space around it, from data. Arrays and objects may nest maxDepth deep.
// Of a repeated key the last value wins, in the first one's place. NaN, Infinity and bytes that are not UTF-8 are
// refused; half of a surrogate pair becomes U+FFFD. Errors are *SyntaxError.
func Parse(data []byte, maxDepth int) (any, error) {
	return ParseLimited(data, Limits{Depth: maxDepth})
}

// Limits bound what an input may make of its bytes. Zero counts are no limits.
type Limits struct {
	Depth  int // how deep arrays and objects may nest
	Keys   int // of one object
	Values int // of the whole input
}

// ParseLimited is Parse with more limits than that of the depth.
func ParseLimited(data []byte, limits Limits) (any, error) {
	p := parser{data: data, depth: limits.Depth, keys: limits.Keys, values: limits.Values}
	if p.keys == 0 {
		p.keys = math.MaxInt
	}
	if p.values == 0 {
		p.values = math.MaxInt
	}
	p.space()
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(data) {
		return nil, p.fail("something follows the value")
	}
	return v, nil
}

type parser struct {
	data   []byte
	pos    int
	depth  int // how many more levels may open
	keys   int // how many an object may have
	values int // how many more may come
}

func (p *parser) fail(msg string) error {
	return &SyntaxError{Offset: p.pos, Msg: msg}
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end (0 starts nothing in JSON).
func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) value() (any, error) {
	if p.values--; p.values < 0 {
		return nil, p.fail("too many values")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.nested(p.object)
	case c == '[':
		return p.nested(p.array)
	case c == '"':
		return p.str()
	case c == 't':
		return true, p.word("true")
	case c == 'f':
		return false, p.word("false")
	case c == 'n':
		return nil, p.word("null")
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case p.pos >= len(p.data):
		return nil, p.fail("unexpected end")
	}
	return nil, p.fail("no value starts like this")
}

func (p *parser) nested(read func() (any, error)) (any, error) {
	if p.depth <= 0 {
		return nil, p.fail("nested too deeply")
	}
	p.depth--
	p.pos++
	v, err := read()
	p.depth++
	return v, err
}

func (p *parser) array() (any, error) {
	list := []any{}
	p.space()
	if p.peek() == ']' {
		p.pos++
		return list, nil
	}
	for {
		p.space()
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		more, err := p.comma(']')
		if err != nil {
			return nil, err
		}
		if !more {
			return list, nil
		}
	}
}

func (p *parser) object() (any, error) {
	o := NewObject()
	p.space()
	if p.peek() == '}' {
		p.pos++
		return o, nil
	}
	for {
		p.space()
		if p.peek() != '"' {
			return nil, p.fail("expected a key in double quotes")
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		p.space()
		if p.peek() != ':' {
			return nil, p.fail("expected ':' after a key")
		}
		p.pos++
		p.space()
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if o.Set(key, v); o.Len() > p.keys {
			return nil, p.fail("too many keys in an object")
		}
		more, err := p.comma('}')
		if err != nil {
			return nil, err
		}
		if !more {
			return o, nil
		}
	}
}

// comma reads what follows an element: a comma (more is true) or the closing byte.
func (p *parser) comma(closing byte) (more bool, err error) {
	p.space()
	switch p.peek() {
	case ',':
		p.pos++
		return true, nil
	case closing:
		p.pos++
		return false, nil
	}
	return false, p.fail("expected ',' or '" + string(rune(closing)) + "'")
}

func (p *parser) word(w string) error {
	if len(p.data)-p.pos < len(w) || string(p.data[p.pos:p.pos+len(w)]) != w {
		return p.fail("expected " + w)
	}
	p.pos += len(w)
	return nil
}

func (p *parser) number() (any, error) {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else if !p.digits() {
		return nil, p.fail("expected a digit")
	}
	if p.peek() == '.' {
		p.pos++
		if !p.digits() {
			return nil, p.fail("expected a digit after the point")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if !p.digits() {
			return nil, p.fail("expected a digit in the exponent")
		}
	}
	return Number(p.data[start:p.pos]), nil
}

func (p *parser) digits() bool {
	start := p.pos
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
	}
	return p.pos > start
}

func (p *parser) str() (string, error) {
	p.pos++
	start := p.pos
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case '"':
			s := string(p.data[start:p.pos])
			p.pos++
			return s, nil
		case '\\':
			return p.escaped(p.data[start:p.pos])
		default:
			if err := p.plain(); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail("unexpected end of a string")
}

// plain steps over one rune of a string that stands for itself.
func (p *parser) plain() error {
	c := p.data[p.pos]
	if c < ' ' {
		return p.fail("control character in a string")
	}
	if c < utf8.RuneSelf {
		p.pos++
		return nil
	}
	r, size := utf8.DecodeRune(p.data[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return p.fail("invalid UTF-8")
	}
	p.pos += size
	return nil
}

// escaped reads the rest of a string that has a backslash at p.pos and begins with head.
func (p *parser) escaped(head []byte) (string, error) {
	buf := append(make([]byte, 0, 2*len(head)+16), head...)
	for p.pos < len(p.data) {
		start := p.pos
		switch p.data[p.pos] {
		case '"':
			p.pos++
			return string(buf), nil
		case '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, r)
		default:
			if err := p.plain(); err != nil {
				return "", err
			}
			buf = append(buf, p.data[start:p.pos]...)
		}
	}
	return "", p.fail("unexpected end of a string")
}

func (p *parser) escape() (rune, error) {
	if p.pos+1 >= len(p.data) {
		return 0, p.fail("unexpected end of a string")
	}
	c := p.data[p.pos+1]
	if c == 'u' {
		return p.unicode()
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(from) {
		if from[i] == c {
			p.pos += 2
			return rune(to[i]), nil
		}
	}
	return 0, p.fail("unknown escape")
}

// unicode reads \uXXXX, and the pair of two such if the first is a high surrogate.
func (p *parser) unicode() (rune, error) {
	r, ok := p.hex4(p.pos + 2)
	if !ok {
		return 0, p.fail("expected four hexadecimal digits")
	}
	p.pos += 6
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if p.peek() == '\\' && p.pos+1 < len(p.data) && p.data[p.pos+1] == 'u' {
		low, ok := p.hex4(p.pos + 2)
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			p.pos += 6
			return pair, nil
		}
	}
	return utf8.RuneError, nil
}

func (p *parser) hex4(at int) (rune, bool) {
	if at+4 > len(p.data) {
		return 0, false
	}
	var r rune
	for _, c := range p.data[at : at+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
