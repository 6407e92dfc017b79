// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
)

// thought returns a chat request whose answer should begin with reasoning.
func (c *check) thought(fields ...any) obj {
	return c.request("messages", []obj{{"role": "user", "content": c.words("What is 3 + 4?", "think")}}, "max_tokens", 200,
		"chat_template_kwargs", obj{"enable_thinking": true}).with(fields...)
}

// thinks ends the case unless the model reasons when it is asked to, and returns its answer.
func (c *check) thinks() reply {
	r := c.chat(c.thought())
	if reasoningOf(r) == "" {
		c.skipf("the model does not reason")
	}
	return r
}

func reasoningOf(r reply) string { return text(object(r.choice(0)["message"])["reasoning_content"]) }

// detail returns a number of usage.completion_tokens_details.
func (r reply) detail(name string) int {
	return int(number(object(object(r.json["usage"])["completion_tokens_details"])[name]))
}

// promptOf returns the rendered prompt's ids, as the text of their list.
func (c *check) promptOf(body obj) string {
	data, err := json.Marshal(c.chat(body.with("max_tokens", 1, "return_token_ids", true)).json["prompt_token_ids"])
	if err != nil {
		c.fatalf("%v", err)
	}
	return string(data)
}

var thinkingCases = []testCase{
	{58, "reasoning has both names and no markers", func(c *check) {
		r := c.thinks()
		m := object(r.choice(0)["message"])
		c.expect(m["reasoning_content"] == m["reasoning"], "reasoning_content %q, reasoning %q", m["reasoning_content"], m["reasoning"])
		c.expect(!strings.Contains(reasoningOf(r)+r.content(0), "think>"), "a marker in %q, %q", reasoningOf(r), r.content(0))
		n := r.detail("reasoning_tokens")
		c.expect(n > 0 && n <= r.usage("completion_tokens"), "%d reasoning tokens of %d", n, r.usage("completion_tokens"))
		chunks, _ := c.events(chatPath, c.thought())
		c.expect(joined(chunks, 0, "reasoning") == reasoningOf(r) && joined(chunks, 0, "content") == r.content(0), "the stream differs")
	}},
	{59, "which thinking switch wins", func(c *check) {
		c.thinks()
		c.expect(reasoningOf(c.chat(c.thought("thinking", obj{"type": "disabled"}))) == "", "thinking does not win over enable_thinking")
		plain := c.thought("chat_template_kwargs", absent{})
		c.expect(reasoningOf(c.chat(plain.with("reasoning_effort", "none"))) == "", "reasoning_effort none does not turn it off")
		c.expect(reasoningOf(c.chat(plain.with("thinking", obj{"type": "enabled"}, "reasoning_effort", "none"))) != "", "thinking does not win over reasoning_effort")
		c.refused(chatPath, plain.with("reasoning_effort", "zzz"), "reasoning_effort")
		c.refused(chatPath, plain.with("thinking", obj{"type": "zzz"}), "thinking")
		c.expect(c.promptOf(plain.with("reasoning_effort", "max")) == c.promptOf(plain.with("reasoning_effort", "xhigh")), "max and xhigh give two prompts")
	}},
	{60, "a thinking budget closes the reasoning", func(c *check) {
		free := c.thinks()
		none := c.chat(c.thought("thinking_token_budget", 0))
		c.expect(none.detail("reasoning_tokens") <= phraseTokens, "budget 0: %d reasoning tokens", none.detail("reasoning_tokens"))
		budget := free.detail("reasoning_tokens") / 2
		some := c.chat(c.thought("thinking_token_budget", budget))
		n := some.detail("reasoning_tokens")
		c.expect(n >= budget && n <= budget+phraseTokens && n < free.detail("reasoning_tokens"), "budget %d: %d reasoning tokens", budget, n)
		c.expect(some.content(0) != "", "no answer follows")
		for _, bad := range []any{-2, 1.5, true} {
			c.refused(chatPath, c.thought("thinking_token_budget", bad), "thinking_token_budget")
		}
	}},
	{61, "reasoning is hidden on request", func(c *check) {
		c.thinks()
		r := c.chat(c.thought("include_reasoning", false, "logprobs", true, "return_token_ids", true))
		m := object(r.choice(0)["message"])
		_, a := m["reasoning"]
		_, b := m["reasoning_content"]
		c.expect(!a && !b && r.choice(0)["logprobs"] == nil && r.choice(0)["token_ids"] == nil && r.content(0) != "", "choice %v", r.choice(0))
	}},
	{103, "completions are raw", func(c *check) {
		c.thinks()
		prompt := text(c.chat(c.thought("return_prompt_text", true, "max_tokens", 1)).json["prompt_text"])
		if prompt == "" {
			c.skipf("the server does not tell the prompt")
		}
		r := c.complete(c.prompt("prompt", prompt, "max_tokens", 200, "add_special_tokens", false))
		c.expect(strings.Contains(textOf(r, 0), "</think>") && r.detail("reasoning_tokens") == 0, "text %q, %d reasoning tokens", textOf(r, 0), r.detail("reasoning_tokens"))
	}},
}

