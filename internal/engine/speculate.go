// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/sampo-ai/sampo/internal/scheduler"
	"github.com/sampo-ai/sampo/internal/token"
)

const (
	maxDrafts     = 15  // guesses after a token
	maxDrafting   = 16  // sequences that decode at once: with more, rows are no longer cheap
	firstHits     = 0.6 // share of right guesses that a new choice is thought to have
	hitsWeight    = 0.1 // of the latest guess in that share
	retryGuessing = 64  // steps after which guesses are tried that seem not to pay
)

// A guesser proposes what follows the tokens of one choice.
type guesser struct {
	lookup *lookup
	tokens [maxDrafts]token.ID
	n      int
	hits   float64 // share of guesses that were right, of those whose predecessors were
}

// speculate gives the sequences that decode their drafts, as many as promise the most tokens a second.
//
// Guesses are checked by sampling from the target's logits with the numbers that are drawn at those positions in any
// case, so the tokens are the same ones with guesses and without, whatever the temperature.
func (e *Engine) speculate() {
	decoding := e.scheduler.Running()
	for _, q := range decoding {
		q.Draft = q.Draft[:0]
	}
	if e.cfg.DraftTokens < 0 || len(decoding) == 0 || len(decoding) > maxDrafting || e.scheduler.Filling() {
		return
	}
	some := false
	for _, q := range decoding {
		c := q.Owner.(*choice)
		c.guesser.n = 0
		if n := c.draftRoom(&e.cfg); n > 0 {
			c.propose(n)
			some = some || c.guesser.n > 0
		}
	}
	if !some {
		return
	}
	most := e.draftLength(decoding)
	for _, q := range decoding {
		c := q.Owner.(*choice)
		if n := min(c.guesser.n, most); n > 0 {
			q.Draft = c.guesser.tokens[:n]
		}
	}
}

// draftRoom returns how many tokens of a choice may be guessed.
func (c *choice) draftRoom(cfg *Config) int {
	r := c.req
	if !r.told || !r.forked || r.scoring() {
		return 0
	}
	return min(cfg.DraftTokens, r.maxOutput-c.output-1, cfg.MaxContext-len(c.seq.Tokens)-1)
}

// propose makes up to n guesses.
func (c *choice) propose(n int) {
	g := &c.guesser
	if g.lookup == nil {
		g.lookup = newLookup(cap(c.seq.Tokens))
		g.hits = firstHits
	}
	g.n = len(g.lookup.guess(g.tokens[:0], c.seq.Tokens, n))
}

// learn takes note of a guess that was checked.
func (g *guesser) learn(right bool) {
	v := 0.0
	if right {
		v = 1
	}
	g.hits += (v - g.hits) * hitsWeight
}

// expected returns how many of n guesses are right on average: each only if those before it are.
func (g *guesser) expected(n int) (sum float64) {
	p := 1.0
	for range min(n, g.n) {
		p *= g.hits
		sum += p
	}
	return sum
}

// draftLength returns how many guesses each sequence may compute at most, so that tokens come fastest; 0 for none.
func (e *Engine) draftLength(decoding []*scheduler.Sequence) (best int) {
	rows, alone := len(decoding), e.pace.step(len(decoding))
	if alone == 0 { // nothing is known yet: measure
		return 0
	}
	rate := float64(rows) / alone
	for most := 1; most <= e.cfg.DraftTokens; most++ {
		drafts, gain := 0, 0.0
		for _, q := range decoding {
			g := &q.Owner.(*choice).guesser
			drafts += min(most, g.n)
			gain += g.expected(most)
		}
		if r := (float64(rows) + gain) / e.pace.step(rows+drafts); r > rate {
			best, rate = most, r
		}
	}
	// What does not pay now may do so later: another text, a quieter machine.
	if best == 0 {
		if e.unguessed++; e.unguessed >= retryGuessing {
			e.unguessed, best = 0, min(3, e.cfg.DraftTokens)
		}
	}
	return best
}
