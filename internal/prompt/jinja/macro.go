// SPDX-License-Identifier: Apache-2.0

package jinja

// A macro is a macro with the frame that it was defined in.
type macro struct {
	plan       *macroPlan
	closure    *slots
	autoescape bool
}

func (m *machine) callMacro(mac *macro, a arguments) *Str {
	return m.call(func() *Str {
		f := newSlots(mac.plan.unit, mac.closure)
		m.bindMacro(mac.plan, a, f)
		m.enter(mac.plan.scope, f)
		m.macroDefaults(mac.plan, f)
		outer, at := m.autoescape, m.line
		m.autoescape = mac.autoescape
		s, _ := m.capture(func() jump { return m.run(mac.plan.body, f) })
		m.autoescape, m.line = outer, at
		if outer {
			return s.markup()
		}
		return s
	})
}

// bindMacro puts the arguments of a call into the frame.
func (m *machine) bindMacro(p *macroPlan, a arguments, f *slots) {
	n := min(len(a.pos), len(p.args))
	foundCaller := false
	for i, arg := range p.args {
		if i < n {
			f.vars[arg.at.slot] = a.pos[i]
			foundCaller = foundCaller || n == len(p.args) && arg.name == "caller"
			continue
		}
		if v, ok := a.take(arg.name); ok {
			f.vars[arg.at.slot] = v
		}
		foundCaller = foundCaller || arg.name == "caller"
	}
	if p.caller >= 0 && !foundCaller {
		if v, ok := a.take("caller"); ok && v != nil {
			f.vars[p.caller] = v
		} else {
			f.vars[p.caller] = &undefined{hint: "No caller defined", name: bare("caller")}
		}
	}
	if p.kwargs >= 0 {
		d := newDict(len(a.named))
		for _, k := range a.named {
			d.set(bare(k.name), k.v)
		}
		f.vars[p.kwargs] = d
	} else if len(a.named) > 0 {
		if _, ok := a.take("caller"); ok {
			typeError("macro %s was invoked with two values for the special caller argument. This is most likely a bug.", reprText(p.name))
		}
		typeError("macro %s takes no keyword argument %s", reprText(p.name), reprText(a.named[0].name))
	}
	if p.varargs >= 0 {
		f.vars[p.varargs] = &tuple{items: a.pos[n:]}
	} else if len(a.pos) > len(p.args) {
		typeError("macro %s takes not more than %d argument(s)", reprText(p.name), len(p.args))
	}
}

// macroDefaults fills the arguments that the call left out.
func (m *machine) macroDefaults(p *macroPlan, f *slots) {
	for i, arg := range p.args {
		v := &f.vars[arg.at.slot]
		if *v != (missing{}) {
			continue
		}
		if d := i - (len(p.args) - len(p.defaults)); d >= 0 {
			*v = m.eval(p.defaults[d], f)
			continue
		}
		*v = &undefined{hint: "parameter " + reprText(arg.name) + " was not provided", name: bare(arg.name)}
	}
}

// attr returns an attribute of a macro.
func (mac *macro) attr(name string) (value, bool) {
	p := mac.plan
	switch name {
	case "name":
		if p.name == "" {
			return nil, true
		}
		return bare(p.name), true
	case "arguments":
		t := &tuple{}
		for _, a := range p.args {
			t.items = append(t.items, bare(a.name))
		}
		return t, true
	case "catch_kwargs":
		return p.kwargs >= 0, true
	case "catch_varargs":
		return p.varargs >= 0, true
	case "caller":
		return p.caller >= 0, true
	case "explicit_caller":
		for _, a := range p.args {
			if a.name == "caller" {
				return true, true
			}
		}
		return false, true
	}
	return nil, false
}