// phraseTokens is how many tokens the phrase that closes a thought may have.
const phraseTokens = 3

var weatherTool = obj{"type": "function", "function": obj{
	"name": "get_weather", "description": "Get the weather of a city",
	"parameters": obj{"type": "object", "properties": obj{"city": obj{"type": "string"}}, "required": []string{"city"}},
}}

// call returns a chat request that asks for a tool.
func (c *check) call(question string, fields ...any) obj {
	switch question {
	case oneCall:
		question = c.words(oneCall, "call")
	case twoCalls:
		question = c.words(twoCalls, "calls")
	}
	return c.request("messages", []obj{{"role": "user", "content": question}}, "max_tokens", 200, "tools", []obj{weatherTool}).with(fields...)
}

const (
	oneCall  = "What is the weather in Oulu?"
	twoCalls = "What is the weather in Oulu and in Oslo?"
)

// calls ends the case unless the model calls as often as the question asks for, and returns its answer.
func (c *check) calls(question string, n int) reply {
	r := c.send("POST", chatPath, c.call(question))
	if r.status != 200 || len(callsOf(r)) < n {
		c.skipf("the model does not make %d calls", n)
	}
	return r
}

func callsOf(r reply) []any { return list(object(r.choice(0)["message"])["tool_calls"]) }

// streamedCalls returns the arguments of each call of a stream; the deltas must have their form.
func (c *check) streamedCalls(chunks []obj) []string {
	var arguments []string
	for _, chunk := range chunks {
		for _, v := range list(chunk["choices"]) {
			for _, d := range list(object(object(v)["delta"])["tool_calls"]) {
				arguments = c.addCallDelta(arguments, object(d))
			}
		}
	}
	return arguments
}

func (c *check) addCallDelta(arguments []string, delta obj) []string {
	function := object(delta["function"])
	piece, isString := function["arguments"].(string)
	index := int(number(delta["index"]))
	switch {
	case !isString:
		c.fatalf("delta %v", delta)
	case delta["id"] != nil:
		c.expect(index == len(arguments) && delta["type"] == "function" && text(function["name"]) != "", "first delta %v", delta)
		return append(arguments, piece)
	case index != len(arguments)-1 || len(delta) != 2 || len(function) != 1:
		c.fatalf("later delta %v", delta)
	}
	arguments[index] += piece
	return arguments
}

// finishOf returns the finish reason of a stream with one choice.
func finishOf(chunks []obj) string {
	for _, chunk := range chunks {
		for _, v := range list(chunk["choices"]) {
			if f := text(object(v)["finish_reason"]); f != "" {
				return f
			}
		}
	}
	return ""
}

