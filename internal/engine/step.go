// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/sampler"
	"github.com/sampo-ai/sampo/internal/scheduler"
	"github.com/sampo-ai/sampo/internal/token"
)

// A step is the work under way, and the buffers of all steps.
type step struct {
	requests  []*request // whose tokens are computed; each once
	submitted int        // requests taken since the figures were last published
	scheduled bool       // the scheduler returned: its books are in order
	prefill   int        // tokens of prompts
	before    int        // tokens before those that do not decode, added up
	decode    int        // rows of sequences that decode, guesses included; all others bring lists to their end
	context   int        // tokens before those rows, added up
	batch     model.Batch
	jobs      []job // in the order of their rows
	tally     tally
	at, end   int // jobs of the Head under way
	first     int // its first row
	began     time.Time
	failed    error // why it failed
	work      func(i, worker int)
}

// A job is what is done with one row of logits.
type job struct {
	choice *choice
	row    int  // of the batch's outputs
	score  int  // position of the prompt token whose logprobs are wanted; 0: sample
	link   bool // the row is that of a guess, and counts if the job before drew it
	guess  token.ID

	drew  bool // token is there
	token token.ID
	own   sampler.Logprob
	top   []sampler.Logprob
	err   error
}

func (s *step) init(cfg *Config) {
	s.batch.Tokens = make([]token.ID, 0, cfg.MaxBatchTokens)
	s.batch.Positions = make([]int32, 0, cfg.MaxBatchTokens)
	s.batch.Sequences = make([]model.Sequence, 0, cfg.MaxRunning)
	rows := min(cfg.MaxBatchTokens, cfg.MaxRunning+maxDrafting*max(0, cfg.DraftTokens))
	s.batch.Outputs = make([]int32, 0, rows)
	s.jobs = make([]job, 0, rows)
	s.requests = make([]*request, 0, cfg.MaxRunning)
}

// reset forgets the last step and looks at the orders that come before the next.
func (s *step) reset(orders []order) {
	clear(s.requests)
	s.requests = s.requests[:0]
	clear(s.jobs)
	s.jobs = s.jobs[:0]
	s.submitted, s.scheduled, s.prefill, s.decode, s.context, s.before = 0, false, 0, 0, 0, 0
	s.tally, s.began, s.failed = tally{}, time.Time{}, nil
	for _, o := range orders {
		if o.kind == submit {
			s.submitted++
		}
	}
}

// begin makes the model's batch, and the jobs for its outputs.
func (s *step) begin(b *scheduler.Batch) {
	s.scheduled = true
	s.tally.preempted = len(b.Preempted)
	m := &s.batch
	m.Tokens, m.Positions, m.Sequences, m.Outputs = m.Tokens[:0], m.Positions[:0], m.Sequences[:0], m.Outputs[:0]
	for _, slice := range b.Slices {
		c := slice.Owner.(*choice)
		s.join(c.req)
		m.Sequences = append(m.Sequences, model.Sequence{
			Rows: slice.Count, Past: slice.First, Length: len(slice.Tokens) + slice.Drafts, Tables: slice.Table.Blocks(),
		})
		first := len(m.Tokens)
		end := slice.First + slice.Count - slice.Drafts
		m.Tokens = append(append(m.Tokens, slice.Tokens[slice.First:end]...), slice.Draft[:slice.Drafts]...)
		for pos := slice.First; pos < slice.First+slice.Count; pos++ {
			m.Positions = append(m.Positions, int32(pos))
		}
		if c.req.scoring() {
			s.scoreJobs(c, slice, first)
		}
		if end == len(slice.Tokens) {
			s.sampleJobs(c, first+end-slice.First-1)
			s.draftJobs(c, slice, first+end-slice.First)
		}
		if slice.Drafts > 0 || end == len(slice.Tokens) && slice.Count == 1 {
			s.decode += slice.Count
			s.context += slice.Count * slice.First
		} else {
			s.before += slice.Count * slice.First
		}
		if slice.First < len(c.req.Prompt) {
			s.prefill += min(end, len(c.req.Prompt)) - slice.First
		}
	}
}

// join adds a request to those of the step. The slices of one request need not be neighbours, but few have several.
func (s *step) join(r *request) {
	if r.Choices > 1 {
		for _, other := range s.requests {
			if other == r {
				return
			}
		}
	}
	s.requests = append(s.requests, r)
}

// output wants the hidden state of a row of the batch and returns its place among the outputs.
func (s *step) output(row int) int {
	s.batch.Outputs = append(s.batch.Outputs, int32(row))
	return len(s.batch.Outputs) - 1
}

// scoreJobs wants the logprobs of the prompt tokens that follow those of the slice, whose first row is row.
func (s *step) scoreJobs(c *choice, slice scheduler.Slice, row int) {
	for i := range slice.Count {
		if next := slice.First + i + 1; next < len(c.req.Prompt) {
			s.jobs = append(s.jobs, job{choice: c, row: s.output(row + i), score: next})
		}
	}
}

// sampleJobs wants the next token of c, or of each choice that starts from its prompt, from the given row.
func (s *step) sampleJobs(c *choice, row int) {
	if c.req.maxOutput == 0 {
		// The job has no row: it only tells that the prompt is done.
		s.jobs = append(s.jobs, job{choice: c, row: -1})
		return
	}
	out := s.output(row)
	if c.req.forked {
		s.jobs = append(s.jobs, job{choice: c, row: out})
		return
	}
	for _, sibling := range c.req.choices {
		if len(sibling.numbers) > 0 {
			s.jobs = append(s.jobs, job{choice: sibling, row: out})
		}
	}
}

// draftJobs wants the tokens that follow the guesses of c, whose first row is row.
func (s *step) draftJobs(c *choice, slice scheduler.Slice, row int) {
	for i := range slice.Drafts {
		s.jobs = append(s.jobs, job{choice: c, row: s.output(row + i), link: true, guess: slice.Draft[i]})
	}
	if c.guessing = slice.Drafts > 0; c.guessing {
		s.tally.drafts++
		s.tally.guesses += slice.Drafts
	}
}

// ids returns the names of the step's requests, for the log.
func (s *step) ids() []string {
	var ids []string
	for _, r := range s.requests {
		ids = append(ids, r.ID)
	}
	return ids
}
