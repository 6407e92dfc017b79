// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit"
	"github.com/sampo-ai/sampo/internal/testkit/tiny"
	"github.com/sampo-ai/sampo/internal/weights"
)

// knownLimits takes the place of a measurement.
func knownLimits(*tensor.Pool) (Limits, error) {
	return Limits{ReadGBps: 10, Int8GMACs: 100, FP32GMACs: 20}, nil
}

// tinySubject opens one of the tiny models. Its source is not the model's own, but has an output matrix.
func tinySubject(t *testing.T, load func(*tensor.Pool, quant.Type, uint64) (model.Model, error)) (Subject, *tensor.Pool) {
	t.Helper()
	pool := tensor.NewPool(2)
	t.Cleanup(pool.Close)
	m, err := load(pool, quant.Q80, 1)
	if err != nil {
		t.Fatal(err)
	}
	src := &fakeSource{tensors: map[string]weights.Tensor{}}
	src.add("model.embed_tokens.weight", quant.Q80, tiny.Vocab, 64)
	src.add("lm_head.weight", quant.Q80, tiny.Vocab, 64)
	return Subject{Name: "tiny", FileBytes: 12345, Source: src, Model: m}, pool
}

func TestRunMeasuresWhatFitsTheContext(t *testing.T) {
	subject, pool := tinySubject(t, tiny.Gemma3)
	var told []string
	report, err := Run(t.Context(), subject, pool, Options{
		Prefill: []int{8, 40, tiny.MaxContext, tiny.MaxContext + 1}, DecodeTokens: 3,
		Context: []int{0, 100, tiny.MaxContext - 2}, Parallel: []int{1, 5}, Repeat: 2,
		CPU: "a processor", Progress: func(text string) { told = append(told, text) }, limits: knownLimits, readBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	var prefill []int
	for _, p := range report.Prefill {
		prefill = append(prefill, p.Tokens)
		if p.Speed <= 0 || p.Share <= 0 {
			t.Errorf("prefill of %d tokens: %+v, want a speed and a share", p.Tokens, p)
		}
	}
	if diff := cmp.Diff([]int{8, 40, tiny.MaxContext}, prefill); diff != "" {
		t.Errorf("prefill sizes (-want +got):\n%s", diff)
	}
	var decode [][2]int
	for _, d := range report.Decode {
		decode = append(decode, [2]int{d.Context, d.Parallel})
		if d.Speed <= 0 || d.Share <= 0 || d.Bound != boundMemory && d.Bound != boundCompute {
			t.Errorf("decode %+v, want a speed, a share and a bound", d)
		}
	}
	if diff := cmp.Diff([][2]int{{0, 1}, {100, 1}, {0, 5}}, decode); diff != "" {
		t.Errorf("decode cases (-want +got):\n%s", diff)
	}
	if len(report.Contexts) != 1 || report.Contexts[0].Context != 100 || report.Contexts[0].Parallel != 1 || report.Contexts[0].Reading <= 0 {
		t.Errorf("costs of contexts: %+v, want that of 100 tokens beside its reading", report.Contexts)
	}
	if len(report.LeftOut) != 2 || !strings.Contains(strings.Join(report.LeftOut, "\n"), "the model's context is 512 tokens") {
		t.Errorf("left out: %q, want a prefill and a decode with reasons", report.LeftOut)
	}
	if report.Model != "tiny" || report.FileBytes != 12345 || report.CPU != "a processor" || report.Threads != 2 {
		t.Errorf("got %+v, want the subject's and the pool's facts", report)
	}
	if len(told) != 8 {
		t.Errorf("progress was told %q, want twice the limits and six cases", told)
	}
}

// A watched model remembers its caches.
type watched struct {
	model.Model
	caches []*model.Cache
}

func (w *watched) NewCache(blocks []int) *model.Cache {
	w.caches = append(w.caches, w.Model.NewCache(blocks))
	return w.caches[len(w.caches)-1]
}

// A case was left out for want of memory that the cache of the case before it still had.
func TestCachesAreGivenBackBeforeTheNextCase(t *testing.T) {
	subject, pool := tinySubject(t, tiny.Llama)
	w := &watched{Model: subject.Model}
	subject.Model = w
	opt := Options{Prefill: []int{8}, DecodeTokens: 1, Context: []int{0}, Parallel: []int{1}, Repeat: 1, limits: knownLimits}
	if _, err := Run(t.Context(), subject, pool, opt); err != nil {
		t.Fatal(err)
	}
	for i, cache := range w.caches {
		if n := len(cache.AppendBlock(nil, 0, 0)); n > 0 {
			t.Errorf("cache %d still has %d bytes in a block", i, n)
		}
	}
	if len(w.caches) != 2 {
		t.Errorf("%d caches, want one for each case", len(w.caches))
	}
}

func TestRunOfACancelledContextEnds(t *testing.T) {
	subject, pool := tinySubject(t, tiny.Llama)
	ctx, cancel := context.WithCancel(t.Context())
	opt := QuickOptions()
	opt.limits = func(p *tensor.Pool) (Limits, error) {
		cancel()
		return knownLimits(p)
	}
	if _, err := Run(ctx, subject, pool, opt); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestOptionsOutOfRangeAreNamed(t *testing.T) {
	for _, tt := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Prefill = []int{32, 0} }, "prefill: got 0"},
		{func(o *Options) { o.DecodeTokens = 0 }, "decode-tokens: got 0"},
		{func(o *Options) { o.Context = []int{-1} }, "context: got -1"},
		{func(o *Options) { o.Parallel = []int{0} }, "parallel: got 0"},
		{func(o *Options) { o.Parallel = []int{maxOption + 1} }, "parallel: got"},
		{func(o *Options) { o.Repeat = 0 }, "repeat: got 0"},
		{func(o *Options) { o.Parallel = nil }, "context and parallel"},
	} {
		o := DefaultOptions()
		tt.change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", err, tt.want)
		}
	}
	for _, o := range []Options{DefaultOptions(), QuickOptions()} {
		if err := o.Check(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestEveryContextRunsAloneAndEveryNumberOfSequencesAtTheFirstContext(t *testing.T) {
	o := Options{Context: []int{64, 128}, Parallel: []int{2, 4, 8}}
	want := []decodeCase{{64, 2}, {128, 2}, {64, 4}, {64, 8}}
	if diff := cmp.Diff(want, o.decodeCases(), cmp.AllowUnexported(decodeCase{})); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	if got := (&Options{}).decodeCases(); len(got) != 0 {
		t.Errorf("without contexts: got %v, want none", got)
	}
}

func exampleReport() *Report {
	return &Report{
		Model: "owner/model", FileBytes: 253113024, CPU: "A Processor", Tier: "avx512", Threads: 2, Noisy: true,
		Limits:   Limits{ReadGBps: 16.67, Int8GMACs: 474.1, FP32GMACs: 119.1},
		Prefill:  []PrefillResult{{Tokens: 512, Speed: 725.3, Share: 0.2895, Bound: "compute"}},
		Decode:   []DecodeResult{{Context: 1024, Parallel: 4, Speed: 42.68, Share: 0.97, Bound: "memory"}},
		Noise:    Noise{Known: true, Foreign: 0.123, Steal: 0.01, Load: 2.5, Pressure: 0.4},
		Token:    Work{Bytes: 240e6, Int8: 268e6},
		Contexts: []ContextCost{{Context: 1024, Parallel: 4, Added: 0.01234, Reading: 0.01, Ratio: 1.231}},
		LeftOut:  []string{"prefill of 2048 tokens: the model's context is 1024 tokens"},
	}
}

func TestReportsHaveTheirWrittenForms(t *testing.T) {
	text, err := json.MarshalIndent(exampleReport(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/golden/report.json", append(text, '\n'))
	var table bytes.Buffer
	if err := exampleReport().WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/golden/report.txt", table.Bytes())
}

func TestLimitsOfTwoMeasurementsAreTheBest(t *testing.T) {
	a, b := Limits{10, 100, 20, 0}, Limits{9, 110, 25, 40}
	if got, want := a.best(b), (Limits{10, 110, 25, 40}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCasesThatDoNotFitAreLeftOut(t *testing.T) {
	subject, pool := tinySubject(t, tiny.Llama)
	opt := Options{
		Prefill: []int{8}, DecodeTokens: 1, Context: []int{0}, Parallel: []int{1}, Repeat: 1, limits: knownLimits,
		FreeBytes: func() (int64, error) { return 1000, nil },
	}
	report, err := Run(t.Context(), subject, pool, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Prefill)+len(report.Decode) > 0 || len(report.LeftOut) != 2 || !strings.Contains(report.LeftOut[0], "and 0 MB are free") {
		t.Errorf("with 1000 bytes of memory: %d cases, left out %q", len(report.Prefill)+len(report.Decode), report.LeftOut)
	}
}
