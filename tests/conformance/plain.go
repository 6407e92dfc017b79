// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

const chatPath, completePath = "/v1/chat/completions", "/v1/completions"

var plainCases = []testCase{
	{1, "a chat answer has its fields", func(c *check) {
		r := c.chat(c.request("max_tokens", 5))
		c.expect(text(r.json["object"]) == "chat.completion", "object %v", r.json["object"])
		c.expect(strings.HasPrefix(text(r.json["id"]), "chatcmpl-"), "id %v", r.json["id"])
		c.expect(len(list(r.json["choices"])) == 1 && number(r.choice(0)["index"]) == 0, "choices %v", r.json["choices"])
		m := object(r.choice(0)["message"])
		c.expect(text(m["role"]) == "assistant", "role %v", m["role"])
		_, isText := m["content"].(string)
		c.expect(isText, "content %v", m["content"])
		refusal, has := m["refusal"]
		c.expect(has && refusal == nil, "refusal is not null")
		for _, key := range []string{"logprobs", "stop_reason"} {
			_, has := r.choice(0)[key]
			c.expect(has, "the choice has no %s", key)
		}
		c.expect(r.usage("total_tokens") == r.usage("prompt_tokens")+r.usage("completion_tokens") && r.usage("prompt_tokens") > 0, "usage %v", r.json["usage"])
	}},
	{2, "max_completion_tokens wins over max_tokens", func(c *check) {
		r := c.chat(c.request("max_tokens", 1, "max_completion_tokens", 4, "ignore_eos", true))
		c.expect(r.usage("completion_tokens") == 4 && r.finish(0) == "length", "%d tokens, %s", r.usage("completion_tokens"), r.finish(0))
	}},
	{3, "null equals absent", func(c *check) {
		plain := c.chat(c.request())
		body := c.request()
		for _, name := range []string{"stop", "seed", "n", "tools", "response_format", "logprobs", "stream_options", "top_p", "logit_bias", "max_completion_tokens", "tool_choice", "chat_template_kwargs", "stream"} {
			body[name] = nil
		}
		c.expect(c.chat(body).content(0) == plain.content(0), "another answer")
	}},
	{4, "an unknown model is 404 and says how to get it", func(c *check) {
		r := c.send(http.MethodPost, chatPath, c.request("model", "nope"))
		c.isError(r, 404, "model_not_found", "model")
		for _, words := range []string{"sampo pull nope", "hf download "} {
			c.expect(strings.Contains(r.message(), words), "message %q", r.message())
		}
	}},
	{5, "types are checked before the model", func(c *check) {
		c.refused(chatPath, c.request("model", "nope", "temperature", "x"), "temperature")
	}},
	{6, "model left out", func(c *check) {
		if len(c.models) > 1 {
			c.skipf("several models are served")
		}
		r := c.chat(c.request("model", absent{}))
		c.expect(text(r.json["model"]) == c.model, "model %v, want %s", r.json["model"], c.model)
	}},
	{7, "messages that are malformed", func(c *check) {
		c.refused(chatPath, c.request("messages", []obj{}), "messages")
		c.refused(chatPath, c.request("messages", []obj{{"role": 1}}), "messages[0].role")
	}},
	{8, "bodies that are malformed", func(c *check) {
		c.refused(chatPath, "[]", "")
		c.isError(c.send(http.MethodPost, chatPath, `{"model":`), 400, "invalid_json", "")
		c.refused(chatPath, strings.Repeat(`{"a":`, 64)+"{}"+strings.Repeat("}", 64), "")
		r := c.chat(`{"n":0,"n":1,"max_tokens":1,"messages":[{"role":"user","content":"hi"}],"model":"` + c.model + `"}`)
		c.expect(len(list(r.json["choices"])) == 1, "the last of two keys does not count")
	}},
	{9, "content types", func(c *check) {
		r := c.send(http.MethodPost, chatPath, c.request(), "Content-Type: text/plain")
		c.isError(r, 400, "", "")
		c.expect(strings.Contains(r.message(), "application/json"), "message %q", r.message())
		c.chat(c.request("max_tokens", 1), "Content-Type: application/json; charset=utf-8")
		c.chat(c.request("max_tokens", 1), "Content-Type: -")
		r = c.send(http.MethodPost, chatPath, c.request("max_tokens", 1), "Content-Type: -", "Sec-Fetch-Site: same-origin")
		c.isError(r, 400, "", "")
	}},
	{10, "a body above the limit is 413", func(c *check) {
		req, err := http.NewRequest(http.MethodPost, c.url+chatPath, io.LimitReader(zeros{}, 1<<30))
		if err != nil {
			c.fatalf("%v", err)
		}
		req.ContentLength = 1 << 30
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+c.key)
		req.Header.Set("Expect", "100-continue")
		resp, err := c.http.Do(req)
		if err != nil {
			c.fatalf("%v", err)
		}
		defer closeBody(resp)
		c.expect(resp.StatusCode == 413, "status %d", resp.StatusCode)
	}},
	{11, "keys", func(c *check) {
		if c.key == "" {
			c.skipf("no --key")
		}
		none := "Authorization: -"
		r := c.send(http.MethodPost, chatPath, c.request(), none)
		c.isError(r, 401, "", "")
		c.expect(text(object(r.json["error"])["type"]) == "authentication_error", "type of %s", r.body)
		for _, path := range []string{"/health", "/ping", "/version", "/", "/v1"} {
			c.expect(c.send(http.MethodGet, path, nil, none).status == 200, "%s needs a key", path)
		}
		for _, path := range []string{"/tokenizer_info", "/load", "/v1/load", "/v1/models"} {
			c.expect(c.send(http.MethodGet, path, nil, none).status == 401, "%s needs no key", path)
		}
	}},
	{12, "unknown fields are named, others ignored", func(c *check) {
		ignored := c.request("max_tokens", 1, "user", "u", "metadata", obj{"a": "b"}, "store", true, "service_tier", "auto", "verbosity", "low")
		r := c.chat(ignored.with("foo", 1))
		notice := r.header.Get("X-Sampo-Notice")
		c.expect(strings.Contains(notice, "foo"), "notice %q", notice)
		for _, name := range []string{"user", "metadata", "store", "service_tier", "verbosity"} {
			c.expect(!strings.Contains(notice, name), "the notice names %s", name)
		}
		r = c.send(http.MethodPost, chatPath, ignored.with("foo", 1), "X-Sampo-Strict: 1")
		c.isError(r, 400, "unknown_parameter", "foo")
		r = c.chat(ignored, "X-Sampo-Strict: 1")
		c.expect(r.header.Get("X-Sampo-Notice") == "", "a notice without reason")
	}},
	{13, "fields that change an answer are refused by name", func(c *check) {
		for name, v := range map[string]any{
			"web_search_options": obj{}, "prediction": obj{"type": "content", "content": "x"}, "modalities": []string{"text", "audio"}, "chat_template": "x",
		} {
			c.refused(chatPath, c.request(name, v), name)
		}
		c.chat(c.request("max_tokens", 1, "modalities", []string{"text"}))
	}},
	{14, "guided_json is refused with its replacement", func(c *check) {
		r := c.refused(chatPath, c.request("guided_json", obj{}), "guided_json")
		c.expect(strings.Contains(r.message(), "response_format"), "message %q", r.message())
		c.chat(c.request("max_tokens", 1, "guided_json", nil))
	}},
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

