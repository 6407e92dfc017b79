// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// A percentFormat is one run of Python's text % values.
type percentFormat struct {
	m       *machine
	format  *Str
	at      int
	out     builder
	args    []value
	next    int
	mapping value // what %(name)s reads, or nil
}

// A directive of a format: what stands between % and its letter.
type directiveSpec struct {
	key       *Str
	minus     bool
	plus      bool
	blank     bool
	zero      bool
	alternate bool
	width     int
	precision int // -1: none
	verb      byte
	data      bool // origin of the directive
}

// percent is Python's s % v.
func (m *machine) percent(s *Str, v value) *Str {
	p := percentFormat{m: m, format: s, out: builder{mark: s.data, m: m}}
	unchecked := false
	switch v := v.(type) {
	case *tuple:
		p.args = v.items
	case *Dict, *List, *undefined, *rangeValue:
		p.args = []value{v}
		p.mapping = v
		unchecked = true
	default:
		p.args = []value{v}
	}
	p.run()
	if p.next < len(p.args) && !unchecked {
		typeError("not all arguments converted during string formatting")
	}
	out := p.out.str()
	out.safe = s.safe
	return out
}

func (p *percentFormat) run() {
	text := p.format.text
	for {
		i := strings.IndexByte(text[p.at:], '%')
		if i < 0 {
			p.out.add(p.format.slice(p.at, len(text)))
			return
		}
		p.out.add(p.format.slice(p.at, p.at+i))
		p.at += i + 1
		d := p.directive()
		if d.verb == '%' {
			p.out.write("%", d.data)
			continue
		}
		p.m.step()
		p.convert(d, p.argument(d))
	}
}

func (p *percentFormat) peek() byte {
	if p.at >= len(p.format.text) {
		valueError("incomplete format")
	}
	return p.format.text[p.at]
}

// directive reads what follows a percent sign.
func (p *percentFormat) directive() directiveSpec {
	d := directiveSpec{precision: -1, data: p.format.dataAt(p.at - 1)}
	if p.peek() == '(' {
		d.key = p.key()
	}
	for {
		switch p.peek() {
		case '-':
			d.minus = true
		case '+':
			d.plus = true
		case ' ':
			d.blank = true
		case '0':
			d.zero = true
		case '#':
			d.alternate = true
		default:
			p.size(&d)
			return d
		}
		p.at++
	}
}

// size reads width, precision and letter.
func (p *percentFormat) size(d *directiveSpec) {
	d.width = p.number()
	if d.width < 0 {
		d.minus, d.width = true, -d.width
	}
	if p.peek() == '.' {
		p.at++
		d.precision = max(p.number(), 0)
	}
	for strings.IndexByte("hlL", p.peek()) >= 0 {
		p.at++
	}
	d.verb = p.peek()
	p.at++
	p.m.chargeTimes(d.width, 1)
	p.m.chargeTimes(max(d.precision, 0), 1)
}

// number reads digits, or takes a star's value from the arguments.
func (p *percentFormat) number() int {
	if p.peek() == '*' {
		p.at++
		return sliceIndex(p.take())
	}
	n := 0
	for isDigit(p.peek()) {
		n = min(n*10+int(p.peek()-'0'), math.MaxInt/16)
		p.at++
	}
	return n
}

func (p *percentFormat) key() *Str {
	depth, start := 0, p.at+1
	for {
		switch p.peek() {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				p.at++
				return p.format.slice(start, p.at-1)
			}
		}
		p.at++
	}
}

func (p *percentFormat) take() value {
	if p.next >= len(p.args) {
		typeError("not enough arguments for format string")
	}
	p.next++
	return p.args[p.next-1]
}

func (p *percentFormat) argument(d directiveSpec) value {
	if d.key == nil {
		return p.take()
	}
	if p.mapping == nil {
		typeError("format requires a mapping")
	}
	if u, ok := p.mapping.(*undefined); ok {
		u.fail()
	}
	v, ok := p.m.item(p.mapping, d.key)
	if !ok {
		throw("KeyError", "%s", reprOf(d.key))
	}
	p.next = len(p.args)
	return v
}

