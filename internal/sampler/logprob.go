// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"slices"

	"github.com/sampo-ai/sampo/internal/token"
)

// A Logprob is a token, its log-probability and its place, from 1, among all tokens: by falling logit, then by ID.
type Logprob struct {
	Token   token.ID
	Logprob float32
	Rank    int
	Kept    bool // the filters leave it in play; set by Keep only
}

// Logprobs returns the log-probability of id and the n best tokens, best first, under softmax of logits at
// temperature 1. n may be 0, or V and more for all. The slice is new.
//
// Shapes: logits [V].
func (s *Sampler) Logprobs(logits []float32, id token.ID, n int) (own Logprob, top []Logprob, err error) {
	best, err := argmax(logits)
	if err != nil {
		return Logprob{Token: id}, nil, err
	}
	norm := s.logSum(logits, logits[best])
	own = Logprob{Token: id, Logprob: float32(float64(logits[id]) - norm), Rank: rank(logits, id)}
	if n <= 0 {
		return own, nil, nil
	}
	n = min(n, len(logits))
	top = make([]Logprob, 0, n)
	s.best(logits, n, func(i token.ID) {
		top = append(top, Logprob{Token: i, Logprob: float32(float64(logits[i]) - norm)})
	})
	slices.SortFunc(top, func(a, b Logprob) int {
		if c := cmp.Compare(logits[b.Token], logits[a.Token]); c != 0 {
			return c
		}
		return cmp.Compare(a.Token, b.Token)
	})
	for i := range top {
		top[i].Rank = i + 1
	}
	return own, top, nil
}

func rank(z []float32, id token.ID) int {
	n, own := 1, z[id]
	for i, v := range z {
		if v > own || v == own && token.ID(i) < id {
			n++
		}
	}
	return n
}

// best calls add for the n best tokens, in the order of IDs.
func (s *Sampler) best(z []float32, n int, add func(token.ID)) {
	least := s.kth(z, n)
	larger := 0
	for _, v := range z {
		if v > least {
			larger++
		}
	}
	ties := n - larger
	for i, v := range z {
		switch {
		case v > least:
			add(token.ID(i))
		case v == least && ties > 0:
			ties--
			add(token.ID(i))
		}
	}
}
