// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"slices"
	"strings"
)

// maxNesting bounds how deeply tags and expressions may nest, and how long a chain of operators may be: the
// interpreter recurses along both.
const maxNesting = 300

// A parser builds the tree of a template from its tokens.
type parser struct {
	toks  []lexeme
	at    int
	depth int
	tags  []string   // open tags, innermost last
	ends  [][]string // the end tags that are looked for, innermost last
}

func (p *parser) cur() lexeme  { return p.toks[p.at] }
func (p *parser) look() lexeme { return p.toks[min(p.at+1, len(p.toks)-1)] }

func (p *parser) next() lexeme {
	t := p.toks[p.at]
	if p.at < len(p.toks)-1 {
		p.at++
	}
	return t
}

func (p *parser) is(kind tokenKind) bool { return p.cur().kind == kind }

func (t lexeme) isWord(word string) bool { return t.kind == tokName && t.text == word }

func (p *parser) skip(kind tokenKind) bool {
	if p.is(kind) {
		p.next()
		return true
	}
	return false
}

func (p *parser) skipWord(word string) bool {
	if p.cur().isWord(word) {
		p.next()
		return true
	}
	return false
}

func (p *parser) fail(line int, format string, args ...any) {
	panic(&SyntaxError{Line: line, Msg: fmt.Sprintf(format, args...)})
}

func (p *parser) expect(kind tokenKind) lexeme {
	if t := p.cur(); t.kind != kind {
		p.unexpected(string(kind))
	}
	return p.next()
}

func (p *parser) expectWord(word string) lexeme {
	if !p.cur().isWord(word) {
		p.unexpected(word)
	}
	return p.next()
}

func (p *parser) unexpected(want string) {
	t := p.cur()
	if t.kind == tokEOF {
		p.fail(t.line, "unexpected end of template, expected %s.", reprText(want))
	}
	p.fail(t.line, "expected token %s, got %s", reprText(want), reprText(t.describe()))
}

// enter counts a level of nesting; the caller leaves it with p.depth--.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.cur().line, "nested too deeply")
	}
}

// statements parses text and tags until one of the end tags, which is then the current token. Without end tags it
// parses up to the end of the template.
func (p *parser) statements(ends ...string) []stmt {
	p.enter()
	defer func() { p.depth-- }()
	if ends != nil {
		p.ends = append(p.ends, ends)
		defer func() { p.ends = p.ends[:len(p.ends)-1] }()
	}
	var body []stmt
	var out *outputStmt
	for {
		t := p.cur()
		switch t.kind {
		case tokEOF:
			if ends != nil {
				p.unclosed("")
			}
			return body
		case tokBlkBegin:
			out = nil
			p.next()
			if c := p.cur(); c.kind == tokName && slices.Contains(ends, c.text) {
				return body
			}
			body = append(body, p.statement())
			p.expect(tokBlkEnd)
			continue
		default: // text, or the start of an expression
		}
		if out == nil {
			out = &outputStmt{line: line(t.line)}
			body = append(body, out)
		}
		p.next()
		out.lines = append(out.lines, t.line)
		if t.kind == tokData {
			out.items = append(out.items, &dataExpr{Text(t.text)})
			continue
		}
		out.items = append(out.items, p.tuple(tupleRules{conditional: true}))
		p.expect(tokVarEnd)
	}
}

// block parses the rest of a tag, the statements up to one of the end tags, and that end tag's name.
func (p *parser) block(ends ...string) (body []stmt, end string) {
	p.skip(":")
	p.expect(tokBlkEnd)
	body = p.statements(ends...)
	return body, p.next().text
}

// unclosed fails because of an unknown tag, or of the end of the template if tag is empty.
func (p *parser) unclosed(tag string) {
	msg := "Unexpected end of template."
	if tag != "" {
		msg = fmt.Sprintf("Encountered unknown tag %s.", reprText(tag))
	}
	if n := len(p.ends); n > 0 {
		var wanted []string
		for _, e := range p.ends[n-1] {
			wanted = append(wanted, reprText(e))
		}
		looking := strings.Join(wanted, " or ")
		if tag != "" && slices.ContainsFunc(p.ends, func(e []string) bool { return slices.Contains(e, tag) }) {
			msg += " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " + looking + "."
		} else {
			msg += " Jinja was looking for the following tags: " + looking + "."
		}
	}
	if n := len(p.tags); n > 0 {
		msg += fmt.Sprintf(" The innermost block that needs to be closed is %s.", reprText(p.tags[n-1]))
	}
	p.fail(p.cur().line, "%s", msg)
}

// tagParser returns what parses the tag of that name, nil if there is none. The name is the current token then.
func tagParser(name string) func(p *parser, at line) stmt {
	switch name {
	case "for":
		return (*parser).forTag
	case "if":
		return (*parser).ifTag
	case "set":
		return (*parser).setTag
	case "macro":
		return (*parser).macroTag
	case "call":
		return (*parser).callTag
	case "filter":
		return (*parser).filterTag
	case "with":
		return (*parser).withTag
	case "print":
		return (*parser).printTag
	case "block":
		return (*parser).blockTag
	case "autoescape":
		return (*parser).autoescapeTag
	case "generation":
		return (*parser).generationTag
	case "break", "continue":
		return (*parser).jumpTag
	case "include":
		return (*parser).includeTag
	case "import":
		return (*parser).importTag
	case "from":
		return (*parser).fromTag
	case "extends":
		return (*parser).extendsTag
	}
	return nil
}

