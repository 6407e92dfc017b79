// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math/big"
	"strings"
)

// filters are all filters of jinja2, with transformers' own tojson.
func filters() map[string]*builtin {
	t := map[string]*builtin{}
	add := func(names string, required int, params string, call func(*machine, value, []value) value) {
		for _, name := range strings.Fields(names) {
			t[name] = &builtin{name: "do_" + name, required: required, params: strings.Fields(params), call: call}
		}
	}
	raw := func(name string, call func(*machine, value, arguments) value) {
		t[name] = &builtin{name: "do_" + name, raw: call}
	}
	add("abs", 0, "", filterAbs)
	add("attr", 1, "name", filterAttr)
	add("batch", 1, "linecount fill_with", filterBatch)
	add("capitalize", 0, "", softFilter((*machine).capitalize))
	add("center", 0, "width", filterCenter)
	add("count length", 0, "", filterLength)
	add("d default", 0, "default_value boolean", filterDefault)
	add("dictsort", 0, "case_sensitive by reverse", filterDictsort)
	add("e escape", 0, "", func(m *machine, v value, _ []value) value { return escape(m, v) })
	add("filesizeformat", 0, "binary", filterFilesizeformat)
	add("first", 0, "", filterFirst)
	add("float", 0, "default", filterFloat)
	add("forceescape", 0, "", func(m *machine, v value, _ []value) value { return escapeText(m, m.str(v)).markup() })
	raw("format", filterFormat)
	add("groupby", 1, "attribute default case_sensitive", filterGroupby)
	add("indent", 0, "width first blank", filterIndent)
	add("int", 0, "default base", filterInt)
	add("items", 0, "", filterItems)
	add("join", 0, "d attribute", filterJoin)
	add("last", 0, "", filterLast)
	add("list", 0, "", func(m *machine, v value, _ []value) value { return m.list(v) })
	add("lower", 0, "", softFilter((*machine).lower))
	raw("map", filterMap)
	add("max", 0, "case_sensitive attribute", extreme(">"))
	add("min", 0, "case_sensitive attribute", extreme("<"))
	add("pprint", 0, "", func(m *machine, v value, _ []value) value { return m.pprint(v) })
	add("random", 0, "", filterRandom)
	raw("reject", selecting(false, false))
	raw("rejectattr", selecting(false, true))
	filtersFromReplace(add, raw)
	return t
}

// filtersFromReplace adds the second half of the filters.
func filtersFromReplace(
	add func(names string, required int, params string, call func(*machine, value, []value) value),
	raw func(name string, call func(*machine, value, arguments) value),
) {
	add("replace", 2, "old new count", filterReplace)
	add("reverse", 0, "", filterReverse)
	add("round", 0, "precision method", filterRound)
	add("safe", 0, "", func(m *machine, v value, _ []value) value { return m.str(v).markup() })
	raw("select", selecting(true, false))
	raw("selectattr", selecting(true, true))
	add("slice", 1, "slices fill_with", filterSlice)
	add("sort", 0, "reverse case_sensitive attribute", filterSort)
	add("string", 0, "", func(m *machine, v value, _ []value) value { return m.soft(v) })
	add("striptags", 0, "", filterStriptags)
	add("sum", 0, "attribute start", filterSum)
	add("title", 0, "", filterTitle)
	add("tojson", 0, "ensure_ascii indent separators sort_keys", filterTojson)
	add("trim", 0, "chars", filterTrim)
	add("truncate", 0, "length killwords end leeway", filterTruncate)
	add("unique", 0, "case_sensitive attribute", filterUnique)
	add("upper", 0, "", softFilter((*machine).upper))
	add("urlencode", 0, "", filterURLEncode)
	add("urlize", 0, "trim_url_limit nofollow target rel extra_schemes", filterUrlize)
	add("wordcount", 0, "", filterWordcount)
	add("wordwrap", 0, "width break_long_words wrapstring break_on_hyphens", filterWordwrap)
	add("xmlattr", 0, "autospace", filterXMLAttr)
}

// softFilter is a filter on the text of any value.
func softFilter(f func(*machine, *Str) *Str) func(*machine, value, []value) value {
	return func(m *machine, v value, _ []value) value { return f(m, m.soft(v)) }
}

func filterLength(_ *machine, v value, _ []value) value {
	n, ok := length(v)
	if !ok {
		typeError("object of type '%s' has no len()", typeName(v))
	}
	return n
}

func filterDefault(_ *machine, v value, a []value) value {
	_, isUndefined := v.(*undefined)
	if isUndefined || boolArg(a[1], false) && !truth(v) {
		return given(a[0], emptyStr)
	}
	return v
}

func filterAttr(m *machine, v value, a []value) value {
	name := textArg(a[0])
	if u, ok := v.(*undefined); ok {
		u.fail()
	}
	if out, ok := m.attribute(v, name.text); ok {
		return out
	}
	return &undefined{obj: v, has: true, name: name}
}

func filterCenter(m *machine, v value, a []value) value {
	return m.justify(m.soft(v), intArg(a[0], 80), bare(" "), 1, 1)
}

func filterTrim(m *machine, v value, a []value) value {
	return m.strip(m.soft(v), given(a[0], nil), true, true)
}

