// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// A value is a Python object: nil (None), bool, int, *big.Int (only what int can't hold), float64, *Str, *List,
// *tuple, *Dict, *rangeValue, *undefined, *iterator, *view, *namespace, or something callable.
type value = any

// A List is a Python list.
type List struct {
	items []value
	data  bool // came from the inputs: so did its punctuation, when it is printed
}

// A tuple is a Python tuple. A group of the filter groupby is one whose items also have names.
type tuple struct {
	items []value
	names []string // nil, or grouper and list
}

// An undefined is the value of a name that has none.
type undefined struct {
	hint   string // the message, if not made of the fields below
	obj    value  // what lacks the attribute; see has
	has    bool   // obj is set
	name   value
	unsafe bool // access fails with a SecurityError
}

// message says what is undefined, as jinja2 does.
func (u *undefined) message() string {
	if u.hint != "" {
		return u.hint
	}
	name := reprOf(u.name)
	if !u.has {
		return name + " is undefined"
	}
	kind := typeName(u.obj) + " object"
	if u.obj == nil {
		kind = "None"
	}
	if _, ok := u.name.(*Str); ok {
		return "'" + kind + "' has no attribute " + name
	}
	return kind + " has no element " + name
}

func (u *undefined) fail() {
	if u.unsafe {
		panic(&SecurityError{Msg: u.message()})
	}
	throw("UndefinedError", "%s", u.message())
}

// A rangeValue is Python's range.
type rangeValue struct{ start, stop, step int }

func (r *rangeValue) length() int {
	switch {
	case r.step > 0 && r.start < r.stop:
		return (r.stop-r.start-1)/r.step + 1
	case r.step < 0 && r.start > r.stop:
		return (r.start-r.stop-1)/-r.step + 1
	}
	return 0
}

func (r *rangeValue) at(i int) int { return r.start + i*r.step }

// An iterator is a Python generator or iterator: it can be read once.
type iterator struct {
	kind string // its type in Python
	next func() (value, bool)
}

// A view is what keys, values and items of a mapping return.
type view struct {
	kind string // dict_keys, dict_values, dict_items
	d    *Dict
}

func (v *view) at(i int) value {
	e := v.d.entries[i]
	switch v.kind {
	case "dict_keys":
		return e.key
	case "dict_values":
		return e.v
	}
	return &tuple{items: []value{e.key, e.v}}
}

// A namespace is what the global namespace returns: an object whose attributes may be set.
type namespace struct{ attrs *Dict }

func (n *namespace) set(name *Str, v value) {
	if strings.HasPrefix(name.text, "_") {
		panic(&SecurityError{Msg: "Chat templates cannot store underscore-prefixed attributes on a namespace, but got " +
			reprText(name.text) + ". Please rename the attribute."})
	}
	n.attrs.set(name, v)
}

// normal returns the int of a big integer where it fits.
func normal(b *big.Int) value {
	if n := int(b.Int64()); b.IsInt64() && int64(n) == b.Int64() {
		return n
	}
	return b
}

// FromJSON converts a value of package ordjson. Its strings are data.
func FromJSON(v any) any { return fromJSON(v, true) }

func fromJSON(v any, data bool) value {
	switch v := v.(type) {
	case string:
		return &Str{text: strings.ToValidUTF8(v, "\ufffd"), data: data}
	case ordjson.Number:
		return number(v)
	case []any:
		l := &List{items: make([]value, len(v)), data: data}
		for i, e := range v {
			l.items[i] = fromJSON(e, data)
		}
		return l
	case *ordjson.Object:
		if v == nil {
			return nil
		}
		d := newDict(v.Len())
		d.data = data
		for k, e := range v.All() {
			d.set(&Str{text: strings.ToValidUTF8(k, "\ufffd"), data: data}, fromJSON(e, data))
		}
		return d
	}
	return v
}

func number(n ordjson.Number) value {
	if v, ok := n.Int64(); ok && int64(int(v)) == v {
		return int(v)
	}
	if len(n) <= maxIntDigits {
		if b, ok := n.BigInt(); ok {
			return normal(b)
		}
	}
	f, _ := n.Float64() // infinite if too large, as in Python
	return f
}

