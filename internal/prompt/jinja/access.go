// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math"
	"math/big"
	"slices"
	"strings"
)

// getAttr is v.name in a template: the attribute, else the item of that name.
func (m *machine) getAttr(v value, name *Str) value {
	if u, ok := v.(*undefined); ok {
		u.fail()
	}
	if a, ok := m.attribute(v, name.text); ok {
		return a
	}
	if item, ok := m.item(v, name); ok {
		return item
	}
	return &undefined{obj: v, has: true, name: name}
}

// getItem is v[key] in a template: the item, else the attribute of that name.
func (m *machine) getItem(v, key value) value {
	if u, ok := v.(*undefined); ok {
		u.fail()
	}
	if item, ok := m.item(v, key); ok {
		return item
	}
	if name, ok := key.(*Str); ok {
		if a, ok := m.attribute(v, name.text); ok {
			return a
		}
	}
	return &undefined{obj: v, has: true, name: key}
}

// item returns v[key], if there is such an item.
func (m *machine) item(v, key value) (value, bool) {
	switch v := v.(type) {
	case *Dict:
		switch key.(type) {
		case *List, *Dict:
			return nil, false
		}
		return v.get(key)
	case *Str:
		if i, ok := index(key, v.length()); ok {
			c, _ := v.char(v.offset(i))
			return c, true
		}
	case *List:
		if i, ok := index(key, len(v.items)); ok {
			return v.items[i], true
		}
	case *tuple:
		if i, ok := index(key, len(v.items)); ok {
			return v.items[i], true
		}
	case *rangeValue:
		if i, ok := index(key, v.length()); ok {
			return v.at(i), true
		}
	case *selfValue:
		if name, ok := key.(*Str); ok {
			return m.blockFunction(name.text)
		}
	}
	return nil, false
}

// index turns a Python index into one from the start.
func index(key value, n int) (int, bool) {
	i, ok := unbool(key).(int)
	if !ok {
		return 0, false
	}
	if i < 0 {
		i += n
	}
	return i, i >= 0 && i < n
}

// attribute returns an attribute that Python finds on v. One that the sandbox hides is an undefined value.
func (m *machine) attribute(v value, name string) (value, bool) {
	if strings.HasPrefix(name, "__") && slices.Contains(dunders, name) {
		return hidden(v, name), true
	}
	switch v := v.(type) {
	case *Str:
		if f := m.t.env.strMethods[name]; f != nil {
			return bind(v, name, f), true
		}
	case *List:
		if f := m.t.env.listMethods[name]; f != nil {
			return m.guarded(v, name, f), true
		}
	case *Dict:
		if f := m.t.env.dictMethods[name]; f != nil {
			return m.guarded(v, name, f), true
		}
	case *tuple:
		if i := slices.Index(v.names, name); i >= 0 {
			return v.items[i], true
		}
		if name == "count" || name == "index" {
			return bind(v, name, m.t.env.listMethods[name]), true
		}
	case *namespace:
		return v.attrs.getText(name)
	case *loopValue:
		return v.attr(name)
	case *macro:
		return v.attr(name)
	case *cycler:
		return v.attr(name)
	case *rangeValue:
		return rangeAttr(v, name)
	case *view:
		if name == "mapping" {
			return v.d, true
		}
	case *function:
		if name == "fromkeys" && v.name == "dict" {
			return method(name, fromKeys), true
		}
	case bool, int, *big.Int, float64:
		return numberAttr(v, name)
	}
	return nil, false
}

// dunders are the names with two underscores that Python objects have. The sandbox refuses them.
var dunders = strings.Fields(`__class__ __delattr__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __getstate__ __gt__
	__hash__ __init__ __init_subclass__ __le__ __lt__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __sizeof__
	__str__ __subclasshook__ __module__ __dict__ __globals__ __code__ __call__ __len__ __iter__ __getitem__ __contains__ __add__
	__mul__ __mod__`)

func hidden(v value, name string) *undefined {
	return &undefined{
		hint:   "access to attribute " + reprText(name) + " of " + reprText(typeName(v)) + " object is unsafe.",
		name:   bare(name),
		unsafe: true,
	}
}

// mutators are the methods that change their object.
var mutators = strings.Fields("append clear pop reverse insert sort extend remove popitem setdefault update")

// guarded binds a method, unless it changes its object and the environment forbids that.
func (m *machine) guarded(v value, name string, f methodFunc) value {
	if !m.t.env.mutation && slices.Contains(mutators, name) {
		return hidden(v, name)
	}
	return bind(v, name, f)
}

// A methodFunc is a method of a built-in type.
type methodFunc func(m *machine, self value, a arguments) value

func bind(self value, name string, f methodFunc) *function {
	return &function{
		name: name, kind: "builtin_function_or_method", of: self,
		call: func(m *machine, a arguments) value { return f(m, self, a) },
	}
}

