// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/sampler"
	"github.com/sampo-ai/sampo/internal/scheduler"
)

// compute runs the batch through the model and does the jobs on its logits. Engines that share a pool take turns here.
func (e *Engine) compute(b *scheduler.Batch) error {
	if e.cfg.Threads != nil {
		e.cfg.Threads.Lock()
		defer e.cfg.Threads.Unlock()
	}
	for _, c := range b.Copies {
		e.copyBlock(c.Group, c.Dst, c.Src)
	}
	hidden, err := e.model.Forward(&e.step.batch, e.cache)
	if err != nil {
		return err
	}
	e.scheduler.Done(b)
	outputs := len(e.step.batch.Outputs)
	if outputs == 0 {
		return nil
	}
	width := len(hidden) / outputs
	done := 0
	for first := 0; first < outputs; first += e.logits.most {
		n := min(e.logits.most, outputs-first)
		e.model.Head(e.logits.first(n), hidden[first*width:(first+n)*width], n)
		done = e.runJobs(done, first, n)
	}
	return nil
}

// runJobs does the jobs on rows first to first+n-1, whose logits are there, and returns the place of the next one.
func (e *Engine) runJobs(at, first, n int) int {
	end := at
	for end < len(e.step.jobs) && e.step.jobs[end].row < first+n {
		end++
	}
	e.step.at, e.step.end, e.step.first = at, end, first
	if e.cfg.Threads != nil {
		e.cfg.Threads.Do(end-at, e.step.work)
		return end
	}
	for i := range end - at {
		e.step.work(i, 0)
	}
	return end
}

// runJob does the i-th job of the Head under way, and those on guesses that follow it. It runs on any worker.
func (e *Engine) runJob(i, worker int) {
	jobs := e.step.jobs[e.step.at:e.step.end]
	if jobs[i].link && i > 0 {
		return // it is done with the one before it
	}
	e.try(&jobs[i], worker)
	for i++; i < len(jobs) && jobs[i].link; i++ {
		e.try(&jobs[i], worker)
	}
}

// try does one job. A panic is the job's error.
func (e *Engine) try(j *job, worker int) {
	if j.row < 0 {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			j.err = failure(p)
			j.choice.straight = false
		}
	}()
	j.do(e.logits.row(j.row-e.step.first), e.samplers[worker])
}

// do samples, or scores a prompt token.
//
// Shapes: row [V].
func (j *job) do(row []float32, s *sampler.Sampler) {
	c, r := j.choice, j.choice.req
	if j.score > 0 {
		j.own, j.top, j.err = s.Logprobs(row, r.Prompt[j.score], r.PromptLogprobs)
		return
	}
	if c.straight = !j.link || c.straight && c.drawn == j.guess; !c.straight {
		return
	}
	if j.token, j.err = s.Sample(row, c.state); j.err == nil && r.Logprobs >= 0 {
		j.own, j.top, j.err = s.Logprobs(row, j.token, r.Logprobs)
	}
	if j.err == nil && r.Kept {
		j.err = s.Keep(j.top, row, c.state)
	}
	if c.straight = j.err == nil; c.straight {
		c.state.Add(j.token)
		c.drawn, j.drew = j.token, true
	}
}

// tokenLogprobs returns entries in the contract's form, after own if that is wanted in front.
func tokenLogprobs(front, top []sampler.Logprob) []inference.TokenLogprob {
	if len(front)+len(top) == 0 {
		return nil
	}
	list := make([]inference.TokenLogprob, 0, len(front)+len(top))
	for _, l := range front {
		list = append(list, inference.TokenLogprob(l))
	}
	for _, l := range top {
		list = append(list, inference.TokenLogprob(l))
	}
	return list
}
