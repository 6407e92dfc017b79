// SPDX-License-Identifier: Apache-2.0

package jinja

// children calls f with each expression directly inside x. Absent parts are left out.
func children(x expr, f func(expr)) {
	each := func(xs ...expr) {
		for _, x := range xs {
			if x != nil {
				f(x)
			}
		}
	}
	switch x := x.(type) {
	case *attrTarget:
		f(x.ns)
	case *listExpr:
		each(x.items...)
	case *tupleExpr:
		each(x.items...)
	case *concatExpr:
		each(x.items...)
	case *dictExpr:
		for i := range x.keys {
			each(x.keys[i], x.values[i])
		}
	case *unaryExpr:
		f(x.x)
	case *binaryExpr:
		each(x.x, x.y)
	case *logicExpr:
		each(x.x, x.y)
	case *compareExpr:
		f(x.x)
		each(x.rest...)
	case *condExpr:
		each(x.test, x.then, x.otherwise)
	case *attrExpr:
		f(x.x)
	case *itemExpr:
		each(x.x, x.arg)
	case *sliceExpr:
		each(x.start, x.stop, x.step)
	case *callExpr:
		f(x.fn)
		x.args.each(f)
	case *filterExpr:
		each(x.x)
		x.args.each(f)
	case *testExpr:
		each(x.x)
		x.args.each(f)
	}
}

func (a *callArgs) each(f func(expr)) {
	for _, x := range a.pos {
		f(x)
	}
	for _, x := range a.named {
		f(x)
	}
	if a.star != nil {
		f(a.star)
	}
	if a.double != nil {
		f(a.double)
	}
}

// walkNames calls f with every variable in x.
func walkNames(x expr, f func(*nameExpr)) {
	if n, ok := x.(*nameExpr); ok {
		f(n)
		return
	}
	children(x, func(c expr) { walkNames(c, f) })
}

// parts are what a statement is made of: its targets, expressions and bodies, in the order of the source.
type parts struct {
	targets []expr
	exprs   []expr
	bodies  [][]stmt
}

func (p *parts) expr(x expr) {
	if x != nil {
		p.exprs = append(p.exprs, x)
	}
}

func statementParts(n stmt) parts {
	var p parts
	switch n := n.(type) {
	case *outputStmt:
		p.exprs = n.items
	case *ifStmt:
		p.exprs = []expr{n.test}
		p.bodies = append(p.bodies, n.body)
		for _, e := range n.elifs {
			p.bodies = append(p.bodies, []stmt{e})
		}
		p.bodies = append(p.bodies, n.otherwise)
	case *forStmt:
		p.targets = []expr{n.target}
		p.expr(n.iter)
		p.bodies = [][]stmt{n.body, n.otherwise}
		p.expr(n.test)
	case *assignStmt:
		p.targets = []expr{n.target}
		p.exprs = []expr{n.value}
	case *assignBlock:
		p.targets = []expr{n.target}
		if n.filter != nil {
			p.expr(n.filter)
		}
		p.bodies = [][]stmt{n.body}
	case *macroStmt:
		p.targets = []expr{n.name}
		p.macro(n.plan)
	case *callBlock:
		if n.call != nil {
			p.expr(n.call)
		}
		p.macro(n.plan)
	case *filterBlock:
		p.expr(n.filter)
		p.bodies = [][]stmt{n.body}
	case *withStmt:
		p.targets = n.targets
		p.exprs = n.values
		p.bodies = [][]stmt{n.body}
	case *autoescapeStmt:
		p.expr(n.on)
		p.bodies = [][]stmt{n.body}
	case *blockStmt:
		p.bodies = [][]stmt{n.body}
	case *refusedStmt:
		p.expr(n.x)
	}
	return p
}

func (p *parts) macro(plan *macroPlan) {
	for _, a := range plan.args {
		p.targets = append(p.targets, a)
	}
	p.exprs = append(p.exprs, plan.defaults...)
	p.bodies = append(p.bodies, plan.body)
}

// uses returns which of the names the statements read before they assign them, blocks left out. It is how jinja2
// decides whether a loop needs its variable loop and a macro its kwargs.
func uses(body []stmt, names ...string) map[string]bool {
	u := usage{open: map[string]bool{}, used: map[string]bool{}}
	for _, n := range names {
		u.open[n] = true
	}
	u.body(body)
	return u.used
}

type usage struct{ open, used map[string]bool }

func (u *usage) body(body []stmt) {
	for _, n := range body {
		if _, ok := n.(*blockStmt); ok {
			continue
		}
		p := statementParts(n)
		assigns := func() {
			for _, t := range p.targets {
				walkNames(t, func(n *nameExpr) { delete(u.open, n.name) })
			}
		}
		_, isMacro := n.(*macroStmt)
		if !isMacro {
			assigns()
		} else {
			p.targets = p.targets[1:] // jinja2 keeps a macro's name as text
			assigns()
		}
		for _, x := range p.exprs {
			walkNames(x, func(n *nameExpr) {
				if u.open[n.name] {
					u.used[n.name] = true
				}
			})
		}
		for _, b := range p.bodies {
			u.body(b)
		}
	}
}

// assigns reports whether a statement assigns name anywhere inside.
func assigns(n stmt, name string) bool {
	found := false
	p := statementParts(n)
	if _, ok := n.(*macroStmt); ok {
		p.targets = p.targets[1:]
	}
	for _, t := range p.targets {
		if _, ok := t.(*attrTarget); !ok {
			walkNames(t, func(n *nameExpr) { found = found || n.name == name })
		}
	}
	for _, b := range p.bodies {
		for _, n := range b {
			found = found || assigns(n, name)
		}
	}
	return found
}