var toolCases = []testCase{
	{62, "a tool call", func(c *check) {
		r := c.calls(oneCall, 1)
		c.expect(r.finish(0) == "tool_calls", "finish_reason %s", r.finish(0))
		seen := map[string]bool{}
		for _, v := range callsOf(r) {
			call := object(v)
			var arguments obj
			err := json.Unmarshal([]byte(text(object(call["function"])["arguments"])), &arguments)
			c.expect(err == nil && call["type"] == "function" && text(call["id"]) != "" && !seen[text(call["id"])], "call %v: %v", call, err)
			seen[text(call["id"])] = true
		}
	}},
	{63, "a tool call streams", func(c *check) {
		r := c.calls(oneCall, 1)
		chunks, _ := c.events(chatPath, c.call(oneCall))
		arguments := c.streamedCalls(chunks)
		c.expect(len(arguments) == len(callsOf(r)) && finishOf(chunks) == "tool_calls", "%d calls, %s", len(arguments), finishOf(chunks))
		for i, v := range callsOf(r) {
			want := text(object(object(v)["function"])["arguments"])
			c.expect(i < len(arguments) && arguments[i] == want, "streamed %q, whole %q", arguments, want)
		}
	}},
	{64, "tool_choice", func(c *check) {
		c.calls(oneCall, 1)
		r := c.chat(c.call(oneCall, "tool_choice", "none"))
		c.expect(r.finish(0) != "tool_calls" && len(callsOf(r)) == 0, "tool_choice none: %s", r.finish(0))
		// Without constrained decoding these are refused by name, never ignored.
		named := obj{"type": "function", "function": obj{"name": "get_weather"}}
		for want, choice := range map[string]any{"tool_calls": "required", "stop": named} {
			r := c.send("POST", chatPath, c.call("Hello!", "tool_choice", choice))
			if r.status == 400 {
				c.isError(r, 400, "", "tool_choice")
				continue
			}
			c.expect(r.finish(0) == want && len(callsOf(r)) > 0, "tool_choice %v: %s, %d calls", choice, r.finish(0), len(callsOf(r)))
		}
	}},
	{65, "tools that are malformed", func(c *check) {
		c.refused(chatPath, c.request("tools", []obj{}), "tools")
		c.refused(chatPath, c.request("tool_choice", "auto"), "tool_choice")
		c.refused(chatPath, c.call(oneCall, "tool_choice", obj{"type": "function", "function": obj{"name": "nope"}}), "tool_choice")
		c.refused(chatPath, c.call(oneCall, "tool_choice", "any"), "tool_choice")
		c.refused(chatPath, c.request("tools", []obj{{"type": "custom", "custom": obj{"name": "x"}}}), "tools[0]")
		c.refused(chatPath, c.request("functions", []obj{{"name": "f"}}), "functions")
	}},
	{66, "one call when only one is wanted", func(c *check) {
		c.calls(twoCalls, 2)
		r := c.chat(c.call(twoCalls, "parallel_tool_calls", false))
		c.expect(len(callsOf(r)) == 1 && r.finish(0) == "tool_calls", "%d calls, %s", len(callsOf(r)), r.finish(0))
		chunks, raw := c.events(chatPath, c.call(twoCalls, "parallel_tool_calls", false))
		c.expect(len(c.streamedCalls(chunks)) == 1 && !strings.Contains(raw, `"tool_calls":[{"index":1`), "streamed %d calls", len(c.streamedCalls(chunks)))
	}},
	{67, "a limit inside of a call is a length", func(c *check) {
		whole := c.calls(oneCall, 1)
		limit := whole.usage("completion_tokens") - 5
		r := c.chat(c.call(oneCall, "max_tokens", limit))
		c.expect(r.finish(0) == "length", "finish_reason %s", r.finish(0))
		chunks, _ := c.events(chatPath, c.call(oneCall, "max_tokens", limit))
		c.expect(finishOf(chunks) == "length", "streamed: %s", finishOf(chunks))
	}},
	{68, "a schema is followed, or refused in words that clients know", func(c *check) {
		schema := obj{"type": "object", "properties": obj{"a": obj{"enum": []string{"x", "y"}}}, "required": []string{"a"}}
		r := c.send("POST", chatPath, c.request("max_tokens", 60, "response_format", obj{"type": "json_schema", "json_schema": obj{"name": "s", "schema": schema}}))
		if r.status == 400 {
			c.isError(r, 400, "", "response_format")
			c.expect(strings.Contains(r.message(), "'response_format' of type 'json_schema' is not supported with this model"), "message %q", r.message())
			return
		}
		var o obj
		err := json.Unmarshal([]byte(r.content(0)), &o)
		c.expect(r.finish(0) == "length" || err == nil && (o["a"] == "x" || o["a"] == "y"), "content %q", r.content(0))
	}},
	{70, "a schema streams, or is refused before anything is sent", func(c *check) {
		schema := obj{"type": "object", "properties": obj{"a": obj{"enum": []string{"x", "y"}}}, "required": []string{"a"}}
		body := c.request("max_tokens", 60, "response_format", obj{"type": "json_schema", "json_schema": obj{"name": "s", "schema": schema}})
		if r := c.send("POST", chatPath, body.with("stream", true)); r.status == 400 {
			c.isError(r, 400, "", "response_format")
			return
		}
		chunks, _ := c.events(chatPath, body)
		var o obj
		err := json.Unmarshal([]byte(joined(chunks, 0, "content")), &o)
		c.expect(finishOf(chunks) == "length" || err == nil && (o["a"] == "x" || o["a"] == "y"), "content %q", joined(chunks, 0, "content"))
	}},
	{69, "response_format that is malformed", func(c *check) {
		c.refused(chatPath, c.request("response_format", obj{"type": "json_schema"}), "response_format")
		c.refused(chatPath, c.request("response_format", obj{"type": "grammar"}), "response_format")
		plain, same := c.chat(c.request()), c.chat(c.request("response_format", obj{"type": "text"}))
		c.expect(plain.content(0) == same.content(0), "type text changes the answer")
	}},
}
