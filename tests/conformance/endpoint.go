// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

var endpointCases = []testCase{
	{86, "the list of models", func(c *check) {
		first := c.models[0]
		for _, key := range []string{"id", "object", "created", "owned_by", "root", "max_model_len"} {
			c.expect(first[key] != nil, "no %s", key)
		}
		sampo := object(first["sampo"])
		c.expect(text(sampo["kind"]) != "" && sampo["resident"] == true && text(sampo["tier"]) != "", "sampo %v", first["sampo"])
		_, isBool := sampo["tools"].(bool)
		c.expect(isBool, "tools %v", sampo["tools"])
		want, _ := json.Marshal(first)
		id := text(first["id"])
		for _, path := range []string{id, url.PathEscape(id)} {
			got, _ := json.Marshal(c.send(http.MethodGet, "/v1/models/"+path, nil).json)
			c.expect(string(got) == string(want), "/v1/models/%s: %s", path, got)
		}
		c.isError(c.send(http.MethodGet, "/v1/models/nope", nil), 404, "model_not_found", "model")
	}},
	{87, "tokenize, detokenize, tokenizer_info", func(c *check) {
		r := c.good("/tokenize", obj{"model": c.model, "prompt": "The sky is blue", "add_special_tokens": false, "return_token_strs": true})
		tokens := ids(r.json["tokens"])
		c.expect(int(number(r.json["count"])) == len(tokens) && len(list(r.json["token_strs"])) == len(tokens), "count %v for %d tokens", r.json["count"], len(tokens))
		back := c.good("/detokenize", obj{"model": c.model, "tokens": tokens})
		c.expect(strings.TrimSpace(text(back.json["prompt"])) == "The sky is blue", "detokenized %q", back.json["prompt"])
		plain := c.good("/tokenize", obj{"model": c.model, "prompt": "x"})
		strs, has := plain.json["token_strs"]
		c.expect(has && strs == nil, "token_strs %v, want null", strs)
		info := c.send(http.MethodGet, "/tokenizer_info", nil).json
		for _, key := range []string{"tokenizer_class", "bos_token", "eos_token", "pad_token", "chat_template"} {
			_, has := info[key]
			c.expect(has, "tokenizer_info has no %s", key)
		}
		c.expect(len(c.tokenize(text(info["eos_token"]))) == 1, "the end of text is %v", c.tokenize(text(info["eos_token"])))
	}},
	{88, "tokenize counts as chat does", func(c *check) {
		body := obj{"model": c.model, "messages": []obj{{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}}}
		chat := c.chat(body.with("max_tokens", 1))
		c.expect(int(number(c.good("/tokenize", body).json["count"])) == chat.usage("prompt_tokens"), "chat counts %d", chat.usage("prompt_tokens"))
	}},
	{89, "ids and forms that are refused", func(c *check) {
		c.refused("/detokenize", obj{"model": c.model, "tokens": []int{-1}}, "tokens")
		r := c.good("/detokenize", obj{"model": c.model, "tokens": []int{}})
		c.expect(r.json["prompt"] == "", "prompt %v", r.json["prompt"])
		c.refused("/tokenize", obj{"model": c.model, "prompt": "a", "messages": []obj{{"role": "user", "content": "a"}}}, "")
	}},
	{90, "a model that generates text makes no embeddings", func(c *check) {
		c.isError(c.send(http.MethodPost, "/v1/embeddings", obj{"model": c.model, "input": "a"}), 400, "unsupported_endpoint", "")
	}},
	{91, "a model that generates text ranks nothing", func(c *check) {
		for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank", "/score", "/v1/score"} {
			c.isError(c.send(http.MethodPost, path, obj{"model": c.model, "query": "a", "documents": []string{"b"}}), 400, "unsupported_endpoint", "")
		}
	}},
	{92, "service routes", func(c *check) {
		c.expect(c.send(http.MethodGet, "/health", nil).status == 200, "/health")
		a, b := c.send(http.MethodGet, "/load", nil), c.send(http.MethodGet, "/v1/load", nil)
		_, isNumber := a.json["server_load"].(float64)
		c.expect(isNumber && a.body == b.body, "/load %q, /v1/load %q", a.body, b.body)
		for _, path := range []string{"/", "/v1"} {
			r := c.send(http.MethodGet, path, nil)
			c.expect(r.status == 200 && strings.HasPrefix(r.header.Get("Content-Type"), "text/plain"), "%s: %d %s", path, r.status, r.header.Get("Content-Type"))
		}
		c.expect(text(c.send(http.MethodGet, "/version", nil).json["version"]) != "", "/version")
		r := c.send(http.MethodGet, "/metrics", nil)
		c.expect(r.status == 200 && strings.HasPrefix(r.header.Get("Content-Type"), "text/plain; version=0.0.4"), "/metrics: %d %s", r.status, r.header.Get("Content-Type"))
	}},
	{93, "wrong methods and paths", func(c *check) {
		r := c.send(http.MethodGet, chatPath, nil)
		c.isError(r, 405, "", "")
		c.expect(strings.Contains(r.header.Get("Allow"), "POST"), "Allow %q", r.header.Get("Allow"))
		c.isError(c.send(http.MethodGet, "/v1/nope", nil), 404, "", "")
	}},
	{95, "request ids", func(c *check) {
		r := c.chat(c.request("max_tokens", 1), "X-Request-Id: abc")
		c.expect(r.header.Get("X-Request-Id") == "abc" && text(r.json["id"]) == "chatcmpl-abc", "id %v", r.json["id"])
		r = c.chat(c.request("max_tokens", 1))
		id := r.header.Get("X-Request-Id")
		c.expect(id != "" && strings.HasSuffix(text(r.json["id"]), id), "header %q, id %v", id, r.json["id"])
	}},
	{98, "sessions", func(c *check) {
		c.chat(c.request("max_tokens", 1, "session_id", strings.Repeat("s", 512)))
		c.refused(chatPath, c.request("session_id", strings.Repeat("s", 513)), "")
		for _, name := range []string{"X-Sampo-Session", "X-NVCL-Session", "X-Session-ID"} {
			long := name + ": " + strings.Repeat("s", 513)
			c.isError(c.send(http.MethodPost, chatPath, c.request("max_tokens", 1), long), 400, "", "")
			c.chat(c.request("max_tokens", 1, "session_id", "s"), long)
		}
	}},
	{99, "a model that does not fit", func(c *check) {
		for _, m := range c.models {
			if object(m["sampo"])["resident"] != false {
				continue
			}
			r := c.send(http.MethodPost, chatPath, c.request("model", m["id"]))
			if r.status == 200 {
				continue // it was loaded
			}
			c.isError(r, 409, "insufficient_memory", "model")
			holders := list(object(object(r.json["error"])["sampo"])["holders"])
			c.expect(len(holders) > 0 && r.header.Get("X-Should-Retry") == "false", "holders %v, x-should-retry %q", holders, r.header.Get("X-Should-Retry"))
			c.chat(c.request("max_tokens", 1))
			return
		}
		c.skipf("every model is in memory")
	}},
	{100, "a base model refuses chat", func(c *check) {
		r := c.send(http.MethodPost, chatPath, c.request("max_tokens", 1))
		if r.status == 200 {
			c.skipf("the model chats")
		}
		c.isError(r, 400, "chat_template_missing", "model")
		c.complete(c.prompt("max_tokens", 1))
	}},
	{102, "tokens after a stop string count nowhere", func(c *check) {
		generated := func() float64 {
			for line := range strings.Lines(c.send(http.MethodGet, "/metrics", nil).body) {
				if name, value, ok := strings.Cut(line, "} "); ok && strings.HasPrefix(name, "vllm:generation_tokens_total{") && strings.Contains(name, `"`+c.model+`"`) {
					n, _ := strconv.ParseFloat(strings.TrimSpace(value), 64)
					return n
				}
			}
			c.skipf("the server has no metrics")
			return 0
		}
		whole := c.chat(c.request("max_tokens", 40))
		stop := uniqueInside(whole.content(0), 3)
		if stop == "" {
			c.skipf("the answer has no text to stop at")
		}
		before := generated()
		r := c.chat(c.request("max_tokens", 40, "stop", stop, "logprobs", true, "return_token_ids", true))
		n := r.usage("completion_tokens")
		c.expect(n < whole.usage("completion_tokens") && len(r.entries(0)) == n && len(ids(r.choice(0)["token_ids"])) == n, "%d tokens, %d logprobs, %d ids", n, len(r.entries(0)), len(ids(r.choice(0)["token_ids"])))
		if after := generated(); after-before != float64(n) {
			c.errorf("the metric counts %g tokens, want %d", after-before, n)
		}
	}},
	{105, "foreign pages are refused on loopback", func(c *check) {
		if !strings.Contains(c.url, "//127.") && !strings.Contains(c.url, "//localhost") {
			c.skipf("the server is not on loopback")
		}
		c.isError(c.send(http.MethodPost, chatPath, c.request("max_tokens", 1), "Origin: https://evil.example"), 403, "", "")
		c.isError(c.send(http.MethodPost, chatPath, c.request("max_tokens", 1), "Host: evil.example"), 403, "", "")
		r := c.chat(c.request("max_tokens", 1), "Origin: http://localhost:1")
		c.expect(r.header.Get("Access-Control-Allow-Origin") == "", "CORS without being configured")
	}},
}