var messageCases = []testCase{
	{51, "content as text, part and bare string", func(c *check) {
		say := func(content any) reply {
			return c.chat(c.request("messages", []obj{{"role": "user", "content": content}}))
		}
		a := say("a")
		for _, content := range []any{[]obj{{"type": "text", "text": "a"}}, []string{"a"}} {
			b := say(content)
			c.expect(b.usage("prompt_tokens") == a.usage("prompt_tokens") && b.content(0) == a.content(0), "%v differs", content)
		}
	}},
	{52, "text parts are joined for templates that take text", func(c *check) {
		count := func(content any) int {
			return int(number(c.good("/tokenize", obj{"model": c.model, "messages": []obj{{"role": "user", "content": content}}}).json["count"]))
		}
		parts := []obj{{"type": "text", "text": "a"}, {"type": "text", "text": "b"}}
		c.expect(count(parts) == count("a\nb"), "%d and %d tokens", count(parts), count("a\nb"))
	}},
	{53, "answers that are sent back", func(c *check) {
		call := []obj{{"id": "c1", "type": "function", "function": obj{"name": "f", "arguments": "{}"}}}
		talk := func(result any) reply {
			return c.chat(c.request("messages", []obj{
				{"role": "user", "content": "hi"},
				{"role": "assistant", "content": nil, "tool_calls": call, "function_call": nil, "annotations": []int{}, "provider_specific_fields": obj{}},
				{"role": "tool", "tool_call_id": "c1", "content": result},
			}))
		}
		a, b := talk("x\ny"), talk([]obj{{"type": "text", "text": "x"}, {"type": "text", "text": "y"}})
		c.expect(a.usage("prompt_tokens") == b.usage("prompt_tokens"), "parts and text differ")
	}},
	{54, "both names of reasoning", func(c *check) {
		say := func(name string) int {
			return c.chat(c.request("max_tokens", 1, "messages", []obj{
				{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", name: "because"}, {"role": "user", "content": "c"},
			})).usage("prompt_tokens")
		}
		c.expect(say("reasoning") == say("reasoning_content"), "different prompts")
	}},
	{55, "parts that a text model does not take", func(c *check) {
		for _, part := range []obj{{"type": "image_url", "image_url": obj{"url": "data:image/png;base64,AA=="}}, {"type": "foo"}, {"type": "file", "file": obj{}}} {
			r := c.refused(chatPath, c.request("messages", []obj{{"role": "user", "content": []obj{part}}}), "messages")
			c.expect(part["type"] != "foo" || strings.Contains(r.message(), "foo"), "message %q", r.message())
		}
	}},
	{56, "developer is system", func(c *check) {
		say := func(role string) int {
			return c.chat(c.request("max_tokens", 1, "messages", []obj{{"role": role, "content": "Be brief."}, {"role": "user", "content": "hi"}})).usage("prompt_tokens")
		}
		c.expect(say("developer") == say("system"), "different prompts")
	}},
	{57, "a message is continued, and echoed", func(c *check) {
		body := c.request("messages", []obj{{"role": "user", "content": "Say one two three."}, {"role": "assistant", "content": "one two"}}, "continue_final_message", true)
		plain := c.chat(body)
		echoed := c.chat(body.with("echo", true))
		c.expect(echoed.content(0) == "one two"+plain.content(0), "echo gives %q, without it %q", echoed.content(0), plain.content(0))
		c.refused(chatPath, body.with("add_generation_prompt", true), "")
	}},
	{104, "user text becomes no control token", func(c *check) {
		eos := text(c.send(http.MethodGet, "/tokenizer_info", nil).json["eos_token"])
		special := c.tokenize(eos)
		if eos == "" || len(special) != 1 {
			c.skipf("the end of text has no token of its own")
		}
		count := func(content string) int {
			r := c.chat(c.request("max_tokens", 1, "return_token_ids", true, "messages", []obj{{"role": "user", "content": content}}))
			n := 0
			for _, id := range ids(r.json["prompt_token_ids"]) {
				if id == special[0] {
					n++
				}
			}
			return n
		}
		c.expect(count("x") == count("x"+eos), "%s in a message became a control token", eos)
	}},
}

// stringsOf returns n different words.
func stringsOf(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("w", i)
	}
	return words
}
