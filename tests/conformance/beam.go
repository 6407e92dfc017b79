// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"net/http"
	"slices"
	"strings"
)

// logprobSum adds up the logprobs of a choice's tokens, and counts those before the end of text.
func (r reply) logprobSum(i int) (sum float64, length int) {
	entries := r.entries(i)
	for _, e := range entries {
		sum += number(object(e)["logprob"])
	}
	length = len(entries)
	if r.finish(i) == "stop" {
		length--
	}
	return sum, max(1, length)
}

// score is what beams are compared by.
func (r reply) score(i int, penalty float64) float64 {
	sum, length := r.logprobSum(i)
	return sum / math.Pow(float64(length), penalty)
}

// followed returns the best outputs of a search by hand for one completion: after each output every continuation is
// looked at, and the best width go on. Outputs that end are not followed.
func (c *check) followed(prompt []int, width, limit int) []beamByHand {
	open, ended := []beamByHand{{}}, []beamByHand{}
	for range limit {
		var next []beamByHand
		for _, b := range open {
			next = append(next, c.extended(prompt, b, 2*width)...)
		}
		slices.SortStableFunc(next, func(a, b beamByHand) int { return cmpFloat(b.sum, a.sum) })
		open = nil
		for _, b := range next[:min(len(next), 2*width)] {
			switch {
			case b.ended:
				ended = append(ended, b)
			case len(open) < width:
				open = append(open, b)
			}
		}
	}
	return append(ended, open...)
}

// A beamByHand is an output under way.
type beamByHand struct {
	ids   []int
	sum   float64
	ended bool
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// extended returns the best continuations of b by one token.
func (c *check) extended(prompt []int, b beamByHand, n int) []beamByHand {
	ids := append(slices.Clone(prompt), b.ids...)
	top := object(scoredOf(c.complete(c.prompt("prompt", ids, "max_tokens", 1, "logprobs", min(n, 20), "return_tokens_as_token_ids", true,
		"skip_special_tokens", false)).choice(0)).top[0])
	end := c.endToken()
	var list []beamByHand
	for name, x := range top {
		id := 0
		for _, digit := range strings.TrimPrefix(name, "token_id:") {
			id = id*10 + int(digit-'0')
		}
		list = append(list, beamByHand{append(slices.Clone(b.ids), id), b.sum + number(x), id == end})
	}
	return list
}

// endToken returns the id of the end of text.
func (c *check) endToken() int {
	eos := c.tokenize(text(c.send(http.MethodGet, "/tokenizer_info", nil).json["eos_token"]))
	if len(eos) != 1 {
		c.skipf("the end of text is not known")
	}
	return eos[0]
}

var beamCases = []testCase{
	{96, "beam search", func(c *check) {
		body := c.request("use_beam_search", true, "beam_width", 4, "n", 2, "max_tokens", 5, "logprobs", true)
		r := c.chat(body)
		c.expect(len(list(r.json["choices"])) == 2 && r.score(0, 1) >= r.score(1, 1), "%d choices, scores %g and %g", len(list(r.json["choices"])), r.score(0, 1), r.score(1, 1))
		c.expect(c.chat(c.request("beam_width", 1)).content(0) == c.chat(c.request()).content(0), "width 1 is not greedy")
		c.refused(chatPath, c.request("beam_width", 1, "n", 2), "beam_width")
		c.refused(chatPath, body.with("stream", true), "stream")
		c.refused(chatPath, body.with("presence_penalty", 1), "")
		prompt := c.tokenize("The sky is")
		found := c.complete(c.prompt("prompt", prompt, "beam_width", 4, "n", 1, "max_tokens", 3, "logprobs", 1, "return_token_ids", true))
		best := math.Inf(-1)
		for _, b := range c.followed(prompt, 4, 3) {
			length := len(b.ids)
			if b.ended {
				length--
			}
			best = max(best, b.sum/float64(max(1, length)))
		}
		sum, length := 0.0, 0
		for _, x := range scoredOf(found.choice(0)).logprobs {
			sum += number(x)
			length++
		}
		if found.finish(0) == "stop" {
			length--
		}
		c.expect(math.Abs(sum/float64(max(1, length))-best) < 1e-3, "score %g, by hand %g", sum/float64(max(1, length)), best)
	}},
	{97, "length_penalty orders beams", func(c *check) {
		c.needHeat()
		for _, penalty := range []float64{0, 1, 4} {
			r := c.chat(c.request("beam_width", 6, "n", 4, "max_tokens", 16, "logprobs", true, "length_penalty", penalty))
			for i := 1; i < 4; i++ {
				c.expect(r.score(i-1, penalty) >= r.score(i, penalty)-1e-4, "length_penalty %g: choice %d has %g, the next %g", penalty, i-1, r.score(i-1, penalty), r.score(i, penalty))
			}
		}
	}},
}
