// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"strconv"
	"strings"
)

// atom parses what a quantifier may follow.
func (p *regexParser) atom() ([]inst, error) {
	switch c := p.src[p.pos]; c {
	case '(':
		return p.group()
	case '[':
		set, err := p.set()
		return one(set), err
	case '\\':
		return p.escape()
	case '*', '+', '?':
		return nil, p.fail("%q has nothing to repeat", c)
	case '.':
		p.pos++
		set := &runeSet{items: []setItem{{lo: '\n', hi: '\n'}}, negate: true}
		if p.dot {
			set.items = nil
		}
		return one(set.seal()), nil
	case '^':
		p.pos++
		p.out.before = true
		return []inst{{op: opAssert, kind: lineStart}}, nil
	case '$':
		p.pos++
		return []inst{{op: opAssert, kind: lineEnd}}, nil
	}
	return p.literal(p.rune()), nil
}

func one(set *runeSet) []inst { return []inst{{op: opSet, set: set}} }

// literal returns the code for one character.
func (p *regexParser) literal(r rune) []inst {
	p.letter = r
	return one((&runeSet{items: []setItem{{lo: r, hi: r}}, fold: p.fold}).seal())
}

// groupHeads are the beginnings of groups, longest first where one begins another.
var groupHeads = []struct {
	text string
	head inst
}{
	{"(?=", inst{op: opAhead}}, {"(?!", inst{op: opAhead, negate: true}}, {"(?>", inst{op: opAtomic}}, {"(?:", inst{op: opAccept}},
}

// group parses a group in parentheses. What it captures is not kept.
func (p *regexParser) group() ([]inst, error) {
	for _, h := range groupHeads {
		if !p.take(h.text) {
			continue
		}
		code, err := p.inside()
		if err == nil && h.head.op != opAccept {
			code = group(h.head, code)
		}
		return code, err
	}
	fold, dot := p.fold, p.dot
	defer func() { p.fold, p.dot = fold, dot }()
	if !p.take("(?") {
		p.pos++
		return p.inside()
	}
	switch at := p.pos - len("(?"); {
	case !p.flags():
	case p.take(":"):
		return p.inside()
	case at == 0 && p.take(")"): // for the rest of the pattern
		fold, dot = p.fold, p.dot
		return nil, nil
	}
	return nil, p.fail("this kind of group is not supported")
}

// flags parses letters that switch the matching of case and newlines.
func (p *regexParser) flags() bool {
	on, any := true, false
	for ; p.more(); p.pos++ {
		switch p.src[p.pos] {
		case '-':
			on = false
		case 'i':
			p.fold, any = on, true
		case 'm':
			p.dot, any = on, true
		default:
			return any
		}
	}
	return false
}

// inside parses the rest of a group.
func (p *regexParser) inside() ([]inst, error) {
	code, err := p.alternatives()
	if err == nil && !p.take(")") {
		err = p.fail("a group is not closed")
	}
	return code, err
}

// asserts are the escapes that ask for a place.
var asserts = map[byte]assert{'A': textStart, 'z': textEnd, 'Z': lastLineEnd, 'b': wordBorder, 'B': notWordBorder}

// escape parses a backslash and what follows, outside a set.
func (p *regexParser) escape() ([]inst, error) {
	if p.pos+1 < len(p.src) {
		if kind, ok := asserts[p.src[p.pos+1]]; ok {
			p.pos += 2
			p.out.before = p.out.before || kind == textStart || kind == wordBorder || kind == notWordBorder
			return []inst{{op: opAssert, kind: kind}}, nil
		}
	}
	items, err := p.escaped()
	if err != nil {
		return nil, err
	}
	if len(items) == 1 && items[0].lo == items[0].hi && items[0].plain() {
		return p.literal(items[0].lo), nil
	}
	return one((&runeSet{items: items, fold: p.fold}).seal()), nil
}

// plain reports whether the item is a range.
func (i *setItem) plain() bool {
	return i.classes == 0 && i.flag == 0 && i.table == nil && i.nested == nil && !i.negate
}

var controlEscapes = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v', 'a': '\a', 'e': 0x1b}

