// SPDX-License-Identifier: Apache-2.0

package jinja

import "time"

// Limits bound the work of one rendering. A zero field means its default.
type Limits struct {
	Steps       int64           // evaluated expressions, statements and items
	Bytes       int64           // of all texts and lists that are made on the way
	OutputBytes int64           // of the result
	Stop        <-chan struct{} // closed to stop the rendering early; may be nil
}

// The default limits: far above what a template needs for a conversation of a million tokens, and still only seconds.
const (
	defaultSteps       = 50_000_000
	defaultBytes       = 256 << 20
	defaultOutputBytes = 64 << 20
)

// stopSteps is how many steps pass between two looks at Limits.Stop: well under a millisecond.
const stopSteps = 4096

// An Env is what a template may use beyond the language.
type Env struct {
	filters     map[string]*builtin
	tests       map[string]*builtin
	globals     map[string]value
	strMethods  map[string]methodFunc
	listMethods map[string]methodFunc
	dictMethods map[string]methodFunc
	mutation    bool
}

var strictEnv, extendedEnv = newEnv(), newExtendedEnv()

// Strict is transformers' own environment: lists and mappings can't be changed.
func Strict() *Env { return strictEnv }

// Extended is the environment that llama.cpp's templates need: lists and mappings may be changed, and there is a filter
// from_json.
func Extended() *Env { return extendedEnv }

func newEnv() *Env {
	return &Env{
		filters: filters(), tests: tests(), globals: globals(),
		strMethods: strMethods(), listMethods: listMethods(), dictMethods: dictMethods(),
	}
}

func newExtendedEnv() *Env {
	e := newEnv()
	e.mutation = true
	e.filters["from_json"] = &builtin{name: "from_json", call: fromJSONText}
	e.filters["fromjson"] = e.filters["from_json"]
	return e
}

// A Template is a parsed template.
type Template struct {
	name  string
	env   *Env
	body  []stmt
	unit  *unit
	scope scopePlan
	self  int
	block map[string]*blockPlan
}

// Parse reads a template. The name is for error messages. Errors are *SyntaxError.
func Parse(name, source string, env *Env) (t *Template, err error) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, caught(p, name, 0)
		}
	}()
	p := parser{toks: lex(source)}
	t = &Template{name: name, env: env, body: p.statements()}
	r := resolver{env: env, blocks: map[string]*blockPlan{}}
	t.unit, t.scope, t.self = r.resolve(t.body)
	t.block = r.blocks
	return t, nil
}

// Input is what a rendering gets.
type Input struct {
	Vars   *Dict     // the context
	Now    time.Time // the clock, as strftime_now prints it
	Limits Limits
}

// Render prints the template. Errors are *RuntimeError, *RaisedError, *SecurityError or *LimitError.
func (t *Template) Render(in Input) (out []Segment, err error) {
	m := &machine{t: t, in: in, exports: map[string]value{}}
	m.setLimits(in.Limits)
	m.out = &builder{m: m}
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, caught(p, t.name, m.line)
		}
	}()
	f := newSlots(t.unit, nil)
	if t.self >= 0 {
		f.vars[t.self] = &selfValue{}
	}
	m.enter(t.scope, f)
	m.run(t.body, f)
	return m.out.segments(), nil
}

// A machine is one rendering.
type machine struct {
	t          *Template
	in         Input
	steps      int64
	nextLook   int64 // the step at which Stop is looked at again
	maxSteps   int64
	bytes      int64
	maxBytes   int64
	maxOutput  int64
	calls      int // macros and loops inside each other
	line       int
	autoescape bool
	exports    map[string]value // assigned at the top level, for blocks
	shared     map[string]value // what a scoped block sees
	out        *builder
	captured   int // builders around out
	random     uint32
}

// A slots is a frame: the variables of one run of a unit.
type slots struct {
	vars []value
	up   *slots // the frame of the unit around it, as it was when the closure was made
}

// missing is what a variable without a value holds.
type missing struct{}

