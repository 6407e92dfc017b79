// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"maps"
	"slices"
)

// jinja2 compiles a template to Python functions, and its rules of scoping follow from how it does that. Each scope
// (a loop body, a macro, with ...) has a symbol table; a name that a scope assigns or reads first gets a variable of
// that scope, filled on entry from the scope around it, from the context, or with nothing. Macros are closures, so
// they see later values of the variables around them. The resolver below repeats that, with slots in frames in place
// of Python's variables.

// A unit is what jinja2 compiles to one Python function: the template, a macro, a block, a recursive loop, the
// filter of a loop. Its scopes share the slots of one frame.
type unit struct {
	parent *unit // nil if it sees no other unit's variables
	depth  int
	slots  map[slotKey]int
}

// A slotKey is the variable of a name in the scopes of one level.
type slotKey struct {
	level int
	name  string
}

func newUnit(parent *unit) *unit {
	u := &unit{parent: parent, slots: map[slotKey]int{}}
	if parent != nil {
		u.depth = parent.depth + 1
	}
	return u
}

func (u *unit) slot(k slotKey) int {
	i, ok := u.slots[k]
	if !ok {
		i = len(u.slots)
		u.slots[k] = i
	}
	return i
}

// A place is a variable seen from a unit: the slot of the frame that is hops closures out.
type place struct{ hops, slot int }

// A loadKind says what a scope's variable holds on entry.
type loadKind uint8

const (
	loadParameter loadKind = iota // what the caller put there
	loadResolve                   // the context's value of the name
	loadAlias                     // the value of the same name one scope out
	loadNothing
)

type load struct {
	kind loadKind
	from *symbols // of loadAlias: the table that has the variable
}

// A symbols is the symbol table of a scope.
type symbols struct {
	unit   *unit
	parent *symbols
	level  int
	refs   map[string]bool // the names that have a variable here
	loads  map[string]load
	stores map[string]bool
}

func newSymbols(u *unit, parent *symbols) *symbols {
	s := &symbols{unit: u, parent: parent, refs: map[string]bool{}, loads: map[string]load{}, stores: map[string]bool{}}
	if parent != nil {
		s.level = parent.level + 1
	}
	return s
}

// find returns the innermost table that has a variable for name.
func (s *symbols) find(name string) *symbols {
	for t := s; t != nil; t = t.parent {
		if t.refs[name] {
			return t
		}
	}
	return nil
}

func (s *symbols) define(name string, l load) {
	s.refs[name] = true
	s.loads[name] = l
}

func (s *symbols) parameter(name string) {
	s.stores[name] = true
	s.define(name, load{kind: loadParameter})
}

func (s *symbols) store(name string) {
	s.stores[name] = true
	if s.refs[name] {
		return
	}
	if outer := s.outer(name); outer != nil {
		s.define(name, load{kind: loadAlias, from: outer})
		return
	}
	s.define(name, load{kind: loadNothing})
}

func (s *symbols) outer(name string) *symbols {
	if s.parent == nil {
		return nil
	}
	return s.parent.find(name)
}

func (s *symbols) read(name string) {
	if s.find(name) == nil {
		s.define(name, load{kind: loadResolve})
	}
}

func (s *symbols) copy() *symbols {
	c := *s
	c.refs, c.loads, c.stores = maps.Clone(s.refs), maps.Clone(s.loads), maps.Clone(s.stores)
	return &c
}

// merge takes over what the branches of an if did. What only some of them assign holds the outer value otherwise.
func (s *symbols) merge(branches ...*symbols) {
	assigned := map[string]bool{}
	for _, b := range branches {
		maps.Copy(assigned, b.stores)
	}
	for name := range s.stores {
		delete(assigned, name)
	}
	for _, b := range branches {
		maps.Copy(s.refs, b.refs)
		maps.Copy(s.loads, b.loads)
		maps.Copy(s.stores, b.stores)
	}
	for name := range assigned {
		if outer := s.outer(name); outer != nil {
			s.loads[name] = load{kind: loadAlias, from: outer}
		} else {
			s.loads[name] = load{kind: loadResolve}
		}
	}
}

// place returns where code of this scope finds the variable of name, which the table or one around it has.
func (s *symbols) place(name string) place {
	t := s.find(name)
	return place{hops: s.unit.depth - t.unit.depth, slot: t.unit.slot(slotKey{t.level, name})}
}

// A scopePlan is what entering a scope does to its frame.
type scopePlan struct {
	loads []loadStep
	slots []int // all variables of the scope, which hold nothing after it
}

type loadStep struct {
	slot int
	name string // of the context; empty: see from
	from place  // of an alias
	none bool   // nothing
}

// plan lists what entry does. Names are in order so that a template compiles the same way each time.
func (s *symbols) plan() scopePlan {
	var p scopePlan
	for _, name := range slices.Sorted(maps.Keys(s.loads)) {
		l := s.loads[name]
		slot := s.unit.slot(slotKey{s.level, name})
		p.slots = append(p.slots, slot)
		switch l.kind {
		case loadResolve:
			p.loads = append(p.loads, loadStep{slot: slot, name: name})
		case loadAlias:
			t := l.from
			at := place{hops: s.unit.depth - t.unit.depth, slot: t.unit.slot(slotKey{t.level, name})}
			p.loads = append(p.loads, loadStep{slot: slot, from: at})
		case loadNothing:
			p.loads = append(p.loads, loadStep{slot: slot, none: true})
		case loadParameter: // a call fills it
		}
	}
	return p
}

// analyze records the names of statements in this scope, as far as they belong to it: the bodies of inner scopes
// have tables of their own.
func (s *symbols) analyze(body []stmt) {
	for _, n := range body {
		s.analyzeStmt(n)
	}
}

func (s *symbols) analyzeStmt(n stmt) {
	switch n := n.(type) {
	case *outputStmt:
		s.reads(n.items...)
	case *ifStmt:
		s.analyzeIf(n)
	case *forStmt:
		s.reads(n.iter)
	case *assignStmt:
		s.reads(n.value)
		s.target(n.target)
	case *assignBlock:
		s.target(n.target)
	case *macroStmt:
		s.store(n.name.name)
	case *callBlock:
		if n.call != nil {
			s.reads(n.call)
		}
	case *filterBlock:
		s.reads(n.filter)
	case *withStmt:
		s.reads(n.values...)
	case *refusedStmt:
		s.reads(n.x)
		for _, name := range n.names {
			s.store(name.name)
		}
	}
}

func (s *symbols) analyzeIf(n *ifStmt) {
	s.reads(n.test)
	body, elifs, otherwise := s.copy(), s.copy(), s.copy()
	body.analyze(n.body)
	for _, e := range n.elifs {
		elifs.analyzeIf(e)
	}
	otherwise.analyze(n.otherwise)
	s.merge(body, elifs, otherwise)
}

// target records the names that are assigned.
func (s *symbols) target(x expr) {
	switch x := x.(type) {
	case *nameExpr:
		s.store(x.name)
	case *attrTarget:
		s.read(x.ns.name)
	case *tupleExpr:
		for _, item := range x.items {
			s.target(item)
		}
	}
}

// parameters records the names of a loop's or a with's targets.
func (s *symbols) parameters(x expr) {
	switch x := x.(type) {
	case *nameExpr:
		s.parameter(x.name)
	case *tupleExpr:
		for _, item := range x.items {
			s.parameters(item)
		}
	}
}

func (s *symbols) reads(xs ...expr) {
	for _, x := range xs {
		walkNames(x, func(n *nameExpr) { s.read(n.name) })
	}
}
