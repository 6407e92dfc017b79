// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// A scored is the logprobs object of a completion.
type scored struct {
	tokens    []any
	logprobs  []any
	top       []any
	positions []int
}

func scoredOf(choice obj) scored {
	l := object(choice["logprobs"])
	return scored{list(l["tokens"]), list(l["token_logprobs"]), list(l["top_logprobs"]), ids(l["text_offset"])}
}

// of checks that the four arrays have n entries.
func (s scored) of(c *check, n int) {
	if len(s.tokens) != n || len(s.logprobs) != n || len(s.top) != n || len(s.positions) != n {
		c.fatalf("arrays of %d, %d, %d, %d, want %d", len(s.tokens), len(s.logprobs), len(s.top), len(s.positions), n)
	}
}

func textOf(r reply, i int) string { return text(r.choice(i)["text"]) }

var completionCases = []testCase{
	{71, "a text and its ids", func(c *check) {
		tokens := ids(c.send(http.MethodPost, "/tokenize", obj{"model": c.model, "prompt": "Hello"}).json["tokens"])
		a := c.complete(c.prompt("prompt", "Hello", "max_tokens", absent{}))
		b := c.complete(c.prompt("prompt", tokens, "max_tokens", absent{}))
		c.expect(textOf(a, 0) == textOf(b, 0), "%q and %q", textOf(a, 0), textOf(b, 0))
		c.expect(a.usage("completion_tokens") <= 16, "%d tokens", a.usage("completion_tokens"))
	}},
	{72, "several prompts and choices", func(c *check) {
		r := c.complete(c.prompt("prompt", []string{"a", "b"}, "n", 2))
		one := c.complete(c.prompt("prompt", "a"))
		two := c.complete(c.prompt("prompt", "b"))
		for i := range 4 {
			c.expect(int(number(r.choice(i)["index"])) == i, "index %v at %d", r.choice(i)["index"], i)
		}
		c.expect(textOf(r, 0) == textOf(one, 0) && textOf(r, 1) == textOf(one, 0) && textOf(r, 3) == textOf(two, 0), "the order is wrong")
		c.expect(r.usage("prompt_tokens") == one.usage("prompt_tokens")+two.usage("prompt_tokens"), "prompt tokens %d", r.usage("prompt_tokens"))
	}},
	{73, "prompts that are malformed", func(c *check) {
		for _, p := range []any{[]any{"a", 1}, []int{}, "", [][]int{{}}, []int{-1}, []int{99999999}} {
			c.refused(completePath, c.prompt("prompt", p), "prompt")
		}
	}},
	{74, "max_tokens null is the rest of the context", func(c *check) {
		if c.context == 0 || c.context > 1024 {
			c.skipf("the context is too long to fill")
		}
		r := c.complete(c.prompt("max_tokens", nil, "ignore_eos", true))
		c.expect(r.finish(0) == "length" && r.usage("total_tokens") == c.context, "%s after %d tokens", r.finish(0), r.usage("total_tokens"))
	}},
	{75, "a prompt is scored", func(c *check) {
		r := c.complete(c.prompt("echo", true, "max_tokens", 0, "logprobs", 1))
		c.expect(textOf(r, 0) == "The sky is", "text %q", textOf(r, 0))
		s := scoredOf(r.choice(0))
		s.of(c, r.usage("prompt_tokens"))
		c.expect(s.logprobs[0] == nil && r.usage("completion_tokens") == 0, "first %v, %d tokens", s.logprobs[0], r.usage("completion_tokens"))
	}},
	{76, "echo with logprobs, as log-likelihood is asked for", func(c *check) {
		r := c.complete(c.prompt("echo", true, "max_tokens", 1, "logprobs", 1))
		s := scoredOf(r.choice(0))
		s.of(c, r.usage("prompt_tokens")+1)
		for i := 1; i < len(s.tokens); i++ {
			m := object(s.top[i])
			c.expect(m[text(s.tokens[i])] == s.logprobs[i] && (len(m) == 1 || len(m) == 2), "token %d: %v, %v in %v", i, s.tokens[i], s.logprobs[i], m)
		}
	}},
	{77, "counts of logprobs", func(c *check) {
		for _, m := range scoredOf(c.complete(c.prompt("logprobs", 0)).choice(0)).top {
			c.expect(len(object(m)) == 1, "%d keys, want 1", len(object(m)))
		}
		c.refused(completePath, c.prompt("logprobs", true), "logprobs")
		c.refused(completePath, c.prompt("logprobs", 21), "logprobs")
		sum := 0.0
		for _, x := range object(scoredOf(c.complete(c.prompt("logprobs", -1, "max_tokens", 1)).choice(0)).top[0]) {
			sum += math.Exp(number(x))
		}
		c.expect(math.Abs(sum-1) < 1e-3, "probabilities sum to %g", sum)
		if c.context > 4 {
			c.refused(completePath, c.prompt("logprobs", -1, "max_tokens", c.context/2, "n", 64), "logprobs")
		}
	}},
	{78, "offsets count code points", func(c *check) {
		s := scoredOf(c.complete(c.prompt("prompt", "a 🦔 ä", "echo", true, "logprobs", 0)).choice(0))
		offset := 0
		for i, t := range s.tokens {
			c.expect(s.positions[i] == offset, "token %d at %d, want %d", i, s.positions[i], offset)
			offset += utf8.RuneCountInString(text(t))
		}
	}},
	{79, "a streamed echo joins to the whole", func(c *check) {
		body := c.prompt("echo", true, "logprobs", 1)
		whole := c.complete(body)
		chunks, _ := c.events(completePath, body)
		c.expect(joined(chunks, 0, "text") == textOf(whole, 0), "streamed %q, whole %q", joined(chunks, 0, "text"), textOf(whole, 0))
		var positions []int
		for _, chunk := range chunks {
			for _, v := range list(chunk["choices"]) {
				positions = append(positions, scoredOf(object(v)).positions...)
			}
		}
		c.expect(equalInts(positions, scoredOf(whole.choice(0)).positions), "offsets %v", positions)
	}},
	{80, "suffix, and prompts times n", func(c *check) {
		c.refused(completePath, c.prompt("suffix", "x"), "suffix")
		c.complete(c.prompt("suffix", nil, "max_tokens", 1))
		c.refused(completePath, c.prompt("prompt", stringsOf(13), "n", 5), "")
	}},
}