func filterReplace(m *machine, v value, a []value) value {
	limit := -1
	if !absentOrNone(a[2]) {
		limit = intArg(a[2], -1)
	}
	s := m.str(v)
	m.work(len(s.text))
	return s.replace(m, m.str(a[0]).text, m.str(a[1]), limit)
}

// filterTitle begins a word after a blank, a dash or an opening bracket only, unlike str.title.
// titleWork says how much more work a byte of a title is than one of a plain copy: each letter becomes a text.
const titleWork = 64

func filterTitle(m *machine, v value, _ []value) value {
	s := m.soft(v)
	m.charge(len(s.text))
	m.work(len(s.text) * titleWork)
	out := s.mapRunes(func(rs []rune, i int) string {
		if i == 0 || isSpace(rs[i-1]) || strings.ContainsRune("-({[<", rs[i-1]) {
			return upperRune(rs, i)
		}
		return lowerRune(rs, i)
	})
	out.safe = false
	return out
}

func filterFormat(m *machine, v value, a arguments) value {
	if len(a.pos) > 0 && len(a.named) > 0 {
		throw("FilterArgumentError", "can't handle positional and keyword arguments at the same time")
	}
	if len(a.named) > 0 {
		d := newDict(len(a.named))
		for _, n := range a.named {
			d.set(bare(n.name), n.v)
		}
		return m.percent(m.soft(v), d)
	}
	return m.percent(m.soft(v), &tuple{items: a.pos})
}

func filterIndent(m *machine, v value, a []value) value {
	s, ok := v.(*Str)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			u.fail()
		}
		typeError("unsupported operand type(s) for +=: '%s' and 'str'", typeName(v))
	}
	indention, isText := a[0].(*Str)
	if !isText {
		n := max(intArg(a[0], 4), 0)
		m.chargeTimes(n, 1)
		indention = bare(strings.Repeat(" ", n))
	}
	if s.safe {
		indention = escape(m, indention.markup())
	}
	first, blank := boolArg(a[1], false), boolArg(a[2], false)
	lines := m.splitlines(m.addText(s, &Str{text: "\n", safe: s.safe}), false)
	b := builder{m: m}
	for i, l := range lines {
		line := l.(*Str)
		if i > 0 {
			b.text("\n")
		}
		if i == 0 && first || i > 0 && (blank || line.text != "") {
			b.add(indention)
		}
		b.add(line)
	}
	out := b.str()
	out.safe = s.safe
	return out
}

func filterTruncate(m *machine, v value, a []value) value {
	s, isText := v.(*Str)
	end := bare("...")
	if a[2] != (missing{}) {
		end = textArg(a[2])
	}
	leeway := 5
	if !absentOrNone(a[3]) {
		leeway = intArg(a[3], 5)
	}
	size := intArg(a[0], 255)
	if size < end.length() || leeway < 0 {
		throw("AssertionError", "expected length >= %d, got %d", end.length(), size)
	}
	n := filterLength(m, v, nil).(int)
	if n <= size+leeway {
		return v
	}
	if !isText {
		typeError("'%s' object can't be cut", typeName(v))
	}
	cut := s.slice(0, s.offset(size-end.length()))
	if !boolArg(a[1], false) {
		if i := strings.LastIndexByte(cut.text, ' '); i >= 0 {
			cut = cut.slice(0, i)
		}
	}
	return m.addText(cut, end)
}

func filterWordcount(m *machine, v value, _ []value) value {
	s := m.soft(v)
	m.work(len(s.text))
	n, inside := 0, false
	for _, r := range s.text {
		word := isWordRune(r)
		n += asInt(word && !inside)
		inside = word
	}
	return n
}

func filterReverse(m *machine, v value, _ []value) value {
	if s, ok := v.(*Str); ok {
		return m.slice(s, nil, nil, -1)
	}
	if next, ok := reversed(v); ok {
		kind := "reversed"
		if _, isList := v.(*List); isList {
			kind = "list_reverseiterator"
		}
		return &iterator{kind: kind, next: next}
	}
	if !iterable(v) {
		throw("FilterArgumentError", "argument must be iterable")
	}
	items := m.list(v).items
	n := len(items)
	return &iterator{kind: "list_reverseiterator", next: counted(n, func(i int) value { return items[n-1-i] })}
}

// filterRandom picks without chance: rendering has no source of it. It walks through the items from call to call.
func filterRandom(m *machine, v value, _ []value) value {
	n, ok := length(v)
	if !ok {
		typeError("object of type '%s' has no len()", typeName(v))
	}
	if n == 0 {
		return &undefined{hint: "No random item, sequence was empty."}
	}
	m.random = m.random*1664525 + 1013904223
	item, ok := m.item(v, int(m.random>>8)%n)
	if !ok {
		throw("KeyError", "random")
	}
	return item
}

func filterAbs(m *machine, v value, _ []value) value {
	switch n := unbool(v).(type) {
	case int:
		if n < 0 {
			return m.unary("-", n)
		}
		return n
	case *big.Int:
		return normal(new(big.Int).Abs(n))
	case float64:
		if n < 0 || n == 0 {
			return 0 - n
		}
		return n
	case *undefined:
		n.fail()
	}
	typeError("bad operand type for abs(): '%s'", typeName(v))
	return nil
}