// convert writes one value.
func (p *percentFormat) convert(d directiveSpec, v value) {
	switch d.verb {
	case 's', 'r', 'a':
		s := p.text(d.verb, v)
		if d.precision >= 0 && d.precision < s.length() {
			s = s.slice(0, s.offset(d.precision))
		}
		p.padded(d, s)
	case 'c':
		p.padded(d, p.character(v))
	case 'd', 'i', 'u', 'x', 'X', 'o':
		p.numeric(d, integerDigits(p.m, d, v))
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if u, ok := v.(*undefined); ok {
			u.fail()
		}
		if !isNumber(v) {
			typeError("must be real number, not %s", typeName(v))
		}
		precision := d.precision
		if precision < 0 {
			precision = 6
		}
		p.numeric(d, formatFloat(toFloat(v), d.verb, precision, d.alternate))
	default:
		r, _ := utf8.DecodeRuneInString(p.format.text[p.at-1:])
		valueError("unsupported format character %s at index %d", reprText(string(r)), p.at-1)
	}
}

func (p *percentFormat) text(verb byte, v value) *Str {
	var s *Str
	switch verb {
	case 's':
		s = p.m.str(v)
		if t, ok := v.(*Str); ok && p.format.safe && t.safe {
			return t
		}
	case 'a':
		s = asciiRepr(p.m.repr(v))
	default:
		s = p.m.repr(v)
	}
	if p.format.safe {
		return escape(p.m, s)
	}
	return s
}

func (p *percentFormat) character(v value) *Str {
	switch c := unbool(v).(type) {
	case *Str:
		if c.length() == 1 {
			return c
		}
	case int:
		if c < 0 || c > utf8.MaxRune {
			throw("OverflowError", "%%c arg not in range(0x110000)")
		}
		return bare(string(rune(c)))
	}
	typeError("%%c requires int or char")
	return nil
}

// integerDigits returns an integer in the base of the directive, with its sign and prefix.
func integerDigits(m *machine, d directiveSpec, v value) string {
	if u, ok := v.(*undefined); ok {
		u.fail()
	}
	if f, ok := v.(float64); ok && strings.IndexByte("diu", d.verb) >= 0 {
		v = floatToInt(f)
	}
	if !isInt(v) {
		typeError("%%%c format: a real number is required, not %s", d.verb, typeName(v))
	}
	base, prefix := 10, ""
	switch d.verb {
	case 'x', 'X':
		base, prefix = 16, "0x"
	case 'o':
		base, prefix = 8, "0o"
	}
	n := toBig(v)
	digits := new(big.Int).Abs(n).Text(base)
	if base == 10 {
		digits = strings.TrimPrefix(intText(unbool(v)), "-")
	}
	if missingDigits := d.precision - len(digits); missingDigits > 0 {
		digits = strings.Repeat("0", missingDigits) + digits
	}
	if d.alternate {
		digits = prefix + digits
	}
	if d.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	if n.Sign() < 0 {
		digits = "-" + digits
	}
	return digits
}

// numeric writes a number with its sign and padding.
func (p *percentFormat) numeric(d directiveSpec, text string) {
	sign := ""
	switch {
	case strings.HasPrefix(text, "-"):
		sign, text = "-", text[1:]
	case d.plus:
		sign = "+"
	case d.blank:
		sign = " "
	}
	prefix := ""
	if d.alternate && len(text) > 1 && strings.IndexByte("xXo", d.verb) >= 0 {
		prefix, text = text[:2], text[2:]
	}
	pad := d.width - len(sign) - len(prefix) - len(text)
	if d.zero && !d.minus && pad > 0 {
		text = strings.Repeat("0", pad) + text
	}
	p.padded(d, &Str{text: sign + prefix + text, data: d.data})
}

func (p *percentFormat) padded(d directiveSpec, s *Str) {
	pad := &Str{text: " ", data: d.data}
	n := d.width - s.length()
	if !d.minus {
		p.out.pad(pad, n)
	}
	p.out.add(s)
	if d.minus {
		p.out.pad(pad, n)
	}
}

// asciiRepr escapes what is not ASCII.
func asciiRepr(s *Str) *Str {
	return s.mapRunes(func(rs []rune, i int) string {
		if rs[i] < utf8.RuneSelf {
			return string(rs[i])
		}
		if esc := escapeRune(rs[i], 0); esc != "" {
			return esc
		}
		return hexRune(rs[i])
	})
}
