// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// A formatSpec is a specification of Python's format: [[fill]align][sign][#][0][width][grouping][.precision][type].
type formatSpec struct {
	fill      string
	align     byte // < > ^ = or 0
	sign      byte // + - blank or 0
	alternate bool
	zero      bool
	width     int
	group     byte // , _ or 0
	precision int  // -1: none
	verb      byte
	data      bool
}

func parseSpec(m *machine, spec *Str) *formatSpec {
	p := &formatSpec{fill: " ", precision: -1, data: spec.anyData()}
	s := spec.text
	_, size := utf8.DecodeRuneInString(s)
	if len(s) > size && strings.IndexByte("<>^=", s[size]) >= 0 {
		p.fill, p.align = s[:size], s[size]
		s = s[size+1:]
	} else {
		size = 0
		if strings.IndexByte("<>^=", s[0]) >= 0 {
			p.align = s[0]
			s = s[1:]
		}
	}
	take := func(set string) byte {
		if s == "" || strings.IndexByte(set, s[0]) < 0 {
			return 0
		}
		c := s[0]
		s = s[1:]
		return c
	}
	p.sign = take("+- ")
	take("z")
	p.alternate = take("#") != 0
	if take("0") != 0 {
		p.zero = true
		if size == 0 {
			p.fill = "0"
		}
		if p.align == 0 {
			p.align = '='
		}
	}
	p.width, s = leadingInt(s)
	p.group = take(",_")
	if take(".") != 0 {
		if s == "" || !isDigit(s[0]) {
			valueError("Format specifier missing precision")
		}
		p.precision, s = leadingInt(s)
	}
	if s != "" {
		p.verb = s[0]
		s = s[1:]
	}
	if s != "" {
		valueError("Invalid format specifier")
	}
	m.chargeTimes(p.width, len(p.fill))
	m.chargeTimes(max(p.precision, 0), 1)
	return p
}

func leadingInt(s string) (int, string) {
	n := 0
	for s != "" && isDigit(s[0]) {
		n = min(n*10+int(s[0]-'0'), math.MaxInt/16)
		s = s[1:]
	}
	return n, s
}

func (p *formatSpec) unknown(v value) {
	valueError("Unknown format code '%c' for object of type '%s'", p.verb, typeName(v))
}

// text formats a string.
func (p *formatSpec) text(_ *machine, s *Str) *Str {
	if p.verb != 0 && p.verb != 's' {
		p.unknown(s)
	}
	if p.sign != 0 || p.alternate || p.align == '=' && !p.zero || p.group != 0 {
		valueError("Sign, alternate form, '=' alignment or grouping not allowed in string format specifier")
	}
	if p.precision >= 0 && p.precision < s.length() {
		s = s.slice(0, s.offset(p.precision))
	}
	align := p.align
	if align == 0 || align == '=' {
		align = '<'
	}
	return p.pad(s, align)
}

// integer formats an integer.
func (p *formatSpec) integer(m *machine, v value) *Str {
	n := toBig(v)
	digits, prefix, size := "", "", 3
	switch p.verb {
	case 0, 'd', 'n':
		digits = strings.TrimPrefix(intText(v), "-")
	case 'b':
		digits, prefix, size = new(big.Int).Abs(n).Text(2), "0b", 4
	case 'o':
		digits, prefix, size = new(big.Int).Abs(n).Text(8), "0o", 4
	case 'x':
		digits, prefix, size = new(big.Int).Abs(n).Text(16), "0x", 4
	case 'X':
		digits, prefix, size = strings.ToUpper(new(big.Int).Abs(n).Text(16)), "0X", 4
	case 'c':
		if !n.IsInt64() || n.Int64() < 0 || n.Int64() > utf8.MaxRune {
			throw("OverflowError", "%%c arg not in range(0x110000)")
		}
		return p.pad(&Str{text: string(rune(n.Int64())), data: p.data}, '<')
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		return p.float(m, toFloat(v))
	default:
		p.unknown(v)
	}
	if p.precision >= 0 {
		valueError("Precision not allowed in integer format specifier")
	}
	if !p.alternate {
		prefix = ""
	}
	return p.number(n.Sign() < 0, prefix, digits, "", size)
}

// float formats a float.
func (p *formatSpec) float(_ *machine, f float64) *Str {
	precision := p.precision
	if precision < 0 {
		precision = 6
	}
	text := ""
	switch p.verb {
	case 0:
		text = floatText(f)
		if p.precision >= 0 {
			text = formatFloat(f, 'g', max(precision, 1), p.alternate)
			if !strings.ContainsAny(text, ".en") {
				text += ".0"
			}
		}
	case 'e', 'E', 'f', 'F', 'g', 'G':
		text = formatFloat(f, p.verb, precision, p.alternate)
	case 'n':
		text = formatFloat(f, 'g', precision, p.alternate)
	case '%':
		text = formatFloat(f*100, 'f', precision, p.alternate) + "%"
	default:
		p.unknown(f)
	}
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	i := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if i < 0 {
		i = len(text)
	}
	return p.number(negative, "", text[:i], text[i:], 3)
}

// number joins sign, prefix, digits and what follows them, and pads.
func (p *formatSpec) number(negative bool, prefix, digits, tail string, size int) *Str {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case p.sign == '+', p.sign == ' ':
		sign = string(p.sign)
	}
	if p.group != 0 {
		if p.align == '=' && p.fill == "0" {
			room := p.width - len(sign) - len(prefix) - len(tail)
			for groupedLen(len(digits), size) < room {
				digits = strings.Repeat("0", max(1, (room-groupedLen(len(digits), size))/2)) + digits
			}
		}
		digits = grouped(digits, p.group, size)
	}
	body := digits + tail
	if p.align == '=' {
		n := p.width - len(sign) - len(prefix) - utf8.RuneCountInString(body)
		return &Str{text: sign + prefix + strings.Repeat(p.fill, max(n, 0)) + body, data: p.data}
	}
	align := p.align
	if align == 0 {
		align = '>'
	}
	return p.pad(&Str{text: sign + prefix + body, data: p.data}, align)
}

func groupedLen(n, size int) int { return n + (n-1)/size }

// grouped puts a separator between groups of digits.
func grouped(digits string, separator byte, size int) string {
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%size == 0 {
			b.WriteByte(separator)
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

func (p *formatSpec) pad(s *Str, align byte) *Str {
	n := p.width - s.length()
	if n <= 0 {
		return s
	}
	left := 0
	switch align {
	case '>':
		left = n
	case '^':
		left = n / 2
	}
	fill := &Str{text: p.fill, data: p.data}
	var b builder
	b.pad(fill, left)
	b.add(s)
	b.pad(fill, n-left)
	return b.str()
}
