// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
)

// A Subject is an open model.
type Subject struct {
	Name      string
	FileBytes int64
	Source    weights.Source // of its tensors
	Model     model.Model
}

// Options say what is measured. Every context is measured with the first number of sequences, and every number of
// sequences at the first context.
type Options struct {
	Prefill      []int // tokens of prompts
	DecodeTokens int   // steps of a measurement of decode
	Context      []int // tokens in the cache before the first step
	Parallel     []int // sequences that decode together
	Repeat       int   // measurements of each case; the median counts

	CPU       string                // name of the processor
	FreeBytes func() (int64, error) // memory that cases may take; nil: any
	Progress  func(text string)     // is told what comes next; may be nil

	limits    func(*tensor.Pool) (Limits, error) // in place of MeasureLimits, in tests
	readBytes int                                // in place of the constant, in tests
}

// DefaultOptions is what a full run measures; QuickOptions is for a first look.
func DefaultOptions() Options {
	return Options{
		Prefill: []int{32, 128, 512, 2048}, DecodeTokens: 32, Context: []int{0, 1024, 4096, 16384},
		Parallel: []int{1, 2, 4, 8, 16, 32}, Repeat: 3,
	}
}

// QuickOptions measures a prompt of 512 tokens and one sequence at context 0.
func QuickOptions() Options {
	opt := DefaultOptions()
	opt.Prefill, opt.Context, opt.Parallel = []int{512}, []int{0}, []int{1}
	return opt
}

// Check reports what is wrong with the options.
func (o *Options) Check() error {
	for _, list := range []struct {
		name   string
		values []int
		least  int
	}{
		{"prefill", o.Prefill, 1},
		{"decode-tokens", []int{o.DecodeTokens}, 1},
		{"context", o.Context, 0},
		{"parallel", o.Parallel, 1},
		{"repeat", []int{o.Repeat}, 1},
	} {
		for _, v := range list.values {
			if v < list.least || v > maxOption {
				return fmt.Errorf("%s: got %d, want %d to %d", list.name, v, list.least, maxOption)
			}
		}
	}
	if (len(o.Context) == 0) != (len(o.Parallel) == 0) {
		return fmt.Errorf("context and parallel: want values for both, or for neither")
	}
	return nil
}

// maxOption keeps sums and products of options far from overflowing.
const maxOption = 1 << 24

// A decodeCase is one line of the decode table.
type decodeCase struct{ context, parallel int }

// decodeCases lists every context with the first number of sequences, then every further number of sequences at the
// first context.
func (o *Options) decodeCases() []decodeCase {
	var cases []decodeCase
	add := func(c decodeCase) {
		if !slices.Contains(cases, c) {
			cases = append(cases, c)
		}
	}
	for _, context := range o.Context {
		add(decodeCase{context, o.Parallel[0]})
	}
	for _, parallel := range o.Parallel {
		add(decodeCase{o.Context[0], parallel})
	}
	return cases
}

// A runner is one run.
type runner struct {
	Subject
	opt    Options
	pool   *tensor.Pool
	costs  Costs
	report *Report

	prefillWork, decodeWork []Work // of each result
}

// Run measures the limits of the machine and the model's speed. Cases that the model's context or the free memory cannot
// hold are left out.
func Run(ctx context.Context, s Subject, pool *tensor.Pool, opt Options) (*Report, error) {
	if err := opt.Check(); err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	if opt.readBytes == 0 {
		opt.readBytes = readBytes
	}
	costs, err := NewCosts(s.Model.Config(), s.Source)
	if err != nil {
		return nil, err
	}
	r := &runner{Subject: s, opt: opt, pool: pool, costs: costs, report: &Report{
		Model: s.Name, FileBytes: s.FileBytes, CPU: opt.CPU, Tier: kernel.Tier(), Threads: pool.Threads(),
		Prefill: []PrefillResult{}, Decode: []DecodeResult{}, Token: costs.decode(0, 1, 1),
	}}
	before := currentUsage()
	for _, measure := range []func(context.Context) error{r.limits, r.prefills, r.decodes, r.limits} {
		if err := measure(ctx); err != nil {
			return nil, err
		}
	}
	r.report.Noise = noiseBetween(before, currentUsage(), currentLoad())
	r.finish()
	return r.report, nil
}

func (r *runner) progress(format string, args ...any) {
	if r.opt.Progress != nil {
		r.opt.Progress(fmt.Sprintf(format, args...))
	}
}

