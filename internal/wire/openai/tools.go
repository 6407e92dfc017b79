// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"slices"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
)

const maxTools = 1024

// readTools reads the tools and how they may be used.
func (f *fields) readTools(r *chat.Request) {
	r.Tools = f.readToolList()
	if b := f.boolean("parallel_tool_calls"); b != nil {
		r.OneCall = !*b
	}
	f.refuseField("functions", "functions is not supported. Use tools.")
	if v, ok := f.raw("function_call").(string); !ok || v != "none" {
		f.refuseField("function_call", "function_call is not supported. Use tool_choice.")
	}
	f.readToolChoice(r)
}

func (f *fields) readToolList() []chat.Tool {
	list := f.array("tools")
	switch {
	case list == nil:
		return nil
	case len(list) == 0:
		f.fail(CodeInvalidValue, "tools", "`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.")
		return nil
	case len(list) > maxTools:
		f.fail(CodeInvalidValue, "tools", "tools can have at most %d tools, got %d.", maxTools, len(list))
		return nil
	}
	tools := make([]chat.Tool, 0, len(list))
	for i, v := range list {
		path := index("tools", i)
		obj, ok := v.(*ordjson.Object)
		if !ok {
			f.wrongType(path, "an object", v)
			return nil
		}
		tools = append(tools, newFields(f.findings, obj, path).readTool())
	}
	return tools
}

func (f *fields) readTool() chat.Tool {
	raw := f.obj
	switch kind := f.str("type"); kind {
	case "function":
	case "":
		raw = withType(raw)
	default:
		f.fail(CodeInvalidValue, f.param("type"), "%s must be \"function\", got %q.", f.param("type"), shorten(kind))
	}
	fn := f.object("function")
	if fn == nil {
		f.fail(CodeMissing, f.param("function"), "Missing required parameter: '%s'.", f.param("function"))
		return chat.Tool{}
	}
	tool := chat.Tool{Name: fn.str("name"), Description: fn.str("description"), Raw: raw}
	if tool.Name == "" {
		f.fail(CodeMissing, fn.param("name"), "Missing required parameter: '%s'.", fn.param("name"))
	}
	if p := fn.object("parameters"); p != nil {
		tool.Parameters = p.obj
	}
	if fn.flag("strict") {
		f.refuse(CodeUnsupportedParameter, fn.param("strict"), "strict is not supported with this model. Leave it out, or set it to false.")
	}
	return tool
}

// withType returns a tool that says what it is, for templates that print it.
func withType(raw *ordjson.Object) *ordjson.Object {
	o := ordjson.NewObject()
	o.Set("type", "function")
	for k, v := range raw.All() {
		if k != "type" {
			o.Set(k, v)
		}
	}
	return o
}

func (f *fields) readToolChoice(r *chat.Request) {
	v := f.raw("tool_choice")
	if v == nil {
		return
	}
	if s, ok := v.(string); ok && s == "none" {
		r.NoToolParsing = true
		return
	}
	if r.Tools == nil {
		f.fail(CodeInvalidValue, "tool_choice", "When using `tool_choice`, `tools` must be set.")
		return
	}
	switch v := v.(type) {
	case string:
		f.readChoiceWord(v)
	case *ordjson.Object:
		newFields(f.findings, v, "tool_choice").readChoiceObject(r.Tools)
	default:
		f.wrongType("tool_choice", "a string or an object", v)
	}
}

func (f *fields) readChoiceWord(word string) {
	switch word {
	case "auto":
	case "required":
		f.refuse(CodeUnsupportedValue, "tool_choice", "tool_choice \"required\" is not supported with this model. Use \"auto\".")
	default:
		f.fail(CodeInvalidValue, "tool_choice",
			"Invalid value for `tool_choice`: %s! Only named tools, \"none\", \"auto\" or \"required\" are supported.", shorten(word))
	}
}

func (f *fields) readChoiceObject(tools []chat.Tool) {
	kind := f.str("type")
	names := []string{}
	switch kind {
	case "function":
		if fn := f.object("function"); fn != nil {
			names = append(names, fn.str("name"))
		}
	case "allowed_tools":
		names = f.readAllowedTools()
	}
	if len(names) == 0 {
		f.fail(CodeInvalidValue, "tool_choice",
			"Invalid value for `tool_choice`! Only named tools, \"none\", \"auto\" or \"required\" are supported.")
		return
	}
	for _, name := range names {
		if !slices.ContainsFunc(tools, func(t chat.Tool) bool { return t.Name == name }) {
			f.fail(CodeInvalidValue, "tool_choice", "The tool specified in `tool_choice` does not match any of the specified `tools`")
		}
	}
	f.refuse(CodeUnsupportedValue, "tool_choice", "A tool_choice of type '%s' is not supported with this model. Use \"auto\".", kind)
}

func (f *fields) readAllowedTools() []string {
	allowed := f.object("allowed_tools")
	if allowed == nil {
		return nil
	}
	var names []string
	for _, v := range allowed.array("tools") {
		obj, _ := v.(*ordjson.Object)
		fn, _ := obj.Object("function")
		if name, ok := fn.String("name"); ok {
			names = append(names, name)
		}
	}
	return names
}
