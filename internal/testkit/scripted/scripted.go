// SPDX-License-Identifier: Apache-2.0

// Package scripted is an inference.Engine whose answers a test writes down. What sits above the engine contract is
// tested against it: each request is answered by a function, token by token, with the contract's rules for ends,
// lengths, cancelling and errors, and every request is kept for the test to look at.
package scripted

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/token"
)

// A Reply is what one choice of a request answers.
type Reply struct {
	Tokens []token.ID
	Err    error // if set, the stream fails with it after Tokens
	// Step, if set, is received from before each token, so that a test sets the pace; closing it lets all pass.
	Step   <-chan struct{}
	Cached int // prompt tokens reported as read from the cache
	// Logprob gives the logprob of the token at pos and the best ones; nil: 0, and the token alone.
	Logprob func(pos int, id token.ID) (float32, []inference.TokenLogprob)
	Prompt  [][]inference.TokenLogprob // prompt logprobs
}

// An Engine answers by script.
type Engine struct {
	info   inference.Info
	answer func(req inference.Request, choice int) Reply
	work   sync.WaitGroup

	// mu guards all below.
	mu       sync.Mutex
	requests []inference.Request
	busy     bool
	broken   error
	closed   bool
	running  map[*inference.Queue]context.CancelCauseFunc
}

// New returns an engine that asks answer what each choice of each request says. A choice whose tokens run out before
// an end is reached ends with FinishLength.
func New(info inference.Info, answer func(req inference.Request, choice int) Reply) *Engine {
	return &Engine{info: info, answer: answer, running: map[*inference.Queue]context.CancelCauseFunc{}}
}

// Say returns an engine that answers every choice with the same tokens.
func Say(info inference.Info, tokens ...token.ID) *Engine {
	return New(info, func(inference.Request, int) Reply { return Reply{Tokens: tokens} })
}

// Requests returns the requests so far.
func (e *Engine) Requests() []inference.Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.requests)
}

// Fill makes Submit answer ErrBusy, or no longer.
func (e *Engine) Fill(full bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = full
}

// Break makes Err return err.
func (e *Engine) Break(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.broken = err
}

// Info implements inference.Engine.
func (e *Engine) Info() inference.Info { return e.info }

// Err implements inference.Engine.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken == nil && e.closed {
		return inference.ErrClosed
	}
	return e.broken
}

// Load implements inference.Engine.
func (e *Engine) Load() (running, waiting int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.running), 0
}

// Close implements inference.Engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	for _, cancel := range e.running {
		cancel(inference.ErrClosed)
	}
	e.mu.Unlock()
	e.work.Wait()
	return nil
}

// Submit implements inference.Engine.
func (e *Engine) Submit(ctx context.Context, req inference.Request) (inference.Stream, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests = append(e.requests, req)
	switch {
	case e.closed:
		return nil, inference.ErrClosed
	case e.busy:
		return nil, inference.ErrBusy
	case e.info.MaxContext > 0 && len(req.Prompt)+max(1, req.MaxTokens) > e.info.MaxContext:
		return nil, &inference.LengthError{PromptTokens: len(req.Prompt), OutputTokens: max(0, req.MaxTokens), MaxContext: e.info.MaxContext}
	}
	choices := max(1, req.Choices)
	ctx, cancel := context.WithCancelCause(ctx)
	stops := make([]chan struct{}, choices)
	for i := range stops {
		stops[i] = make(chan struct{})
	}
	q := inference.NewQueue(choices, func(choice int) { close(stops[choice]) }, func() { cancel(context.Canceled) })
	e.running[q] = cancel
	e.work.Go(func() {
		defer cancel(nil)
		e.run(ctx, req, q, stops)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.running, q)
	})
	return q, nil
}

// A speaker says one choice's reply.
type speaker struct {
	req    *inference.Request
	reply  Reply
	choice int
	said   int
	ended  bool
}

// run says one token of each choice in turn until all have ended.
func (e *Engine) run(ctx context.Context, req inference.Request, q *inference.Queue, stops []chan struct{}) {
	speakers := make([]*speaker, len(stops))
	for i := range speakers {
		speakers[i] = &speaker{req: &req, reply: e.answer(req, i), choice: i}
	}
	info := &inference.PromptInfo{CachedTokens: speakers[0].reply.Cached, Started: time.Now(), Logprobs: speakers[0].reply.Prompt}
	for open := len(speakers); open > 0; {
		open = 0
		for i, s := range speakers {
			if s.ended {
				continue
			}
			if err := s.wait(ctx, stops[i]); err != nil {
				q.Fail(err)
				return
			}
			if s.ended {
				continue
			}
			event := s.next()
			event.Prompt, info = info, nil
			q.Push(event)
			if !s.ended {
				open++
			}
		}
	}
}

// wait waits until the next token may be said. It returns why the stream fails, if it does.
func (s *speaker) wait(ctx context.Context, stop chan struct{}) error {
	step := s.reply.Step
	if step == nil {
		always := make(chan struct{})
		close(always)
		step = always
	}
	select {
	case <-ctx.Done():
	case <-stop:
	case <-step:
	}
	select {
	case <-stop:
		s.ended = true
		return nil
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.said == len(s.reply.Tokens) {
		return s.reply.Err
	}
	return nil
}

// next returns the choice's next event, by the rules of ends that every engine follows.
func (s *speaker) next() inference.Event {
	event := inference.Event{Choice: s.choice, Token: token.None, Time: time.Now()}
	if s.said == len(s.reply.Tokens) || s.req.MaxTokens == 0 {
		s.ended = true
		event.Finish = inference.FinishLength
		return event
	}
	id := s.reply.Tokens[s.said]
	event.Token = id
	if s.req.Logprobs != inference.NoLogprobs && s.reply.Logprob != nil {
		event.Logprob, event.Top = s.reply.Logprob(s.said, id)
	}
	s.said++
	event.Finish = s.finish(id)
	s.ended = event.Finish != inference.Running
	return event
}

func (s *speaker) finish(id token.ID) inference.Finish {
	switch {
	case s.said < s.req.MinTokens:
		return inference.Running
	case id == s.req.EOS && id != token.None && !s.req.IgnoreEOS:
		return inference.FinishEOS
	case slices.Contains(s.req.Stop, id), slices.Contains(s.req.MoreEOS, id) && !s.req.IgnoreEOS:
		return inference.FinishStop
	case s.said == s.req.MaxTokens, s.said == len(s.reply.Tokens) && s.reply.Err == nil:
		return inference.FinishLength
	}
	return inference.Running
}
