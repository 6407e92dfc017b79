// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

// str is Python's str(v).
func (m *machine) str(v value) *Str {
	switch v := v.(type) {
	case *Str:
		return v.plain()
	case nil:
		return noneStr
	case bool:
		if v {
			return trueStr
		}
		return falseStr
	case int, *big.Int:
		return bare(intText(v))
	case float64:
		return bare(floatText(v))
	case *undefined:
		return emptyStr
	}
	return m.repr(v)
}

var (
	noneStr  = bare("None")
	trueStr  = bare("True")
	falseStr = bare("False")
)

// repr is Python's repr(v).
func (m *machine) repr(v value) *Str {
	p := printer{builder: builder{m: m}}
	p.value(v, 0)
	return p.str()
}

// reprOf is repr for error messages.
func reprOf(v value) string {
	var p printer
	p.value(v, 0)
	return string(p.buf)
}

// reprText is the repr of a plain string.
func reprText(s string) string { return reprOf(bare(s)) }

// A printer writes the repr of values.
type printer struct{ builder }

func (p *printer) value(v value, depth int) {
	if depth > maxDepth {
		tooDeep()
	}
	switch v := v.(type) {
	case nil:
		p.text("None")
	case bool:
		p.text(boolText(v))
	case int, *big.Int:
		p.text(intText(v))
	case float64:
		p.text(floatText(v))
	case *Str:
		if v.safe {
			p.text("Markup(")
			p.quoted(v)
			p.text(")")
			return
		}
		p.quoted(v)
	case *List:
		p.inside(v.data, func() { p.sequence("[", v.items, "]", depth) })
	case *tuple:
		if len(v.items) == 1 {
			p.sequence("(", v.items, ",)", depth)
			return
		}
		p.sequence("(", v.items, ")", depth)
	case *Dict:
		p.inside(v.data, func() { p.dict(v, depth) })
	case *view:
		p.view(v, depth)
	case *namespace:
		p.text("<Namespace ")
		p.dict(v.attrs, depth)
		p.text(">")
	case *undefined:
		p.text("Undefined")
	default:
		p.text(objectText(v))
	}
}

// inside writes with the origin of a container.
func (p *printer) inside(data bool, write func()) {
	outer := p.mark
	p.mark = p.mark || data
	write()
	p.mark = outer
}

func (p *printer) sequence(opening string, items []value, closing string, depth int) {
	p.text(opening)
	for i, item := range items {
		if i > 0 {
			p.text(", ")
		}
		p.value(item, depth+1)
	}
	p.text(closing)
}

func (p *printer) dict(d *Dict, depth int) {
	p.text("{")
	for i, e := range d.entries {
		if i > 0 {
			p.text(", ")
		}
		p.value(e.key, depth+1)
		p.text(": ")
		p.value(e.v, depth+1)
	}
	p.text("}")
}

func (p *printer) view(v *view, depth int) {
	items := make([]value, v.d.len())
	for i := range items {
		items[i] = v.at(i)
	}
	p.inside(v.d.data, func() { p.sequence(v.kind+"([", items, "])", depth) })
}

// objectText is the repr of objects that print alike. Python prints an address; here it is always the same.
func objectText(v value) string {
	switch v := v.(type) {
	case *rangeValue:
		if v.step != 1 {
			return fmt.Sprintf("range(%d, %d, %d)", v.start, v.stop, v.step)
		}
		return fmt.Sprintf("range(%d, %d)", v.start, v.stop)
	case *macro:
		if v.plan.name == "" {
			return "<Macro anonymous>"
		}
		return "<Macro " + reprText(v.plan.name) + ">"
	case *loopValue:
		return fmt.Sprintf("<LoopContext %d/%d>", v.index0+1, v.length())
	case *function:
		switch {
		case v.text != "":
			return v.text
		case v.of != nil:
			return fmt.Sprintf("<built-in method %s of %s object at 0x0>", v.name, typeName(v.of))
		}
		return fmt.Sprintf("<function %s at 0x0>", v.name)
	}
	return "<" + typeName(v) + " object at 0x0>"
}

// quoted writes a string with quotes and escapes. Each byte keeps its origin.
func (p *printer) quoted(s *Str) {
	quote := byte('\'')
	if strings.Contains(s.text, "'") && !strings.Contains(s.text, `"`) {
		quote = '"'
	}
	outer := p.mark
	p.mark = p.mark || s.runs == nil && s.data
	p.text(string(quote))
	start := 0
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		esc := escapeRune(r, quote)
		if esc == "" {
			i += size
			continue
		}
		p.add(s.slice(start, i))
		p.write(esc, s.dataAt(i))
		i += size
		start = i
	}
	p.add(s.slice(start, len(s.text)))
	p.text(string(quote))
	p.mark = outer
}

// escapeRune returns how repr spells a character, or nothing if as it is.
func escapeRune(r rune, quote byte) string {
	switch r {
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case rune(quote):
		return `\` + string(quote)
	}
	switch {
	case isPrintable(r):
		return ""
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// escape returns v as Markup: special characters of HTML are replaced unless v is Markup already.
func escape(m *machine, v value) *Str {
	if s, ok := v.(*Str); ok && s.safe {
		return s
	}
	return escapeText(m, m.str(v)).markup()
}

func escapeText(m *machine, s *Str) *Str {
	if !strings.ContainsAny(s.text, `&<>'"`) {
		return s
	}
	b := builder{mark: s.data, m: m}
	start := 0
	for i := range len(s.text) {
		var esc string
		switch s.text[i] {
		case '&':
			esc = "&amp;"
		case '<':
			esc = "&lt;"
		case '>':
			esc = "&gt;"
		case '\'':
			esc = "&#39;"
		case '"':
			esc = "&#34;"
		default:
			continue
		}
		b.add(s.slice(start, i))
		b.write(esc, s.dataAt(i))
		start = i + 1
	}
	b.add(s.slice(start, len(s.text)))
	return b.str()
}

func boolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
