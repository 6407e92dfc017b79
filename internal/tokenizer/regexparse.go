// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on patterns, which come from files.
const (
	maxPatternBytes = 1 << 14
	maxPatternDepth = 32
	maxPatternCode  = 1 << 13
	maxRepeat       = 1 << 10
)

// A regexParser turns a pattern into code, by recursive descent over
//
//	alternatives = sequence { "|" sequence }
//	sequence     = { atom [ quantifier ] }
type regexParser struct {
	src    string
	pos    int
	depth  int
	fold   bool // inside (?i)
	dot    bool // inside (?m): a dot takes newlines too
	letter rune // the atom read last, if it is a single character
	out    *regex
}

// compileRegex compiles a pattern. What it does not understand exactly is an error.
func compileRegex(src string) (*regex, error) {
	loadProps()
	p := &regexParser{src: src, out: &regex{}}
	if len(src) > maxPatternBytes {
		return nil, fmt.Errorf("pattern of %d bytes, at most %d are read", len(src), maxPatternBytes)
	}
	code, err := p.alternatives()
	if err == nil && p.pos < len(src) {
		err = p.fail("unmatched %q", src[p.pos])
	}
	if err != nil {
		return nil, err
	}
	p.out.empty = mayBeEmpty(code)
	if len(code) > 0 && (code[0].op == opSet || code[0].op == opRun && code[0].min > 0) {
		p.out.first = code[0].set
	}
	p.out.code = append(code, inst{op: opAccept})
	return p.out, nil
}

func (p *regexParser) fail(format string, args ...any) error {
	return fmt.Errorf("pattern, byte %d: "+format, append([]any{p.pos}, args...)...)
}

func (p *regexParser) more() bool { return p.pos < len(p.src) }

// take moves past a string if it is next.
func (p *regexParser) take(s string) bool {
	if !strings.HasPrefix(p.src[p.pos:], s) {
		return false
	}
	p.pos += len(s)
	return true
}