var lengthCases = []testCase{
	{81, "a prompt that is too long", func(c *check) {
		c.needContext()
		r := c.send(http.MethodPost, completePath, c.prompt("prompt", c.ones(c.context+5)))
		c.isError(r, 400, "context_length_exceeded", "prompt")
		m := r.message()
		c.expect(strings.HasPrefix(m, "This model's maximum context length is "+itoa(c.context)+" tokens.") && strings.Contains(m, itoa(c.context+5)) &&
			strings.HasSuffix(m, "(context_length_exceeded)"), "message %q", m)
	}},
	{82, "an answer that is too long", func(c *check) {
		c.needContext()
		c.isError(c.send(http.MethodPost, completePath, c.prompt("max_tokens", c.context)), 400, "context_length_exceeded", "max_tokens")
		c.complete(c.prompt("prompt", c.ones(c.context-3), "max_tokens", 3))
		for _, name := range []string{"max_tokens", "max_completion_tokens"} {
			r := c.send(http.MethodPost, chatPath, c.request("max_tokens", absent{}, name, c.context))
			if strings.Contains(r.body, "chat_template_missing") {
				return // the rest is for models that chat
			}
			c.isError(r, 400, "context_length_exceeded", name)
		}
	}},
	{83, "the last place of the context", func(c *check) {
		c.needContext()
		r := c.complete(c.prompt("prompt", c.ones(c.context-1), "max_tokens", nil, "ignore_eos", true))
		c.expect(r.usage("completion_tokens") == 1 && r.finish(0) == "length", "%d tokens, %s", r.usage("completion_tokens"), r.finish(0))
		r = c.send(http.MethodPost, completePath, c.prompt("prompt", c.ones(c.context), "max_tokens", nil))
		c.isError(r, 400, "context_length_exceeded", "prompt")
	}},
	{85, "clients know an overflow when they read one", func(c *check) {
		c.needContext()
		for _, body := range []obj{c.prompt("prompt", c.ones(c.context+5)), c.prompt("max_tokens", c.context)} {
			m := c.send(http.MethodPost, completePath, body).message()
			// The words that litellm and LangChain look for.
			c.expect(strings.Contains(strings.ToLower(m), "this model's maximum context length is") && strings.Contains(m, "context_length_exceeded"), "message %q", m)
		}
	}},
	{84, "50 MB of text cost nothing", func(c *check) {
		body := c.request("messages", []obj{{"role": "user", "content": strings.Repeat("word ", 10<<20)}})
		best := time.Hour
		for range 3 { // the machine may be busy with other things
			begun := time.Now()
			r := c.send(http.MethodPost, chatPath, body)
			c.expect(r.status == 400, "status %d", r.status)
			best = min(best, time.Since(begun))
		}
		c.expect(best < 3*time.Second, "it takes %v", best)
	}},
}

func (c *check) needContext() {
	if c.context == 0 || c.context > 40_000 && !c.scripted {
		c.skipf("the context of %d tokens is unknown or long", c.context)
	}
}

// ones returns n times the token of a short word.
func (c *check) ones(n int) []int {
	id := c.tokenize("a")[0]
	list := make([]int, n)
	for i := range list {
		list[i] = id
	}
	return list
}
