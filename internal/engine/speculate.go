// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime/debug"
	"slices"

	"github.com/sampo-ai/sampo/internal/scheduler"
	"github.com/sampo-ai/sampo/internal/token"
)

const (
	maxDrafting   = 16  // sequences that decode at once: with more, rows are no longer cheap
	firstHits     = 0.6 // share of right guesses that a new choice is thought to have
	firstWeight   = 3   // how many guesses that opinion is worth
	hitsMemory    = 10  // how many guesses make an opinion
	retryGuessing = 64  // steps after which guesses are tried that seem not to pay
)

// A source is where guesses come from.
type source int

const (
	fromLookup source = iota // of the longest run that is looked for; the others follow
	fromModel  source = source(len(lookupLengths))
	sources    source = fromModel + 1
)

// A record is how often guesses from one source were right, of those whose predecessors were.
type record struct {
	share   float64
	guesses int
}

// add takes note of a guess. The first ones weigh more: an answer that copies nothing shows that soon.
func (r *record) add(right bool) {
	v := 0.0
	if right {
		v = 1
	}
	r.guesses = min(r.guesses+1, hitsMemory-firstWeight)
	r.share += (v - r.share) / float64(firstWeight+r.guesses)
}

// A guesser proposes what follows the tokens of one choice.
type guesser struct {
	lookup   *lookup
	drafting drafting
	tokens   [MostDraftTokens]token.ID
	n        int // of tokens
	room     int // how many may be guessed
	source   source
	hits     [sources]record
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
	e.trial = false
	e.lookUp(decoding)
	if len(e.unfound) > 0 {
		e.draft(decoding)
	}
	if !slices.ContainsFunc(decoding, func(q *scheduler.Sequence) bool { return q.Owner.(*choice).guesser.n > 0 }) {
		return
	}
	most := e.draftLength(decoding, 0)
	for _, q := range decoding {
		g := &q.Owner.(*choice).guesser
		q.Draft = g.tokens[:min(g.n, g.room, most)]
	}
}

// lookUp makes guesses by lookup, and notes the choices that a draft model may guess for instead.
func (e *Engine) lookUp(decoding []*scheduler.Sequence) {
	e.unfound = e.unfound[:0]
	for _, q := range decoding {
		c := q.Owner.(*choice)
		g := &c.guesser
		g.n, g.room = 0, c.draftRoom(&e.cfg)
		if g.room <= 0 {
			continue
		}
		if g.lookup == nil {
			g.lookup = newLookup(cap(q.Tokens))
			for i := range g.hits {
				g.hits[i].share = firstHits
			}
		}
		found, length := g.lookup.guess(g.tokens[:0], q.Tokens, g.room)
		g.n, g.source = len(found), fromLookup+source(length)
		if g.n == 0 && e.drafter != nil {
			e.unfound = append(e.unfound, c)
		}
	}
}

// draft lets the draft model guess where lookup found nothing, if that pays. A draft model that fails is not used again.
func (e *Engine) draft(decoding []*scheduler.Sequence) {
	for _, c := range e.unfound {
		c.guesser.n, c.guesser.source = c.guesser.room, fromModel
	}
	most := e.draftLength(decoding, e.pace.draft)
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Logger.Error("engine: draft model failed, and is not used any more", "error", p, "stack", string(debug.Stack()))
			e.undraft()
		}
	}()
	if most == 0 {
		for _, c := range e.unfound {
			c.guesser.n = 0
		}
		return
	}
	if e.cfg.Threads != nil {
		e.cfg.Threads.Lock()
		defer e.cfg.Threads.Unlock()
	}
	seconds, err := e.drafter.guess(e.unfound, most)
	if err != nil {
		panic(err)
	}
	e.pace.addDraft(seconds)
}

// undraft takes back all that the draft model guessed, and gives it up.
func (e *Engine) undraft() {
	for _, c := range e.unfound {
		c.guesser.n = 0
	}
	e.drafter.cache.Close()
	e.drafter = nil
}

// draftRoom returns how many tokens of a choice may be guessed.
func (c *choice) draftRoom(cfg *Config) int {
	r := c.req
	if !r.told || !r.forked || r.scoring() {
		return 0
	}
	room := min(cfg.DraftTokens, r.maxOutput-c.output-1, cfg.MaxContext-len(c.seq.Tokens)-1)
	if cfg.longAfter > 0 && !c.long {
		room = min(room, cfg.longAfter-len(c.seq.Tokens))
	}
	return room
}

// learn takes note of a guess that was checked.
func (g *guesser) learn(right bool) { g.hits[g.source].add(right) }

// expected returns how many of n guesses are right on average: each only if those before it are.
func (g *guesser) expected(n int) (sum float64) {
	p := 1.0
	for range min(n, g.n) {
		p *= g.hits[g.source].share
		sum += p
	}
	return sum
}

// draftLength returns how many guesses each sequence may compute at most, so that tokens come fastest; 0 for none.
// Each guess takes round seconds to make, for all together.
func (e *Engine) draftLength(decoding []*scheduler.Sequence, round float64) (best int) {
	rows, alone := len(decoding), e.pace.step(len(decoding), 0)
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
		if r := (float64(rows) + gain) / (e.pace.step(rows, drafts) + round*float64(most)); r > rate {
			best, rate = most, r
		}
	}
	// What does not pay now may do so later: another text, a quieter machine.
	if best == 0 {
		if e.unguessed++; e.unguessed >= retryGuessing {
			e.unguessed, e.trial = 0, true
		}
		if e.trial { // what the draft model was asked for is checked, too
			best = min(3, e.cfg.DraftTokens)
		}
	}
	return best
}
