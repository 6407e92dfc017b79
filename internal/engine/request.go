// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/sampler"
	"github.com/sampo-ai/sampo/internal/scheduler"
	"github.com/sampo-ai/sampo/internal/token"
)

// roomTokens is the output that a sequence has memory for from the start; more is allocated as it grows.
const roomTokens = 1024

// A request is an inference.Request in the engine. Only the engine's goroutine touches it, but for queue.
type request struct {
	inference.Request
	queue     *inference.Queue
	unhook    func() bool // takes back the hook on the client's context
	choices   []*choice   // the first has the prompt computed; the others fork from it
	maxOutput int         // tokens of each choice
	forked    bool        // the prompt is computed and every choice goes its own way
	told      bool        // the prompt information was sent
	gone      bool        // it left
	arrived   time.Time   // when Submit took it
	started   time.Time   // of the first step that worked on it
	revival   revival
	scores    [][]inference.TokenLogprob
}

// A choice is one sequence. It stands for several choices of the request when those must be equal.
type choice struct {
	seq      scheduler.Sequence
	req      *request
	numbers  []int // the request's choices that still want its tokens
	state    *sampler.State
	output   int // tokens generated
	guesser  guesser
	drawn    token.ID // the latest token of the step under way
	straight bool     // and every guess before it was right
	guessing bool     // guesses of the step under way are still to be judged
	long     bool     // its tokens are more than the model's LongAfter, and its keys of that kind
}

// newRequest checks req and prepares its choices.
func newRequest(req inference.Request, cfg *Config) (*request, error) {
	if err := checkRequest(&req, cfg); err != nil {
		return nil, err
	}
	r := &request{Request: req, maxOutput: req.MaxTokens}
	if req.MaxTokens == inference.Unlimited {
		r.maxOutput = cfg.MaxContext - len(req.Prompt)
	}
	r.Choices = max(1, req.Choices)
	r.forked = r.Choices == 1
	params := samplingParams(&r.Request)
	state := sampler.NewState(params, req.Prompt, 0)
	for i := range r.Choices {
		if i > 0 && (params.Temperature == 0 || r.maxOutput == 0) {
			r.choices[0].numbers = append(r.choices[0].numbers, i)
			r.forked = true
			continue
		}
		c := &choice{req: r, numbers: []int{i}, state: state.Sibling(seed(&req, i))}
		c.long = cfg.longAfter > 0 && len(req.Prompt) > cfg.longAfter
		c.seq.Owner, c.seq.Priority, c.seq.Tenant = c, req.Priority, req.Tenant
		r.choices = append(r.choices, c)
	}
	first := &r.choices[0].seq
	first.Tokens = r.tokens(req.Prompt)
	first.SkipCache = r.SkipCache || r.scoring()
	if r.scoring() {
		r.scores = make([][]inference.TokenLogprob, len(req.Prompt)-1)
	}
	return r, nil
}

func checkRequest(req *inference.Request, cfg *Config) error {
	if len(req.Prompt) == 0 {
		return fmt.Errorf("engine: request %s: empty prompt", req.ID)
	}
	if req.MaxTokens < inference.Unlimited {
		return fmt.Errorf("engine: request %s: %d output tokens", req.ID, req.MaxTokens)
	}
	// Scoring needs no room for output; everything else for one token at least.
	least := req.MaxTokens
	if req.MaxTokens == inference.Unlimited {
		least = 1
	}
	if least > cfg.MaxContext-len(req.Prompt) {
		return &inference.LengthError{PromptTokens: len(req.Prompt), OutputTokens: max(0, req.MaxTokens), MaxContext: cfg.MaxContext}
	}
	for i, id := range req.Prompt {
		if id < 0 || int(id) >= cfg.vocab {
			return fmt.Errorf("engine: request %s: prompt token %d is %d, want 0 to %d", req.ID, i, id, cfg.vocab-1)
		}
	}
	return nil
}

// seed returns the seed of a choice.
func seed(req *inference.Request, choice int) uint64 {
	if req.Sampling.Seed == nil {
		return rand.Uint64()
	}
	return uint64(*req.Sampling.Seed) + uint64(choice)
}

func samplingParams(req *inference.Request) sampler.Params {
	s := &req.Sampling
	p := sampler.Params{
		Temperature: s.Temperature,
		TopP:        s.TopP,
		TopK:        s.TopK,
		MinP:        s.MinP,
		Repetition:  s.RepetitionPenalty,
		Presence:    s.PresencePenalty,
		Frequency:   s.FrequencyPenalty,
		Allowed:     s.Allowed,
		BadWords:    s.BadWords,
		MinTokens:   req.MinTokens,
	}
	for _, b := range s.Bias {
		p.Bias = append(p.Bias, sampler.Bias(b))
	}
	if req.Budget != nil {
		budget := sampler.Budget(*req.Budget)
		p.Budget = &budget
	}
	if req.MinTokens > 0 {
		p.Ends = slices.Concat([]token.ID{req.EOS}, req.MoreEOS, req.Stop)
	}
	return p
}

// root returns the name that the names of the choice's blocks start from.
func (c *choice) root() kvcache.Hash {
	if c.long {
		return kvcache.LongRoot(c.req.CacheSalt)
	}
	return kvcache.Root(c.req.CacheSalt)
}

// tokens returns a list that begins with prompt and has room to grow.
func (r *request) tokens(prompt []token.ID) []token.ID {
	list := make([]token.ID, 0, len(prompt)+min(r.maxOutput, roomTokens))
	return append(list, prompt...)
}

// scoring reports whether prompt logprobs are wanted and not all there.
func (r *request) scoring() bool {
	return r.PromptLogprobs >= 0 && len(r.Prompt) > 1 && !r.told
}

// live reports whether any choice still wants tokens.
func (r *request) live() bool {
	return slices.ContainsFunc(r.choices, func(c *choice) bool { return len(c.numbers) > 0 })
}

// finish says whether a choice ends with the token id, its latest.
func (c *choice) finish(id token.ID, maxContext int) inference.Finish {
	r := c.req
	switch {
	case c.output < r.MinTokens:
	case id == r.EOS && !r.IgnoreEOS:
		return inference.FinishEOS
	case slices.Contains(r.Stop, id), slices.Contains(r.MoreEOS, id) && !r.IgnoreEOS:
		return inference.FinishStop
	}
	if c.output >= r.maxOutput || len(r.Prompt)+c.output >= maxContext {
		return inference.FinishLength
	}
	return inference.Running
}
