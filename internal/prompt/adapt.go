// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/prompt/jinja"
)

// adapt brings messages into a shape that the template can print. Nothing is dropped; texts are moved or joined.
func (t *Template) adapt(messages []chat.Message) ([]chat.Message, error) {
	out := slices.Clone(messages)
	if !t.facts.Developer {
		for i := range out {
			if out[i].Role == "developer" {
				out[i].Role = "system"
			}
		}
	}
	if !t.facts.ManySystem {
		out = mergeLeadingSystem(out)
	}
	if !t.facts.System {
		out = systemIntoUser(out)
	}
	if !t.facts.Calls {
		out = callsIntoText(out)
	}
	if !t.facts.Results {
		out = resultsIntoUser(out)
	}
	if !t.facts.ParallelCalls {
		out = splitCalls(out)
	}
	if t.facts.Alternating {
		out = mergeNeighbours(out)
	}
	for i := range out {
		if err := t.checkArguments(out[i], i); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (t *Template) checkArguments(m chat.Message, at int) error {
	for i, c := range m.ToolCalls {
		if _, err := t.wantedArguments(c.Arguments); err != nil {
			err.Field = fmt.Sprintf("messages[%d].tool_calls[%d].function.arguments", at, i)
			return err
		}
	}
	return nil
}

// joined returns the contents of two messages as one, with a blank line between.
func joined(a, b []chat.Part) []chat.Part {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return []chat.Part{{Text: partsText(a) + "\n\n" + partsText(b)}}
}

// partsText joins the parts of a content by line feeds, as other servers do.
func partsText(parts []chat.Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

func mergeLeadingSystem(messages []chat.Message) []chat.Message {
	n := 0
	for n < len(messages) && messages[n].Role == "system" {
		n++
	}
	if n < 2 {
		return messages
	}
	first := messages[0]
	for _, m := range messages[1:n] {
		first.Content = joined(first.Content, m.Content)
	}
	return append([]chat.Message{first}, messages[n:]...)
}

// systemIntoUser puts system texts before the user message that follows them.
func systemIntoUser(messages []chat.Message) []chat.Message {
	var out []chat.Message
	var pending []chat.Part
	for _, m := range messages {
		switch {
		case m.Role == "system":
			pending = joined(pending, m.Content)
			continue
		case m.Role == "user" && pending != nil:
			m.Content = joined(pending, m.Content)
			pending = nil
		}
		out = append(out, m)
	}
	if pending != nil {
		out = append(out, chat.Message{Role: "user", Content: pending})
	}
	return out
}

// callsIntoText writes calls as JSON behind the content of their message.
func callsIntoText(messages []chat.Message) []chat.Message {
	for i, m := range messages {
		for _, c := range m.ToolCalls {
			o := ordjson.NewObject()
			o.Set("name", c.Name)
			o.Set("arguments", c.Arguments)
			if v, err := ordjson.Parse([]byte(c.Arguments), ordjson.DefaultDepth); err == nil {
				o.Set("arguments", v)
			}
			m.Content = joined(m.Content, []chat.Part{{Text: ordjson.Marshal(o)}})
		}
		m.ToolCalls = nil
		messages[i] = m
	}
	return messages
}

// resultsIntoUser makes tool results into messages of the user.
func resultsIntoUser(messages []chat.Message) []chat.Message {
	for i := range messages {
		if messages[i].Role == "tool" {
			messages[i].Role, messages[i].ToolCallID = "user", ""
		}
	}
	return messages
}

// mergeNeighbours joins messages of users, and of the assistant without calls, that follow each other.
func mergeNeighbours(messages []chat.Message) []chat.Message {
	var out []chat.Message
	for _, m := range messages {
		n := len(out) - 1
		plain := (m.Role == "user" || m.Role == "assistant") && len(m.ToolCalls) == 0
		if n >= 0 && plain && out[n].Role == m.Role && len(out[n].ToolCalls) == 0 {
			out[n].Content = joined(out[n].Content, m.Content)
			continue
		}
		out = append(out, m)
	}
	return out
}

// splitCalls makes a message with several calls into one per call, each followed by its result.
func splitCalls(messages []chat.Message) []chat.Message {
	var out []chat.Message
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if len(m.ToolCalls) < 2 {
			out = append(out, m)
			continue
		}
		end := i + 1
		for end < len(messages) && messages[end].Role == "tool" {
			end++
		}
		results := slices.Clone(messages[i+1 : end])
		for j, c := range m.ToolCalls {
			one := m
			one.ToolCalls = []chat.ToolCall{c}
			if j > 0 {
				one.Content, one.Reasoning = nil, ""
			}
			out = append(out, one)
			if k := slices.IndexFunc(results, func(r chat.Message) bool { return r.ToolCallID == c.ID }); k >= 0 {
				out = append(out, results[k])
				results = slices.Delete(results, k, k+1)
			}
		}
		out = append(out, results...)
		i = end - 1
	}
	return out
}

// message returns a message as templates read it. The names of fields and known roles are the template's.
func (t *Template) message(m chat.Message) *jinja.Dict {
	d := jinja.NewDict()
	d.Set("role", jinja.Data(m.Role))
	if knownRole(m.Role) {
		d.Set("role", jinja.Text(m.Role))
	}
	if m.Reasoning != "" {
		reasoning := jinja.Data(m.Reasoning)
		for _, name := range []string{"thinking", "reasoning", "reasoning_content"} {
			d.Set(name, reasoning)
		}
	}
	d.Set("content", t.content(m))
	if m.Name != "" {
		d.Set("name", jinja.Data(m.Name))
	}
	if len(m.ToolCalls) > 0 {
		list := make([]any, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			list[i] = t.toolCall(c)
		}
		d.Set("tool_calls", list)
	}
	if m.ToolCallID != "" {
		d.Set("tool_call_id", jinja.Data(t.callID(m.ToolCallID)))
	}
	return d
}

func (t *Template) content(m chat.Message) any {
	parts := m.Content
	if t.facts.ReasoningOrText && m.Reasoning != "" && len(m.ToolCalls) > 0 {
		parts = nil
	}
	if !t.facts.ContentParts {
		return jinja.Data(partsText(parts))
	}
	list := make([]any, len(parts))
	for i, p := range parts {
		d := jinja.NewDict()
		d.Set("type", jinja.Text("text"))
		d.Set("text", jinja.Data(p.Text))
		list[i] = d
	}
	return list
}

func (t *Template) toolCall(c chat.ToolCall) *jinja.Dict {
	args, err := t.wantedArguments(c.Arguments)
	if err != nil {
		args = c.Arguments // adapt has refused it already
	}
	f := jinja.NewDict()
	f.Set("name", jinja.Data(c.Name))
	f.Set("arguments", jinja.FromJSON(args))
	d := jinja.NewDict()
	if c.ID != "" {
		d.Set("id", jinja.Data(t.callID(c.ID)))
	}
	d.Set("type", jinja.Text("function"))
	d.Set("function", f)
	return d
}

// callID returns an ID that the template accepts: Mistral's have nine letters and digits.
func (t *Template) callID(id string) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if !t.facts.ShortIDs || len(id) == 9 && strings.Trim(id, letters) == "" {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	out := make([]byte, 9)
	for i := range out {
		out[i] = letters[int(sum[i])%len(letters)]
	}
	return string(out)
}

// toolList returns the tools as the client sent them, but whole where the template needs it, or nil.
func (t *Template) toolList(tools []chat.Tool) any {
	if len(tools) == 0 && !t.facts.EmptyTools {
		return nil
	}
	list := make([]any, len(tools))
	for i, tool := range tools {
		if tool.Raw != nil {
			raw := tool.Raw
			if t.facts.WholeTools {
				raw = whole(raw)
			}
			list[i] = jinja.FromJSON(raw)
			continue
		}
		f := ordjson.NewObject()
		f.Set("name", tool.Name)
		f.Set("description", tool.Description)
		if tool.Parameters != nil {
			f.Set("parameters", tool.Parameters)
		}
		o := ordjson.NewObject()
		o.Set("type", "function")
		o.Set("function", f)
		list[i] = jinja.FromJSON(o)
	}
	return list
}

// wholeTools is whole for the tools of a request in JSON; nil stays nil.
func wholeTools(tools []any) any {
	if tools == nil {
		return nil
	}
	list := slices.Clone(tools)
	for i, tool := range list {
		if o, ok := tool.(*ordjson.Object); ok {
			list[i] = whole(o)
		}
	}
	return list
}

// whole returns a tool with the fields that a client may leave out: a function without parameters takes none.
func whole(tool *ordjson.Object) *ordjson.Object {
	function, ok := tool.Object("function")
	if !ok {
		return tool
	}
	function = function.Clone()
	if v, _ := function.Get("description"); v == nil {
		function.Set("description", "")
	}
	if v, _ := function.Get("parameters"); v == nil {
		none := ordjson.NewObject()
		none.Set("type", "object")
		none.Set("properties", ordjson.NewObject())
		function.Set("parameters", none)
	}
	tool = tool.Clone()
	tool.Set("function", function)
	return tool
}
