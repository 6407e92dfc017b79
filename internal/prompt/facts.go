// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// Facts are what a template can do, found by rendering small conversations with it.
type Facts struct {
	Tools           bool // prints the tools
	WholeTools      bool // fails on a function without a description or without parameters
	EmptyTools      bool // wants an empty list where there are no tools, not none
	Calls           bool // prints tool calls
	Results         bool // prints messages of the role tool
	ArgumentsObject bool // wants the arguments of tool calls as an object, not as JSON text
	ArgumentsText   bool // copes with arguments that are text
	ContentParts    bool // wants contents as lists of parts, not as text
	Developer       bool // knows the role developer
	System          bool // knows the role system
	ManySystem      bool // prints more than one system message at the start
	Alternating     bool // refuses two user messages in a row
	ParallelCalls   bool // prints several calls of one message
	ShortIDs        bool // wants call IDs of exactly nine letters and digits
	ReasoningOrText bool // refuses a call with both reasoning and content
}

// probeText is what probing looks for in a prompt. It has no character that a template would escape.
const probeText = "Xprobe7"

// A prober renders conversations in JSON with %s for the probe's text.
type prober struct {
	t     *Template
	tools string // in JSON
}

// prints reports whether the template renders the messages and prints the probe's text.
func (p prober) prints(messages string) bool {
	out, ok := p.render(messages, p.tools)
	return ok && strings.Contains(out, probeText)
}

func (p prober) renders(messages string) bool {
	_, ok := p.render(messages, p.tools)
	return ok
}

func (p prober) render(messages, tools string) (string, bool) {
	text := strings.NewReplacer("PROBE", probeText).Replace(`{"messages":` + messages + `,"tools":` + tools + `,"add_generation_prompt":true}`)
	request, err := ordjson.Parse([]byte(text), ordjson.DefaultDepth)
	if err != nil {
		panic("prompt: a probe is no JSON: " + err.Error())
	}
	out, err := p.t.RenderJSON(request.(*ordjson.Object), Prepared, p.t.now())
	if err != nil {
		return "", false
	}
	return Text(out), true
}

const (
	probeUser = `{"role":"user","content":"Hello"}`
	probeTool = `[{"type":"function","function":{"name":"PROBE","description":"d","parameters":{"type":"object",` +
		`"properties":{"city":{"type":"string","description":"c"}},"required":["city"]}}}]`
	probeBareTool = `[{"type":"function","function":{"name":"PROBE"}}]`
	probeResult   = `{"role":"tool","tool_call_id":"abcdefghi","name":"f","content":"r"}`
)

// calls is a conversation with calls in one message.
func calls(content string, calls ...string) string {
	return `[` + probeUser + `,{"role":"assistant","content":` + content + `,"tool_calls":[` + strings.Join(calls, ",") + `]},` +
		probeResult + `]`
}

func call(id, name, arguments string) string {
	return `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":` + arguments + `}}`
}

// probe finds out what a template can do. A template that can't render even a greeting gets the common answers.
func probe(t *Template) Facts {
	p := prober{t, "null"}
	f := Facts{Calls: true, Results: true, ArgumentsObject: true, System: true, ManySystem: true, ParallelCalls: true}
	out, ok := p.render(`[`+probeUser+`]`, probeTool)
	f.Tools = ok && strings.Contains(out, probeText)
	_, ok = p.render(`[`+probeUser+`]`, probeBareTool)
	f.WholeTools = f.Tools && !ok
	if !p.renders(`[` + probeUser + `]`) {
		p.tools = "[]"
		f.EmptyTools = p.renders(`[` + probeUser + `]`)
	}
	if !p.prints(`[{"role":"user","content":"PROBE"}]`) {
		f.ContentParts = p.prints(`[{"role":"user","content":[{"type":"text","text":"PROBE"}]}]`)
	}
	if !p.renders(`[`+probeUser+`]`) && !f.ContentParts {
		return f
	}
	f.Developer = strings.Contains(t.source, "developer") && p.prints(`[{"role":"developer","content":"PROBE"},`+probeUser+`]`)
	f.System = p.prints(`[{"role":"system","content":"PROBE"},` + probeUser + `]`)
	f.ManySystem = p.prints(`[{"role":"system","content":"s"},{"role":"system","content":"PROBE"},` + probeUser + `]`)
	f.Alternating = !p.prints(`[` + probeUser + `,{"role":"user","content":"PROBE"}]`)
	p.calls(&f)
	return f
}

// calls probes how tool calls are printed.
func (p prober) calls(f *Facts) {
	const id = "abcdefghi"
	object := call(id, "f", `{"PROBE":"v"}`)
	text := call(id, "f", `"{\"PROBE\": \"v\"}"`)
	out, ok := p.render(calls(`""`, object), p.tools)
	asObject := ok && strings.Contains(out, probeText) && !strings.Contains(out, `'`+probeText+`'`)
	f.ArgumentsText = p.prints(calls(`""`, text))
	f.ArgumentsObject = asObject || !f.ArgumentsText
	one := text
	if f.ArgumentsObject {
		one = object
	}
	f.Calls = p.prints(calls(`""`, one))
	f.Results = p.prints(strings.Replace(calls(`""`, call(id, "f", "{}")), `"content":"r"`, `"content":"PROBE"`, 1))
	if !f.Calls {
		return
	}
	second := strings.Replace(strings.Replace(one, id, "jklmnopqr", 1), `"name":"f"`, `"name":"PROBEg"`, 1)
	second = strings.Replace(second, `PROBE"`, `other"`, 1)
	first := strings.ReplaceAll(one, "PROBE", "first")
	f.ParallelCalls = p.prints(calls(`""`, first, second))
	f.ShortIDs = !p.prints(strings.ReplaceAll(calls(`""`, one), id, "call_1234567890"))
	both := strings.Replace(calls(`"text"`, one), `"tool_calls"`, `"reasoning":"r","tool_calls"`, 1)
	reasoningOnly := strings.Replace(calls(`""`, one), `"tool_calls"`, `"reasoning":"r","tool_calls"`, 1)
	f.ReasoningOrText = !p.renders(both) && p.renders(reasoningOnly)
}
