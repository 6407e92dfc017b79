// SPDX-License-Identifier: Apache-2.0

package jinja

import "fmt"

// A frame is where the resolver is: the scope, and what of the code around it matters.
type frame struct {
	*symbols
	top    bool // assignments are seen by blocks
	soft   bool // inside if: an unknown filter or test is an error only when it is reached
	inLoop bool // break and continue are allowed
}

// A resolver gives names their places, and filters and tests their functions.
type resolver struct {
	env    *Env
	blocks map[string]*blockPlan
	bodies []*blockStmt // of the blocks, to be resolved apart
}

// resolve prepares a parsed template for rendering and returns the unit and the scope of its top level, and the slot of
// the variable self, -1 if it is not used.
func (r *resolver) resolve(body []stmt) (u *unit, plan scopePlan, self int) {
	u = newUnit(nil)
	top := frame{symbols: newSymbols(u, nil), top: true}
	self = -1
	if uses(body, "self")["self"] {
		top.parameter("self")
		self = top.place("self").slot
	}
	top.analyze(body)
	plan = top.plan()
	r.body(body, top)
	for len(r.bodies) > 0 {
		n := r.bodies[0]
		r.bodies = r.bodies[1:]
		r.block(n)
	}
	return u, plan, self
}

func (r *resolver) fail(at int, format string, args ...any) {
	panic(&SyntaxError{Line: at, Msg: fmt.Sprintf(format, args...)})
}

// inner is a scope inside f, in the same unit.
func (f frame) inner() frame {
	return frame{symbols: newSymbols(f.unit, f.symbols), inLoop: f.inLoop}
}

// function is a scope inside f with a unit of its own.
func (f frame) function() frame {
	return frame{symbols: newSymbols(newUnit(f.unit), f.symbols)}
}

func (f frame) softer() frame {
	f.soft = true
	return f
}

func (r *resolver) body(body []stmt, f frame) {
	for _, n := range body {
		r.stmt(n, f)
	}
}

func (r *resolver) stmt(n stmt, f frame) {
	switch n := n.(type) {
	case *outputStmt:
		r.exprs(f, n.items...)
	case *ifStmt:
		r.ifStmt(n, f.softer())
	case *forStmt:
		r.forStmt(n, f)
	case *assignStmt:
		r.target(n.target, f)
		r.exprs(f, n.value)
		n.export = f.top
	case *assignBlock:
		r.assignBlock(n, f)
	case *macroStmt:
		r.macro(n.plan, n.lineNumber(), f)
		r.name(n.name, f)
		n.export = f.top
	case *callBlock:
		r.macro(n.plan, n.lineNumber(), f)
		if n.call != nil {
			r.exprs(f, n.call)
		}
	case *filterBlock:
		in := f.inner()
		in.analyze(n.body)
		in.reads(n.filter)
		n.scope = in.plan()
		r.body(n.body, in)
		r.exprs(in, n.filter)
	case *withStmt:
		r.with(n, f)
	case *autoescapeStmt:
		in := f.inner()
		in.reads(n.on)
		in.analyze(n.body)
		n.scope = in.plan()
		r.exprs(in, n.on)
		r.body(n.body, in)
	case *blockStmt:
		r.blockHere(n, f)
	case *jumpStmt:
		if !f.inLoop {
			if n.next {
				r.fail(n.lineNumber(), "'continue' not properly in loop")
			}
			r.fail(n.lineNumber(), "'break' outside loop")
		}
	case *refusedStmt:
		r.exprs(f, n.x)
	}
}

func (r *resolver) ifStmt(n *ifStmt, f frame) {
	r.exprs(f, n.test)
	r.body(n.body, f)
	for _, e := range n.elifs {
		r.ifStmt(e, f)
	}
	r.body(n.otherwise, f)
}

func (r *resolver) forStmt(n *forStmt, f frame) {
	if assigns(n, "loop") {
		r.fail(n.lineNumber(), "Can't assign to special loop variable in for-loop target")
	}
	in, otherwise := f.inner(), f.inner()
	if n.recursive {
		in = f.function()
		n.unit = in.unit
		otherwise = frame{symbols: newSymbols(n.unit, f.symbols)}
	}
	in.inLoop = true
	special := n.recursive || uses(n.body, "loop")["loop"] || hasScopedBlock(n.body)
	if special {
		in.parameter("loop")
	}
	in.parameters(n.target)
	in.analyze(n.body)
	if n.otherwise != nil {
		otherwise.analyze(n.otherwise)
		n.elseScope = otherwise.plan()
	}
	n.scope = in.plan()
	if special {
		n.loop = in.place("loop").slot
	}
	r.exprs(f, n.iter)
	r.loopTest(n, f)
	r.target(n.target, in)
	r.body(n.body, in)
	r.body(n.otherwise, otherwise)
}