func rangeAttr(r *rangeValue, name string) (value, bool) {
	switch name {
	case "start":
		return r.start, true
	case "stop":
		return r.stop, true
	case "step":
		return r.step, true
	case "count":
		return method(name, func(m *machine, a arguments) value {
			v := single(name, a)
			return asInt(m.contains(r, v))
		}), true
	case "index":
		return method(name, func(m *machine, a arguments) value {
			v := single(name, a)
			if !m.contains(r, v) {
				valueError("%s is not in range", reprOf(v))
			}
			return (unbool(v).(int) - r.start) / r.step
		}), true
	}
	return nil, false
}

func numberAttr(v value, name string) (value, bool) {
	n := unbool(v)
	f, isFloat := n.(float64)
	switch name {
	case "real":
		return n, true
	case "imag":
		if isFloat {
			return 0.0, true
		}
		return 0, true
	case "conjugate":
		return method(name, func(*machine, arguments) value { return n }), true
	case "is_integer":
		if isFloat {
			return method(name, func(*machine, arguments) value { return f == float64(int64(f)) }), true
		}
	case "numerator":
		if !isFloat {
			return n, true
		}
	case "denominator":
		if !isFloat {
			return 1, true
		}
	case "bit_length":
		if !isFloat {
			return method(name, func(*machine, arguments) value { return toBig(n).BitLen() }), true
		}
	}
	return nil, false
}

// single returns the only argument of a method.
func single(name string, a arguments) value {
	if len(a.pos) != 1 || len(a.named) != 0 {
		typeError("%s() takes exactly one argument (%d given)", name, len(a.pos)+len(a.named))
	}
	return a.pos[0]
}

// slice is v[start:stop:step].
func (m *machine) slice(v, start, stop, step value) value {
	if u, ok := v.(*undefined); ok {
		u.fail()
	}
	n := 0
	switch v := v.(type) {
	case *Str:
		n = v.length()
	case *List:
		n = len(v.items)
	case *tuple:
		n = len(v.items)
	case *rangeValue:
		n = v.length()
	case *Dict:
		typeError("unhashable type: 'slice'")
	default:
		typeError("'%s' object is not subscriptable", typeName(v))
	}
	r := sliceRange(n, start, stop, step)
	switch v := v.(type) {
	case *Str:
		return m.sliceText(v, r)
	case *List:
		return &List{items: m.sliceItems(v.items, r), data: v.data}
	case *tuple:
		return &tuple{items: m.sliceItems(v.items, r)}
	}
	s := v.(*rangeValue)
	return &rangeValue{start: s.at(r.start), stop: s.at(r.stop), step: s.step * r.step}
}

// sliceRange returns the indices of a slice of n items.
func sliceRange(n int, start, stop, step value) *rangeValue {
	r := &rangeValue{step: 1}
	if step != nil {
		r.step = sliceIndex(step)
	}
	if r.step == 0 {
		valueError("slice step cannot be zero")
	}
	low, high := 0, n
	r.start, r.stop = 0, n
	if r.step < 0 {
		low, high = -1, n-1
		r.start, r.stop = n-1, -1
	}
	bound := func(v value) int {
		i := sliceIndex(v)
		if i < 0 {
			return max(i+n, low)
		}
		return min(i, high)
	}
	if start != nil {
		r.start = bound(start)
	}
	if stop != nil {
		r.stop = bound(stop)
	}
	return r
}

// sliceIndex returns an index, cut to what can't overflow.
func sliceIndex(v value) int {
	const far = math.MaxInt / 8
	switch v := unbool(v).(type) {
	case int:
		return min(max(v, -far), far)
	case *big.Int:
		return v.Sign() * far
	case *undefined:
		v.fail()
	}
	typeError("slice indices must be integers or None or have an __index__ method")
	return 0
}

func (m *machine) sliceText(s *Str, r *rangeValue) *Str {
	if r.step == 1 {
		if r.start >= r.stop {
			return s.slice(0, 0)
		}
		m.charge(16)
		m.work(len(s.text))
		from := s.offset(r.start)
		if s.isASCII() {
			return s.slice(r.start, r.stop)
		}
		return s.slice(from, from+s.slice(from, len(s.text)).offset(r.stop-r.start))
	}
	chars := m.chars(s)
	b := builder{mark: s.data, m: m}
	for i := range r.length() {
		b.add(chars[r.at(i)])
	}
	out := b.str()
	out.safe = s.safe
	return out
}

// chars returns the characters of a string.
func (m *machine) chars(s *Str) []*Str {
	m.chargeTimes(len(s.text), valueBytes)
	out := make([]*Str, 0, len(s.text))
	for i := 0; i < len(s.text); {
		var c *Str
		c, i = s.char(i)
		out = append(out, c)
	}
	return out
}

func (m *machine) sliceItems(items []value, r *rangeValue) []value {
	n := r.length()
	m.chargeTimes(n, valueBytes)
	if r.step == 1 && n > 0 {
		return slices.Clone(items[r.start:r.stop])
	}
	out := make([]value, n)
	for i := range n {
		out[i] = items[r.at(i)]
	}
	return out
}

// blockFunction returns what self.name is: a function that prints a block.
func (m *machine) blockFunction(name string) (value, bool) {
	p := m.t.block[name]
	if p == nil {
		return nil, false
	}
	return method(name, func(m *machine, _ arguments) value {
		s, _ := m.capture(func() jump { m.runBlock(p); return onward })
		return s
	}), true
}
