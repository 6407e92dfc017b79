// SPDX-License-Identifier: Apache-2.0

package jinja

import "slices"

// listMethods are the methods of Python's list; count and index are also those of tuple.
func listMethods() map[string]methodFunc {
	return map[string]methodFunc{
		"count": listCount, "index": listIndex, "copy": listCopy, "append": listAppend, "pop": listPop, "extend": listExtend,
		"insert": listInsert, "remove": listRemove, "clear": listClear, "reverse": listReverse, "sort": listSort,
	}
}

func itemsOf(self value) []value {
	if t, ok := self.(*tuple); ok {
		return t.items
	}
	return self.(*List).items
}

func listCount(m *machine, self value, a arguments) value {
	v, n := single("count", a), 0
	for _, item := range itemsOf(self) {
		n += asInt(m.equal(item, v))
	}
	return n
}

func listIndex(m *machine, self value, a arguments) value {
	p := bindArgs("index", a, 1, "value", "start", "stop")
	items := itemsOf(self)
	from, to := 0, len(items)
	if p[1] != (missing{}) {
		from = sliceRange(len(items), p[1], nil, nil).start
	}
	if p[2] != (missing{}) {
		to = sliceRange(len(items), nil, p[2], nil).stop
	}
	for i := from; i < to; i++ {
		if m.equal(items[i], p[0]) {
			return i
		}
	}
	valueError("%s is not in list", reprOf(p[0]))
	return nil
}

func listCopy(m *machine, self value, a arguments) value {
	bindArgs("copy", a, 0)
	return m.list(self)
}

func listAppend(m *machine, self value, a arguments) value {
	m.addItem(self.(*List), single("append", a))
	return nil
}

func listPop(_ *machine, self value, a arguments) value {
	l := self.(*List)
	p := bindArgs("pop", a, 0, "index")
	if len(l.items) == 0 {
		throw("IndexError", "pop from empty list")
	}
	i, ok := index(given(p[0], -1), len(l.items))
	if !ok {
		throw("IndexError", "pop index out of range")
	}
	v := l.items[i]
	l.items = slices.Delete(l.items, i, i+1)
	return v
}

func listExtend(m *machine, self value, a arguments) value {
	for _, v := range slices.Clone(m.items(single("extend", a))) {
		m.addItem(self.(*List), v)
	}
	return nil
}

func listInsert(m *machine, self value, a arguments) value {
	l := self.(*List)
	p := bindArgs("insert", a, 2, "index", "object")
	m.charge(valueBytes)
	m.work(len(l.items))
	l.items = slices.Insert(l.items, sliceRange(len(l.items), p[0], nil, nil).start, p[1])
	return nil
}

func listRemove(m *machine, self value, a arguments) value {
	l, v := self.(*List), single("remove", a)
	for i, item := range l.items {
		if m.equal(item, v) {
			l.items = slices.Delete(l.items, i, i+1)
			return nil
		}
	}
	valueError("list.remove(x): x not in list")
	return nil
}

func listClear(_ *machine, self value, a arguments) value {
	bindArgs("clear", a, 0)
	self.(*List).items = nil
	return nil
}

func listReverse(_ *machine, self value, a arguments) value {
	bindArgs("reverse", a, 0)
	slices.Reverse(self.(*List).items)
	return nil
}

func listSort(m *machine, self value, a arguments) value {
	p := bindArgs("sort", a, 0, "key", "reverse")
	l := self.(*List)
	key := func(v value) value { return v }
	if !absentOrNone(p[0]) {
		key = func(v value) value { return m.callValue(p[0], arguments{pos: []value{v}}) }
	}
	l.items = m.sorted(l.items, key, boolArg(p[1], false))
	return nil
}

// dictMethods are the methods of Python's dict.
func dictMethods() map[string]methodFunc {
	return map[string]methodFunc{
		"get": dictGet, "keys": viewMethod("dict_keys"), "values": viewMethod("dict_values"), "items": viewMethod("dict_items"),
		"copy": dictCopy, "pop": dictPop, "popitem": dictPopitem, "setdefault": dictSetdefault, "update": dictUpdate, "clear": dictClear,
		"fromkeys": func(m *machine, _ value, a arguments) value { return fromKeys(m, a) },
	}
}

func dictGet(_ *machine, self value, a arguments) value {
	p := bindArgs("get", a, 1, "key", "default")
	if v, ok := self.(*Dict).get(p[0]); ok {
		return v
	}
	return given(p[1], nil)
}

func viewMethod(kind string) methodFunc {
	return func(_ *machine, self value, a arguments) value {
		bindArgs(kind, a, 0)
		return &view{kind: kind, d: self.(*Dict)}
	}
}

func dictCopy(m *machine, self value, a arguments) value {
	bindArgs("copy", a, 0)
	m.chargeTimes(self.(*Dict).len(), 2*valueBytes)
	return self.(*Dict).copy()
}

func dictPop(_ *machine, self value, a arguments) value {
	d := self.(*Dict)
	p := bindArgs("pop", a, 1, "key", "default")
	i := d.find(p[0])
	if i < 0 {
		if p[1] == (missing{}) {
			throw("KeyError", "%s", reprOf(p[0]))
		}
		return p[1]
	}
	v := d.entries[i].v
	d.remove(i)
	return v
}

func dictPopitem(_ *machine, self value, a arguments) value {
	d := self.(*Dict)
	bindArgs("popitem", a, 0)
	if d.len() == 0 {
		throw("KeyError", "'popitem(): dictionary is empty'")
	}
	e := d.entries[d.len()-1]
	d.remove(d.len() - 1)
	return &tuple{items: []value{e.key, e.v}}
}

func dictSetdefault(m *machine, self value, a arguments) value {
	d := self.(*Dict)
	p := bindArgs("setdefault", a, 1, "key", "default")
	if v, ok := d.get(p[0]); ok {
		return v
	}
	m.charge(2 * valueBytes)
	d.set(p[0], given(p[1], nil))
	return given(p[1], nil)
}

func dictUpdate(m *machine, self value, a arguments) value {
	m.fillDict(self.(*Dict), "update", a)
	return nil
}

func dictClear(_ *machine, self value, a arguments) value {
	bindArgs("clear", a, 0)
	d := self.(*Dict)
	d.entries, d.index = nil, nil
	return nil
}

// fillDict adds what dict() and update take: a mapping or pairs, and keyword arguments.
func (m *machine) fillDict(d *Dict, name string, a arguments) {
	if len(a.pos) > 1 {
		typeError("%s expected at most 1 argument, got %d", name, len(a.pos))
	}
	if len(a.pos) == 1 {
		if from, ok := a.pos[0].(*Dict); ok {
			m.chargeTimes(from.len(), 2*valueBytes)
			d.merge(from)
		} else {
			m.fillPairs(d, a.pos[0])
		}
	}
	for _, n := range a.named {
		m.charge(2 * valueBytes)
		d.set(bare(n.name), n.v)
	}
}

func (m *machine) fillPairs(d *Dict, pairs value) {
	for i, pair := range m.items(pairs) {
		items := m.items(pair)
		if len(items) != 2 {
			valueError("dictionary update sequence element #%d has length %d; 2 is required", i, len(items))
		}
		m.charge(2 * valueBytes)
		d.set(items[0], items[1])
	}
}

func fromKeys(m *machine, a arguments) value {
	p := bindArgs("fromkeys", a, 1, "iterable", "value")
	d := newDict(0)
	for _, k := range m.items(p[0]) {
		m.charge(2 * valueBytes)
		d.set(k, given(p[1], nil))
	}
	return d
}
