// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math/big"
	"slices"
	"strconv"
)

// expression parses any expression but a tuple without parentheses.
func (p *parser) expression() expr {
	p.enter()
	x := p.or()
	for chain := 0; p.cur().isWord("if"); chain++ {
		p.chain(chain)
		p.next()
		test := p.or()
		var otherwise expr
		if p.skipWord("else") {
			otherwise = p.expression()
		}
		x = &condExpr{test: test, then: x, otherwise: otherwise}
	}
	p.depth--
	return x
}

// chain fails where a chain of operators gets too long.
func (p *parser) chain(n int) {
	if n > maxNesting {
		p.fail(p.cur().line, "nested too deeply")
	}
}

func (p *parser) or() expr {
	x := p.and()
	for chain := 0; p.skipWord("or"); chain++ {
		p.chain(chain)
		x = &logicExpr{or: true, x: x, y: p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for chain := 0; p.skipWord("and"); chain++ {
		p.chain(chain)
		x = &logicExpr{x: x, y: p.not()}
	}
	return x
}

func (p *parser) not() expr {
	if p.skipWord("not") {
		p.enter()
		x := p.not()
		p.depth--
		return &unaryExpr{op: "not", x: x}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	x := p.sum()
	var n *compareExpr
	for {
		var op string
		switch t := p.cur(); {
		case slices.Contains([]tokenKind{"==", "!=", "<", "<=", ">", ">="}, t.kind):
			op = string(t.kind)
			p.next()
		case p.skipWord("in"):
			op = "in"
		case t.isWord("not") && p.look().isWord("in"):
			p.next()
			p.next()
			op = "not in"
		default:
			return x
		}
		if n == nil {
			n = &compareExpr{x: x}
			x = n
		}
		n.ops = append(n.ops, op)
		n.rest = append(n.rest, p.sum())
	}
}

// binary parses operators of one precedence, which associate to the left.
func (p *parser) binary(operand func() expr, ops ...tokenKind) expr {
	x := operand()
	for chain := 0; slices.Contains(ops, p.cur().kind); chain++ {
		p.chain(chain)
		op := string(p.next().kind)
		x = &binaryExpr{op: op, x: x, y: operand()}
	}
	return x
}

func (p *parser) sum() expr     { return p.binary(p.concat, "+", "-") }
func (p *parser) product() expr { return p.binary(p.power, "*", "/", "//", "%") }
func (p *parser) power() expr {
	return p.binary(func() expr { return p.unary(true) }, "**")
}

func (p *parser) concat() expr {
	x := p.product()
	if !p.is("~") {
		return x
	}
	n := &concatExpr{items: []expr{x}}
	for p.skip("~") {
		n.items = append(n.items, p.product())
	}
	return n
}

func (p *parser) unary(filters bool) expr {
	var x expr
	switch t := p.cur(); t.kind {
	case "-", "+":
		p.enter()
		p.next()
		x = &unaryExpr{op: string(t.kind), x: p.unary(false)}
		p.depth--
	default:
		x = p.primary(false)
	}
	x = p.postfix(x)
	if filters {
		x = p.filterChain(x)
	}
	return x
}

func (p *parser) primary(namespace bool) expr {
	switch t := p.cur(); t.kind {
	case tokName:
		p.next()
		return p.word(t, namespace)
	case tokString:
		text := ""
		for p.is(tokString) {
			text += p.next().text
		}
		return &constExpr{Text(text)}
	case tokInteger:
		p.next()
		return &constExpr{p.integer(t)}
	case tokFloat:
		p.next()
		f, _ := strconv.ParseFloat(t.text, 64)
		return &constExpr{f}
	case "(":
		p.next()
		x := p.tuple(tupleRules{conditional: true, parentheses: true})
		p.expect(")")
		return x
	case "[":
		return p.list()
	case "{":
		return p.dict()
	default:
		p.fail(t.line, "unexpected %s", reprText(t.describe()))
		return nil
	}
}

func (p *parser) integer(t lexeme) value {
	if len(t.text) > maxIntDigits {
		p.fail(t.line, "integer of more than %d digits", maxIntDigits)
	}
	if v, err := strconv.ParseInt(t.text, 0, strconv.IntSize); err == nil {
		return int(v)
	}
	v, ok := new(big.Int).SetString(t.text, 0)
	if !ok {
		return 0 // zeros such as 00
	}
	return normal(v)
}

func (p *parser) word(t lexeme, namespace bool) expr {
	switch t.text {
	case "true", "True":
		return &constExpr{true}
	case "false", "False":
		return &constExpr{false}
	case "none", "None":
		return &constExpr{nil}
	}
	n := &nameExpr{name: t.text, line: t.line}
	if namespace && p.skip(".") {
		return &attrTarget{ns: n, attr: p.expect(tokName).text}
	}
	return n
}

// tupleRules say where a tuple without parentheses ends and what it may hold.
type tupleRules struct {
	simple      bool // only primaries
	conditional bool // also a if b else c
	namespace   bool
	parentheses bool   // may be empty
	end         string // a word that ends it
}

// tuple parses one expression, or several with commas.
func (p *parser) tuple(rules tupleRules) expr {
	p.enter()
	defer func() { p.depth-- }()
	at := p.cur().line
	var items []expr
	comma := false
	for {
		if len(items) > 0 {
			p.expect(",")
		}
		if t := p.cur(); t.kind == tokVarEnd || t.kind == tokBlkEnd || t.kind == ")" || rules.end != "" && t.isWord(rules.end) {
			break
		}
		switch {
		case rules.simple:
			items = append(items, p.primary(rules.namespace))
		case rules.conditional:
			items = append(items, p.expression())
		default:
			items = append(items, p.or())
		}
		if !p.is(",") {
			break
		}
		comma = true
	}
	if comma {
		return &tupleExpr{items}
	}
	if len(items) == 1 {
		return items[0]
	}
	if !rules.parentheses {
		p.fail(at, "Expected an expression, got %s", reprText(p.cur().describe()))
	}
	return &tupleExpr{}
}

func (p *parser) list() expr {
	p.next()
	n := &listExpr{}
	for !p.is("]") {
		if len(n.items) > 0 {
			p.expect(",")
			if p.is("]") {
				break
			}
		}
		n.items = append(n.items, p.expression())
	}
	p.next()
	return n
}

func (p *parser) dict() expr {
	p.next()
	n := &dictExpr{}
	for !p.is("}") {
		if len(n.keys) > 0 {
			p.expect(",")
			if p.is("}") {
				break
			}
		}
		n.keys = append(n.keys, p.expression())
		p.expect(":")
		n.values = append(n.values, p.expression())
	}
	p.next()
	return n
}