func (p *parser) statement() stmt {
	t := p.cur()
	if t.kind != tokName {
		p.fail(t.line, "tag name expected")
	}
	parse := tagParser(t.text)
	if parse == nil {
		p.unclosed(t.text)
	}
	p.tags = append(p.tags, t.text)
	s := parse(p, line(t.line))
	p.tags = p.tags[:len(p.tags)-1]
	return s
}

func (p *parser) forTag(at line) stmt {
	p.next()
	n := &forStmt{line: at, loop: -1}
	n.target = p.target(targetRules{tuple: true, end: "in"})
	p.expectWord("in")
	n.iter = p.tuple(tupleRules{end: "recursive"})
	if p.skipWord("if") {
		n.test = p.expression()
	}
	n.recursive = p.skipWord("recursive")
	var end string
	if n.body, end = p.block("endfor", "else"); end == "else" {
		n.otherwise, _ = p.block("endfor")
	}
	return n
}

func (p *parser) ifTag(at line) stmt {
	p.next()
	first := &ifStmt{line: at}
	for n := first; ; {
		n.test = p.tuple(tupleRules{})
		var end string
		n.body, end = p.block("elif", "else", "endif")
		switch end {
		case "elif":
			n = &ifStmt{line: line(p.cur().line)}
			first.elifs = append(first.elifs, n)
			continue
		case "else":
			first.otherwise, _ = p.block("endif")
		}
		return first
	}
}

func (p *parser) setTag(at line) stmt {
	p.next()
	target := p.target(targetRules{tuple: true, namespace: true})
	if p.skip("=") {
		return &assignStmt{line: at, target: target, value: p.tuple(tupleRules{conditional: true})}
	}
	n := &assignBlock{line: at, target: target}
	if f := p.filters(nil); f != nil {
		n.filter = f.(*filterExpr)
	}
	n.body, _ = p.block("endset")
	return n
}

func (p *parser) signature(plan *macroPlan) {
	p.expect("(")
	for !p.is(")") {
		if len(plan.args) > 0 {
			p.expect(",")
		}
		arg := p.nameTarget()
		if p.skip("=") {
			plan.defaults = append(plan.defaults, p.expression())
		} else if len(plan.defaults) > 0 {
			p.fail(p.cur().line, "non-default argument follows default argument")
		}
		plan.args = append(plan.args, arg)
	}
	p.next()
}

func (p *parser) macroTag(at line) stmt {
	p.next()
	n := &macroStmt{line: at, name: p.nameTarget()}
	n.plan = &macroPlan{name: n.name.name}
	p.signature(n.plan)
	n.plan.body, _ = p.block("endmacro")
	return n
}

func (p *parser) callTag(at line) stmt {
	p.next()
	n := &callBlock{line: at, plan: &macroPlan{}}
	if p.is("(") {
		p.signature(n.plan)
	}
	call, ok := p.expression().(*callExpr)
	if !ok {
		p.fail(int(at), "expected call")
	}
	n.call = call
	n.plan.body, _ = p.block("endcall")
	return n
}

func (p *parser) generationTag(at line) stmt {
	p.next()
	n := &callBlock{line: at, plan: &macroPlan{}}
	n.plan.body, _ = p.block("endgeneration")
	return n
}

func (p *parser) filterTag(at line) stmt {
	p.next()
	x := p.filter(nil)
	n := &filterBlock{line: at, filter: p.filters(x).(*filterExpr)}
	n.body, _ = p.block("endfilter")
	return n
}

func (p *parser) withTag(at line) stmt {
	p.next()
	n := &withStmt{line: at}
	for !p.is(tokBlkEnd) {
		if len(n.targets) > 0 {
			p.expect(",")
		}
		n.targets = append(n.targets, p.target(targetRules{tuple: true}))
		p.expect("=")
		n.values = append(n.values, p.expression())
	}
	n.body, _ = p.block("endwith")
	return n
}

func (p *parser) printTag(at line) stmt {
	p.next()
	n := &outputStmt{line: at}
	for !p.is(tokBlkEnd) {
		if len(n.items) > 0 {
			p.expect(",")
		}
		n.lines = append(n.lines, p.cur().line)
		n.items = append(n.items, p.expression())
	}
	return n
}

func (p *parser) blockTag(at line) stmt {
	p.next()
	n := &blockStmt{line: at, name: p.expect(tokName).text}
	n.scoped = p.skipWord("scoped")
	required := p.skipWord("required")
	if p.is("-") {
		p.fail(p.cur().line, "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.")
	}
	n.body, _ = p.block("endblock")
	if required {
		p.fail(int(at), "required blocks need another template that extends this one")
	}
	p.skipWord(n.name)
	return n
}

func (p *parser) autoescapeTag(at line) stmt {
	p.next()
	n := &autoescapeStmt{line: at, on: p.expression()}
	n.body, _ = p.block("endautoescape")
	return n
}

func (p *parser) jumpTag(at line) stmt {
	return &jumpStmt{line: at, next: p.next().text == "continue"}
}
