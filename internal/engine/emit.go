// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/sampler"
	"github.com/sampo-ai/sampo/internal/token"
)

// emit sends what the jobs found, lets choices go their own way, and ends those that are done.
func (e *Engine) emit() {
	now := time.Now()
	for i := range e.step.jobs {
		j := &e.step.jobs[i]
		r := j.choice.req
		switch {
		case r.gone:
		case errors.Is(j.err, sampler.ErrNoToken):
			e.leave(r, failure(inference.ErrNoToken))
		case j.err != nil:
			e.cfg.Logger.Error("engine: no token", "request", r.ID, "error", j.err)
			e.leave(r, failure(j.err))
		case j.score > 0:
			r.scores[j.score-1] = tokenLogprobs([]sampler.Logprob{j.own}, j.top)
		case j.link:
			e.follow(j, now)
		default:
			e.extend(j, now)
		}
	}
	// Choices leave only now, when others have forked from them.
	for _, r := range e.step.requests {
		e.settle(r)
	}
}

// follow gives a choice the token behind a guess, if that was right.
func (e *Engine) follow(j *job, now time.Time) {
	c := j.choice
	switch {
	case len(c.numbers) == 0: // it ended on a token before
	case j.drew:
		c.guesser.learn(true)
		e.step.tally.accepted++
		e.scheduler.Accept(&c.seq)
		e.extend(j, now)
	case c.guessing:
		c.guesser.learn(false)
		c.guessing = false
	}
}

// extend gives a choice its next token.
func (e *Engine) extend(j *job, now time.Time) {
	c, r := j.choice, j.choice.req
	event := inference.Event{Token: token.None, Finish: inference.FinishLength, Time: now}
	if r.maxOutput > 0 {
		event.Token = j.token
		c.output++
		event.Finish = c.finish(j.token, e.cfg.MaxContext)
		if r.Logprobs >= 0 {
			event.Logprob, event.Rank, event.Top = j.own.Logprob, j.own.Rank, tokenLogprobs(nil, j.top)
		}
		e.step.tally.output += len(c.numbers)
	}
	if !r.told {
		event.Prompt = e.promptInfo(r)
	}
	for _, number := range c.numbers {
		event.Choice = number
		r.queue.Push(event)
		event.Prompt = nil
	}
	if event.Finish != inference.Running {
		e.step.tally.finished[event.Finish] += len(c.numbers)
		c.numbers = c.numbers[:0]
		return
	}
	if c != r.choices[0] && !r.forked {
		c.seq.Tokens = append(r.tokens(r.Prompt), j.token)
		e.scheduler.Fork(&r.choices[0].seq, &c.seq, cap(c.seq.Tokens))
		return
	}
	c.seq.Tokens = append(c.seq.Tokens, j.token)
}

// lengthen lets a choice that grew beyond the model's LongAfter compute all its tokens again, once: their keys are others
// now. As in the reference code, no answer then depends on how its tokens came about. See docs/adr/0007.
func (e *Engine) lengthen(c *choice) {
	if c.long || e.cfg.longAfter == 0 || len(c.seq.Tokens) <= e.cfg.longAfter {
		return
	}
	c.long = true
	e.scheduler.Restart(&c.seq, e.newTable(c))
}

// promptInfo says what became of the prompt, which is computed now.
func (e *Engine) promptInfo(r *request) *inference.PromptInfo {
	first := &r.choices[0].seq
	info := &inference.PromptInfo{CachedTokens: first.Cached(), Started: r.started, Logprobs: r.scores}
	r.told, r.scores = true, nil
	first.SkipCache = false
	e.step.tally.prompt += len(r.Prompt)
	e.step.tally.cached += info.CachedTokens
	return info
}

// settle ends what is over after the step: choices without readers, and the request without choices.
func (e *Engine) settle(r *request) {
	if r.gone {
		return
	}
	if !r.forked && r.told {
		r.forked = true
	}
	for i, c := range r.choices {
		if len(c.numbers) == 0 && (i > 0 || r.forked) {
			e.retire(c)
		} else {
			e.lengthen(c)
		}
	}
	if !r.live() {
		e.leave(r, nil)
	}
}
