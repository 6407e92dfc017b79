// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// A jsonWriter writes a value as Python's json.dumps does. Each string keeps its origin.
type jsonWriter struct {
	builder
	ascii      bool
	indent     *Str // nil: on one line
	item, pair *Str // separators
	sort       bool
}

func filterTojson(m *machine, v value, a []value) value {
	w := jsonWriter{builder: builder{m: m}, ascii: boolArg(a[0], false), sort: boolArg(a[3], false)}
	w.item, w.pair = bare(", "), bare(": ")
	if !absentOrNone(a[1]) {
		w.item = bare(",")
		if s, ok := a[1].(*Str); ok {
			w.indent = s
		} else {
			n := max(intArg(a[1], 0), 0)
			m.chargeTimes(n, 1)
			w.indent = bare(strings.Repeat(" ", n))
		}
	}
	if !absentOrNone(a[2]) {
		s := m.items(a[2])
		if len(s) != 2 {
			valueError("not enough values to unpack (expected 2, got %d)", len(s))
		}
		w.item, w.pair = textArg(s[0]), textArg(s[1])
	}
	w.value(v, 0)
	return w.str()
}

func (w *jsonWriter) value(v value, depth int) {
	w.m.step()
	if depth > maxDepth {
		tooDeep()
	}
	switch v := v.(type) {
	case nil:
		w.text("null")
	case bool:
		w.text(fmt.Sprint(v))
	case int, *big.Int:
		w.text(intText(v))
	case float64:
		w.text(jsonFloat(v))
	case *Str:
		w.quoted(v)
	case *List:
		w.inside(v.data, func() { w.array(v.items, depth) })
	case *tuple:
		w.array(v.items, depth)
	case *Dict:
		w.inside(v.data, func() { w.object(v, depth) })
	default:
		typeError("Object of type %s is not JSON serializable", typeName(v))
	}
}

func (w *jsonWriter) inside(data bool, write func()) {
	outer := w.mark
	w.mark = w.mark || data
	write()
	w.mark = outer
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return floatText(f)
}

// piece writes a separator: in data it counts as data.
func (w *jsonWriter) piece(s *Str) {
	if w.mark {
		w.write(s.text, true)
		return
	}
	w.add(s)
}

// newline begins a line of depth levels.
func (w *jsonWriter) newline(depth int) {
	if w.indent == nil {
		return
	}
	w.text("\n")
	for range depth {
		w.piece(w.indent)
	}
}

func (w *jsonWriter) array(items []value, depth int) {
	if len(items) == 0 {
		w.text("[]")
		return
	}
	w.text("[")
	for i, item := range items {
		if i > 0 {
			w.piece(w.item)
		}
		w.newline(depth + 1)
		w.value(item, depth+1)
	}
	w.newline(depth)
	w.text("]")
}

func (w *jsonWriter) object(d *Dict, depth int) {
	if d.len() == 0 {
		w.text("{}")
		return
	}
	entries := d.entries
	if w.sort {
		entries = slices.Clone(entries)
		slices.SortStableFunc(entries, func(a, b entry) int {
			switch {
			case w.m.ordered("<", a.key, b.key, 0):
				return -1
			case w.m.ordered("<", b.key, a.key, 0):
				return 1
			}
			return 0
		})
	}
	w.text("{")
	for i, e := range entries {
		if i > 0 {
			w.piece(w.item)
		}
		w.newline(depth + 1)
		w.key(e.key)
		w.piece(w.pair)
		w.value(e.v, depth+1)
	}
	w.newline(depth)
	w.text("}")
}

func (w *jsonWriter) key(v value) {
	switch v := v.(type) {
	case *Str:
		w.quoted(v)
	case nil:
		w.text(`"null"`)
	case bool:
		w.text(fmt.Sprintf(`"%t"`, v))
	case int, *big.Int:
		w.text(`"` + intText(v) + `"`)
	case float64:
		w.text(`"` + jsonFloat(v) + `"`)
	default:
		typeError("keys must be str, int, float, bool or None, not %s", typeName(v))
	}
}

func (w *jsonWriter) quoted(s *Str) {
	outer := w.mark
	w.mark = w.mark || s.runs == nil && s.data
	w.text(`"`)
	start := 0
	for i := 0; i < len(s.text); {
		c := s.text[i]
		size := 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(s.text[i:])
		}
		if c >= ' ' && c != '"' && c != '\\' && (c < 0x7f || !w.ascii) {
			i += size
			continue
		}
		w.add(s.slice(start, i))
		r, _ := utf8.DecodeRuneInString(s.text[i:])
		w.write(jsonEscape(r), s.dataAt(i))
		i += size
		start = i
	}
	w.add(s.slice(start, len(s.text)))
	w.text(`"`)
	w.mark = outer
}

func jsonEscape(r rune) string {
	switch r {
	case '"', '\\':
		return `\` + string(r)
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// fromJSONText is the filter from_json: Python's json.loads. What it makes of data is data.
func fromJSONText(m *machine, v value, _ []value) value {
	s, ok := v.(*Str)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			u.fail()
		}
		typeError("the JSON object must be str, bytes or bytearray, not %s", typeName(v))
	}
	m.charge(4 * len(s.text))
	out, err := ordjson.Parse([]byte(s.text), ordjson.DefaultDepth)
	if err != nil {
		throw("JSONDecodeError", "%s", err)
	}
	return fromJSON(out, s.anyData())
}
