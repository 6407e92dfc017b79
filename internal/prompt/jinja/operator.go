// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math"
	"math/big"
	"strings"
)

// unary is Python's not v, -v and +v.
func (m *machine) unary(op string, v value) value {
	if op == "not" {
		return !truth(v)
	}
	switch v := unbool(v).(type) {
	case int:
		if op == "-" {
			return normal(new(big.Int).Neg(big.NewInt(int64(v))))
		}
		return v
	case *big.Int:
		if op == "-" {
			return normal(new(big.Int).Neg(v))
		}
		return v
	case float64:
		if op == "-" {
			return -v
		}
		return v
	case *undefined:
		v.fail()
	}
	typeError("bad operand type for unary %s: '%s'", op, typeName(v))
	return nil
}

// binary is Python's a op b.
func (m *machine) binary(op string, a, b value) value {
	if s, ok := a.(*Str); ok && op == "%" {
		return m.percent(s, b)
	}
	for _, v := range []value{a, b} {
		if u, ok := v.(*undefined); ok {
			u.fail()
		}
	}
	if isNumber(a) && isNumber(b) {
		return m.arithmetic(op, unbool(a), unbool(b))
	}
	switch op {
	case "+":
		if v, ok := m.join2(a, b); ok {
			return v
		}
	case "*":
		if isInt(b) {
			if v, ok := m.repeat(a, b); ok {
				return v
			}
		} else if isInt(a) {
			if v, ok := m.repeat(b, a); ok {
				return v
			}
		}
	}
	typeError("unsupported operand type(s) for %s: '%s' and '%s'", op, typeName(a), typeName(b))
	return nil
}

// join2 adds two sequences of one type.
func (m *machine) join2(a, b value) (value, bool) {
	switch a := a.(type) {
	case *Str:
		if b, ok := b.(*Str); ok {
			return m.addText(a, b), true
		}
		typeError(`can only concatenate str (not "%s") to str`, typeName(b))
	case *List:
		if b, ok := b.(*List); ok {
			m.chargeTimes(len(a.items)+len(b.items), valueBytes)
			return &List{items: append(append(make([]value, 0, len(a.items)+len(b.items)), a.items...), b.items...), data: a.data || b.data}, true
		}
		typeError(`can only concatenate list (not "%s") to list`, typeName(b))
	case *tuple:
		if b, ok := b.(*tuple); ok {
			m.chargeTimes(len(a.items)+len(b.items), valueBytes)
			return &tuple{items: append(append(make([]value, 0, len(a.items)+len(b.items)), a.items...), b.items...)}, true
		}
		typeError(`can only concatenate tuple (not "%s") to tuple`, typeName(b))
	}
	return nil, false
}

// addText adds two strings. If one is Markup, the other is escaped.
func (m *machine) addText(a, b *Str) *Str {
	safe := a.safe || b.safe
	if safe {
		a, b = escape(m, a), escape(m, b)
	}
	out := builder{m: m}
	out.buf = make([]byte, 0, len(a.text)+len(b.text))
	out.add(a)
	out.add(b)
	s := out.str()
	s.safe = safe
	return s
}

// repeat is v * n for sequences.
func (m *machine) repeat(v, count value) (value, bool) {
	n, ok := unbool(count).(int)
	if !ok {
		if n = math.MaxInt; toBig(count).Sign() < 0 {
			n = 0
		}
	}
	n = max(n, 0)
	switch v := v.(type) {
	case *Str:
		m.chargeTimes(n, len(v.text))
		b := builder{}
		if v.text != "" {
			b.pad(v, n)
		}
		s := b.str()
		s.safe = v.safe
		return s, true
	case *List:
		return &List{items: m.repeatItems(v.items, n)}, true
	case *tuple:
		return &tuple{items: m.repeatItems(v.items, n)}, true
	}
	return nil, false
}

func (m *machine) repeatItems(items []value, n int) []value {
	if len(items) == 0 {
		return nil
	}
	m.chargeTimes(n, len(items)*valueBytes)
	out := make([]value, 0, n*len(items))
	for range n {
		out = append(out, items...)
	}
	return out
}

// compare is Python's a op b for comparisons and in.
func (m *machine) compare(op string, a, b value) bool {
	switch op {
	case "==":
		return m.equal(a, b)
	case "!=":
		return !m.equal(a, b)
	case "in":
		return m.contains(b, a)
	case "not in":
		return !m.contains(b, a)
	}
	return m.ordered(op, a, b, 0)
}

// ordered is Python's <, <=, > and >=.
func (m *machine) ordered(op string, a, b value, depth int) bool {
	m.step()
	if depth > maxDepth {
		tooDeep()
	}
	for _, v := range []value{a, b} {
		if u, ok := v.(*undefined); ok {
			u.fail()
		}
	}
	if isNumber(a) && isNumber(b) {
		c := compareNumbers(a, b)
		return c != 2 && holds(op, c)
	}
	switch x := a.(type) {
	case *Str:
		if y, ok := b.(*Str); ok {
			return holds(op, strings.Compare(x.text, y.text))
		}
	case *List:
		if y, ok := b.(*List); ok {
			return m.orderedItems(op, x.items, y.items, depth)
		}
	case *tuple:
		if y, ok := b.(*tuple); ok {
			return m.orderedItems(op, x.items, y.items, depth)
		}
	}
	typeError("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
	return false
}

func holds(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

func (m *machine) orderedItems(op string, a, b []value, depth int) bool {
	for i := range min(len(a), len(b)) {
		if !identical(a[i], b[i]) && !m.equalAt(a[i], b[i], depth+1) {
			return m.ordered(op, a[i], b[i], depth+1)
		}
	}
	return holds(op, cmp(len(a), len(b)))
}

// contains is Python's v in container.
func (m *machine) contains(container, v value) bool {
	switch c := container.(type) {
	case *Str:
		s, ok := v.(*Str)
		if !ok {
			typeError("'in <string>' requires string as left operand, not %s", typeName(v))
		}
		m.work(len(c.text))
		return strings.Contains(c.text, s.text)
	case *Dict:
		_, ok := c.get(v)
		return ok
	case *view:
		if c.kind == "dict_keys" {
			_, ok := c.d.get(v)
			return ok
		}
	case nil, bool, int, *big.Int, float64, *function, *macro, *namespace, *joiner, *cycler:
		typeError("argument of type '%s' is not iterable", typeName(c))
	case *rangeValue:
		if i, ok := unbool(v).(int); ok {
			n := i - c.start
			return n%c.step == 0 && n/c.step >= 0 && n/c.step < c.length()
		}
	}
	next := m.iterate(container, "argument of type '%s' is not iterable")
	for item, ok := next(); ok; item, ok = next() {
		m.step()
		if identical(item, v) || m.equal(item, v) {
			return true
		}
	}
	return false
}
