// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/token"
)

// An engine is not well while a step takes longer than Config.StepTimeout, and after so many failed steps in a row.
const sickAfter = 3

// probeDelay is how long a sick engine without other work waits before it tries a step of its own.
const probeDelay = 2 * time.Second

// Err implements inference.Engine. The engine takes requests even while it is not well.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closing:
		return inference.ErrClosed
	case e.stalled != nil:
		return e.stalled
	case e.failures >= sickAfter:
		return fmt.Errorf("engine: %d steps in a row failed, the latest with: %w", e.failures, e.failure)
	}
	return nil
}

// judge decides after a turn how the engine is. mu is held.
func (e *Engine) judge() {
	switch {
	case e.step.failed != nil && e.stalled == nil:
		e.failures++
		e.failure = e.step.failed
	case e.step.failed == nil && e.stalled == nil && !e.step.began.IsZero():
		e.failures, e.failure = 0, nil
	}
	e.stalled = nil
	if e.failures >= sickAfter && !e.closing {
		e.prober.Reset(probeDelay)
	}
}

// probe asks a sick engine for one token, so that it is found well again though nobody dares to use it.
func (e *Engine) probe() {
	if running, waiting := e.Load(); running+waiting > 0 {
		return
	}
	s, err := e.Submit(context.Background(), inference.Request{
		ID: "probe", Prompt: []token.ID{0}, MaxTokens: 1, EOS: token.None,
		Logprobs: inference.NoLogprobs, PromptLogprobs: inference.NoLogprobs,
	})
	if err != nil {
		return // it closes, or has work after all
	}
	if _, err := s.Next(); err != nil {
		e.cfg.Logger.Warn("engine: still failing", "error", err)
		return
	}
	e.cfg.Logger.Info("engine: steps succeed again")
}

// stall runs when a step takes too long. The step cannot be ended from outside, but its clients need not wait for it.
func (e *Engine) stall() {
	e.mu.Lock()
	requests := append([]*request(nil), e.inStep...)
	if len(requests) == 0 || time.Since(e.began) < e.cfg.StepTimeout { // it ended just now
		e.mu.Unlock()
		return
	}
	err := failure("a step takes longer than " + e.cfg.StepTimeout.String())
	e.stalled, e.failure = err, err
	e.failures++
	for _, r := range requests { // before their clients hear of it: the next step is without them
		e.inbox = append(e.inbox, order{kind: abort, req: r, err: err})
	}
	e.mu.Unlock()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	e.cfg.Logger.Error("engine: step takes too long", "timeout", e.cfg.StepTimeout, "requests", len(requests), "stack", string(stacks))
	for _, r := range requests {
		r.queue.Fail(err)
	}
}
