// SPDX-License-Identifier: Apache-2.0

package jinja

import "slices"

// postfix parses attributes, subscripts and calls behind x.
func (p *parser) postfix(x expr) expr {
	for chain := 0; ; chain++ {
		p.chain(chain)
		switch p.cur().kind {
		case ".":
			x = p.attribute(x)
		case "[":
			x = p.subscript(x)
		case "(":
			x = &callExpr{fn: x, args: p.arguments()}
		default:
			return x
		}
	}
}

// filterChain parses filters, tests and calls behind x.
func (p *parser) filterChain(x expr) expr {
	for chain := 0; ; chain++ {
		p.chain(chain)
		switch t := p.cur(); {
		case t.kind == "|":
			p.next()
			x = p.filter(x)
		case t.isWord("is"):
			x = p.test(x)
		case t.kind == "(":
			x = &callExpr{fn: x, args: p.arguments()}
		default:
			return x
		}
	}
}

func (p *parser) attribute(x expr) expr {
	p.next()
	switch t := p.next(); t.kind {
	case tokName:
		return &attrExpr{x: x, attr: Text(t.text)}
	case tokInteger:
		return &itemExpr{x: x, arg: &constExpr{p.integer(t)}}
	default:
		p.fail(t.line, "expected name or number")
		return nil
	}
}

func (p *parser) subscript(x expr) expr {
	p.next()
	var args []expr
	for !p.is("]") {
		if len(args) > 0 {
			p.expect(",")
		}
		args = append(args, p.subscribed())
	}
	p.next()
	if len(args) == 1 {
		return &itemExpr{x: x, arg: args[0]}
	}
	return &itemExpr{x: x, arg: &tupleExpr{args}}
}

// subscribed parses an index or a slice.
func (p *parser) subscribed() expr {
	n := &sliceExpr{}
	if !p.is(":") {
		n.start = p.expression()
		if !p.is(":") {
			return n.start
		}
	}
	p.next()
	ends := func() bool { return p.is("]") || p.is(",") }
	if !p.is(":") && !ends() {
		n.stop = p.expression()
	}
	if p.skip(":") && !ends() {
		n.step = p.expression()
	}
	return n
}

// arguments parses the arguments of a call, in parentheses.
func (p *parser) arguments() callArgs {
	p.enter()
	defer func() { p.depth-- }()
	at := p.expect("(").line
	var a callArgs
	ensure := func(ok bool) {
		if !ok {
			p.fail(at, "invalid syntax for function call expression")
		}
	}
	for first := true; !p.is(")"); first = false {
		if !first {
			p.expect(",")
			if p.is(")") {
				break
			}
		}
		switch {
		case p.is("*"):
			ensure(a.star == nil && a.double == nil)
			p.next()
			a.star = p.expression()
		case p.is("**"):
			ensure(a.double == nil)
			p.next()
			a.double = p.expression()
		case p.is(tokName) && p.look().kind == "=":
			ensure(a.double == nil)
			name := p.next().text
			if slices.Contains(a.names, name) {
				p.fail(at, "keyword argument repeated: %s", name)
			}
			p.next()
			a.names = append(a.names, name)
			a.named = append(a.named, p.expression())
		default:
			ensure(a.star == nil && a.double == nil && a.named == nil)
			a.pos = append(a.pos, p.expression())
		}
	}
	p.next()
	return a
}

// dotted parses the name of a filter or test, which may have dots.
func (p *parser) dotted() string {
	name := p.expect(tokName).text
	for p.skip(".") {
		name += "." + p.expect(tokName).text
	}
	return name
}

// filter parses a filter's name and arguments.
func (p *parser) filter(x expr) expr {
	at := p.cur().line
	n := &filterExpr{x: x, line: at, name: p.dotted()}
	if p.is("(") {
		n.args = p.arguments()
	}
	return n
}

// filters parses a chain of filters; without one it returns x.
func (p *parser) filters(x expr) expr {
	for chain := 0; p.skip("|"); chain++ {
		p.chain(chain)
		x = p.filter(x)
	}
	return x
}

func (p *parser) test(x expr) expr {
	at := p.next().line
	negated := p.skipWord("not")
	n := &testExpr{x: x, line: at, name: p.dotted()}
	switch t := p.cur(); {
	case t.kind == "(":
		n.args = p.arguments()
	case t.isWord("else"), t.isWord("or"), t.isWord("and"):
	case t.isWord("is"):
		p.fail(t.line, "You cannot chain multiple tests with is")
	case slices.Contains([]tokenKind{tokName, tokString, tokInteger, tokFloat, "[", "{"}, t.kind):
		n.args.pos = []expr{p.postfix(p.primary(false))}
	}
	if negated {
		return &unaryExpr{op: "not", x: n}
	}
	return n
}