func (m *machine) setLimits(l Limits) {
	m.maxSteps, m.maxBytes, m.maxOutput = l.Steps, l.Bytes, l.OutputBytes
	if m.maxSteps == 0 {
		m.maxSteps = defaultSteps
	}
	if m.maxBytes == 0 {
		m.maxBytes = defaultBytes
	}
	if m.maxOutput == 0 {
		m.maxOutput = defaultOutputBytes
	}
}

// step counts one unit of work.
func (m *machine) step() {
	m.steps++
	if m.steps > m.maxSteps {
		panic(&LimitError{What: "steps", Max: m.maxSteps})
	}
	if m.steps >= m.nextLook && m.in.Limits.Stop != nil {
		m.nextLook = m.steps + stopSteps
		select {
		case <-m.in.Limits.Stop:
			panic(&LimitError{})
		default:
		}
	}
}

// work counts work on n bytes that makes nothing.
func (m *machine) work(n int) {
	m.steps += int64(n >> 6)
	m.step()
}

// charge counts n bytes that are about to be made.
func (m *machine) charge(n int) {
	if n < 0 {
		n = 0
	}
	m.bytes += int64(n)
	if m.bytes > m.maxBytes || m.bytes < 0 {
		panic(&LimitError{What: "bytes", Max: m.maxBytes})
	}
}

// valueBytes is about what an item of a list takes.
const valueBytes = 32

// chargeTimes counts n things of size bytes each.
func (m *machine) chargeTimes(n, size int) {
	if size > 0 && int64(n) > m.maxBytes/int64(size) {
		panic(&LimitError{What: "bytes", Max: m.maxBytes})
	}
	m.charge(max(n, 0) * size)
}

// print adds text to the output.
func (m *machine) print(s *Str) {
	m.out.add(s)
	if m.captured == 0 && int64(len(m.out.buf)) > m.maxOutput {
		panic(&LimitError{What: "output bytes", Max: m.maxOutput})
	}
}

// capture runs f and returns what it printed.
func (m *machine) capture(f func() jump) (*Str, jump) {
	outer := m.out
	m.out = &builder{m: m}
	m.captured++
	j := f()
	s := m.out.str()
	m.out = outer
	m.captured--
	return s, j
}

// maxCalls is how deep macros and recursive loops may call each other; Python gives up at about that depth too.
const maxCalls = 200

// call counts a level of calls while f runs.
func (m *machine) call(f func() *Str) *Str {
	if m.calls++; m.calls > maxCalls {
		tooDeep()
	}
	s := f()
	m.calls--
	return s
}

// resolve returns the context's value of a name.
func (m *machine) resolve(name string) value {
	if v, ok := m.shared[name]; ok {
		return v
	}
	if v, ok := m.exports[name]; ok {
		return v
	}
	if m.in.Vars != nil {
		if v, ok := m.in.Vars.getText(name); ok {
			return v
		}
	}
	if v, ok := m.t.env.globals[name]; ok {
		return v
	}
	return missing{}
}

// enter fills the variables of a scope.
func (m *machine) enter(p scopePlan, f *slots) {
	for _, l := range p.loads {
		switch {
		case l.none:
			f.vars[l.slot] = missing{}
		case l.name != "":
			f.vars[l.slot] = m.resolve(l.name)
		default:
			f.vars[l.slot] = *f.at(l.from)
		}
	}
}

// leave empties the variables of a scope.
func (f *slots) leave(p scopePlan) {
	for _, s := range p.slots {
		f.vars[s] = missing{}
	}
}

func (f *slots) at(p place) *value {
	for range p.hops {
		f = f.up
	}
	return &f.vars[p.slot]
}

// newSlots returns a frame for a unit whose closure is up.
func newSlots(u *unit, up *slots) *slots {
	f := &slots{vars: make([]value, len(u.slots)), up: up}
	for i := range f.vars {
		f.vars[i] = missing{}
	}
	return f
}
