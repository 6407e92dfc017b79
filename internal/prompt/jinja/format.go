// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A formatter is one run of Python's str.format.
type formatter struct {
	m      *machine
	format *Str
	args   []value
	named  *Dict
	auto   int // next automatic field number, -1 once a number was given
}

func strFormat(m *machine, self value, a arguments) value {
	d := newDict(len(a.named))
	for _, n := range a.named {
		d.set(bare(n.name), n.v)
	}
	return m.format(self.(*Str), a.pos, d)
}

func strFormatMap(m *machine, self value, a arguments) value {
	d, ok := single("format_map", a).(*Dict)
	if !ok {
		typeError("format_map() argument must be a mapping")
	}
	return m.format(self.(*Str), nil, d)
}

func (m *machine) format(s *Str, args []value, named *Dict) *Str {
	f := formatter{m: m, format: s, args: args, named: named}
	out := f.expand(s, 2)
	out.safe = s.safe
	return out
}

// expand replaces the fields of a format. Fields may nest in format specifications, depth levels deep.
func (f *formatter) expand(s *Str, depth int) *Str {
	if depth < 0 {
		valueError("Max string recursion exceeded")
	}
	b := builder{mark: s.data, m: f.m}
	for at := 0; at < len(s.text); {
		i := strings.IndexAny(s.text[at:], "{}")
		if i < 0 {
			b.add(s.slice(at, len(s.text)))
			break
		}
		b.add(s.slice(at, at+i))
		at += i
		if at+1 < len(s.text) && s.text[at+1] == s.text[at] {
			b.add(s.slice(at, at+1))
			at += 2
			continue
		}
		if s.text[at] == '}' {
			valueError("Single '}' encountered in format string")
		}
		end := closingBrace(s.text, at)
		f.m.step()
		b.add(f.field(s.slice(at+1, end), depth))
		at = end + 1
	}
	return b.str()
}

// closingBrace returns where the field that begins at i ends.
func closingBrace(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	valueError("expected '}' before end of string")
	return 0
}

// field evaluates name!conversion:specification.
func (f *formatter) field(s *Str, depth int) *Str {
	name, spec, conversion := s, emptyStr, byte(0)
	i := fieldEnd(s.text)
	if i < len(s.text) {
		name = s.slice(0, i)
		rest := s.slice(i, len(s.text))
		if rest.text[0] == '!' {
			if len(rest.text) < 2 || len(rest.text) > 2 && rest.text[2] != ':' {
				valueError("expected ':' after conversion specifier")
			}
			conversion = rest.text[1]
			rest = rest.slice(2, len(rest.text))
		}
		if rest.text != "" {
			spec = rest.slice(1, len(rest.text))
		}
	}
	v := f.lookup(name)
	switch conversion {
	case 0:
	case 's':
		v = f.m.str(v)
	case 'r':
		v = f.m.repr(v)
	case 'a':
		v = asciiRepr(f.m.repr(v))
	default:
		valueError("Unknown conversion specifier %c", conversion)
	}
	return f.apply(v, f.expand(spec, depth-1))
}

// fieldEnd returns where the name of a field ends; brackets may hold colons.
func fieldEnd(s string) int {
	inside := false
	for i := range len(s) {
		switch s[i] {
		case '[':
			inside = true
		case ']':
			inside = false
		case ':', '!':
			if !inside {
				return i
			}
		}
	}
	return len(s)
}

// lookup evaluates a name such as 0.attr[key].
func (f *formatter) lookup(name *Str) value {
	n := strings.IndexAny(name.text, ".[")
	if n < 0 {
		n = len(name.text)
	}
	v := f.first(name.slice(0, n), n == len(name.text))
	for at := n; at < len(name.text); {
		if name.text[at] == '.' {
			end := at + 1
			for end < len(name.text) && name.text[end] != '.' && name.text[end] != '[' {
				end++
			}
			if end == at+1 {
				valueError("Empty attribute in format string")
			}
			v = f.m.getAttr(v, name.slice(at+1, end))
			at = end
			continue
		}
		end := strings.IndexByte(name.text[at:], ']')
		if end <= 1 || name.text[at] != '[' {
			valueError("Missing ']' in format string")
		}
		key := name.slice(at+1, at+end)
		at += end + 1
		if i, err := strconv.Atoi(key.text); err == nil && isDigit(key.text[0]) {
			v = f.m.getItem(v, i)
			continue
		}
		v = f.m.getItem(v, key)
	}
	return v
}

// first returns the argument that a field names. Only a wholly empty name takes the next one.
func (f *formatter) first(name *Str, whole bool) value {
	i, err := strconv.Atoi(name.text)
	switch {
	case name.text == "" && whole:
		if f.auto < 0 {
			valueError("cannot switch from manual field specification to automatic field numbering")
		}
		i = f.auto
		f.auto++
	case err == nil:
		if f.auto > 0 {
			valueError("cannot switch from automatic field numbering to manual field specification")
		}
		f.auto = -1
	default:
		v, ok := f.named.get(name)
		if !ok {
			throw("KeyError", "%s", reprOf(name))
		}
		return v
	}
	if i < 0 || i >= len(f.args) {
		throw("IndexError", "Replacement index %d out of range for positional args tuple", i)
	}
	return f.args[i]
}

// apply is Python's format(v, spec).
func (f *formatter) apply(v value, spec *Str) *Str {
	if f.format.safe {
		if s, ok := v.(*Str); ok || !isNumber(v) {
			if !ok {
				s = f.m.str(v)
			}
			v = escape(f.m, s)
		}
	}
	if spec.text == "" {
		return f.m.str(v)
	}
	p := parseSpec(f.m, spec)
	switch x := v.(type) {
	case *Str:
		return p.text(f.m, x.plain())
	case bool, int:
		return p.integer(f.m, unbool(x))
	case float64:
		return p.float(f.m, x)
	}
	if isInt(v) {
		return p.integer(f.m, v)
	}
	typeError("unsupported format string passed to %s.__format__", typeName(v))
	return nil
}

// formatFloat prints a float as C's printf does.
func formatFloat(f float64, verb byte, precision int, alternate bool) string {
	upper := verb >= 'A' && verb <= 'Z'
	var text string
	switch {
	case math.IsNaN(f):
		text = "nan"
	case math.IsInf(f, 0):
		text = strings.TrimPrefix(floatText(f), "+")
	default:
		text = finiteFloat(f, verb|0x20, precision, alternate)
	}
	if upper {
		return strings.ToUpper(text)
	}
	return text
}

// maxPrecision is the most digits behind the point that are computed; a float64 has no more than 1074.
const maxPrecision = 1100

func finiteFloat(f float64, verb byte, precision int, alternate bool) string {
	zeros := ""
	if verb == 'g' {
		precision = min(max(precision, 1), maxPrecision)
	} else if precision > maxPrecision {
		zeros = strings.Repeat("0", precision-maxPrecision)
		precision = maxPrecision
	}
	text := strconv.FormatFloat(f, verb, precision, 64)
	mantissa, exponent := text, ""
	if i := strings.IndexByte(text, 'e'); i >= 0 {
		mantissa, exponent = text[:i], text[i:]
	}
	if alternate && !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	if alternate && verb == 'g' {
		digits := len(strings.TrimLeft(strings.NewReplacer(".", "", "-", "").Replace(mantissa), "0"))
		if f == 0 {
			digits = 1
		}
		mantissa += strings.Repeat("0", max(precision-digits, 0))
	}
	return mantissa + zeros + exponent
}

func hexRune(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
