// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// splitArgs returns the separator (nil: white space) and the greatest number of cuts.
func splitArgs(m *machine, s *Str, a arguments) (*Str, int) {
	p := bindArgs("split", a, 0, "sep", "maxsplit")
	m.work(len(s.text))
	limit := intArg(p[1], -1)
	if absentOrNone(p[0]) {
		return nil, limit
	}
	return separator(p[0]), limit
}

func strSplit(m *machine, self value, a arguments) value {
	s := self.(*Str)
	sep, limit := splitArgs(m, s, a)
	out := &List{data: s.anyData()}
	if sep == nil {
		m.splitSpace(out, s, limit)
		return out
	}
	at := 0
	for limit != 0 {
		i := strings.Index(s.text[at:], sep.text)
		if i < 0 {
			break
		}
		m.addItem(out, s.slice(at, at+i))
		at += i + len(sep.text)
		limit--
	}
	m.addItem(out, s.slice(at, len(s.text)))
	return out
}

func (m *machine) addItem(l *List, v value) {
	m.charge(2 * valueBytes)
	l.items = append(l.items, v)
}

func (m *machine) splitSpace(out *List, s *Str, limit int) {
	at := 0
	for {
		at += spaces(s.text[at:])
		if at == len(s.text) {
			return
		}
		n := strings.IndexFunc(s.text[at:], isSpace)
		if n < 0 || limit == 0 {
			m.addItem(out, s.slice(at, len(s.text)))
			return
		}
		m.addItem(out, s.slice(at, at+n))
		at += n
		limit--
	}
}

func strRsplit(m *machine, self value, a arguments) value {
	s := self.(*Str)
	sep, limit := splitArgs(m, s, a)
	out := &List{data: s.anyData()}
	if sep == nil {
		m.rsplitSpace(out, s, limit)
	} else {
		end := len(s.text)
		for limit != 0 {
			i := strings.LastIndex(s.text[:end], sep.text)
			if i < 0 {
				break
			}
			m.addItem(out, s.slice(i+len(sep.text), end))
			end = i
			limit--
		}
		m.addItem(out, s.slice(0, end))
	}
	slices.Reverse(out.items)
	return out
}

func (m *machine) rsplitSpace(out *List, s *Str, limit int) {
	end := len(s.text)
	for {
		end = len(strings.TrimRightFunc(s.text[:end], isSpace))
		if end == 0 {
			return
		}
		i := strings.LastIndexFunc(s.text[:end], isSpace)
		if i < 0 || limit == 0 {
			m.addItem(out, s.slice(0, end))
			return
		}
		_, size := utf8.DecodeRuneInString(s.text[i:])
		m.addItem(out, s.slice(i+size, end))
		end = i
		limit--
	}
}

// lineEnd returns the length of the line break that s begins with, 0 if there is none.
func lineEnd(s string) int {
	if strings.HasPrefix(s, "\r\n") {
		return 2
	}
	r, size := utf8.DecodeRuneInString(s)
	switch r {
	case '\n', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
		return size
	}
	return 0
}

func strSplitlines(m *machine, self value, a arguments) value {
	p := bindArgs("splitlines", a, 0, "keepends")
	return &List{items: m.splitlines(self.(*Str), boolArg(p[0], false)), data: self.(*Str).anyData()}
}

func (m *machine) splitlines(s *Str, keep bool) []value {
	m.work(len(s.text))
	out := &List{}
	start := 0
	for i := 0; i < len(s.text); {
		n := lineEnd(s.text[i:])
		if n == 0 {
			_, size := utf8.DecodeRuneInString(s.text[i:])
			i += size
			continue
		}
		end := i
		if keep {
			end += n
		}
		m.addItem(out, s.slice(start, end))
		i += n
		start = i
	}
	if start < len(s.text) {
		m.addItem(out, s.slice(start, len(s.text)))
	}
	return out.items
}

// justMethod pads a string on the left and right in these proportions.
func justMethod(name string, left, right int) methodFunc {
	return func(m *machine, self value, a arguments) value {
		p := bindArgs(name, a, 1, "width", "fillchar")
		fill := bare(" ")
		if p[1] != (missing{}) {
			fill = argument(m, self.(*Str), p[1])
			if fill.length() != 1 {
				typeError("The fill character must be exactly one character long")
			}
		}
		return m.justify(self.(*Str), intArg(p[0], 0), fill, left, right)
	}
}

func (m *machine) justify(s *Str, width int, fill *Str, left, right int) *Str {
	n := s.length()
	total := width - n
	if total <= 0 {
		return s
	}
	m.chargeTimes(total, len(fill.text))
	before := total * left
	if left+right == 2 {
		before = total/2 + total&width&1 // Python's rule for odd padding
	}
	var b builder
	b.pad(fill, before)
	b.add(s)
	b.pad(fill, total-before)
	out := b.str()
	out.safe = s.safe
	return out
}

func strZfill(m *machine, self value, a arguments) value {
	s := self.(*Str)
	width := intArg(single("zfill", a), 0)
	total := width - s.length()
	if total <= 0 {
		return s
	}
	m.chargeTimes(total, 1)
	sign := 0
	if strings.HasPrefix(s.text, "+") || strings.HasPrefix(s.text, "-") {
		sign = 1
	}
	var b builder
	b.add(s.slice(0, sign))
	b.pad(bare("0"), total)
	b.add(s.slice(sign, len(s.text)))
	return b.str()
}

func strExpandtabs(m *machine, self value, a arguments) value {
	s := self.(*Str)
	size := intArg(bindArgs("expandtabs", a, 0, "tabsize")[0], 8)
	column := 0
	b := builder{mark: s.data, m: m}
	for i := 0; i < len(s.text); {
		c, next := s.char(i)
		i = next
		switch c.text {
		case "\t":
			if size > 0 {
				n := size - column%size
				m.chargeTimes(n, 1)
				b.pad(&Str{text: " ", data: c.data}, n)
				column += n
			}
			continue
		case "\n", "\r":
			column = -1
		}
		b.add(c)
		column++
	}
	return b.str()
}

// strTranslate replaces characters by a table from code points to strings, code points or none.
func strTranslate(m *machine, self value, a arguments) value {
	s, table := self.(*Str), single("translate", a)
	b := builder{mark: s.data, m: m}
	for i := 0; i < len(s.text); {
		m.step()
		r, size := utf8.DecodeRuneInString(s.text[i:])
		v, ok := m.item(table, int(r))
		switch v := v.(type) {
		case nil:
			if !ok {
				b.add(s.slice(i, i+size))
			}
		case *Str:
			b.add(v)
		default:
			b.write(string(rune(intArg(v, 0))), s.dataAt(i))
		}
		i += size
	}
	return b.str()
}
