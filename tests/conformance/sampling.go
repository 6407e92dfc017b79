// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

var samplingCases = []testCase{
	{15, "n choices take seeds one after another", func(c *check) {
		c.needHeat()
		body := c.request("temperature", 2, "top_k", -1, "top_p", 1, "ignore_eos", true, "max_tokens", 8) // hot: other seeds say other things
		r := c.chat(body.with("n", 3, "seed", 7))
		one := c.chat(body.with("seed", 8))
		c.expect(len(list(r.json["choices"])) == 3, "%d choices", len(list(r.json["choices"])))
		c.expect(r.content(1) == one.content(0), "choice 1 %q, seed 8 alone %q", r.content(1), one.content(0))
		c.expect(r.usage("completion_tokens") == 24 && r.usage("prompt_tokens") == one.usage("prompt_tokens"), "usage %v", r.json["usage"])
	}},
	{16, "n and best_of", func(c *check) {
		c.refused(chatPath, c.request("n", 0), "n")
		c.refused(chatPath, c.request("n", 65), "n")
		c.refused(chatPath, c.request("best_of", 2), "best_of")
		c.chat(c.request("max_tokens", 1, "best_of", 1))
	}},
	{17, "greedy choices are equal", func(c *check) {
		r := c.chat(c.request("n", 2))
		c.expect(len(list(r.json["choices"])) == 2 && r.content(0) == r.content(1), "%q and %q", r.content(0), r.content(1))
	}},
	{18, "a seed gives the same text in company", func(c *check) {
		c.needHeat()
		body := c.request("temperature", 1, "ignore_eos", true)
		alone := c.chat(body.with("seed", 42)).content(0)
		var others sync.WaitGroup
		for i := range 16 {
			others.Go(func() { _, _ = c.try("POST", chatPath, body.with("seed", i)) })
		}
		company := c.chat(body.with("seed", 42)).content(0)
		others.Wait()
		c.expect(alone == company, "alone %q, in company %q", alone, company)
	}},
	{19, "ranges of sampling parameters", func(c *check) {
		for _, f := range []struct {
			name  string
			value any
		}{{"temperature", -1}, {"top_p", 0}, {"top_p", 1.1}, {"min_p", 2}, {"top_k", -2}, {"presence_penalty", 3}, {"repetition_penalty", 0}} {
			c.refused(chatPath, c.request(f.name, f.value), f.name)
		}
		c.refused(chatPath, `{"temperature":1e400,"messages":[{"role":"user","content":"hi"}],"model":"`+c.model+`"}`, "temperature")
		for _, f := range []struct {
			name  string
			value any
		}{{"top_k", -1}, {"top_k", 0}, {"top_k", 100000}, {"temperature", 5}, {"repetition_penalty", 3}} {
			c.chat(c.request("max_tokens", 1, f.name, f.value))
		}
	}},
	{20, "types of max_tokens", func(c *check) {
		c.refused(chatPath, c.request("max_tokens", 0), "max_tokens")
		c.refused(chatPath, c.request("max_tokens", "16"), "max_tokens")
		c.chat(`{"max_tokens":2.0,"messages":[{"role":"user","content":"hi"}],"model":"` + c.model + `"}`)
	}},
	{21, "logit_bias", func(c *check) {
		id := c.tokenize("a")[0]
		r := c.chat(c.request("max_tokens", 4, "logit_bias", obj{strconv.Itoa(id): 100}, "return_token_ids", true))
		got := ids(r.choice(0)["token_ids"])
		c.expect(len(got) == 4 && !slices.ContainsFunc(got, func(x int) bool { return x != id }), "tokens %v, want only %d", got, id)
		c.refused(chatPath, c.request("logit_bias", obj{"x": 1}), "logit_bias")
		c.refused(chatPath, c.request("logit_bias", obj{"99999999": 1}), "logit_bias")
		many := obj{}
		for i := range 1025 {
			many[strconv.Itoa(i)] = 1
		}
		c.refused(chatPath, c.request("logit_bias", many), "logit_bias")
	}},
	{22, "allowed_token_ids", func(c *check) {
		allowed := []int{c.tokenize("a")[0], c.tokenize("b")[0]}
		r := c.chat(c.request("max_tokens", 4, "allowed_token_ids", allowed, "return_token_ids", true))
		for _, id := range ids(r.choice(0)["token_ids"]) {
			c.expect(slices.Contains(allowed, id), "token %d is not allowed", id)
		}
		c.refused(chatPath, c.request("allowed_token_ids", []int{}), "allowed_token_ids")
	}},
	{23, "bad_words", func(c *check) {
		word := c.firstWord()
		r := c.chat(c.request("bad_words", []string{word}, "return_token_ids", true))
		got := ids(r.choice(0)["token_ids"])
		for _, form := range []string{word, " " + word} {
			if bad := c.tokenize(form); len(bad) == 1 {
				c.expect(!slices.Contains(got, bad[0]), "the answer has the token of %q", form)
			}
		}
		c.refused(chatPath, c.request("bad_words", []string{""}), "bad_words")
		c.refused(chatPath, c.request("bad_words", stringsOf(1025)), "bad_words")
	}},
	{24, "min_tokens", func(c *check) {
		r := c.chat(c.request("min_tokens", 10, "max_tokens", 20, "messages", []obj{{"role": "user", "content": c.words("Say yes.", "yes")}}))
		c.expect(r.usage("completion_tokens") >= 10, "%d tokens", r.usage("completion_tokens"))
		c.refused(chatPath, c.request("min_tokens", 21, "max_tokens", 20), "min_tokens")
	}},
	{25, "ignore_eos, and stop tokens under it", func(c *check) {
		r := c.chat(c.request("ignore_eos", true, "max_tokens", 50))
		c.expect(r.usage("completion_tokens") == 50 && r.finish(0) == "length", "%d tokens, %s", r.usage("completion_tokens"), r.finish(0))
		id := c.tokenize("a")[0]
		r = c.chat(c.request("ignore_eos", true, "stop_token_ids", []int{id}, "logit_bias", obj{strconv.Itoa(id): 100}))
		c.expect(r.finish(0) == "stop" && number(r.choice(0)["stop_reason"]) == float64(id), "%s, stop_reason %v", r.finish(0), r.choice(0)["stop_reason"])
	}},
}

