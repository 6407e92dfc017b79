// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"math/big"
	"slices"
)

// A builtin is a filter or a test.
type builtin struct {
	name     string   // of the function in Python, for messages
	params   []string // after the value
	required int      // how many of them must be given
	call     func(m *machine, v value, a []value) value
	raw      func(m *machine, v value, a arguments) value // instead of call: takes any arguments
}

func (b *builtin) apply(m *machine, v value, a arguments) value {
	if b.raw != nil {
		return b.raw(m, v, a)
	}
	return b.call(m, v, bindArgs(b.name, a, b.required, b.params...))
}

// bindArgs puts arguments in the order of the parameters. What is not given is missing{}.
func bindArgs(name string, a arguments, required int, params ...string) []value {
	if len(a.pos) > len(params) {
		typeError("%s() takes %d positional arguments but %d were given", name, len(params), len(a.pos))
	}
	out := make([]value, len(params))
	for i := range out {
		out[i] = missing{}
		if i < len(a.pos) {
			out[i] = a.pos[i]
		}
	}
	for _, n := range a.named {
		i := slices.Index(params, n.name)
		if i < 0 {
			typeError("%s() got an unexpected keyword argument '%s'", name, n.name)
		}
		if out[i] != (missing{}) {
			typeError("%s() got multiple values for argument '%s'", name, n.name)
		}
		out[i] = n.v
	}
	for i := range required {
		if out[i] == (missing{}) {
			typeError("%s() missing 1 required positional argument: '%s'", name, params[i])
		}
	}
	return out
}

// given returns the argument, or otherwise if it was not given.
func given(v, otherwise value) value {
	if v == (missing{}) {
		return otherwise
	}
	return v
}

// intArg returns an integer argument, cut to the size of an int.
func intArg(v value, otherwise int) int {
	switch v := unbool(v).(type) {
	case missing:
		return otherwise
	case int:
		return v
	case *big.Int:
		throw("OverflowError", "Python int too large to convert to C ssize_t")
	case *undefined:
		v.fail()
	}
	typeError("'%s' object cannot be interpreted as an integer", typeName(v))
	return 0
}

func boolArg(v value, otherwise bool) bool {
	if v == (missing{}) {
		return otherwise
	}
	return truth(v)
}

// textArg returns a string argument.
func textArg(v value) *Str {
	s, ok := v.(*Str)
	if !ok {
		typeError("expected str, got %s", typeName(v))
	}
	return s
}

// soft is Python's soft_str: strings stay what they are, other values become text.
func (m *machine) soft(v value) *Str {
	if s, ok := v.(*Str); ok {
		return s
	}
	return m.str(v)
}
