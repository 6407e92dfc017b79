// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"time"
)

var streamCases = []testCase{
	{31, "a stream has its form", func(c *check) { c.events(chatPath, c.request()) }},
	{32, "one role, one finish reason", func(c *check) {
		chunks, _ := c.events(chatPath, c.request())
		first := object(object(list(chunks[0]["choices"])[0])["delta"])
		content, has := first["content"]
		c.expect(text(first["role"]) == "assistant" && has && content == "", "first delta %v", first)
		roles, finishes := 0, 0
		for _, chunk := range chunks {
			for _, v := range list(chunk["choices"]) {
				if object(object(v)["delta"])["role"] != nil {
					roles++
				}
				if object(v)["finish_reason"] != nil {
					finishes++
				}
			}
		}
		c.expect(roles == 1 && finishes == 1, "%d roles, %d finish reasons", roles, finishes)
	}},
	{33, "the deltas join to the whole answer", func(c *check) {
		whole := c.chat(c.request()).content(0)
		chunks, _ := c.events(chatPath, c.request())
		c.expect(joined(chunks, 0, "content") == whole, "streamed %q, whole %q", joined(chunks, 0, "content"), whole)
	}},
	{34, "usage comes once and only when asked", func(c *check) {
		chunks, _ := c.events(chatPath, c.request())
		for _, chunk := range chunks {
			c.expect(chunk["usage"] == nil, "usage without being asked")
		}
		chunks, _ = c.events(chatPath, c.request("stream_options", obj{"include_usage": true}))
		for i, chunk := range chunks {
			last := i == len(chunks)-1
			c.expect((chunk["usage"] != nil) == last && (len(list(chunk["choices"])) == 0) == last, "chunk %d of %d: %v", i, len(chunks), chunk)
		}
	}},
	{35, "continuous usage grows", func(c *check) {
		chunks, _ := c.events(chatPath, c.request("stream_options", obj{"include_usage": true, "continuous_usage_stats": true}))
		last := 0.0
		for _, chunk := range chunks {
			n, ok := object(chunk["usage"])["completion_tokens"].(float64)
			c.expect(ok && n >= last, "usage %v after %v", chunk["usage"], last)
			last = n
		}
		chunks, _ = c.events(chatPath, c.request("stream_options", obj{"continuous_usage_stats": true}))
		for _, chunk := range chunks {
			c.expect(chunk["usage"] == nil, "usage without include_usage")
		}
	}},
	{36, "stream_options needs stream", func(c *check) {
		c.refused(chatPath, c.request("stream_options", obj{"include_usage": true}), "stream_options")
		c.chat(c.request("max_tokens", 1, "stream_options", obj{}))
	}},
	{37, "several choices in one stream", func(c *check) {
		chunks, _ := c.events(chatPath, c.request("n", 2, "stream_options", obj{"include_usage": true}))
		for i := range 2 {
			choice := object(list(chunks[i]["choices"])[0])
			c.expect(int(number(choice["index"])) == i && object(choice["delta"])["role"] == "assistant", "chunk %d: %v", i, choice)
		}
		c.expect(joined(chunks, 0, "content") == joined(chunks, 1, "content"), "greedy choices differ")
	}},
	{38, "no chunk ends inside a character", func(c *check) {
		body := c.request("max_tokens", 40, "messages", []obj{{"role": "user", "content": c.words("Repeat: 🦔 日本語 🎉", "half")}})
		whole := c.chat(body).content(0)
		chunks, _ := c.events(chatPath, body)
		c.expect(joined(chunks, 0, "content") == whole, "streamed %q, whole %q", joined(chunks, 0, "content"), whole)
		c.expect(strings.Contains(whole, "\uFFFD") || !strings.Contains(joined(chunks, 0, "content"), "\uFFFD"), "the stream has U+FFFD")
	}},
	{39, "an error before the first token is no stream", func(c *check) {
		if c.context == 0 {
			c.skipf("the server does not tell its context length")
		}
		r := c.send(http.MethodPost, chatPath, c.request("stream", true, "max_tokens", c.context))
		c.isError(r, 400, "context_length_exceeded", "max_tokens")
		c.expect(strings.HasPrefix(r.header.Get("Content-Type"), "application/json"), "content type %q", r.header.Get("Content-Type"))
	}},
	{41, "a client that leaves stops its generation", func(c *check) {
		load := func() float64 { return number(c.send(http.MethodGet, "/load", nil).json["server_load"]) }
		c.leave(true)
		c.leave(false)
		for deadline := time.Now().Add(time.Second); load() > 0 && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		c.expect(load() == 0, "%v requests still run", load())
	}},
	{42, "no chunk has the key error", func(c *check) {
		_, raw := c.events(chatPath, c.request("n", 2, "logprobs", true, "stream_options", obj{"include_usage": true}))
		c.expect(!strings.Contains(raw, `"error"`), "the stream has the key error")
	}},
	{101, "timings have their six keys, and their places in a stream", func(c *check) {
		keys := []string{"queue_ms", "prefill_ms", "decode_ms", "prefill_tokens_per_second", "decode_tokens_per_second", "cached_tokens"}
		for _, r := range []reply{c.complete(c.prompt()), c.chat(c.request())} {
			sampo := object(r.json["sampo"])
			c.expect(len(sampo) == len(keys), "sampo has %d keys", len(sampo))
			for _, key := range keys {
				_, ok := sampo[key].(float64)
				c.expect(ok, "sampo.%s is %v", key, sampo[key])
			}
		}
		chunks, _ := c.events(chatPath, c.request("stream_options", obj{"include_usage": true}))
		for i, chunk := range chunks {
			_, has := chunk["sampo"]
			c.expect(has == (i >= len(chunks)-2), "chunk %d of %d: sampo %v", i, len(chunks), has)
		}
	}},
}