// typeName returns the name of a value's type in Python.
func typeName(v value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int, *big.Int:
		return "int"
	case float64:
		return "float"
	case *Str:
		if v.safe {
			return "Markup"
		}
		return "str"
	case *List:
		return "list"
	case *tuple:
		return "tuple"
	case *Dict:
		return "dict"
	case *rangeValue:
		return "range"
	case *undefined:
		return "Undefined"
	case *iterator:
		return v.kind
	case *view:
		return v.kind
	case *namespace:
		return "Namespace"
	case *macro:
		return "Macro"
	case *loopValue:
		return "LoopContext"
	case *function:
		return v.kind
	}
	return "object"
}

// truth is Python's bool(v).
func truth(v value) bool {
	switch v := v.(type) {
	case nil, *undefined:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case *Str:
		return v.text != ""
	case *List:
		return len(v.items) > 0
	case *tuple:
		return len(v.items) > 0
	case *Dict:
		return v.len() > 0
	case *view:
		return v.d.len() > 0
	case *rangeValue:
		return v.length() > 0
	case *loopValue:
		return v.length() > 0
	}
	return true
}

// maxDepth bounds how deeply values may nest where an operation recurses into them.
const maxDepth = 900

func tooDeep() { throw("RecursionError", "maximum recursion depth exceeded") }

// equal is Python's a == b.
func (m *machine) equal(a, b value) bool { return m.equalAt(a, b, 0) }

func (m *machine) equalAt(a, b value, depth int) bool {
	m.step()
	if depth > maxDepth {
		tooDeep()
	}
	if isNumber(a) && isNumber(b) {
		return compareNumbers(a, b) == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case *Str:
		b, ok := b.(*Str)
		return ok && a.text == b.text
	case *List:
		b, ok := b.(*List)
		return ok && m.equalItems(a.items, b.items, depth)
	case *tuple:
		b, ok := b.(*tuple)
		return ok && m.equalItems(a.items, b.items, depth)
	case *Dict:
		b, ok := b.(*Dict)
		return ok && m.equalDicts(a, b, depth)
	case *undefined:
		_, ok := b.(*undefined)
		return ok
	case *rangeValue:
		b, ok := b.(*rangeValue)
		return ok && equalRanges(a, b)
	case *view:
		b, ok := b.(*view)
		return ok && a.kind == b.kind && a.kind != "dict_values" && m.equalViews(a, b, depth)
	}
	return a == b
}

func (m *machine) equalItems(a, b []value, depth int) bool {
	return len(a) == len(b) && slices.EqualFunc(a, b, func(x, y value) bool {
		return identical(x, y) || m.equalAt(x, y, depth+1)
	})
}

func (m *machine) equalDicts(a, b *Dict, depth int) bool {
	if a.len() != b.len() {
		return false
	}
	for _, e := range a.entries {
		v, ok := b.get(e.key)
		if !ok || !identical(e.v, v) && !m.equalAt(e.v, v, depth+1) {
			return false
		}
	}
	return true
}

func equalRanges(a, b *rangeValue) bool {
	n := a.length()
	return n == b.length() && (n == 0 || a.start == b.start && (n == 1 || a.step == b.step))
}

func (m *machine) equalViews(a, b *view, depth int) bool {
	if a.kind == "dict_items" {
		return m.equalDicts(a.d, b.d, depth)
	}
	return a.d.len() == b.d.len() && !slices.ContainsFunc(a.d.entries, func(e entry) bool {
		_, ok := b.d.get(e.key)
		return !ok
	})
}

// identical is Python's a is b, with equal texts, numbers and empty tuples taken for one object.
func identical(a, b value) bool {
	switch a := a.(type) {
	case *Str:
		b, ok := b.(*Str)
		return ok && a.text == b.text && a.safe == b.safe
	case *big.Int:
		b, ok := b.(*big.Int)
		return ok && a.Cmp(b) == 0
	case float64:
		b, ok := b.(float64)
		return ok && (a == b || math.IsNaN(a) && math.IsNaN(b))
	case *tuple:
		b, ok := b.(*tuple)
		return ok && (a == b || len(a.items) == 0 && len(b.items) == 0)
	}
	return a == b
}