// needHeat skips what the scripted model, which leaves little to chance, can't show.
func (c *check) needHeat() {
	if c.scripted {
		c.skipf("the model leaves too little to chance")
	}
}

// firstWord returns a word that is one token of the greedy answer.
func (c *check) firstWord() string {
	for word := range strings.FieldsSeq(c.chat(c.request()).content(0)) {
		if len(c.tokenize(word)) == 1 || len(c.tokenize(" "+word)) == 1 {
			return word
		}
	}
	c.skipf("no word of the answer is one token")
	return ""
}

// long returns a request whose answer has many characters, and the answer.
func (c *check) long() (body obj, answer string) {
	body = c.request("ignore_eos", true, "max_tokens", 40, "messages", []obj{{"role": "user", "content": c.words("Count from one to twenty in words.", "count")}})
	return body, c.chat(body).content(0)
}

var stopCases = []testCase{
	{26, "a stop string cuts, or stays when asked", func(c *check) {
		body, answer := c.long()
		stop := uniqueInside(answer, 3)
		if stop == "" {
			c.skipf("no piece of %q is unique", answer)
		}
		before, _, _ := strings.Cut(answer, stop)
		r := c.chat(body.with("stop", []string{stop}))
		c.expect(r.content(0) == before && r.finish(0) == "stop" && r.choice(0)["stop_reason"] == stop, "%q, %s, %v; want %q", r.content(0), r.finish(0), r.choice(0)["stop_reason"], before)
		r = c.chat(body.with("stop", stop, "include_stop_str_in_output", true))
		c.expect(r.content(0) == before+stop, "kept: %q", r.content(0))
	}},
	{27, "no part of a stop string is streamed", func(c *check) {
		body, answer := c.long()
		stop := uniqueInside(answer, 3)
		if stop == "" {
			c.skipf("no piece of %q is unique", answer)
		}
		before, _, _ := strings.Cut(answer, stop)
		chunks, _ := c.events(chatPath, body.with("stop", []string{stop}))
		got := joined(chunks, 0, "content")
		c.expect(got == before, "streamed %q, want %q", got, before)
	}},
	{28, "of two stop strings the one that ends first counts", func(c *check) {
		body, answer := c.long()
		first := uniqueInside(answer, 3)
		_, rest, _ := strings.Cut(answer, first)
		second := uniqueInside(rest, 3)
		if first == "" || second == "" || strings.Index(answer, second) < strings.Index(answer, first) {
			c.skipf("no two pieces of %q are unique", answer)
		}
		r := c.chat(body.with("stop", []string{second, first}))
		c.expect(r.choice(0)["stop_reason"] == first, "stop_reason %v, want %q", r.choice(0)["stop_reason"], first)
	}},
	{29, "limits of stop", func(c *check) {
		c.refused(chatPath, c.request("stop", ""), "stop")
		c.refused(chatPath, c.request("stop", stringsOf(17)), "stop")
		c.refused(chatPath, c.request("stop", []string{strings.Repeat("a", 1025)}), "stop")
		for _, v := range []any{[]string{}, nil, stringsOf(16)} {
			c.chat(c.request("max_tokens", 1, "stop", v))
		}
	}},
	{30, "the end of text is counted and not shown", func(c *check) {
		r := c.chat(c.request("max_tokens", 200, "return_token_ids", true, "messages", []obj{{"role": "user", "content": c.words("Say yes.", "yes")}}))
		if r.finish(0) != "stop" {
			c.skipf("the model does not end its answer")
		}
		c.expect(r.choice(0)["stop_reason"] == nil, "stop_reason %v", r.choice(0)["stop_reason"])
		eos := text(c.send("GET", "/tokenizer_info", nil).json["eos_token"])
		c.expect(eos == "" || !strings.Contains(r.content(0), eos), "content %q", r.content(0))
		c.expect(len(ids(r.choice(0)["token_ids"])) == r.usage("completion_tokens"), "%d ids, %d tokens", len(ids(r.choice(0)["token_ids"])), r.usage("completion_tokens"))
	}},
}
