// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/testkit/scriptmodel"
)

// says returns a greedy request that is answered with a script.
func (c *check) says(script string, fields ...any) obj {
	if !c.scripted {
		c.skipf("needs --scripted")
	}
	return c.request("messages", []obj{{"role": "user", "content": scriptmodel.Say(script)}}, "max_tokens", absent{}).with(fields...)
}

// bytesOf joins the bytes of a choice's tokens.
func (r reply) bytesOf(i int) string {
	var b []byte
	for _, e := range r.entries(i) {
		for _, x := range list(object(e)["bytes"]) {
			b = append(b, byte(number(x)))
		}
	}
	return string(b)
}

// whole returns the text that the first n pieces of a script show: a character that is not complete is left out.
func whole(script string, n int) string {
	text := strings.Join(scriptmodel.Find(script).Pieces[:n], "")
	for cut := len(text); cut > max(0, len(text)-utf8.UTFMax); cut-- {
		if utf8.ValidString(text[:cut]) {
			return text[:cut]
		}
	}
	return text
}

// exactCases need a model that says exact texts.
var exactCases = []testCase{
	{26, "a stop string across tokens", func(c *check) {
		for _, tt := range []struct {
			stop      any
			keep      bool
			minTokens int
			text, met string
			tokens    int
			finish    string
		}{
			{[]string{"XYZ"}, false, 0, "abc", "XYZ", 3, "stop"},
			{[]string{"XYZ"}, true, 0, "abcXYZ", "XYZ", 3, "stop"},
			{"STOP", false, 0, "abcXYZdef one ", "STOP", 7, "stop"},
			{[]string{"def", "YZ"}, false, 0, "abcX", "YZ", 3, "stop"},
			{[]string{"STOP", "ST"}, false, 0, "abcXYZdef one ", "ST", 6, "stop"},
			{[]string{"abcXYZd"}, false, 0, "", "abcXYZd", 3, "stop"},
			{[]string{"XYZ", "HALT"}, false, 3, "abcXYZdef one STOP two ", "HALT", 10, "stop"},
			{[]string{"XYZZ", "dee"}, false, 0, scriptmodel.Find("stop").Text(), "", 12, "stop"},
		} {
			body := c.says("stop", "stop", tt.stop, "include_stop_str_in_output", tt.keep, "min_tokens", tt.minTokens, "logprobs", true, "return_token_ids", true)
			r := c.chat(body)
			met := text(r.choice(0)["stop_reason"])
			n := r.usage("completion_tokens")
			c.expect(r.content(0) == tt.text && met == tt.met && n == tt.tokens && r.finish(0) == tt.finish, "stop %v: %q, %q, %d tokens, want %q, %q, %d", tt.stop, r.content(0), met, n, tt.text, tt.met, tt.tokens)
			c.expect(len(r.entries(0)) == n && len(ids(r.choice(0)["token_ids"])) == n, "stop %v: %d logprobs, %d ids", tt.stop, len(r.entries(0)), len(ids(r.choice(0)["token_ids"])))
			chunks, _ := c.events(chatPath, body)
			c.expect(joined(chunks, 0, "content") == tt.text, "stop %v streamed: %q", tt.stop, joined(chunks, 0, "content"))
		}
	}},
	{27, "no chunk shows the beginning of a stop string that comes", func(c *check) {
		chunks, _ := c.events(chatPath, c.says("stop", "stop", []string{"XYZ"}))
		for i := range chunks {
			shown := joined(chunks[:i+1], 0, "content")
			c.expect(strings.HasPrefix("abc", shown), "after %d chunks: %q", i+1, shown)
		}
	}},
	{30, "the end of text shows only on request", func(c *check) {
		r := c.chat(c.says("yes", "skip_special_tokens", false, "include_stop_str_in_output", true))
		c.expect(r.content(0) == "yes.<|im_end|>", "content %q", r.content(0))
		r = c.chat(c.says("yes", "skip_special_tokens", false))
		c.expect(r.content(0) == "yes." && r.choice(0)["stop_reason"] == nil, "content %q, stop_reason %v", r.content(0), r.choice(0)["stop_reason"])
	}},
	{38, "characters cut between tokens", func(c *check) {
		for _, script := range []string{"half", "broken"} {
			pieces := scriptmodel.Find(script).Pieces
			for n := 1; n <= len(pieces); n++ {
				want := strings.ToValidUTF8(whole(script, n), "\uFFFD")
				if script == "broken" {
					want = []string{"aa", "aa", "aa\uFFFDbb", "aa\uFFFDbb", "aa\uFFFDbb\uFFFDé", "aa\uFFFDbb\uFFFDécc", "aa\uFFFDbb\uFFFDécc"}[n-1]
				}
				body := c.says(script, "max_tokens", n, "logprobs", true)
				r := c.chat(body)
				c.expect(r.content(0) == want, "%s, %d tokens: %q, want %q", script, n, r.content(0), want)
				c.expect(r.bytesOf(0) == strings.Join(pieces[:n], ""), "%s, %d tokens: bytes %q", script, n, r.bytesOf(0))
				chunks, _ := c.events(chatPath, body)
				c.expect(joined(chunks, 0, "content") == want, "%s, %d tokens streamed: %q, want %q", script, n, joined(chunks, 0, "content"), want)
			}
		}
	}},
	{15, "choices of several seeds", func(c *check) {
		body := c.says("yes", "messages", []obj{{"role": "user", "content": scriptmodel.Say("yes", "no")}}, "temperature", 1)
		r := c.chat(body.with("n", 16, "seed", 7))
		heard := map[string]int{}
		for i := range 16 {
			heard[r.content(i)]++
			alone := c.chat(body.with("seed", 7+i))
			c.expect(r.content(i) == alone.content(0), "choice %d %q, seed %d alone %q", i, r.content(i), 7+i, alone.content(0))
		}
		c.expect(len(heard) == 2 && heard["yes."] > 0 && heard["no, never."] > 0, "heard %v", heard)
	}},
	{58, "reasoning, to the byte", func(c *check) {
		r := c.chat(c.says("think"))
		c.expect(reasoningOf(r) == "The capital is asked for." && r.content(0) == "Helsinki." && r.detail("reasoning_tokens") == 6, "reasoning %q, content %q, %d reasoning tokens", reasoningOf(r), r.content(0), r.detail("reasoning_tokens"))
		c.expect(object(r.choice(0)["message"])["reasoning"] == reasoningOf(r), "reasoning %v", object(r.choice(0)["message"])["reasoning"])
		r = c.chat(c.says("think", "max_tokens", 3))
		c.expect(reasoningOf(r) == "The capital" && r.content(0) == "" && r.finish(0) == "length", "cut: reasoning %q, content %v, %s", reasoningOf(r), r.content(0), r.finish(0))
		r = c.chat(c.says("thinkcall", "tools", []obj{weatherTool}))
		c.expect(reasoningOf(r) == "A tool knows." && len(callsOf(r)) == 1 && r.finish(0) == "tool_calls" && object(r.choice(0)["message"])["content"] == nil, "markers in pieces: %v", r.choice(0))
	}},
	{60, "each thinking budget", func(c *check) {
		for budget := range 7 {
			r := c.chat(c.says("think", "thinking_token_budget", budget))
			n := r.detail("reasoning_tokens")
			c.expect(n <= budget+phraseTokens && r.content(0) == "Helsinki." && strings.HasPrefix("The capital is asked for.", reasoningOf(r)), "budget %d: %d reasoning tokens, %q, content %q", budget, n, reasoningOf(r), r.content(0))
		}
	}},
	{62, "tool calls, to the byte", func(c *check) {
		r := c.chat(c.says("call", "tools", []obj{weatherTool}))
		c.isCalls(r, nil, `{"city": "Oulu"}`)
		r = c.chat(c.says("calls", "tools", []obj{weatherTool}))
		c.isCalls(r, "Let me look.", `{"city": "Oulu"}`, `{"city": "Oslo"}`)
		r = c.chat(c.says("nocall", "tools", []obj{weatherTool}))
		c.expect(r.content(0) == scriptmodel.Find("nocall").Text() && r.finish(0) == "stop" && len(callsOf(r)) == 0, "markup that is no call: %v", r.choice(0))
		r = c.chat(c.says("call", "tools", []obj{weatherTool}, "tool_choice", "none"))
		c.expect(strings.Contains(r.content(0), "get_weather") && r.finish(0) == "stop", "tool_choice none: %v", r.choice(0))
	}},
	{63, "tool calls stream, to the byte", func(c *check) {
		chunks, _ := c.events(chatPath, c.says("calls", "tools", []obj{weatherTool}))
		arguments := c.streamedCalls(chunks)
		c.expect(fmt.Sprint(arguments) == `[{"city": "Oulu"} {"city": "Oslo"}]` && joined(chunks, 0, "content") == "Let me look." && finishOf(chunks) == "tool_calls",
			"%q, content %q, %s", arguments, joined(chunks, 0, "content"), finishOf(chunks))
	}},
	{67, "every limit inside of a call", func(c *check) {
		n := len(scriptmodel.Find("call").Pieces)
		for limit := 1; limit < n-1; limit++ {
			r := c.chat(c.says("call", "tools", []obj{weatherTool}, "max_tokens", limit))
			c.expect(r.finish(0) == "length" && r.usage("completion_tokens") == limit, "%d tokens: %s", limit, r.finish(0))
			chunks, _ := c.events(chatPath, c.says("call", "tools", []obj{weatherTool}, "max_tokens", limit))
			c.expect(finishOf(chunks) == "length", "%d tokens streamed: %s", limit, finishOf(chunks))
		}
		r := c.chat(c.says("call", "tools", []obj{weatherTool}, "max_tokens", n))
		c.expect(r.finish(0) == "tool_calls", "%d tokens: %s", n, r.finish(0))
	}},
	{78, "offsets over halves of characters", func(c *check) {
		if !c.scripted {
			c.skipf("needs --scripted")
		}
		body := c.prompt("prompt", scriptmodel.Say("half"), "max_tokens", 20, "logprobs", 0)
		r := c.complete(body)
		c.expect(textOf(r, 0) == scriptmodel.Find("half").Text(), "text %q", textOf(r, 0))
		s := scoredOf(r.choice(0))
		offset := 0
		for i, t := range s.tokens {
			c.expect(s.positions[i] == offset, "token %d at %d, want %d", i, s.positions[i], offset)
			offset += utf8.RuneCountInString(text(t))
		}
		chunks, _ := c.events(completePath, body)
		var positions []int
		for _, chunk := range chunks {
			for _, v := range list(chunk["choices"]) {
				positions = append(positions, scoredOf(object(v)).positions...)
			}
		}
		c.expect(equalInts(positions, s.positions), "streamed %v, whole %v", positions, s.positions)
	}},
	{96, "beams find both answers", func(c *check) {
		r := c.chat(c.says("yes", "messages", []obj{{"role": "user", "content": scriptmodel.Say("yes", "no")}}, "beam_width", 4, "n", 2, "max_tokens", 6))
		// They are as good as each other, but for rounding.
		answers := []string{r.content(0), r.content(1)}
		slices.Sort(answers)
		c.expect(slices.Equal(answers, []string{"no, never.", "yes."}), "%q and %q", r.content(0), r.content(1))
	}},
	{103, "markup stays in completions", func(c *check) {
		if !c.scripted {
			c.skipf("needs --scripted")
		}
		for _, script := range []string{"think", "call", "thinkcall"} {
			r := c.complete(c.prompt("prompt", scriptmodel.Say(script), "max_tokens", 30))
			c.expect(textOf(r, 0) == scriptmodel.Find(script).Text() && r.detail("reasoning_tokens") == 0, "%s: %q", script, textOf(r, 0))
		}
	}},
}

// isCalls checks a message with calls of get_weather.
func (c *check) isCalls(r reply, content any, arguments ...string) {
	c.expect(r.finish(0) == "tool_calls" && object(r.choice(0)["message"])["content"] == content, "%s, content %v, want %v", r.finish(0), object(r.choice(0)["message"])["content"], content)
	calls := callsOf(r)
	if len(calls) != len(arguments) {
		c.fatalf("%d calls, want %d", len(calls), len(arguments))
	}
	for i, want := range arguments {
		function := object(object(calls[i])["function"])
		c.expect(function["name"] == "get_weather" && function["arguments"] == want, "call %d: %v", i, function)
	}
}
