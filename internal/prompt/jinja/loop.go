// SPDX-License-Identifier: Apache-2.0

package jinja

// A loopValue is the variable loop.
type loopValue struct {
	m       *machine
	source  value // what has a length, or nil
	next    func() (value, bool)
	index0  int
	depth0  int
	size    int // -1 while unknown
	ahead   value
	peeked  bool // ahead was read
	ended   bool // and there was nothing
	before  value
	current value
	changed *tuple // what was last given to loop.changed
	recurse func(items value, depth int) *Str
}

func (l *loopValue) advance() (value, bool) {
	var v value
	var ok bool
	if l.peeked {
		v, ok = l.ahead, !l.ended
		l.peeked = false
	} else {
		v, ok = l.next()
	}
	if !ok {
		return nil, false
	}
	l.index0++
	l.before, l.current = l.current, v
	return v, true
}

func (l *loopValue) peek() (value, bool) {
	if !l.peeked {
		v, ok := l.next()
		l.ahead, l.ended, l.peeked = v, !ok, true
	}
	return l.ahead, !l.ended
}

// length reads the rest of what has no length.
func (l *loopValue) length() int {
	if l.size >= 0 {
		return l.size
	}
	if n, ok := length(l.source); ok {
		l.size = n
		return n
	}
	var rest []value
	for v, ok := l.next(); ok; v, ok = l.next() {
		l.m.charge(valueBytes)
		rest = append(rest, v)
	}
	l.size = len(rest) + l.index0 + 1
	if l.peeked && !l.ended {
		l.size++
	}
	l.next = (&List{items: rest}).iterate()
	return l.size
}

// attr returns an attribute of the variable loop.
func (l *loopValue) attr(name string) (value, bool) {
	switch name {
	case "index":
		return l.index0 + 1, true
	case "index0":
		return l.index0, true
	case "revindex":
		return l.length() - l.index0, true
	case "revindex0":
		return l.length() - l.index0 - 1, true
	case "first":
		return l.index0 == 0, true
	case "last":
		_, more := l.peek()
		return !more, true
	case "length":
		return l.length(), true
	case "depth":
		return l.depth0 + 1, true
	case "depth0":
		return l.depth0, true
	case "previtem":
		if l.index0 == 0 {
			return &undefined{hint: "there is no previous item"}, true
		}
		return l.before, true
	case "nextitem":
		if v, ok := l.peek(); ok {
			return v, true
		}
		return &undefined{hint: "there is no next item"}, true
	case "cycle":
		return method("cycle", l.cycle), true
	case "changed":
		return method("changed", l.change), true
	}
	return nil, false
}

func (l *loopValue) cycle(_ *machine, a arguments) value {
	if len(a.pos) == 0 {
		typeError("no items for cycling given")
	}
	return a.pos[l.index0%len(a.pos)]
}

func (l *loopValue) change(m *machine, a arguments) value {
	now := &tuple{items: a.pos}
	if l.changed != nil && m.equal(l.changed, now) {
		return false
	}
	l.changed = now
	return true
}

func (m *machine) execFor(n *forStmt, f *slots) jump {
	items := m.eval(n.iter, f)
	if n.unit == nil {
		return m.loop(n, items, f, f, 0)
	}
	var recurse func(items value, depth int) *Str
	recurse = func(items value, depth int) *Str {
		return m.call(func() *Str {
			inner := newSlots(n.unit, f)
			s, _ := m.capture(func() jump {
				return m.loopWith(n, items, inner, &loopValue{depth0: depth, recurse: recurse, size: -1}, f)
			})
			return s
		})
	}
	m.print(recurse(items, 0))
	return onward
}

// loop runs a loop's body for each item, in frame f; outer is the frame around the loop.
func (m *machine) loop(n *forStmt, items value, f, outer *slots, depth int) jump {
	return m.loopWith(n, items, f, &loopValue{depth0: depth, size: -1}, outer)
}

func (m *machine) loopWith(n *forStmt, items value, f *slots, l *loopValue, outer *slots) jump {
	l.m, l.index0, l.source = m, -1, items
	l.next = m.iterate(items, "'%s' object is not iterable")
	if n.testPlan != nil {
		l.source, l.next = nil, m.filterItems(n, l.next, outer)
	}
	completed := false
	for item, ok := l.advance(); ok; item, ok = l.advance() {
		m.step()
		m.assign(n.target, item, f)
		if n.loop >= 0 {
			f.vars[n.loop] = l
		}
		m.enter(n.scope, f)
		j := m.run(n.body, f)
		if j == breaks {
			break
		}
		completed = completed || j == onward
	}
	f.leave(n.scope)
	if n.otherwise == nil || completed {
		return onward
	}
	m.enter(n.elseScope, f)
	j := m.run(n.otherwise, f)
	f.leave(n.elseScope)
	return j
}

// filterItems returns the items for which the loop's condition holds.
func (m *machine) filterItems(n *forStmt, next func() (value, bool), outer *slots) func() (value, bool) {
	f := newSlots(n.testPlan.unit, outer)
	m.enter(n.testPlan.scope, f)
	return func() (value, bool) {
		for {
			item, ok := next()
			if !ok {
				return nil, false
			}
			m.step()
			m.assign(n.testPlan.target, item, f)
			if truth(m.eval(n.test, f)) {
				return item, true
			}
		}
	}
}
