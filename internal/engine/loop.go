// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/kvcache/disk"
	"github.com/sampo-ai/sampo/internal/scheduler"
)

// run is the engine's goroutine.
func (e *Engine) run() {
	defer close(e.done)
	if s := e.spill; s != nil {
		s.done.Go(func() {
			s.run(e.tellOfDisk, func() { e.post(order{kind: wake}) })
		})
		defer s.done.Wait()
		defer close(s.write)
	}
	for e.await() {
		e.turn()
	}
	e.step.reset(e.orders)
	for r := range e.open {
		e.leave(r, inference.ErrClosed)
	}
	e.endStep()
	e.cache.Close()
	if e.drafter != nil {
		e.drafter.cache.Close()
		e.drafter.model = nil
	}
	e.model, e.cfg.Draft, e.cfg.Threads = nil, nil, nil // who keeps the engine does not keep the weights
}

// tellOfDisk logs that a block could not be written to the disk, or that all before it are gone: those in memory are
// written again.
func (e *Engine) tellOfDisk(err error) {
	if errors.Is(err, disk.ErrRemade) {
		e.warnOfLoss(err)
		e.post(order{kind: lost})
		return
	}
	if blocks := e.spill.losses.add(err, time.Now()); blocks > 0 {
		e.cfg.Logger.Warn("engine: cache blocks not written to the disk", "blocks", blocks, "error", err)
	}
}

// await takes the orders that arrived, and waits for some when nothing is to be done. It returns false when the
// engine closes; requests among the orders are then open, so that they end.
func (e *Engine) await() bool {
	running, waiting := e.scheduler.Load()
	if e.spill != nil {
		waiting += e.spill.work()
	}
	e.mu.Lock()
	for len(e.inbox) == 0 && running+waiting == 0 && !e.closing {
		e.arrived.Wait()
	}
	e.orders, e.inbox = e.inbox, e.orders[:0]
	closing := e.closing
	e.mu.Unlock()
	if closing {
		for _, o := range e.orders {
			if o.kind == submit {
				e.open[o.req] = struct{}{}
			}
		}
	}
	return !closing
}

// turn carries out the orders and one step. A panic ends the requests of the step, and the engine goes on.
func (e *Engine) turn() {
	defer e.endStep()
	defer func() {
		if p := recover(); p != nil {
			e.cfg.Logger.Error("engine: panic in a step", "panic", p, "requests", e.step.ids(), "stack", string(debug.Stack()))
			e.salvage(failure(p))
		}
	}()
	e.step.reset(e.orders)
	e.obey()
	now := time.Now()
	e.expire(now)
	if e.spill != nil {
		e.spill.save(e.pool)
		e.spill.revive(e.pool, e.queue)
	}
	e.speculate()
	if e.cfg.MixedTokens > 0 {
		sequences, before := e.scheduler.Decoding()
		e.pace.prepare(sequences, before, e.cfg.MixedTokens)
	}
	b := e.scheduler.Schedule(now)
	e.step.begin(b)
	if len(b.Slices) == 0 {
		return
	}
	e.beginStep()
	if err := e.compute(b); err != nil {
		e.cfg.Logger.Error("engine: step failed", "error", err, "requests", e.step.ids())
		e.salvage(failure(err))
		return
	}
	e.learn()
	e.emit()
}

// learn takes note of what the step cost.
func (e *Engine) learn() {
	rows, prompt, took := e.step.decode, len(e.step.batch.Tokens)-e.step.decode, time.Since(e.step.began)
	guesses := e.step.tally.guesses
	e.pace.add(work{rows: rows, guesses: guesses > 0, context: e.step.context, prompt: prompt, before: e.step.before}, took)
	if e.cfg.Logger.Enabled(context.Background(), slog.LevelDebug) {
		e.cfg.Logger.Debug("engine: step", "decode", rows, "context", e.step.context, "prefill", prompt, "before", e.step.before,
			"guesses", guesses, "preempted", e.step.tally.preempted, "seconds", took.Seconds())
	}
}

// obey carries out the orders.
func (e *Engine) obey() {
	for i, o := range e.orders {
		switch o.kind {
		case submit:
			e.admit(o.req)
		case stop:
			e.stop(o.req, o.choice)
		case abort:
			e.leave(o.req, o.err)
		case flush:
			e.flush(o.done)
		case lost:
			e.spill.again(e.pool)
		case wake:
		}
		e.orders[i] = order{}
	}
	e.orders = e.orders[:0]
}

