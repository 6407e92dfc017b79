// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"slices"
	"strconv"
	"strings"
)

func filterFirst(m *machine, v value, _ []value) value {
	item, ok := m.iterate(v, notIterable)()
	if !ok {
		return &undefined{hint: "No first item, sequence was empty."}
	}
	return item
}

func filterLast(m *machine, v value, _ []value) value {
	if s, ok := v.(*Str); ok {
		if s.text == "" {
			return &undefined{hint: "No last item, sequence was empty."}
		}
		return m.getItem(s, -1)
	}
	if _, ok := v.(*undefined); ok {
		return &undefined{hint: "No last item, sequence was empty."}
	}
	next, ok := reversed(v)
	if !ok {
		typeError("'%s' object is not reversible", typeName(v))
	}
	item, ok := next()
	if !ok {
		return &undefined{hint: "No last item, sequence was empty."}
	}
	return item
}

func filterJoin(m *machine, v value, a []value) value {
	sep := emptyStr
	if a[0] != (missing{}) {
		sep = m.str(a[0])
	}
	get := m.getter(given(a[1], nil), nil, false)
	b := builder{m: m}
	next := m.iterate(v, notIterable)
	first := true
	for item, ok := next(); ok; item, ok = next() {
		m.step()
		if !first {
			b.add(sep)
		}
		first = false
		b.add(m.str(get(item)))
	}
	return b.str()
}

func filterItems(_ *machine, v value, _ []value) value {
	switch v := v.(type) {
	case *Dict:
		return generator((&view{"dict_items", v}).iterate())
	case *undefined:
		return generator(func() (value, bool) { return nil, false })
	}
	// Python complains when the generator is read.
	return generator(func() (value, bool) {
		typeError("Can only get item pairs from a mapping.")
		return nil, false
	})
}

// path splits the attribute argument of a filter: names and indices with dots between them.
func path(attribute value) []value {
	s, ok := attribute.(*Str)
	if !ok {
		if attribute == nil {
			return nil
		}
		return []value{attribute}
	}
	var out []value
	for part := range strings.SplitSeq(s.text, ".") {
		if n, err := strconv.Atoi(part); err == nil && every(part, isDigitRune) {
			out = append(out, n)
			continue
		}
		out = append(out, bare(part))
	}
	return out
}

// getter returns what looks up an attribute, with an optional default, and folds case if asked to.
func (m *machine) getter(attribute, otherwise value, fold bool) func(value) value {
	parts := path(attribute)
	return func(v value) value {
		for _, part := range parts {
			v = m.getItem(v, part)
			if _, ok := v.(*undefined); ok && otherwise != nil {
				v = otherwise
			}
		}
		if fold {
			return m.ignoreCase(v)
		}
		return v
	}
}

func (m *machine) ignoreCase(v value) value {
	if s, ok := v.(*Str); ok {
		return m.lower(s)
	}
	return v
}

// sorted returns the items in the order of their keys. Equal ones keep their order, also when reversed.
func (m *machine) sorted(items []value, key func(value) value, reverse bool) []value {
	type keyed struct{ key, v value }
	m.chargeTimes(len(items), 3*valueBytes)
	all := make([]keyed, len(items))
	for i, v := range items {
		all[i] = keyed{key(v), v}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		if reverse {
			a, b = b, a
		}
		switch {
		case m.ordered("<", a.key, b.key, 0):
			return -1
		case m.ordered("<", b.key, a.key, 0):
			return 1
		}
		return 0
	})
	out := make([]value, len(all))
	for i, k := range all {
		out[i] = k.v
	}
	return out
}

func filterSort(m *machine, v value, a []value) value {
	fold := !boolArg(a[1], false)
	var getters []func(value) value
	if s, ok := a[2].(*Str); ok {
		for part := range strings.SplitSeq(s.text, ",") {
			getters = append(getters, m.getter(bare(part), nil, fold))
		}
	} else {
		getters = append(getters, m.getter(given(a[2], nil), nil, fold))
	}
	key := func(v value) value {
		keys := &List{items: make([]value, len(getters))}
		for i, get := range getters {
			keys.items[i] = get(v)
		}
		return keys
	}
	return &List{items: m.sorted(m.items(v), key, boolArg(a[0], false)), data: isData(v)}
}

func filterDictsort(m *machine, v value, a []value) value {
	d, ok := v.(*Dict)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			u.fail()
		}
		throw("AttributeError", "'%s' object has no attribute 'items'", typeName(v))
	}
	pos := 0
	if a[1] != (missing{}) {
		switch by, _ := a[1].(*Str); {
		case by != nil && by.text == "value":
			pos = 1
		case by == nil || by.text != "key":
			throw("FilterArgumentError", `You can only sort by either "key" or "value"`)
		}
	}
	fold := !boolArg(a[0], false)
	key := func(v value) value {
		k := v.(*tuple).items[pos]
		if fold {
			k = m.ignoreCase(k)
		}
		return k
	}
	return &List{items: m.sorted(m.items(&view{"dict_items", d}), key, boolArg(a[2], false)), data: d.data}
}

func filterUnique(m *machine, v value, a []value) value {
	get := m.getter(given(a[1], nil), nil, !boolArg(a[0], false))
	seen := map[any]bool{}
	var next func() (value, bool)
	return generator(func() (value, bool) {
		if next == nil {
			next = m.iterate(v, notIterable)
		}
		for item, ok := next(); ok; item, ok = next() {
			m.step()
			m.charge(valueBytes)
			key := hashKey(get(item))
			if !seen[key] {
				seen[key] = true
				return item, true
			}
		}
		return nil, false
	})
}

