// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// A request is a completion that has one right answer on a given server.
type request struct {
	Prompt         []int   `json:"prompt"`
	MaxTokens      int     `json:"max_tokens"`
	Temperature    float64 `json:"temperature"`
	TopP           float64 `json:"top_p,omitempty"`
	Seed           int64   `json:"seed"`
	IgnoreEOS      bool    `json:"ignore_eos"`
	ReturnTokenIDs bool    `json:"return_token_ids"`
	Stream         bool    `json:"stream"`
	CacheSalt      string  `json:"cache_salt,omitempty"`
}

// An exchange is a request and the tokens of its answer when it ran alone.
type exchange struct {
	request
	answer []int
}

// vocabulary is how many of the first token ids prompts are made of: every model has so many.
const vocabulary = 200

// traffic makes the requests. Lengths are spread evenly over their logarithms; some prompts begin alike, and some
// repeat themselves, so that the prefix cache and speculation have something to find.
func traffic(r *rand.Rand, o options, context int) []request {
	const least = 16
	longest := max(least, min(o.prompt, context-o.output-1))
	common := ids(r, longest)
	requests := make([]request, o.requests)
	for i := range requests {
		n := spread(r, least, longest)
		q := request{
			MaxTokens: max(1, min(spread(r, least, o.output), context-n)), Seed: r.Int64N(1 << 40), IgnoreEOS: true, ReturnTokenIDs: true,
		}
		switch i % 3 {
		case 0:
			q.Prompt = ids(r, n)
		case 1:
			q.Prompt = append(append(q.Prompt, common[:n/2]...), ids(r, n-n/2)...)
		case 2:
			phrase := ids(r, 12)
			for len(q.Prompt) < n {
				q.Prompt = append(q.Prompt, phrase...)
			}
			q.Prompt = q.Prompt[:n]
		}
		if i%2 == 1 {
			q.Temperature, q.TopP = 0.8, 0.95
		}
		requests[i] = q
	}
	return requests
}

func ids(r *rand.Rand, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = 10 + r.IntN(vocabulary)
	}
	return list
}

// spread returns a number from least to most, every doubling as likely as any other.
func spread(r *rand.Rand, least, most int) int {
	low, high := math.Log(float64(least)), math.Log(float64(most)+1)
	return min(most, int(math.Exp(low+(high-low)*r.Float64())))
}

// A manner is how a client behaves.
type manner int

const (
	streams manner = iota
	waits
	vanishes // closes the connection in the middle of a stream
	stalls   // stops reading for a while in the middle of a stream
)

// salt returns a cache salt: of one request alone, or one of a few that requests share.
func salt(r *rand.Rand, name string, of int64) string {
	return name + strconv.FormatInt(r.Int64N(of), 10)
}
