// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/sampler"
	"github.com/sampo-ai/sampo/internal/scheduler"
)

// An Engine runs one model. It implements inference.Engine.
type Engine struct {
	cfg    Config
	model  model.Model
	groups []kvcache.Group
	done   chan struct{} // closed when the goroutine has ended

	// What follows belongs to the goroutine.
	cache     *model.Cache
	copyBlock func(group int, dst, src kvcache.BlockID)
	scheduler *scheduler.Scheduler
	pool      *kvcache.Pool
	evicted   uint64                // by pools that were given up
	open      map[*request]struct{} // taken and not gone
	orders    []order               // being carried out
	step      step
	samplers  []*sampler.Sampler // per worker
	logits    logitRows          // of the step, or of some of its outputs
	spill     *spill             // nil: nothing is kept on the disk
	pace      pace
	drafter   *drafter  // nil: no draft model
	unfound   []*choice // lookup has no guess for them
	unguessed int       // how often guesses seemed not to pay since the latest trial
	trial     bool      // guesses of the step to come are made though they seem not to pay
	watchdog  *time.Timer
	prober    *time.Timer

	// mu guards all below.
	mu       sync.Mutex
	arrived  sync.Cond // the inbox is not empty, or closing
	inbox    []order
	fresh    int // requests in the inbox or just taken, not in stats yet
	closing  bool
	stalled  error      // the step under way takes too long
	failure  error      // of the latest step that failed
	failures int        // steps that failed, in a row
	inStep   []*request // whose tokens the step under way computes
	began    time.Time  // when that step began
	stats    inference.Stats
}

// An order is something that another goroutine wants from the engine.
type order struct {
	kind   orderKind
	req    *request
	choice int // for stop
	err    error
	done   chan<- struct{} // for flush
}

type orderKind uint8

const (
	submit orderKind = iota
	stop
	abort
	wake // look for something to do
	lost // the disk has no blocks any more
	flush
)

// New starts an engine. The model stays the caller's, who closes it after the engine.
func New(m model.Model, cfg Config) (*Engine, error) {
	e, err := newEngine(m, cfg)
	if err != nil {
		return nil, err
	}
	go e.run()
	return e, nil
}

// newEngine makes an engine whose goroutine is not started.
func newEngine(m model.Model, cfg Config) (*Engine, error) {
	c := m.Config()
	cfg, err := cfg.resolve(c)
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, model: m, groups: c.CacheGroups(), done: make(chan struct{}), open: map[*request]struct{}{}}
	if e.scheduler, e.pool, err = cfg.newScheduler(e.groups, &e.pace); err != nil {
		return nil, err
	}
	if cfg.Draft != nil {
		if e.drafter, err = newDrafter(cfg.Draft, &cfg); err != nil {
			return nil, err
		}
	}
	e.cache = m.NewCache(cfg.Blocks)
	e.copyBlock = e.cache.CopyBlock
	if cfg.Disk != nil {
		e.spill = newSpill(cfg.Disk, e.cache, c)
	}
	e.arrived.L = &e.mu
	e.stats.StepSeconds, e.stats.StepTokens = inference.NewHistogram(stepSeconds), inference.NewHistogram(stepTokens)
	workers := 1
	if cfg.Threads != nil {
		workers = cfg.Threads.Threads()
	}
	for range workers {
		e.samplers = append(e.samplers, sampler.New(cfg.vocab))
	}
	e.step.init(&cfg)
	e.step.work = e.runJob
	e.logits = bounded(c.Vocab, max(cfg.MaxRunning, 16))
	e.watchdog = time.AfterFunc(cfg.StepTimeout, e.stall)
	e.watchdog.Stop()
	e.prober = time.AfterFunc(probeDelay, e.probe)
	e.prober.Stop()
	return e, nil
}

// Info implements inference.Engine.
func (e *Engine) Info() inference.Info {
	info := inference.Info{VocabSize: e.cfg.vocab, MaxContext: e.cfg.MaxContext, Tier: e.cfg.Tier, BlockSize: model.BlockSize}
	for _, n := range e.cfg.Blocks {
		info.Blocks += n
	}
	return info
}

// DraftCacheBytes returns the memory that keys and values of the draft model may come to take.
func (e *Engine) DraftCacheBytes() int64 {
	if e.drafter == nil {
		return 0
	}
	return e.drafter.bytes
}

// Submit implements inference.Engine.
func (e *Engine) Submit(ctx context.Context, req inference.Request) (inference.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := newRequest(req, &e.cfg)
	if err != nil {
		return nil, err
	}
	r.arrived = time.Now()
	r.queue = inference.NewQueue(r.Choices,
		func(choice int) { e.post(order{kind: stop, req: r, choice: choice}) },
		func() { e.post(order{kind: abort, req: r, err: context.Canceled}) })
	if err := e.enqueue(ctx, r); err != nil {
		return nil, err
	}
	return r.queue, nil
}

// enqueue puts a request into the inbox if the waiting queue has room.
func (e *Engine) enqueue(ctx context.Context, r *request) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return inference.ErrClosed
	}
	// Requests in the inbox that find a free place when they are taken do not wait.
	places := 0
	if e.stats.Waiting == 0 {
		places = e.cfg.MaxRunning - e.stats.Running
	}
	if e.fresh >= places && e.stats.Waiting+e.fresh-places >= e.cfg.MaxWaiting {
		e.stats.Refused++
		return inference.ErrBusy
	}
	// The hook may fire at once, but the abort waits for mu and so comes behind the request. It is told before the stream ends,
	// so that at most one more step has the request once its reader knows of the end.
	r.unhook = context.AfterFunc(ctx, func() {
		e.post(order{kind: abort, req: r, err: ctx.Err()})
		r.queue.Fail(ctx.Err())
	})
	e.fresh++
	e.inbox = append(e.inbox, order{kind: submit, req: r})
	e.arrived.Signal()
	return nil
}

func (e *Engine) post(o order) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inbox = append(e.inbox, o)
	e.arrived.Signal()
}

// Load implements inference.Engine.
func (e *Engine) Load() (running, waiting int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats.Running, e.stats.Waiting + e.fresh
}

// Flush writes the blocks that nobody uses and that the disk lacks. It returns when that is done, or when ctx ends. The
// error tells also of blocks that could not be written before.
func (e *Engine) Flush(ctx context.Context) error {
	if e.spill == nil {
		return nil
	}
	done := make(chan struct{})
	e.post(order{kind: flush, done: done})
	select {
	case <-done:
		return e.spill.losses.err()
	case <-e.done:
		return inference.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements inference.Engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closing = true
	e.arrived.Broadcast()
	e.prober.Stop()
	e.mu.Unlock()
	<-e.done
	return nil
}

var (
	_ inference.Engine = (*Engine)(nil)
	_ inference.Meter  = (*Engine)(nil)
)

// failure wraps what went wrong in a step.
func failure(what any) error {
	if err, ok := what.(error); ok {
		return fmt.Errorf("%w: %w", inference.ErrEngine, err)
	}
	return fmt.Errorf("%w: %v", inference.ErrEngine, what)
}