// extreme is the filter min or max.
func extreme(op string) func(*machine, value, []value) value {
	return func(m *machine, v value, a []value) value {
		next := m.iterate(v, notIterable)
		best, ok := next()
		if !ok {
			return &undefined{hint: "No aggregated item, sequence was empty."}
		}
		get := m.getter(given(a[1], nil), nil, !boolArg(a[0], false))
		bestKey := get(best)
		for item, ok := next(); ok; item, ok = next() {
			if key := get(item); m.ordered(op, key, bestKey, 0) {
				best, bestKey = item, key
			}
		}
		return best
	}
}

func filterSum(m *machine, v value, a []value) value {
	get := m.getter(given(a[0], nil), nil, false)
	sum := given(a[1], 0)
	if _, ok := sum.(*Str); ok {
		typeError("sum() can't sum strings [use ''.join(seq) instead]")
	}
	next := m.iterate(v, notIterable)
	for item, ok := next(); ok; item, ok = next() {
		m.step()
		sum = m.binary("+", sum, get(item))
	}
	return sum
}

func filterGroupby(m *machine, v value, a []value) value {
	sensitive := boolArg(a[2], false)
	otherwise := given(a[1], nil)
	key := m.getter(a[0], otherwise, !sensitive)
	name := m.getter(a[0], otherwise, false)
	out := &List{}
	var last value
	for _, item := range m.sorted(m.items(v), key, false) {
		k := key(item)
		if n := len(out.items); n > 0 && m.equal(last, k) {
			m.addItem(out.items[n-1].(*tuple).items[1].(*List), item)
			continue
		}
		last = k
		m.addItem(out, &tuple{items: []value{name(item), &List{items: []value{item}}}, names: []string{"grouper", "list"}})
	}
	return out
}

func filterBatch(m *machine, v value, a []value) value {
	fill := given(a[1], nil)
	var next func() (value, bool)
	done := false
	return generator(func() (value, bool) {
		size := intArg(a[0], 0)
		if next == nil {
			next = m.iterate(v, notIterable)
		}
		var row []value
		for !done && (len(row) < size || len(row) == 0) {
			item, ok := next()
			if !ok {
				done = true
				break
			}
			m.charge(valueBytes)
			row = append(row, item)
		}
		if len(row) == 0 {
			return nil, false
		}
		if fill != nil && len(row) < size {
			m.chargeTimes(size-len(row), valueBytes)
			for len(row) < size {
				row = append(row, fill)
			}
		}
		return &List{items: row}, true
	})
}

func filterSlice(m *machine, v value, a []value) value {
	fill := given(a[1], nil)
	return lazily(func() func() (value, bool) {
		items, count := m.list(v).items, intArg(a[0], 0)
		if count == 0 {
			throw("ZeroDivisionError", "integer division or modulo by zero")
		}
		count = max(count, 1)
		per, extra, offset := len(items)/count, len(items)%count, 0
		return counted(count, func(i int) value {
			m.step()
			start := offset + i*per
			if i < extra {
				offset++
			}
			row := append([]value{}, items[start:offset+(i+1)*per]...)
			if fill != nil && i >= extra {
				row = append(row, fill)
			}
			return &List{items: row}
		})
	})
}

func filterMap(m *machine, v value, a arguments) value {
	return lazily(func() func() (value, bool) {
		if !truth(v) {
			return nothing
		}
		f := m.mapper(a)
		next := m.iterate(v, notIterable)
		return func() (value, bool) {
			item, ok := next()
			if !ok {
				return nil, false
			}
			m.step()
			return f(item), true
		}
	})
}

// mapper returns what the filter map does to each item: look up an attribute, or apply another filter.
func (m *machine) mapper(a arguments) func(value) value {
	if len(a.pos) == 0 {
		attribute, ok := a.take("attribute")
		if !ok {
			throw("FilterArgumentError", "map requires a filter argument")
		}
		otherwise, _ := a.take("default")
		if len(a.named) > 0 {
			throw("FilterArgumentError", "Unexpected keyword argument %s", reprText(a.named[0].name))
		}
		return m.getter(attribute, otherwise, false)
	}
	filter := m.t.env.filters[m.soft(a.pos[0]).text]
	if filter == nil {
		throw("TemplateRuntimeError", "No filter named %s.", reprOf(a.pos[0]))
	}
	rest := arguments{pos: a.pos[1:], named: a.named}
	return func(item value) value { return filter.apply(m, item, rest) }
}

// selecting is one of the filters select, reject, selectattr and rejectattr.
func selecting(keep, byAttribute bool) func(*machine, value, arguments) value {
	return func(m *machine, v value, a arguments) value {
		return lazily(func() func() (value, bool) {
			if !truth(v) {
				return nothing
			}
			holds := m.selector(a, byAttribute)
			next := m.iterate(v, notIterable)
			return func() (value, bool) {
				for item, ok := next(); ok; item, ok = next() {
					m.step()
					if holds(item) == keep {
						return item, true
					}
				}
				return nil, false
			}
		})
	}
}

// selector returns the condition of a selecting filter.
func (m *machine) selector(a arguments, byAttribute bool) func(value) bool {
	get := func(v value) value { return v }
	if byAttribute {
		if len(a.pos) == 0 {
			throw("FilterArgumentError", "Missing parameter for attribute name")
		}
		get = m.getter(a.pos[0], nil, false)
		a.pos = a.pos[1:]
	}
	if len(a.pos) == 0 {
		return func(v value) bool { return truth(get(v)) }
	}
	test := m.t.env.tests[m.soft(a.pos[0]).text]
	if test == nil {
		throw("TemplateRuntimeError", "No test named %s.", reprOf(a.pos[0]))
	}
	rest := arguments{pos: a.pos[1:], named: a.named}
	return func(v value) bool { return truth(test.apply(m, get(v), rest)) }
}