// escaped parses a backslash and what follows, as members of a set.
func (p *regexParser) escaped() ([]setItem, error) {
	p.pos++
	if !p.more() {
		return nil, p.fail("a backslash at the end")
	}
	c := p.src[p.pos]
	switch c {
	case 'p', 'P':
		return p.property(c == 'P')
	case 'x', 'u':
		return p.codePoint(c)
	}
	if r, ok := controlEscapes[c]; ok {
		p.pos++
		return []setItem{{lo: r, hi: r}}, nil
	}
	if item, ok := shorthand(c); ok {
		p.pos++
		return []setItem{item}, nil
	}
	if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' {
		return nil, p.fail(`\%c is not supported`, c)
	}
	r := p.rune()
	return []setItem{{lo: r, hi: r}}, nil
}

// property parses p{name}.
func (p *regexParser) property(negate bool) ([]setItem, error) {
	rest := p.src[p.pos+1:]
	end := strings.IndexByte(rest, '}')
	if end < 0 || rest[0] != '{' {
		return nil, p.fail("want a property in braces")
	}
	name := rest[1:end]
	if strings.HasPrefix(name, "^") {
		name, negate = name[1:], !negate
	}
	items, err := property(name)
	if err != nil {
		return nil, p.fail("%w", err)
	}
	p.pos += end + 2
	if negate {
		items = []setItem{{nested: (&runeSet{items: items}).seal(), negate: true}}
	}
	return items, nil
}

// codePoint parses xHH, x{H...} or uHHHH.
func (p *regexParser) codePoint(kind byte) ([]setItem, error) {
	p.pos++
	digits, size := "", map[byte]int{'x': 2, 'u': 4}[kind]
	if end := strings.IndexByte(p.src[p.pos:], '}'); kind == 'x' && p.take("{") && end > 0 {
		digits = p.src[p.pos : p.pos+end-1]
		p.pos += end
	} else if p.pos+size <= len(p.src) {
		digits = p.src[p.pos : p.pos+size]
		p.pos += size
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || v > 0x10FFFF || kind == 'x' && len(digits) == 2 && v > 0x7F && p.src[p.pos-1] != '}' {
		return nil, p.fail("%q is not a code point", digits)
	}
	return []setItem{{lo: rune(v), hi: rune(v)}}, nil
}

// set parses a set in brackets.
func (p *regexParser) set() (*runeSet, error) {
	if p.depth++; p.depth > maxPatternDepth {
		return nil, p.fail("sets nested more than %d deep", maxPatternDepth)
	}
	defer func() { p.depth-- }()
	p.pos++
	s := &runeSet{negate: p.take("^"), fold: p.fold}
	if p.more() && p.src[p.pos] == ']' {
		return nil, p.fail("an empty set is not supported")
	}
	for !p.take("]") {
		switch {
		case !p.more():
			return nil, p.fail("a set is not closed")
		case p.take("&&"):
			// All so far is one side of the intersection.
			s.within = append(s.within, (&runeSet{items: slices.Clone(s.items), fold: p.fold}).seal())
			s.items = nil
		default:
			items, err := p.member()
			if err != nil {
				return nil, err
			}
			s.items = append(s.items, items...)
		}
	}
	return s.seal(), nil
}

// member parses one member of a set: a set, a class, a character or a range.
func (p *regexParser) member() ([]setItem, error) {
	if strings.HasPrefix(p.src[p.pos:], "[:") {
		return nil, p.fail("a POSIX bracket is not supported")
	}
	if p.src[p.pos] == '[' {
		nested, err := p.set()
		return []setItem{{nested: nested}}, err
	}
	low, err := p.end()
	if err != nil || len(low) != 1 || !low[0].plain() {
		return low, err
	}
	rest := p.src[p.pos:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		return low, nil
	}
	p.pos++
	high, err := p.end()
	if err != nil {
		return nil, err
	}
	if len(high) != 1 || !high[0].plain() || high[0].lo < low[0].lo {
		return nil, p.fail("a range of a set is not in order")
	}
	return []setItem{{lo: low[0].lo, hi: high[0].lo}}, nil
}

// end parses one end of a range, or a class.
func (p *regexParser) end() ([]setItem, error) {
	if p.src[p.pos] == '\\' {
		if strings.HasPrefix(p.src[p.pos:], `\b`) {
			return nil, p.fail(`\b in a set is not supported`)
		}
		return p.escaped()
	}
	if p.src[p.pos] == '[' {
		return nil, p.fail("a range can't end with a set")
	}
	r := p.rune()
	return []setItem{{lo: r, hi: r}}, nil
}
