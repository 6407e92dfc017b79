// SPDX-License-Identifier: Apache-2.0

package jinja

import "strings"

// targetRules say what may be assigned to.
type targetRules struct {
	tuple     bool
	namespace bool   // ns.attr too
	end       string // a word that ends a tuple
}

// target parses what is assigned to.
func (p *parser) target(rules targetRules) expr {
	at := p.cur().line
	x := p.tuple(tupleRules{simple: true, namespace: rules.namespace, end: rules.end})
	p.assignable(x, at)
	return x
}

func (p *parser) assignable(x expr, at int) {
	var kind string
	switch x := x.(type) {
	case *nameExpr, *attrTarget:
		return
	case *tupleExpr:
		for _, item := range x.items {
			p.assignable(item, at)
		}
		return
	case *constExpr:
		kind = "const"
	case *listExpr:
		kind = "list"
	case *dictExpr:
		kind = "dict"
	default:
		kind = "expression"
	}
	p.fail(at, "can't assign to '%s'", kind)
}

// nameTarget parses the name of a macro or an argument.
func (p *parser) nameTarget() *nameExpr {
	t := p.expect(tokName)
	switch t.text {
	case "true", "false", "none", "True", "False", "None":
		p.fail(t.line, "can't assign to 'name'")
	}
	return &nameExpr{name: t.text, line: t.line}
}

// withContext parses "with context" and "without context".
func (p *parser) withContext() {
	if (p.cur().isWord("with") || p.cur().isWord("without")) && p.look().isWord("context") {
		p.next()
		p.next()
	}
}

func (p *parser) includeTag(at line) stmt {
	p.next()
	n := &refusedStmt{line: at, tag: "include", x: p.expression()}
	if p.cur().isWord("ignore") && p.look().isWord("missing") {
		p.next()
		p.next()
	}
	p.withContext()
	return n
}

func (p *parser) importTag(at line) stmt {
	p.next()
	n := &refusedStmt{line: at, tag: "import", x: p.expression()}
	p.expectWord("as")
	n.names = append(n.names, p.nameTarget())
	p.withContext()
	return n
}

func (p *parser) fromTag(at line) stmt {
	p.next()
	n := &refusedStmt{line: at, tag: "from", x: p.expression()}
	p.expectWord("import")
	for {
		if len(n.names) > 0 {
			p.expect(",")
		}
		if (p.cur().isWord("with") || p.cur().isWord("without")) && p.look().isWord("context") {
			p.withContext()
			return n
		}
		name := p.nameTarget()
		if strings.HasPrefix(name.name, "_") {
			p.fail(name.line, "names starting with an underline can not be imported")
		}
		if p.skipWord("as") {
			name = p.nameTarget()
		}
		n.names = append(n.names, name)
		p.withContext()
		if !p.is(",") {
			return n
		}
	}
}

func (p *parser) extendsTag(at line) stmt {
	p.next()
	return &refusedStmt{line: at, tag: "extends", x: p.expression()}
}