// limits measures the machine, before and after the model: what else runs may be over by then.
func (r *runner) limits(ctx context.Context) error {
	r.progress("limits of the machine")
	if err := ctx.Err(); err != nil {
		return err
	}
	measure := MeasureLimits
	if r.opt.limits != nil {
		measure = r.opt.limits
	}
	l, err := measure(r.pool)
	r.report.Limits = r.report.Limits.best(l)
	return err
}

func (r *runner) prefills(ctx context.Context) error {
	for _, tokens := range r.opt.Prefill {
		if !r.fits(fmt.Sprintf("prefill of %d tokens", tokens), cacheBytes(r.Model.Config(), tokens, 1), tokens) {
			continue
		}
		if err := r.prefill(ctx, tokens); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) prefill(ctx context.Context, tokens int) error {
	s := newSequences(r.Model, r.pool, tokens, 1)
	defer s.close()
	seconds, err := r.measure(ctx, func() error { return s.prefill(tokens) })
	if err != nil {
		return err
	}
	r.report.Prefill = append(r.report.Prefill, PrefillResult{Tokens: tokens, Speed: float64(tokens) / seconds})
	r.prefillWork = append(r.prefillWork, r.costs.prefill(tokens, prefillChunk))
	return nil
}

func (r *runner) decodes(ctx context.Context) error {
	for _, c := range r.opt.decodeCases() {
		tokens := c.context + r.opt.DecodeTokens
		need := cacheBytes(r.Model.Config(), tokens, c.parallel)
		if c.context > 0 {
			need += int64(r.opt.readBytes)
		}
		if !r.fits(fmt.Sprintf("decode at context %d, %d sequences", c.context, c.parallel), need, tokens) {
			continue
		}
		if err := r.decode(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) decode(ctx context.Context, c decodeCase) error {
	steps := r.opt.DecodeTokens
	s := newSequences(r.Model, r.pool, c.context+steps, c.parallel)
	defer s.close()
	seconds, err := r.measure(ctx, func() error { return s.decode(c.context, steps) })
	if err != nil {
		return err
	}
	r.report.Decode = append(r.report.Decode, DecodeResult{Context: c.context, Parallel: c.parallel, Speed: float64(steps*c.parallel) / seconds})
	r.decodeWork = append(r.decodeWork, r.costs.decode(c.context, steps, c.parallel))
	if c.context == 0 {
		return nil
	}
	cost, err := r.contextCost(ctx, s, c)
	r.report.Contexts = append(r.report.Contexts, cost)
	return err
}

// fits reports whether a case with so many tokens a sequence can be measured, which needs so many bytes; if not, the report says
// why.
func (r *runner) fits(what string, need int64, tokens int) bool {
	if most := r.Model.Config().MaxContext; tokens > most {
		r.report.LeftOut = append(r.report.LeftOut, fmt.Sprintf("%s: the model's context is %d tokens", what, most))
		return false
	}
	if r.opt.FreeBytes != nil {
		if free, err := r.opt.FreeBytes(); err == nil && need > free/10*9 {
			r.report.LeftOut = append(r.report.LeftOut, fmt.Sprintf("%s: it needs %d MB, and %d MB are free", what, need/1e6, free/1e6))
			return false
		}
	}
	r.progress("%s", what)
	return true
}

// measure returns the median time of a piece of work, in seconds. Once it is done for nothing, so that all buffers have
// their size.
func (r *runner) measure(ctx context.Context, work func() error) (float64, error) {
	var times []float64
	for i := range r.opt.Repeat + 1 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := work(); err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, time.Since(start).Seconds())
		}
	}
	return median(times), nil
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// finish computes the shares, once the limits are known, and rounds.
func (r *runner) finish() {
	rep := r.report
	rep.Noisy = rep.Noise.Noisy()
	for i := range rep.Prefill {
		p := &rep.Prefill[i]
		p.Share, p.Bound = rep.Limits.share(r.prefillWork[i], float64(p.Tokens)/p.Speed)
		p.Speed, p.Share = significant(p.Speed), significant(p.Share)
	}
	for i := range rep.Decode {
		d := &rep.Decode[i]
		d.Share, d.Bound = rep.Limits.share(r.decodeWork[i], float64(r.opt.DecodeTokens*d.Parallel)/d.Speed)
		d.Speed, d.Share = significant(d.Speed), significant(d.Share)
	}
	rep.Limits = rep.Limits.rounded()
}
