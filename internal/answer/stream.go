// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/parser"
	"github.com/sampo-ai/sampo/internal/token"
)

// A Stream gives an answer as it comes. Next may be called from one goroutine at a time, Close from any.
type Stream struct {
	model    *Model
	params   *chat.Params
	parse    func() *parser.Parser // nil: raw text
	oneCall  bool
	remember bool // the answers may be part of the next prompt
	runs     []*run
	turn     int           // the run that is looked at next
	woken    chan struct{} // has one if a run may be ready that was not
	wake     func()        // puts it there
	total    chat.Usage
	clock    clock
}

// A run is one prompt and its choices.
type run struct {
	prompt  chat.PromptInfo
	told    bool // the prompt was told of
	stream  inference.Stream
	choices []*choice
	cached  int
	done    bool
}

// A clock keeps the moments that timings are made of.
type clock struct {
	begun, started, first, last time.Time
	prefill, decode             int // tokens
}

func newStream(m *Model, p *chat.Params, begun time.Time) *Stream {
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	return &Stream{model: m, params: p, clock: clock{begun: begun}, woken: woken, wake: wake}
}

// submit sends one request for each prompt to the engine. If one is refused, all are withdrawn.
func (s *Stream) submit(ctx context.Context, req inference.Request, prompts []chat.PromptInfo) error {
	for _, p := range prompts {
		req.Prompt = p.Tokens
		if p.Explanation != nil {
			p.Explanation.Plan = planOf(&req, s.params)
		}
		stream, err := s.ask(ctx, req)
		if err != nil {
			s.Close()
			return s.refusal(err)
		}
		r := &run{prompt: p, stream: stream}
		for range req.Choices {
			r.choices = append(r.choices, s.newChoice(p.Tokens))
		}
		s.runs = append(s.runs, r)
		s.total.PromptTokens += len(p.Tokens)
	}
	return nil
}

// ask sends a request to the engine, or searches for the most probable answers to it.
func (s *Stream) ask(ctx context.Context, req inference.Request) (inference.Stream, error) {
	if s.params.Beam != nil {
		return s.model.submitBeams(ctx, req, s.params), nil
	}
	return s.model.Engine.Submit(ctx, req)
}

func (s *Stream) refusal(err error) error {
	var length *inference.LengthError
	if errors.As(err, &length) {
		return &LengthError{MaxContext: length.MaxContext, PromptTokens: length.PromptTokens, OutputTokens: asked(s.params)}
	}
	return err
}

// Close ends what still runs. It may be called more than once, and after the end.
func (s *Stream) Close() {
	for _, r := range s.runs {
		r.stream.Close()
	}
}

// Usage counts the tokens that were told, and those of all prompts: the engine has accepted them.
func (s *Stream) Usage() chat.Usage { return s.total }

// Untold counts what an answer that is cut off has cost and no delta told: events that nobody read, and those of beams,
// which tell nothing before their search ends. It may be called after Close, wherever Next may.
func (s *Stream) Untold() chat.Usage {
	before, prompts := s.total, 0
	for i, r := range s.runs {
		prompts += s.readRest(i, r)
	}
	u := s.total
	u.PromptTokens = prompts
	u.CachedTokens -= before.CachedTokens
	u.OutputTokens -= before.OutputTokens
	u.ReasoningTokens -= before.ReasoningTokens
	for _, r := range s.runs {
		search, ok := r.stream.(*beamSearch)
		if !ok {
			continue
		}
		u.OutputTokens += search.untold()
		if search.prompt != nil {
			u.PromptTokens += len(r.prompt.Tokens)
			u.CachedTokens += r.cachedTokens(search.prompt)
		}
	}
	return u
}

// readRest reads the events that a closed stream still has. It returns the tokens of the prompt if that was not told.
func (s *Stream) readRest(index int, r *run) (prompt int) {
	for {
		event, err := r.stream.Next()
		if err != nil {
			return prompt
		}
		if d, ok := s.delta(r, index, event); ok && d.Prompt != nil {
			prompt = len(r.prompt.Tokens)
		}
	}
}

