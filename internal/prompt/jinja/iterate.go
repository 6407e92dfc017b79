// SPDX-License-Identifier: Apache-2.0

package jinja

// length is Python's len(v); ok is false for what has none.
func length(v value) (n int, ok bool) {
	switch v := v.(type) {
	case *Str:
		return v.length(), true
	case *List:
		return len(v.items), true
	case *tuple:
		return len(v.items), true
	case *Dict:
		return v.len(), true
	case *view:
		return v.d.len(), true
	case *rangeValue:
		return v.length(), true
	case *undefined:
		return 0, true
	case *loopValue:
		return v.length(), true
	}
	return 0, false
}

// iterate returns a function that yields the items of v one by one. The message, with the type's name, is for what
// can't be iterated.
func (m *machine) iterate(v value, message string) func() (value, bool) {
	next := iterating(v)
	if next == nil {
		typeError(message, typeName(v))
	}
	return next
}

const notIterable = "'%s' object is not iterable"

// iterable reports whether v can be iterated.
func iterable(v value) bool { return iterating(v) != nil }

func iterating(v value) func() (value, bool) {
	switch v := v.(type) {
	case *Str:
		at := 0
		v = v.plain() // as markupsafe has it
		return func() (value, bool) {
			if at >= len(v.text) {
				return nil, false
			}
			var c *Str
			c, at = v.char(at)
			return c, true
		}
	case *List:
		return v.iterate()
	case *tuple:
		return (&List{items: v.items}).iterate()
	case *Dict:
		return (&view{"dict_keys", v}).iterate()
	case *view:
		return v.iterate()
	case *rangeValue:
		return counted(v.length(), func(i int) value { return v.at(i) })
	case *iterator:
		return v.next
	case *loopValue:
		return func() (value, bool) {
			item, ok := v.advance()
			return &tuple{items: []value{item, v}}, ok
		}
	case *undefined:
		return func() (value, bool) { return nil, false }
	}
	return nil
}

// iterate reads a list that may grow meanwhile.
func (l *List) iterate() func() (value, bool) {
	i := 0
	return func() (value, bool) {
		if i >= len(l.items) {
			return nil, false
		}
		i++
		return l.items[i-1], true
	}
}

func (v *view) iterate() func() (value, bool) {
	i, size := 0, v.d.len()
	return func() (value, bool) {
		if v.d.len() != size {
			throw("RuntimeError", "dictionary changed size during iteration")
		}
		if i >= size {
			return nil, false
		}
		i++
		return v.at(i - 1), true
	}
}

// counted yields n items.
func counted(n int, at func(i int) value) func() (value, bool) {
	i := 0
	return func() (value, bool) {
		if i >= n {
			return nil, false
		}
		i++
		return at(i - 1), true
	}
}

// items returns all items of v.
func (m *machine) items(v value) []value {
	if l, ok := v.(*List); ok {
		return l.items
	}
	if t, ok := v.(*tuple); ok {
		return t.items
	}
	next := m.iterate(v, notIterable)
	var out []value
	for item, ok := next(); ok; item, ok = next() {
		m.step()
		m.charge(valueBytes)
		out = append(out, item)
	}
	return out
}

// list returns a new list of all items of v.
func (m *machine) list(v value) *List {
	items := m.items(v)
	m.chargeTimes(len(items), valueBytes)
	return &List{items: append(make([]value, 0, len(items)), items...), data: isData(v)}
}

// generator returns a lazy iterator.
func generator(next func() (value, bool)) *iterator {
	return &iterator{kind: "generator", next: next}
}

// lazily returns a generator that is set up when its first item is read, so that errors come no earlier.
func lazily(start func() func() (value, bool)) *iterator {
	var next func() (value, bool)
	return generator(func() (value, bool) {
		if next == nil {
			next = start()
		}
		return next()
	})
}

// nothing yields no items.
func nothing() (value, bool) { return nil, false }

// isData reports whether a container came from the inputs.
func isData(v value) bool {
	switch v := v.(type) {
	case *List:
		return v.data
	case *Dict:
		return v.data
	case *view:
		return v.d.data
	case *Str:
		return v.anyData()
	}
	return false
}

// reversed is Python's reversed(v); ok is false for what can't be reversed.
func reversed(v value) (next func() (value, bool), ok bool) {
	switch v := v.(type) {
	case *List:
		n := len(v.items)
		return counted(n, func(i int) value { return v.items[n-1-i] }), true
	case *tuple:
		n := len(v.items)
		return counted(n, func(i int) value { return v.items[n-1-i] }), true
	case *Dict:
		n := v.len()
		return counted(n, func(i int) value { return v.entries[n-1-i].key }), true
	case *view:
		n := v.d.len()
		return counted(n, func(i int) value { return v.at(n - 1 - i) }), true
	case *rangeValue:
		n := v.length()
		return counted(n, func(i int) value { return v.at(n - 1 - i) }), true
	}
	return nil, false
}
