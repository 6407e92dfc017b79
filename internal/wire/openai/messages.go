// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"strings"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
)

const maxMessages = 100_000

// supportedParts is what the error about an unknown part lists.
const supportedParts = "text, input_text, output_text, refusal, thinking, image_url"

// readMessages reads the conversation. Keys that it does not know are passed over: agents send whole answers back.
func (f *fields) readMessages() []chat.Message {
	list := f.array("messages")
	switch {
	case list == nil:
		f.fail(CodeMissing, "messages", "Missing required parameter: 'messages'.")
		return nil
	case len(list) == 0:
		f.fail(CodeInvalidValue, "messages", "messages must have at least one message.")
		return nil
	case len(list) > maxMessages:
		f.fail(CodeInvalidValue, "messages", "messages can have at most %d messages, got %d.", maxMessages, len(list))
		return nil
	}
	messages := make([]chat.Message, 0, len(list))
	for i, v := range list {
		path := index("messages", i)
		obj, ok := v.(*ordjson.Object)
		if !ok {
			f.wrongType(path, "an object", v)
			return nil
		}
		messages = append(messages, newFields(f.findings, obj, path).readMessage())
	}
	return messages
}

func (f *fields) readMessage() chat.Message {
	m := chat.Message{Role: f.str("role"), Name: f.str("name"), Content: f.readContent()}
	if m.Role == "" {
		f.fail(CodeMissing, f.param("role"), "Missing required parameter: '%s'.", f.param("role"))
	}
	switch m.Role {
	case "assistant":
		m.Reasoning = f.str("reasoning_content")
		if r := f.str("reasoning"); r != "" {
			m.Reasoning = r
		}
		m.ToolCalls = f.readCalls()
	case "tool":
		m.ToolCallID = f.str("tool_call_id")
		m.Content = joined(m.Content)
	}
	if m.Content == nil && m.Role != "assistant" {
		m.Content = []chat.Part{{}}
	}
	return m
}

// joined makes one part of several.
func joined(parts []chat.Part) []chat.Part {
	if len(parts) < 2 {
		return parts
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return []chat.Part{{Text: strings.Join(texts, "\n")}}
}

// readContent returns nil where there is no content.
func (f *fields) readContent() []chat.Part {
	v := f.raw("content")
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []chat.Part{{Text: v}}
	case []any:
		return f.readParts(v)
	}
	f.wrongType("content", "a string or an array of parts", v)
	return nil
}

func (f *fields) readParts(list []any) []chat.Part {
	parts := make([]chat.Part, 0, len(list))
	for i, v := range list {
		path := f.param(index("content", i))
		switch v := v.(type) {
		case string:
			parts = append(parts, chat.Part{Text: v})
		case *ordjson.Object:
			if p, ok := newFields(f.findings, v, path).readPart(); ok {
				parts = append(parts, p)
			}
		default:
			f.fail(CodeInvalidType, path, "%s must be an object or a string, got %s.", path, kindOf(v))
		}
	}
	return parts
}

// readPart reports false for a part without text.
func (f *fields) readPart() (chat.Part, bool) {
	kind := f.str("type")
	switch kind {
	case "":
		f.fail(CodeMissing, f.param("type"), "Missing 'type' field in multimodal part.")
	case "text", "input_text", "output_text":
		return f.textPart("text")
	case "refusal", "thinking":
		return f.textPart(kind)
	case "image_url", "input_image":
		f.refuse(CodeUnsupportedValue, f.path, "This model takes no images: content part type '%s' is not supported.", kind)
	case "input_audio", "audio_url":
		f.refuse(CodeUnsupportedValue, f.path, "This model takes no audio: content part type '%s' is not supported.", kind)
	case "video_url":
		f.refuse(CodeUnsupportedValue, f.path, "This model takes no video: content part type '%s' is not supported.", kind)
	case "file", "prompt_embeds":
		f.refuse(CodeUnsupportedValue, f.path, "Content part type '%s' is not supported. Send the text itself.", kind)
	default:
		f.fail(CodeInvalidValue, f.param("type"), "Unsupported chat content part type: '%s'. Supported types: %s.", shorten(kind), supportedParts)
	}
	return chat.Part{}, false
}

func (f *fields) textPart(name string) (chat.Part, bool) {
	if !f.has(name) {
		f.fail(CodeMissing, f.param(name), "Missing required parameter: '%s'.", f.param(name))
	}
	return chat.Part{Text: f.str(name)}, f.raw(name) != nil
}

// readCalls reads the tool calls of an assistant's message. Arguments that are no JSON stay as they are: an agent may
// send its own truncated call back.
func (f *fields) readCalls() []chat.ToolCall {
	var calls []chat.ToolCall
	for i, v := range f.array("tool_calls") {
		path := f.param(index("tool_calls", i))
		obj, ok := v.(*ordjson.Object)
		if !ok {
			f.fail(CodeInvalidType, path, "%s must be an object, got %s.", path, kindOf(v))
			return nil
		}
		calls = append(calls, newFields(f.findings, obj, path).readCall())
	}
	return calls
}

func (f *fields) readCall() chat.ToolCall {
	if kind := f.str("type"); kind != "" && kind != "function" {
		f.fail(CodeInvalidValue, f.param("type"), "chat completions only support assistant tool_calls of type 'function'.")
	}
	fn := f.object("function")
	if fn == nil {
		f.fail(CodeMissing, f.param("function"), "Missing required parameter: '%s'.", f.param("function"))
		return chat.ToolCall{}
	}
	call := chat.ToolCall{ID: f.str("id"), Name: fn.str("name"), Arguments: "{}"}
	switch v := fn.raw("arguments").(type) {
	case nil:
	case string:
		if strings.TrimSpace(v) != "" {
			call.Arguments = v
		}
	case *ordjson.Object:
		call.Arguments = ordjson.Marshal(v)
	default:
		fn.wrongType("arguments", "a string", v)
	}
	if call.Name == "" {
		f.fail(CodeMissing, fn.param("name"), "Missing required parameter: '%s'.", fn.param("name"))
	}
	return call
}