// Next waits for the next delta. After the last choice has ended it returns io.EOF.
func (s *Stream) Next() (chat.Delta, error) {
	for {
		r, index := s.pick()
		if r == nil {
			return chat.Delta{}, io.EOF
		}
		event, err := r.stream.Next()
		if errors.Is(err, io.EOF) {
			r.done = true
			continue
		}
		if err != nil {
			s.Close()
			return chat.Delta{}, err
		}
		if d, ok := s.delta(r, index, event); ok {
			return d, nil
		}
	}
}

// pick waits for a run that has something and returns it, and its index; nil if all are done. They take turns, and none waits
// for another, which may not have begun: what would end it is found here, and the engine goes on until then.
func (s *Stream) pick() (*run, int) {
	for {
		done := true
		for range s.runs {
			i := s.turn
			s.turn = (s.turn + 1) % len(s.runs)
			r := s.runs[i]
			if !r.done && r.stream.Ready(s.wake) {
				return r, i
			}
			done = done && r.done
		}
		if done {
			return nil, 0
		}
		<-s.woken
	}
}

// delta makes an event of a run into a delta. It reports false for events of a choice that has ended.
func (s *Stream) delta(r *run, index int, event inference.Event) (chat.Delta, bool) {
	d := chat.Delta{Choice: index*len(r.choices) + event.Choice, At: event.Time}
	if event.Prompt != nil {
		s.meetPrompt(r, event.Prompt)
	}
	c := r.choices[event.Choice]
	if c.ended {
		return d, false
	}
	if !r.told {
		r.told = true
		d.Prompt = &r.prompt
	}
	s.clock.meet(event, c.tokens == 0)
	before := c.usage()
	c.add(event, &d)
	if c.stopped {
		r.stream.Stop(event.Choice)
	}
	if c.ended && s.remember {
		s.model.remember(r.prompt.Tokens, c.ids, s.params.CacheSalt)
	}
	after := c.usage()
	s.total.OutputTokens += after.OutputTokens - before.OutputTokens
	s.total.ReasoningTokens += after.ReasoningTokens - before.ReasoningTokens
	d.Usage = after
	d.Usage.PromptTokens, d.Usage.CachedTokens = len(r.prompt.Tokens), r.cached
	d.Total = s.total
	d.Timings = s.clock.timings(s.total.CachedTokens)
	return d, true
}

func (s *Stream) meetPrompt(r *run, info *inference.PromptInfo) {
	r.cached = r.cachedTokens(info)
	s.total.CachedTokens += r.cached
	s.clock.prefill += len(r.prompt.Tokens) - r.cached
	if s.clock.started.IsZero() || info.Started.Before(s.clock.started) {
		s.clock.started = info.Started
	}
	if info.Logprobs != nil || s.params.PromptLogprobs != nil || s.params.Echo && s.params.Logprobs != nil {
		r.prompt.Logprobs = s.model.promptTokens(r.prompt, info.Logprobs, s.params)
	}
}

// cachedTokens returns how many tokens of the prompt were not computed: the last one always is.
func (r *run) cachedTokens(info *inference.PromptInfo) int {
	return min(info.CachedTokens, len(r.prompt.Tokens)-1)
}

// meet notes when an event was made. An event without a token ends a prompt that was only scored.
func (c *clock) meet(e inference.Event, firstOfChoice bool) {
	if e.Token == token.None && !c.first.IsZero() {
		return
	}
	if c.first.IsZero() {
		c.first = e.Time
	}
	if e.Time.After(c.last) {
		c.last = e.Time
	}
	if e.Token != token.None && !firstOfChoice {
		c.decode++
	}
}

func (c *clock) timings(cached int) chat.Timings {
	return chat.Timings{
		Queue: max(0, c.started.Sub(c.begun)), Prefill: max(0, c.first.Sub(c.started)), Decode: max(0, c.last.Sub(c.first)),
		PrefillTokens: c.prefill, DecodeTokens: c.decode, CachedTokens: cached,
	}
}
