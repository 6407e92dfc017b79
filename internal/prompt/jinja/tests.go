// SPDX-License-Identifier: Apache-2.0

package jinja

import "strings"

// tests are all tests of jinja2.
func tests() map[string]*builtin {
	t := map[string]*builtin{}
	is := func(name string, f func(m *machine, v value) bool) {
		t[name] = &builtin{name: "test_" + name, call: func(m *machine, v value, _ []value) value { return f(m, v) }}
	}
	with := func(names string, f func(m *machine, v, arg value) bool) {
		for _, name := range strings.Fields(names) {
			t[name] = &builtin{
				name: "test_" + name, required: 1, params: []string{"other"},
				call: func(m *machine, v value, a []value) value { return f(m, v, a[0]) },
			}
		}
	}
	for names, op := range map[string]string{
		"== eq equalto": "==", "!= ne": "!=", "> gt greaterthan": ">", ">= ge": ">=", "< lt lessthan": "<", "<= le": "<=", "in": "in",
	} {
		with(names, func(m *machine, v, arg value) bool { return m.compare(op, v, arg) })
	}
	with("sameas", func(_ *machine, v, arg value) bool { return identical(v, arg) })
	with("divisibleby", func(m *machine, v, arg value) bool { return !truth(m.binary("%", v, arg)) })
	is("odd", func(m *machine, v value) bool { return m.equal(m.binary("%", v, 2), 1) })
	is("even", func(m *machine, v value) bool { return m.equal(m.binary("%", v, 2), 0) })
	is("defined", func(_ *machine, v value) bool { return !isUndefined(v) })
	is("undefined", func(_ *machine, v value) bool { return isUndefined(v) })
	is("filter", func(m *machine, v value) bool { s, ok := v.(*Str); return ok && m.t.env.filters[s.text] != nil })
	is("test", func(m *machine, v value) bool { s, ok := v.(*Str); return ok && m.t.env.tests[s.text] != nil })
	is("none", func(_ *machine, v value) bool { return v == nil })
	is("boolean", func(_ *machine, v value) bool { return v == true || v == false })
	is("true", func(_ *machine, v value) bool { return v == true })
	is("false", func(_ *machine, v value) bool { return v == false })
	is("integer", func(_ *machine, v value) bool { _, isBool := v.(bool); return isInt(v) && !isBool })
	is("float", func(_ *machine, v value) bool { _, ok := v.(float64); return ok })
	is("number", func(_ *machine, v value) bool { return isNumber(v) })
	is("lower", func(m *machine, v value) bool { return isLowerText(m.str(v).text) })
	is("upper", func(m *machine, v value) bool { return isUpperText(m.str(v).text) })
	is("string", func(_ *machine, v value) bool { _, ok := v.(*Str); return ok })
	is("mapping", func(_ *machine, v value) bool { _, ok := v.(*Dict); return ok })
	is("sequence", func(_ *machine, v value) bool { return isSequence(v) })
	is("iterable", func(_ *machine, v value) bool { return iterable(v) })
	is("callable", func(_ *machine, v value) bool { return callable(v) })
	is("escaped", func(_ *machine, v value) bool { s, ok := v.(*Str); return ok && s.safe })
	return t
}

func isUndefined(v value) bool {
	_, ok := v.(*undefined)
	return ok
}

// isSequence reports whether v has a length and items.
func isSequence(v value) bool {
	switch v.(type) {
	case *Str, *List, *tuple, *Dict, *rangeValue, *undefined:
		return true
	}
	return false
}