// alternatives parses up to the end of the pattern or of the group. Jumps are relative, so that pieces of code can be
// copied and joined as they are.
func (p *regexParser) alternatives() ([]inst, error) {
	if p.depth++; p.depth > maxPatternDepth {
		return nil, p.fail("groups nested more than %d deep", maxPatternDepth)
	}
	defer func(fold, dot bool) { p.depth, p.fold, p.dot = p.depth-1, fold, dot }(p.fold, p.dot)
	code, err := p.sequence()
	var others [][]inst
	for err == nil && p.take("|") {
		var next []inst
		if next, err = p.sequence(); err == nil {
			others = append(others, next)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(others) == 0 {
		return code, nil
	}
	out := others[len(others)-1]
	for i := len(others) - 2; i >= -1; i-- {
		first := code
		if i >= 0 {
			first = others[i]
		}
		out = either(first, out)
	}
	return out, p.bounded(out)
}

func (p *regexParser) bounded(code []inst) error {
	if len(code) > maxPatternCode {
		return p.fail("the pattern is too large")
	}
	return nil
}

// either tries a, then b.
func either(a, b []inst) []inst {
	out := []inst{{op: opSplit, x: 1, y: len(a) + 2}}
	out = append(out, a...)
	out = append(out, inst{op: opJump, x: len(b) + 1})
	return append(out, b...)
}

// sequence parses atoms with their quantifiers.
func (p *regexParser) sequence() ([]inst, error) {
	var out []inst
	for letter := rune(0); p.more() && p.src[p.pos] != '|' && p.src[p.pos] != ')'; letter = p.letter {
		before := p.pos
		p.letter = 0
		atom, err := p.atom()
		if err == nil && p.fold {
			err = p.foldsAlone(letter, p.letter)
		}
		for err == nil {
			at := p.pos
			if atom, err = p.quantified(atom); p.pos == at {
				break
			}
		}
		if err != nil {
			return nil, err
		}
		if out = append(out, atom...); p.pos == before {
			return nil, p.fail("can't read %q", p.src[p.pos])
		}
		if err := p.bounded(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// foldsAlone refuses neighbouring letters that ignoring case would also match as one character, such as ss by ß.
func (p *regexParser) foldsAlone(before, letter rune) error {
	switch pair := strings.ToLower(string([]rune{before, letter})); pair {
	case "ss", "ff", "fi", "fl", "st":
		return p.fail("%q while ignoring case is not supported", pair)
	}
	return nil
}

// quantified parses what stands behind an atom.
func (p *regexParser) quantified(atom []inst) ([]inst, error) {
	low, high, interval, ok := p.counts()
	if !ok {
		return atom, nil
	}
	lazy, keep := false, false
	switch {
	case p.take("?"):
		if lazy = true; interval && low == high {
			return nil, p.fail("{n}? is not supported")
		}
	case !interval && p.take("+"):
		keep = true
	}
	if low > maxRepeat || high > maxRepeat {
		return nil, p.fail("more than %d repetitions", maxRepeat)
	}
	if len(atom) == 1 && atom[0].op == opSet && !lazy {
		return []inst{{op: opRun, set: atom[0].set, min: low, max: high, keep: keep}}, nil
	}
	if high < 0 && mayBeEmpty(atom) {
		return nil, p.fail("repeating what may be empty is not supported")
	}
	out, err := p.repeated(atom, low, high, lazy)
	if err == nil && keep {
		out = group(inst{op: opAtomic}, out)
	}
	return out, err
}

// counts parses *, +, ? or {n,m}; high is negative for no limit.
func (p *regexParser) counts() (low, high int, interval, ok bool) {
	switch {
	case p.take("*"):
		return 0, -1, false, true
	case p.take("+"):
		return 1, -1, false, true
	case p.take("?"):
		return 0, 1, false, true
	}
	rest := p.src[p.pos:]
	end := strings.IndexByte(rest, '}')
	if end < 0 || rest[0] != '{' {
		return 0, 0, false, false
	}
	a, b, comma := strings.Cut(rest[1:end], ",")
	if !comma {
		b = a
	}
	low, errLow := strconv.Atoi(a)
	high, errHigh := strconv.Atoi(b)
	switch {
	case comma && a == "" && errHigh == nil:
		low = 0
	case comma && b == "" && errLow == nil:
		high = -1
	case errLow != nil || errHigh != nil || low < 0 || high < low:
		return 0, 0, false, false // a brace that is only that
	}
	p.pos += end + 1
	return low, high, true, true
}

// repeated writes an atom low to high times.
func (p *regexParser) repeated(atom []inst, low, high int, lazy bool) ([]inst, error) {
	var out []inst
	if len(atom)*max(low, high, 1) > maxPatternCode {
		return nil, p.fail("the pattern is too large")
	}
	for range low {
		out = append(out, atom...)
	}
	split := func(inside, behind int) inst {
		if lazy {
			return inst{op: opSplit, x: behind, y: inside}
		}
		return inst{op: opSplit, x: inside, y: behind}
	}
	if high < 0 {
		out = append(out, split(1, len(atom)+2))
		out = append(out, atom...)
		return append(out, inst{op: opJump, x: -len(atom) - 1}), nil
	}
	for left := high - low; left > 0; left-- {
		out = append(out, split(1, left*(len(atom)+1)))
		out = append(out, atom...)
	}
	return out, nil
}

// group puts code, with an accept behind it, after an instruction that runs it by itself.
func group(head inst, code []inst) []inst {
	head.x = len(code) + 2
	return append(append([]inst{head}, code...), inst{op: opAccept})
}

// mayBeEmpty reports whether code may match no text.
func mayBeEmpty(code []inst) bool {
	seen := make([]bool, len(code)+1)
	var visit func(pc int) bool
	visit = func(pc int) bool {
		if pc >= len(code) {
			return true
		}
		if seen[pc] {
			return false
		}
		seen[pc] = true
		switch i := code[pc]; i.op {
		case opSet:
			return false
		case opRun:
			return i.min == 0 && visit(pc+1)
		case opSplit:
			return visit(pc+i.x) || visit(pc+i.y)
		case opJump, opAhead:
			return visit(pc + i.x)
		case opAtomic:
			return mayBeEmpty(code[pc+1:pc+i.x-1]) && visit(pc+i.x)
		default:
			return visit(pc + 1)
		}
	}
	return visit(0)
}

// rune takes the next rune.
func (p *regexParser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}