// leave starts a long generation and goes away.
func (c *check) leave(stream bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	data, err := json.Marshal(c.request("stream", stream, "max_tokens", absent{}, "ignore_eos", true))
	if err != nil {
		c.fatalf("%v", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+chatPath, bytes.NewReader(data))
	if err != nil {
		c.fatalf("%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := c.http.Do(req)
	if err != nil {
		return // it left before the headers
	}
	defer closeBody(resp)
	lines := bufio.NewScanner(resp.Body)
	for n := 0; n < 4 && lines.Scan(); n++ {
	}
}

// entries returns the logprobs of a chat answer's tokens.
func (r reply) entries(i int) []any { return list(object(r.choice(i)["logprobs"])["content"]) }

var logprobCases = []testCase{
	{44, "logprobs of each token, and the best ones", func(c *check) {
		r := c.chat(c.request("logprobs", true))
		c.expect(len(r.entries(0)) == r.usage("completion_tokens"), "%d entries, %d tokens", len(r.entries(0)), r.usage("completion_tokens"))
		for _, e := range r.entries(0) {
			c.expect(object(e)["top_logprobs"] != nil && len(list(object(e)["top_logprobs"])) == 0, "top_logprobs %v", object(e)["top_logprobs"])
		}
		r = c.chat(c.request("logprobs", true, "top_logprobs", 5))
		for _, e := range r.entries(0) {
			top := list(object(e)["top_logprobs"])
			if len(top) != 5 {
				c.fatalf("%d best tokens, want 5", len(top))
			}
			last := 0.0
			for i, t := range top {
				x := number(object(t)["logprob"])
				c.expect(i == 0 || x <= last, "not descending")
				last = x
			}
			c.expect(object(top[0])["logprob"] == object(e)["logprob"], "the best is not the sampled one")
		}
	}},
	{45, "ranges of logprobs", func(c *check) {
		c.refused(chatPath, c.request("top_logprobs", 5), "top_logprobs")
		c.refused(chatPath, c.request("logprobs", true, "top_logprobs", 21), "top_logprobs")
		c.refused(chatPath, c.request("logprobs", true, "top_logprobs", -2), "top_logprobs")
		c.refused(chatPath, c.request("logprobs", 1), "logprobs")
		r := c.chat(c.request("logprobs", true, "top_logprobs", -1, "max_tokens", 1))
		sum := 0.0
		for _, t := range list(object(r.entries(0)[0])["top_logprobs"]) {
			sum += math.Exp(number(object(t)["logprob"]))
		}
		c.expect(math.Abs(sum-1) < 1e-3, "probabilities sum to %g", sum)
		c.refused(chatPath, c.request("logprobs", true, "top_logprobs", -1, "max_tokens", absent{}), "top_logprobs")
	}},
	{46, "bytes join to the text", func(c *check) {
		r := c.chat(c.request("logprobs", true, "ignore_eos", true))
		said := r.bytesOf(0)
		if eos := text(c.send(http.MethodGet, "/tokenizer_info", nil).json["eos_token"]); eos != "" {
			said = strings.ReplaceAll(said, eos, "") // it is counted and not shown
		}
		c.expect(strings.Contains(said, strings.TrimSpace(r.content(0))), "bytes %q, content %q", said, r.content(0))
	}},
	{47, "logprobs are the model's own", func(c *check) {
		body := c.request("logprobs", true, "top_logprobs", 5, "return_token_ids", true)
		plain := c.chat(body)
		first := func(r reply) string {
			data, _ := json.Marshal(object(r.entries(0)[0])["top_logprobs"])
			return string(data)
		}
		got := ids(plain.choice(0)["token_ids"])
		if len(got) == 0 {
			c.fatalf("no token_ids")
		}
		id := got[0]
		biased := c.chat(body.with("logit_bias", obj{json.Number(itoa(id)).String(): 5}))
		warm := c.chat(body.with("temperature", 0.5, "top_k", 1))
		c.expect(first(plain) == first(biased) && first(plain) == first(warm), "bias or temperature changes them")
	}},
	{48, "prompt_logprobs", func(c *check) {
		r := c.chat(c.request("prompt_logprobs", 0, "max_tokens", 1))
		entries := list(r.json["prompt_logprobs"])
		c.expect(len(entries) == r.usage("prompt_tokens") && len(entries) > 0 && entries[0] == nil, "%d entries for %d tokens", len(entries), r.usage("prompt_tokens"))
		for _, e := range entries[min(1, len(entries)):] {
			for _, v := range object(e) {
				c.expect(number(object(v)["rank"]) >= 1, "rank %v", object(v)["rank"])
			}
			c.expect(len(object(e)) == 1, "%d keys, want 1", len(object(e)))
		}
		c.refused(chatPath, c.request("prompt_logprobs", 2, "stream", true), "prompt_logprobs")
	}},
	{49, "prompt_logprobs don't depend on the cache", func(c *check) {
		body := c.request("prompt_logprobs", 1, "max_tokens", 1)
		a, b := c.chat(body), c.chat(body)
		x, _ := json.Marshal(a.json["prompt_logprobs"])
		y, _ := json.Marshal(b.json["prompt_logprobs"])
		c.expect(string(x) == string(y), "they differ")
		c.expect(number(object(object(b.json["usage"])["prompt_tokens_details"])["cached_tokens"]) == 0, "the cache was read")
	}},
	{50, "return_token_ids", func(c *check) {
		body := c.request("return_token_ids", true)
		r := c.chat(body)
		c.expect(len(ids(r.json["prompt_token_ids"])) == r.usage("prompt_tokens"), "%d prompt ids", len(ids(r.json["prompt_token_ids"])))
		whole := ids(r.choice(0)["token_ids"])
		c.expect(len(whole) == r.usage("completion_tokens"), "%d ids", len(whole))
		chunks, _ := c.events(chatPath, body)
		var streamed []int
		for _, chunk := range chunks {
			for _, v := range list(chunk["choices"]) {
				streamed = append(streamed, ids(object(v)["token_ids"])...)
			}
		}
		c.expect(equalInts(whole, streamed) && len(ids(chunks[0]["prompt_token_ids"])) == r.usage("prompt_tokens"), "streamed %v, whole %v", streamed, whole)
	}},
}