// loopTest resolves the condition of a loop, a function with a frame of its own.
func (r *resolver) loopTest(n *forStmt, f frame) {
	if n.test == nil {
		return
	}
	in := f.function()
	in.parameters(n.target)
	in.reads(n.test)
	n.testPlan = &testPlan{unit: in.unit, scope: in.plan(), target: copyTarget(n.target)}
	r.target(n.testPlan.target, in)
	r.exprs(in, n.test)
}

// copyTarget copies the target of a loop, whose names have other places in the loop's condition.
func copyTarget(x expr) expr {
	switch x := x.(type) {
	case *nameExpr:
		c := *x
		return &c
	case *tupleExpr:
		c := &tupleExpr{}
		for _, item := range x.items {
			c.items = append(c.items, copyTarget(item))
		}
		return c
	}
	return x
}

func hasScopedBlock(body []stmt) bool {
	for _, n := range body {
		if b, ok := n.(*blockStmt); ok && b.scoped {
			return true
		}
		for _, inner := range statementParts(n).bodies {
			if hasScopedBlock(inner) {
				return true
			}
		}
	}
	return false
}

func (r *resolver) assignBlock(n *assignBlock, f frame) {
	in := f.inner()
	in.analyze(n.body)
	if n.filter != nil {
		in.reads(n.filter)
	}
	n.scope = in.plan()
	r.body(n.body, in)
	if n.filter != nil {
		r.exprs(in, n.filter)
	}
	r.target(n.target, f)
	n.export = f.top
}

func (r *resolver) with(n *withStmt, f frame) {
	in := f.inner()
	for _, t := range n.targets {
		in.parameters(t)
	}
	in.analyze(n.body)
	n.scope = in.plan()
	r.exprs(f, n.values...)
	for _, t := range n.targets {
		r.target(t, in)
	}
	r.body(n.body, in)
}

func (r *resolver) macro(m *macroPlan, at int, f frame) {
	in := f.function()
	for _, a := range m.args {
		in.parameter(a.name)
	}
	in.reads(m.defaults...)
	in.analyze(m.body)
	used := uses(m.body, "caller", "kwargs", "varargs")
	for i, a := range m.args {
		switch a.name {
		case "caller":
			if used["caller"] && i < len(m.args)-len(m.defaults) {
				r.fail(at, `When defining macros or call blocks the special "caller" argument must be omitted or be given a default.`)
			}
			delete(used, "caller")
		case "kwargs", "varargs":
			delete(used, a.name)
		}
	}
	special := func(name string) int {
		if !used[name] {
			return -1
		}
		in.parameter(name)
		return in.place(name).slot
	}
	m.caller, m.kwargs, m.varargs = special("caller"), special("kwargs"), special("varargs")
	m.unit = in.unit
	m.scope = in.plan()
	for _, a := range m.args {
		r.name(a, in)
	}
	r.exprs(in, m.defaults...)
	r.body(m.body, in)
}

// blockHere resolves a block's place in the template; its body is resolved apart.
func (r *resolver) blockHere(n *blockStmt, f frame) {
	if r.blocks[n.name] != nil {
		r.fail(n.lineNumber(), "block %s defined twice", reprText(n.name))
	}
	n.plan = &blockPlan{}
	r.blocks[n.name] = n.plan
	r.bodies = append(r.bodies, n)
	if !n.scoped {
		return
	}
	seen := map[string]bool{}
	for t := f.symbols; t != nil; t = t.parent {
		for name := range t.stores {
			if !seen[name] {
				seen[name] = true
				n.locals = append(n.locals, local{name: name, at: f.place(name)})
			}
		}
	}
}

func (r *resolver) block(n *blockStmt) {
	in := frame{symbols: newSymbols(newUnit(nil), nil)}
	plan := n.plan
	used := uses(n.body, "self", "super")
	special := func(name string) int {
		if !used[name] {
			return -1
		}
		in.parameter(name)
		return in.place(name).slot
	}
	plan.self, plan.super = special("self"), special("super")
	in.analyze(n.body)
	plan.unit = in.unit
	plan.scope = in.plan()
	plan.body = n.body
	r.body(n.body, in)
}

func (r *resolver) target(x expr, f frame) {
	walkNames(x, func(n *nameExpr) { r.name(n, f) })
}

func (r *resolver) name(n *nameExpr, f frame) {
	n.at = f.place(n.name)
}

func (r *resolver) exprs(f frame, xs ...expr) {
	for _, x := range xs {
		r.expr(x, f)
	}
}

func (r *resolver) expr(x expr, f frame) {
	switch x := x.(type) {
	case *nameExpr:
		r.name(x, f)
		return
	case *condExpr:
		f = f.softer()
	case *filterExpr:
		x.fn = r.env.filters[x.name]
		if x.fn == nil && !f.soft {
			r.fail(x.line, "No filter named %s.", reprText(x.name))
		}
	case *testExpr:
		x.fn = r.env.tests[x.name]
		if x.fn == nil && !f.soft {
			r.fail(x.line, "No test named %s.", reprText(x.name))
		}
	}
	children(x, func(c expr) { r.expr(c, f) })
}
