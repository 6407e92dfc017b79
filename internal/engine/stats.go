// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
)

// Bounds of the histograms, from a step of a tiny model to one that the watchdog ends.
var (
	stepSeconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	stepTokens  = []float64{1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}
)

// Stats implements inference.Meter.
func (e *Engine) Stats() inference.Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.StepSeconds, s.StepTokens = s.StepSeconds.Clone(), s.StepTokens.Clone()
	s.BlocksUsed = append([]int(nil), s.BlocksUsed...)
	s.Blocks = append([]int(nil), e.cfg.Blocks...)
	return s
}

// A tally is what one step adds to the figures.
type tally struct {
	prompt, cached, output, preempted int
	finished                          [4]int
	stopped, aborted, failed, expired int
	drafts, guesses, accepted         int
}

// lost counts a request that ended with err.
func (t *tally) lost(err error) {
	switch {
	case errors.Is(err, inference.ErrEngine):
		t.failed++
	case errors.Is(err, inference.ErrExpired):
		t.expired++
	default:
		t.aborted++
	}
}

// publish tells other goroutines how many sequences run and wait. mu is held.
func (e *Engine) publish() {
	e.fresh -= e.step.submitted
	e.step.submitted = 0
	e.stats.Running, e.stats.Waiting = e.scheduler.Load()
	if e.spill != nil {
		e.stats.Waiting += len(e.spill.waiting)
	}
}

// beginStep publishes what the step works on and starts the watchdog.
func (e *Engine) beginStep() {
	now := time.Now()
	e.step.began = now
	for _, r := range e.step.requests {
		if r.started.IsZero() {
			r.started = now
		}
	}
	e.mu.Lock()
	e.publish()
	e.inStep = append(e.inStep[:0], e.step.requests...)
	e.began = now
	e.mu.Unlock()
	e.watchdog.Reset(e.cfg.StepTimeout)
}

// endStep stops the watchdog and adds the step to the figures.
func (e *Engine) endStep() {
	e.watchdog.Stop()
	t := &e.step.tally
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.inStep)
	e.inStep = e.inStep[:0]
	e.judge()
	e.publish()
	s := &e.stats
	if !e.step.began.IsZero() {
		took := time.Since(e.step.began)
		s.Steps++
		s.StepTime += took
		s.StepSeconds.Add(took.Seconds())
		s.StepTokens.Add(float64(len(e.step.batch.Tokens)))
	}
	s.PrefillTokens += uint64(e.step.prefill)
	s.PromptTokens += uint64(t.prompt)
	s.CachedTokens += uint64(t.cached)
	s.OutputTokens += uint64(t.output)
	s.Preemptions += uint64(t.preempted)
	s.Stopped += uint64(t.stopped)
	s.Aborted += uint64(t.aborted)
	s.Failed += uint64(t.failed)
	s.Expired += uint64(t.expired)
	s.Drafts += uint64(t.drafts)
	s.DraftTokens += uint64(t.guesses)
	s.AcceptedTokens += uint64(t.accepted)
	for i, n := range t.finished {
		s.Finished[i] += uint64(n)
	}
	s.Evictions = e.evicted + e.pool.Evictions()
	s.BlocksUsed = s.BlocksUsed[:0]
	for g, total := range e.cfg.Blocks {
		s.BlocksUsed = append(s.BlocksUsed, total-e.pool.Free(g))
	}
}
