// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"fmt"
	"slices"
	"time"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/prompt/jinja"
	"github.com/sampo-ai/sampo/internal/tokenizer"
)

// A Form says what happens to the messages of a request before the template sees them.
type Form uint8

// The forms of a request.
const (
	Raw      Form = iota // nothing
	Prepared             // what transformers does: keys without a value are dropped, reasoning gets all its names
	Served               // that, and tool calls take the form that the template wants
)

// A RequestError names a field of a request that has the wrong type.
type RequestError struct{ Field, Want string }

func (e *RequestError) Error() string { return fmt.Sprintf("prompt: %s: want %s", e.Field, e.Want) }

// RenderJSON renders a request: an object with the fields messages, tools, documents, add_generation_prompt,
// continue_final_message, kwargs, bos_token, eos_token, unk_token and pad_token. Special tokens that it has no field for
// are the template's own; null makes them undefined.
func (t *Template) RenderJSON(request *ordjson.Object, form Form, now time.Time) ([]tokenizer.Segment, error) {
	tools, _ := request.Array("tools")
	t = t.of(len(tools) > 0)
	vars := jinja.NewDict()
	messages, ok := request.Array("messages")
	if v, has := request.Get("messages"); !ok && has && v != nil {
		return nil, &RequestError{"messages", "an array"}
	}
	open, err := flag(request, "continue_final_message")
	if err != nil {
		return nil, err
	}
	list, err := t.requestMessages(messages, form, open)
	if err != nil {
		return nil, err
	}
	vars.Set("messages", list)
	for _, name := range []string{"tools", "documents"} {
		v, _ := request.Get(name)
		vars.Set(name, jinja.FromJSON(v))
	}
	if form == Served && t.facts.WholeTools {
		vars.Set("tools", jinja.FromJSON(wholeTools(tools)))
	}
	generation, err := flag(request, "add_generation_prompt")
	if err != nil {
		return nil, err
	}
	vars.Set("add_generation_prompt", generation)
	t.opt.Tokens.put(vars)
	for name := range t.opt.Tokens.all() {
		v, has := request.Get(name)
		if s, ok := v.(string); ok {
			vars.Set(name, jinja.Text(s))
		} else if has {
			vars.Delete(name)
		}
	}
	kwargs, ok := request.Object("kwargs")
	if v, has := request.Get("kwargs"); !ok && has && v != nil {
		return nil, &RequestError{"kwargs", "an object"}
	}
	if err := putKwargs(vars, kwargs); err != nil {
		return nil, err
	}
	return t.render(jinja.Input{Vars: vars, Now: now, Limits: t.opt.Limits}, open)
}

// putKwargs sets further variables. They win over the special tokens, but can't replace the conversation.
func putKwargs(vars *jinja.Dict, kwargs *ordjson.Object) error {
	for k, v := range kwargs.All() {
		switch k {
		case "messages", "tools", "add_generation_prompt":
			return &RequestError{"kwargs." + k, "no such key: it is a field of its own"}
		}
		vars.Set(k, jinja.FromJSON(v))
	}
	return nil
}

func flag(request *ordjson.Object, name string) (bool, error) {
	v, _ := request.Get(name)
	if v == nil {
		return false, nil
	}
	b, ok := v.(bool)
	if !ok {
		return false, &RequestError{name, "true or false"}
	}
	return b, nil
}

// requestMessages converts the messages. Where the last one is to be continued, transformers copies reasoning too.
func (t *Template) requestMessages(messages []any, form Form, open bool) ([]any, error) {
	out := make([]any, len(messages))
	for i, v := range messages {
		m, ok := v.(*ordjson.Object)
		if !ok {
			out[i] = jinja.FromJSON(v)
			continue
		}
		if form != Raw {
			m = dropNulls(m)
		}
		if form != Raw || open {
			m = aliasReasoning(m)
		}
		if form == Served {
			var err error
			if m, err = t.serve(m, i); err != nil {
				return nil, err
			}
		}
		out[i] = trustRole(m)
	}
	return out, nil
}

func dropNulls(m *ordjson.Object) *ordjson.Object {
	out := ordjson.NewObject()
	for k, v := range m.All() {
		if v != nil {
			out.Set(k, v)
		}
	}
	return out
}

// aliasReasoning gives a reasoning text the names that templates read it under.
func aliasReasoning(m *ordjson.Object) *ordjson.Object {
	for _, name := range []string{"reasoning_content", "thinking", "reasoning"} {
		v, _ := m.Get(name)
		if v == nil {
			continue
		}
		out := ordjson.NewObject()
		out.Set("thinking", v)
		for k, old := range m.All() {
			out.Set(k, old)
		}
		out.Set("reasoning_content", v)
		return out
	}
	return m
}

// serve gives tool calls the form that the template wants.
func (t *Template) serve(m *ordjson.Object, at int) (*ordjson.Object, error) {
	calls, ok := m.Array("tool_calls")
	if !ok || len(calls) == 0 {
		return m, nil
	}
	m = m.Clone()
	if _, has := m.Get("content"); !has {
		m.Set("content", "")
	}
	calls = slices.Clone(calls)
	for i, c := range calls {
		call, _ := c.(*ordjson.Object)
		function, ok := call.Object("function")
		if !ok {
			continue
		}
		args, _ := function.Get("arguments")
		want, err := t.wantedArguments(args)
		if err != nil {
			err.Field = fmt.Sprintf("messages[%d].tool_calls[%d].function.arguments", at, i)
			return nil, err
		}
		function = function.Clone()
		function.Set("arguments", want)
		call = call.Clone()
		call.Set("function", function)
		calls[i] = call
	}
	m.Set("tool_calls", calls)
	return m, nil
}

// trustRole converts a message. A role of a known name is the template's, so that it can be part of a marker.
func trustRole(m *ordjson.Object) any {
	v := jinja.FromJSON(m)
	if role, ok := m.String("role"); ok && knownRole(role) {
		v.(*jinja.Dict).Set("role", jinja.Text(role))
	}
	return v
}

func knownRole(role string) bool {
	return slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, role)
}
