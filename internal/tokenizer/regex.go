// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"sync"
	"unicode/utf8"
)

// A regex is a compiled pattern of the Oniguruma dialect, as far as tokenizers use it: sets with properties and
// intersections, alternation, greedy, lazy and possessive repetition, look-ahead, atomic groups, (?i). Matching
// backtracks and prefers earlier alternatives, which RE2 (package regexp) has no look-ahead for.
//
// Known patterns have scanners that do the same an order of magnitude faster; see patterns.
type regex struct {
	code     []inst
	first    *runeSet  // what every match begins with; nil: not known
	before   bool      // asks what stands before the place, so that it needs the whole text
	empty    bool      // may match no text
	machines sync.Pool // of *machine
}

type opcode uint8

const (
	opAccept opcode = iota
	opSet           // one rune of set
	opRun           // min to max runes of set, as many as can be
	opSplit         // try x, then y
	opJump          // go on at x; all places in code are relative
	opAhead         // what follows must match, up to the accept before x; with negate: must not
	opAtomic        // the same, and the text counts as matched
	opAssert        // kind
)

// An inst is one instruction.
type inst struct {
	op       opcode
	set      *runeSet
	x, y     int
	min, max int // opRun; max < 0: no limit
	negate   bool
	keep     bool   // opRun: possessive
	kind     assert // opAssert
}

// An assert is a condition on a place in a text.
type assert uint8

const (
	textStart     assert = iota // \A
	textEnd                     // \z
	lastLineEnd                 // \Z
	lineStart                   // ^
	lineEnd                     // $
	wordBorder                  // \b
	notWordBorder               // \B
)

// A machine is the memory of one match.
type machine struct {
	stack []frame
	steps int // left
}

// A frame is a place to go back to: on with pc at pos, or, for a run, at any place from low up to pos.
type frame struct{ pc, pos, low int }

// stepsPerByte and minSteps bound the work of one search, by the length of the text. A pattern that needs more is taken not to
// match: no known one does, but a file may hold anything.
const (
	minSteps     = 1 << 14
	stepsPerByte = 64
)

// begin returns a machine for a search in n bytes.
func (r *regex) begin(n int) *machine {
	m, _ := r.machines.Get().(*machine)
	if m == nil {
		m = &machine{}
	}
	m.stack, m.steps = m.stack[:0], minSteps+stepsPerByte*n
	return m
}

// at returns the end of the match that begins at pos.
func (r *regex) at(s string, pos int) (end int, ok bool) {
	m := r.begin(len(s) - pos)
	end, ok = m.run(r.code, s, 0, pos)
	r.machines.Put(m)
	return end, ok
}

// find returns the first match that begins at or behind from.
func (r *regex) find(s string, from int) (start, end int, ok bool) {
	m := r.begin(len(s) - from)
	defer r.machines.Put(m)
	for start = from; start <= len(s) && m.steps >= 0; {
		if r.first != nil {
			if start = r.first.next(s, start); start < 0 {
				return 0, 0, false
			}
		}
		if end, ok = m.run(r.code, s, 0, start); ok {
			return start, end, true
		}
		_, n := utf8.DecodeRuneInString(s[start:])
		start += max(n, 1)
	}
	return 0, 0, false
}

// next returns the place of the first rune at or behind pos that is in the set, -1 if there is none.
func (s *runeSet) next(text string, pos int) int {
	for pos < len(text) {
		behind, in := s.step(text, pos)
		if in {
			return pos
		}
		pos = behind
	}
	return -1
}

// each calls found for each match: they don't overlap, and an empty one does not follow at once on another.
func (r *regex) each(s string, found func(start, end int)) {
	last := -1
	for from := 0; from <= len(s); {
		start, end, ok := r.find(s, from)
		if !ok {
			return
		}
		if start < end || start != last {
			found(start, end)
			last = end
		}
		from = end
		if start == end {
			_, n := utf8.DecodeRuneInString(s[end:])
			from += max(n, 1)
		}
	}
}

// run matches the code from pc on at pos.
func (m *machine) run(code []inst, s string, pc, pos int) (end int, ok bool) {
	base := len(m.stack)
	for {
		if m.steps--; m.steps < 0 {
			m.stack = m.stack[:base]
			return 0, false
		}
		i := &code[pc]
		next := pc + 1
		ok := true
		switch i.op {
		case opAccept:
			m.stack = m.stack[:base]
			return pos, true
		case opSet:
			pos, ok = i.set.step(s, pos)
		case opRun:
			pos, ok = m.runOf(i, s, pc+1, pos)
		case opSplit:
			m.stack = append(m.stack, frame{pc + i.y, pos, pos})
			next = pc + i.x
		case opJump:
			next = pc + i.x
		case opAhead:
			_, found := m.run(code, s, pc+1, pos)
			ok, next = found != i.negate, pc+i.x
		case opAtomic:
			pos, ok = m.run(code, s, pc+1, pos)
			next = pc + i.x
		case opAssert:
			ok = i.kind.holds(s, pos)
		}
		if ok {
			pc = next
			continue
		}
		if len(m.stack) == base {
			return 0, false
		}
		pc, pos = m.back(s)
	}
}

// step returns the place behind the rune at pos, if it is in the set.
func (s *runeSet) step(text string, pos int) (int, bool) {
	if pos >= len(text) {
		return pos, false
	}
	r, n := rune(text[pos]), 1
	if r >= utf8.RuneSelf {
		r, n = utf8.DecodeRuneInString(text[pos:])
	}
	return pos + n, s.has(r)
}

// runOf takes as many runes as it can, and remembers that fewer may do.
func (m *machine) runOf(i *inst, s string, next, pos int) (int, bool) {
	n, low := 0, pos
	for i.max < 0 || n < i.max {
		behind, ok := i.set.step(s, pos)
		if !ok {
			break
		}
		pos = behind
		if n++; n == i.min {
			low = pos
		}
	}
	m.steps -= n
	if n < i.min {
		return pos, false
	}
	if low < pos && !i.keep {
		_, size := utf8.DecodeLastRuneInString(s[:pos])
		m.stack = append(m.stack, frame{next, pos - size, low})
	}
	return pos, true
}

// back takes the last place to go back to.
func (m *machine) back(s string) (pc, pos int) {
	f := &m.stack[len(m.stack)-1]
	pc, pos = f.pc, f.pos
	if f.low < f.pos {
		_, size := utf8.DecodeLastRuneInString(s[:f.pos])
		f.pos -= size
	} else {
		m.stack = m.stack[:len(m.stack)-1]
	}
	return pc, pos
}

// holds reports whether the condition is met at pos.
func (a assert) holds(s string, pos int) bool {
	switch a {
	case textStart:
		return pos == 0
	case textEnd:
		return pos == len(s)
	case lastLineEnd:
		return pos == len(s) || s[pos:] == "\n"
	case lineStart:
		return pos == 0 || s[pos-1] == '\n' && pos < len(s)
	case lineEnd:
		return pos == len(s) || s[pos] == '\n'
	case wordBorder, notWordBorder:
		before, _ := utf8.DecodeLastRuneInString(s[:pos])
		after, _ := utf8.DecodeRuneInString(s[pos:])
		in := pos > 0 && propsOf(before).has(propPatternWord)
		out := pos < len(s) && propsOf(after).has(propPatternWord)
		return (in != out) == (a == wordBorder)
	}
	return false
}