// flush begins to write all that is free and not on the disk.
func (e *Engine) flush(done chan<- struct{}) {
	if err := e.cfg.Disk.Mend(); errors.Is(err, disk.ErrRemade) {
		e.warnOfLoss(err)
		e.spill.again(e.pool)
	}
	e.spill.flush(done)
}

// warnOfLoss logs that the disk has none of its blocks any more.
func (e *Engine) warnOfLoss(err error) {
	e.cfg.Logger.Warn("engine: the cache blocks on the disk are gone", "error", err)
}

// admit hands a request to the scheduler.
func (e *Engine) admit(r *request) {
	e.open[r] = struct{}{}
	if e.spill != nil && !r.choices[0].seq.SkipCache && !e.cfg.NoPrefixCache {
		e.spill.waiting = append(e.spill.waiting, r)
		return
	}
	e.queue(r)
}

// queue puts a request into the scheduler's queue.
func (e *Engine) queue(r *request) {
	first := &r.choices[0].seq
	first.Arrived = r.arrived
	first.Table = e.newTable(r.choices[0])
	e.scheduler.Add(first)
}

// newTable returns an empty table for a choice.
func (e *Engine) newTable(c *choice) *kvcache.Table {
	t := e.pool.NewTable(c.root(), cap(c.seq.Tokens))
	t.Belong(c.req.Tenant)
	if c.req.Session != "" {
		t.Keep()
	}
	return t
}

// expire ends requests that waited too long for their first step.
func (e *Engine) expire(now time.Time) {
	if _, waiting := e.scheduler.Load(); e.cfg.QueueTimeout == 0 || waiting == 0 {
		return
	}
	for r := range e.open {
		if r.started.IsZero() && now.Sub(r.arrived) > e.cfg.QueueTimeout {
			e.leave(r, inference.ErrExpired)
		}
	}
}

// stop ends one of a request's choices whose client has seen enough.
func (e *Engine) stop(r *request, number int) {
	if r.gone {
		return
	}
	for i, c := range r.choices {
		at := slices.Index(c.numbers, number)
		if at < 0 {
			continue
		}
		c.numbers = slices.Delete(c.numbers, at, at+1)
		e.step.tally.stopped++
		// The first choice computes the prompt for the others.
		if len(c.numbers) == 0 && (i > 0 || r.forked) {
			e.retire(c)
		}
	}
	if !r.live() {
		e.leave(r, nil)
	}
}

// retire frees a choice's blocks and takes it out of the queues.
func (e *Engine) retire(c *choice) {
	c.numbers = c.numbers[:0]
	e.scheduler.Remove(&c.seq)
	if e.spill != nil {
		e.spill.restless = true
	}
	if e.drafter != nil {
		e.drafter.forget(c)
	}
}

// leave is the one exit of a request: it finished (err is nil), was aborted, failed, or the engine closes.
func (e *Engine) leave(r *request, err error) {
	if r.gone {
		return
	}
	r.gone = true
	r.unhook()
	if err != nil {
		r.queue.Fail(err)
		e.step.tally.lost(err)
	}
	for _, c := range r.choices {
		e.retire(c)
	}
	delete(e.open, r)
}

// salvage ends the requests of a step that failed. If the panic left the block accounting in doubt, everything is
// started afresh: all requests fail, and no block is trusted.
func (e *Engine) salvage(err error) {
	e.step.failed = err
	if e.step.scheduled && e.leaveStep(err) {
		return
	}
	for _, o := range e.orders {
		if o.kind == submit && o.req != nil {
			e.open[o.req] = struct{}{}
		}
	}
	e.orders = e.orders[:0]
	for r := range e.open {
		for _, c := range r.choices {
			c.seq = scheduler.Sequence{} // the books that have it are given up
			e.retire(c)
		}
		e.leave(r, err)
	}
	clear(e.open) // also of one on whose way out the panic came
	if e.spill != nil {
		e.spill.waiting = nil
	}
	fresh, pool, bad := e.cfg.newScheduler(e.groups, &e.pace)
	if bad != nil {
		panic(bad) // it was made once from the same configuration
	}
	e.evicted += e.pool.Evictions()
	e.scheduler, e.pool = fresh, pool
}

// leaveStep ends the requests of the step and reports whether the accounting is sound afterwards.
func (e *Engine) leaveStep(err error) (sound bool) {
	defer func() {
		if recover() != nil {
			sound = false
		}
	}()
	for _, r := range e.step.requests {
		e.leave(r, err)
	}
	return e.scheduler.Check() == nil
}
