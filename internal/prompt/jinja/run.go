// SPDX-License-Identifier: Apache-2.0

package jinja

// A jump says how a list of statements ended.
type jump uint8

const (
	onward jump = iota
	breaks
	continues
)

// run executes statements.
func (m *machine) run(body []stmt, f *slots) jump {
	for _, n := range body {
		m.step()
		m.line = n.lineNumber()
		if j := m.exec(n, f); j != onward {
			return j
		}
	}
	return onward
}

func (m *machine) exec(n stmt, f *slots) jump {
	switch n := n.(type) {
	case *outputStmt:
		for i, x := range n.items {
			m.line = n.lines[i]
			m.output(x, f)
		}
	case *ifStmt:
		return m.execIf(n, f)
	case *forStmt:
		return m.execFor(n, f)
	case *assignStmt:
		m.checkNamespaces(n.target, f)
		m.assign(n.target, m.eval(n.value, f), f)
		if n.export {
			m.export(n.target, f)
		}
	case *assignBlock:
		return m.execAssignBlock(n, f)
	case *macroStmt:
		*f.at(n.name.at) = &macro{plan: n.plan, closure: f, autoescape: m.autoescape}
		if n.export {
			m.export(n.name, f)
		}
	case *callBlock:
		m.execCall(n, f)
	case *filterBlock:
		m.enter(n.scope, f)
		s, j := m.capture(func() jump { return m.run(n.body, f) })
		if j == onward {
			m.print(m.escaped(m.evalFilterChain(n.filter, s, f)))
		}
		f.leave(n.scope)
		return j
	case *withStmt:
		return m.execWith(n, f)
	case *autoescapeStmt:
		m.enter(n.scope, f)
		outer := m.autoescape
		m.autoescape = truth(m.eval(n.on, f))
		j := m.run(n.body, f)
		m.autoescape = outer
		f.leave(n.scope)
		return j
	case *blockStmt:
		m.execBlock(n, f)
	case *jumpStmt:
		if n.next {
			return continues
		}
		return breaks
	case *refusedStmt:
		m.eval(n.x, f)
		typeError("no loader for this environment specified")
	}
	return onward
}

// output prints an expression. Text of the template needs no evaluation.
func (m *machine) output(x expr, f *slots) {
	if d, ok := x.(*dataExpr); ok {
		m.print(d.text)
		return
	}
	m.print(m.escaped(m.eval(x, f)))
}

// escaped returns the text of v as it is printed.
func (m *machine) escaped(v value) *Str {
	if m.autoescape {
		return escape(m, v)
	}
	return m.str(v)
}

func (m *machine) execIf(n *ifStmt, f *slots) jump {
	if truth(m.eval(n.test, f)) {
		return m.run(n.body, f)
	}
	for _, e := range n.elifs {
		m.line = e.lineNumber()
		if truth(m.eval(e.test, f)) {
			return m.run(e.body, f)
		}
	}
	return m.run(n.otherwise, f)
}

func (m *machine) execAssignBlock(n *assignBlock, f *slots) jump {
	m.enter(n.scope, f)
	s, j := m.capture(func() jump { return m.run(n.body, f) })
	if j != onward {
		return j
	}
	var v value = s
	if n.filter != nil {
		v = m.evalFilterChain(n.filter, s, f)
	}
	if m.autoescape {
		v = m.str(v).markup()
	}
	m.assign(n.target, v, f)
	if n.export {
		m.export(n.target, f)
	}
	f.leave(n.scope)
	return onward
}

func (m *machine) execWith(n *withStmt, f *slots) jump {
	m.enter(n.scope, f)
	for i, t := range n.targets {
		m.assign(t, m.eval(n.values[i], f), f)
	}
	j := m.run(n.body, f)
	f.leave(n.scope)
	return j
}

func (m *machine) execCall(n *callBlock, f *slots) {
	caller := &macro{plan: n.plan, closure: f, autoescape: m.autoescape}
	if n.call == nil {
		m.print(m.callMacro(caller, arguments{}))
		return
	}
	fn := m.eval(n.call.fn, f)
	args := m.evalArgs(&n.call.args, f)
	args.named = append(args.named, named{"caller", caller})
	m.print(m.escaped(m.callValue(fn, args)))
}

// execBlock runs a named block, which sees only the context.
func (m *machine) execBlock(n *blockStmt, f *slots) {
	outer := m.shared
	if n.scoped {
		m.shared = map[string]value{}
		for k, v := range outer {
			m.shared[k] = v
		}
		for _, l := range n.locals {
			if v := *f.at(l.at); v != (missing{}) {
				m.shared[l.name] = v
			}
		}
	}
	m.runBlock(n.plan)
	m.shared = outer
}

func (m *machine) runBlock(p *blockPlan) {
	m.call(func() *Str {
		f := newSlots(p.unit, nil)
		if p.self >= 0 {
			f.vars[p.self] = &selfValue{}
		}
		if p.super >= 0 {
			f.vars[p.super] = &undefined{hint: "there is no parent block called", name: bare("super")}
		}
		m.enter(p.scope, f)
		m.run(p.body, f)
		return nil
	})
}

// selfValue is the variable self: its attributes are the blocks.
type selfValue struct{}

// export lets blocks see what was assigned at the top level.
func (m *machine) export(target expr, f *slots) {
	switch t := target.(type) {
	case *nameExpr:
		m.exports[t.name] = *f.at(t.at)
	case *tupleExpr:
		for _, item := range t.items {
			m.export(item, f)
		}
	}
}

// checkNamespaces refuses to set attributes of anything but a namespace, before the value is evaluated.
func (m *machine) checkNamespaces(target expr, f *slots) {
	switch t := target.(type) {
	case *attrTarget:
		if _, ok := (*f.at(t.ns.at)).(*namespace); !ok {
			throw("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
		}
	case *tupleExpr:
		for _, item := range t.items {
			m.checkNamespaces(item, f)
		}
	}
}

func (m *machine) assign(target expr, v value, f *slots) {
	switch t := target.(type) {
	case *nameExpr:
		*f.at(t.at) = v
	case *attrTarget:
		ns, ok := (*f.at(t.ns.at)).(*namespace)
		if !ok {
			throw("TemplateRuntimeError", "cannot assign attribute on non-namespace object")
		}
		m.charge(valueBytes)
		ns.set(bare(t.attr), v)
	case *tupleExpr:
		m.unpack(t.items, v, f)
	}
}

func (m *machine) unpack(targets []expr, v value, f *slots) {
	next := m.iterate(v, "cannot unpack non-iterable %s object")
	var items []value
	for range targets {
		item, ok := next()
		if !ok {
			valueError("not enough values to unpack (expected %d, got %d)", len(targets), len(items))
		}
		items = append(items, item)
	}
	if _, more := next(); more {
		valueError("too many values to unpack (expected %d)", len(targets))
	}
	for i, t := range targets {
		m.assign(t, items[i], f)
	}
}
