// SPDX-License-Identifier: Apache-2.0

package jinja

// eval returns the value of an expression.
func (m *machine) eval(x expr, f *slots) value {
	m.step()
	switch x := x.(type) {
	case *constExpr:
		return x.v
	case *nameExpr:
		v := *f.at(x.at)
		if v == (missing{}) {
			return &undefined{name: bare(x.name)}
		}
		return v
	case *attrExpr:
		return m.getAttr(m.eval(x.x, f), x.attr)
	case *itemExpr:
		return m.evalItem(x, f)
	case *callExpr:
		fn := m.eval(x.fn, f)
		return m.callValue(fn, m.evalArgs(&x.args, f))
	case *filterExpr:
		return m.evalFilter(x, m.eval(x.x, f), f)
	case *testExpr:
		return m.evalTest(x, f)
	case *logicExpr:
		v := m.eval(x.x, f)
		if truth(v) == x.or {
			return v
		}
		return m.eval(x.y, f)
	case *compareExpr:
		return m.evalCompare(x, f)
	case *binaryExpr:
		a := m.eval(x.x, f)
		return m.binary(x.op, a, m.eval(x.y, f))
	case *unaryExpr:
		return m.unary(x.op, m.eval(x.x, f))
	case *concatExpr:
		return m.evalConcat(x, f)
	case *condExpr:
		return m.evalCond(x, f)
	}
	return m.evalDisplay(x, f)
}

// evalDisplay makes lists, tuples and dicts.
func (m *machine) evalDisplay(x expr, f *slots) value {
	switch x := x.(type) {
	case *listExpr:
		return &List{items: m.evalItems(x.items, f)}
	case *tupleExpr:
		return &tuple{items: m.evalItems(x.items, f)}
	case *dictExpr:
		d := newDict(len(x.keys))
		m.chargeTimes(len(x.keys), 2*valueBytes)
		for i, k := range x.keys {
			key := m.eval(k, f)
			d.set(key, m.eval(x.values[i], f))
		}
		return d
	case *sliceExpr:
		typeError("unhashable type: 'slice'")
	}
	panic("jinja: unknown expression")
}

func (m *machine) evalItems(xs []expr, f *slots) []value {
	m.chargeTimes(len(xs), valueBytes)
	items := make([]value, len(xs))
	for i, x := range xs {
		items[i] = m.eval(x, f)
	}
	return items
}

func (m *machine) evalCond(x *condExpr, f *slots) value {
	if truth(m.eval(x.test, f)) {
		return m.eval(x.then, f)
	}
	if x.otherwise != nil {
		return m.eval(x.otherwise, f)
	}
	return &undefined{hint: "the inline if-expression evaluated to false and no else section was defined."}
}

func (m *machine) evalConcat(x *concatExpr, f *slots) value {
	items := m.evalItems(x.items, f)
	b := builder{m: m}
	for _, item := range items {
		b.add(m.escaped(item))
	}
	s := b.str()
	s.safe = m.autoescape
	return s
}

func (m *machine) evalCompare(x *compareExpr, f *slots) value {
	a := m.eval(x.x, f)
	for i, op := range x.ops {
		b := m.eval(x.rest[i], f)
		if !m.compare(op, a, b) {
			return false
		}
		a = b
	}
	return true
}

func (m *machine) evalItem(x *itemExpr, f *slots) value {
	v := m.eval(x.x, f)
	if s, ok := x.arg.(*sliceExpr); ok {
		bound := func(x expr) value {
			if x == nil {
				return nil
			}
			return m.eval(x, f)
		}
		return m.slice(v, bound(s.start), bound(s.stop), bound(s.step))
	}
	return m.getItem(v, m.eval(x.arg, f))
}

