// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math"
	"math/big"
	"strings"
)

// globals are the names that every template knows.
func globals() map[string]value {
	class := func(name string, call func(*machine, arguments) value) *function {
		return &function{name: name, kind: "type", call: call, text: "<class '" + name + "'>"}
	}
	plain := func(name string, call func(*machine, arguments) value) *function {
		return &function{name: name, kind: "function", call: call}
	}
	return map[string]value{
		"range":           plain("range", globalRange),
		"dict":            class("dict", globalDict),
		"namespace":       class("namespace", globalNamespace),
		"cycler":          class("cycler", globalCycler),
		"joiner":          class("joiner", globalJoiner),
		"lipsum":          plain("lipsum", globalLipsum),
		"raise_exception": plain("raise_exception", globalRaise),
		"strftime_now":    plain("strftime_now", globalStrftime),
	}
}

// maxRange is the longest range of jinja2's sandbox.
const maxRange = 100_000

func globalRange(_ *machine, a arguments) value {
	if len(a.named) > 0 {
		typeError("range() takes no keyword arguments")
	}
	if len(a.pos) == 0 || len(a.pos) > 3 {
		typeError("range expected at least 1 argument, got %d", len(a.pos))
	}
	const far = math.MaxInt / 8
	bound := func(i, otherwise int) int {
		if i >= len(a.pos) {
			return otherwise
		}
		if b, ok := a.pos[i].(*big.Int); ok {
			return b.Sign() * far
		}
		n := intArg(a.pos[i], 0)
		return min(max(n, -far), far)
	}
	r := &rangeValue{start: bound(0, 0), stop: bound(1, 0), step: bound(2, 1)}
	if len(a.pos) == 1 {
		r.start, r.stop = 0, r.start
	}
	if r.step == 0 {
		valueError("range() arg 3 must not be zero")
	}
	if r.length() > maxRange {
		throw("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return r
}

func globalDict(m *machine, a arguments) value {
	d := newDict(0)
	m.fillDict(d, "dict", a)
	return d
}

func globalNamespace(m *machine, a arguments) value {
	d := newDict(0)
	m.fillDict(d, "namespace", a)
	n := &namespace{attrs: newDict(0)}
	for _, e := range d.entries {
		n.set(textArg(e.key), e.v)
	}
	return n
}

// A cycler yields its items again and again.
type cycler struct {
	items []value
	pos   int
}

func globalCycler(_ *machine, a arguments) value {
	if len(a.pos) == 0 {
		throw("RuntimeError", "at least one item has to be provided")
	}
	return &cycler{items: a.pos}
}

func (c *cycler) attr(name string) (value, bool) {
	switch name {
	case "current":
		return c.items[c.pos], true
	case "items":
		return &tuple{items: c.items}, true
	case "pos":
		return c.pos, true
	case "next":
		return method(name, func(*machine, arguments) value {
			v := c.items[c.pos]
			c.pos = (c.pos + 1) % len(c.items)
			return v
		}), true
	case "reset":
		return method(name, func(*machine, arguments) value {
			c.pos = 0
			return nil
		}), true
	}
	return nil, false
}

// A joiner yields nothing the first time it is called and its separator later.
type joiner struct {
	sep  value
	used bool
}

func globalJoiner(_ *machine, a arguments) value {
	p := bindArgs("joiner", a, 0, "sep")
	return &joiner{sep: given(p[0], bare(", "))}
}

func (j *joiner) join(_ *machine, _ arguments) value {
	if !j.used {
		j.used = true
		return emptyStr
	}
	return j.sep
}

const loremWords = `lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna
	aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat`

// globalLipsum makes filler text. jinja2 picks words by chance; here they come in order.
func globalLipsum(m *machine, a arguments) value {
	p := bindArgs("lipsum", a, 0, "n", "html", "min", "max")
	n, html, least := intArg(p[0], 5), boolArg(p[1], true), max(intArg(p[2], 20), 1)
	words := strings.Fields(loremWords)
	b := builder{m: m}
	for i := range max(n, 0) {
		if html {
			b.text("<p>")
		}
		for j := range least {
			word := words[(i*7+j)%len(words)]
			if j == 0 {
				word = strings.ToUpper(word[:1]) + word[1:]
			} else {
				b.text(" ")
			}
			b.text(word)
		}
		b.text(".")
		if html {
			b.text("</p>")
		}
		if i < n-1 {
			b.text("\n")
		}
		if i < n-1 && !html {
			b.text("\n")
		}
	}
	s := b.str()
	s.safe = html
	return s
}

func globalRaise(m *machine, a arguments) value {
	p := bindArgs("raise_exception", a, 1, "message")
	panic(&RaisedError{Message: m.str(p[0]).text})
}

func globalStrftime(m *machine, a arguments) value {
	p := bindArgs("strftime_now", a, 1, "format")
	format := textArg(p[0])
	m.chargeTimes(len(format.text), 16)
	return format.like(strftime(m.in.Now, format.text))
}