// evalFilter applies a filter to v.
func (m *machine) evalFilter(x *filterExpr, v value, f *slots) value {
	if x.fn == nil {
		throw("TemplateRuntimeError", "No filter named %s found.", reprText(x.name))
	}
	if len(x.args.pos)+len(x.args.named) == 0 && x.args.star == nil && x.args.double == nil {
		return x.fn.apply(m, v, arguments{})
	}
	return x.fn.apply(m, v, m.evalArgs(&x.args, f))
}

// evalFilterChain applies the filters of a block to its text.
func (m *machine) evalFilterChain(x *filterExpr, text *Str, f *slots) value {
	if x.x == nil {
		return m.evalFilter(x, text, f)
	}
	return m.evalFilter(x, m.evalFilterChain(x.x.(*filterExpr), text, f), f)
}

func (m *machine) evalTest(x *testExpr, f *slots) value {
	v := m.eval(x.x, f)
	if x.fn == nil {
		throw("TemplateRuntimeError", "No test named %s found.", reprText(x.name))
	}
	return x.fn.apply(m, v, m.evalArgs(&x.args, f))
}

// arguments are the arguments of a call.
type arguments struct {
	pos   []value
	named []named
}

type named struct {
	name string
	v    value
}

// take returns the keyword argument of that name and removes it.
func (a *arguments) take(name string) (value, bool) {
	for i, n := range a.named {
		if n.name == name {
			a.named = append(a.named[:i:i], a.named[i+1:]...)
			return n.v, true
		}
	}
	return nil, false
}

func (m *machine) evalArgs(x *callArgs, f *slots) arguments {
	var a arguments
	if len(x.pos) > 0 {
		a.pos = m.evalItems(x.pos, f)
	}
	for i, name := range x.names {
		a.named = append(a.named, named{name, m.eval(x.named[i], f)})
	}
	if x.star != nil {
		next := m.iterate(m.eval(x.star, f), "argument after * must be an iterable, not %s")
		for v, ok := next(); ok; v, ok = next() {
			m.charge(valueBytes)
			a.pos = append(a.pos, v)
		}
	}
	if x.double != nil {
		m.addNamed(&a, m.eval(x.double, f))
	}
	return a
}

func (m *machine) addNamed(a *arguments, v value) {
	d, ok := v.(*Dict)
	if !ok {
		typeError("argument after ** must be a mapping, not %s", typeName(v))
	}
	for _, e := range d.entries {
		key, ok := e.key.(*Str)
		if !ok {
			typeError("keywords must be strings")
		}
		for _, n := range a.named {
			if n.name == key.text {
				typeError("got multiple values for keyword argument '%s'", key.text)
			}
		}
		m.charge(valueBytes)
		a.named = append(a.named, named{key.text, e.v})
	}
}

// A function is something callable that the interpreter brings.
type function struct {
	name string
	kind string // its type in Python
	call func(m *machine, a arguments) value
	of   value  // of a bound method: its object
	text string // its repr, if not made of the above
}

// method returns a function that prints as a bound method.
func method(name string, call func(*machine, arguments) value) *function {
	return &function{name: name, kind: "builtin_function_or_method", call: call}
}

// callValue is Python's v(...).
func (m *machine) callValue(v value, a arguments) value {
	switch v := v.(type) {
	case *function:
		return v.call(m, a)
	case *macro:
		return m.callMacro(v, a)
	case *loopValue:
		if v.recurse == nil {
			typeError("The loop must have the 'recursive' marker to be called recursively.")
		}
		if len(a.pos) != 1 || len(a.named) != 0 {
			typeError("loop() takes exactly one argument")
		}
		return v.recurse(a.pos[0], v.depth0+1)
	case *undefined:
		v.fail()
	case *joiner:
		return v.join(m, a)
	}
	typeError("'%s' object is not callable", typeName(v))
	return nil
}

// callable reports whether v can be called.
func callable(v value) bool {
	switch v.(type) {
	case *function, *macro, *loopValue, *undefined, *joiner:
		return true
	}
	return false
}
