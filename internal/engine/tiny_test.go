// SPDX-License-Identifier: Apache-2.0

//go:build !race

// The race detector slows the plain Go kernels down by two orders of magnitude, and the fake model covers the engine's
// own concurrency.

package engine

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/kvcache/disk"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/tiny"
	"github.com/sampo-ai/sampo/internal/token"
)

// tinyBuilders make the tiny models by the name of their kind.
var tinyBuilders = map[string]func(*tensor.Pool, quant.Type, uint64) (model.Model, error){
	"llama": tiny.Llama, "gemma3": tiny.Gemma3, "longrope": tiny.LongRope,
}

// tinyModel makes one of the tiny models on a pool of its own.
func tinyModel(t *testing.T, family string, kind quant.Type, threads int) (model.Model, *tensor.Pool) {
	t.Helper()
	pool := tensor.NewPool(threads)
	m, err := tinyBuilders[family](pool, kind, 7)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		pool.Close()
	})
	return m, pool
}

// tinyRequests are greedy and seeded requests, some with a common start, some with several choices.
func tinyRequests(r *rand.Rand) []inference.Request {
	common := make([]token.ID, 120)
	for i := range common {
		common[i] = token.ID(r.IntN(tiny.Vocab))
	}
	var requests []inference.Request
	for i := range 10 {
		prompt := slices.Clone(common[:r.IntN(len(common))])
		for range 1 + r.IntN(40) {
			prompt = append(prompt, token.ID(r.IntN(tiny.Vocab)))
		}
		req := plainRequest(prompt, 20+r.IntN(60))
		req.Logprobs = 2
		if i%2 == 0 {
			s := int64(i)
			req.Sampling = inference.Sampling{Temperature: 0.9, Seed: &s, TopP: 0.95}
			req.Choices = 1 + i%3
		}
		requests = append(requests, req)
	}
	return requests
}

func TestRealModelsGiveTheSameTokensHoweverTheyRun(t *testing.T) {
	for _, family := range []string{"llama", "gemma3", "longrope"} {
		for _, kind := range []quant.Type{quant.F32, quant.Q80} {
			t.Run(fmt.Sprintf("%s/%v", family, kind), func(t *testing.T) {
				t.Parallel()
				requests := tinyRequests(rand.New(rand.NewPCG(3, 9)))
				want := aloneAnswers(t, family, kind, requests)
				for seed := range uint64(4) {
					compareTogether(t, family, kind, requests, want, seed)
				}
			})
		}
	}
}

// aloneAnswers runs each request by itself, in one chunk, without a cache, on one thread.
func aloneAnswers(t *testing.T, family string, kind quant.Type, requests []inference.Request) []answer {
	m, _ := tinyModel(t, family, kind, 1)
	e, err := New(m, Config{NoPrefixCache: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	for _, req := range requests {
		a := submitAndRead(t.Context(), e, req)
		if a.err != nil {
			t.Fatal(a.err)
		}
		answers = append(answers, a)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return answers
}

// compareTogether runs the requests together, twice, under random limits.
func compareTogether(t *testing.T, family string, kind quant.Type, requests []inference.Request, want []answer, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 21))
	m, pool := tinyModel(t, family, kind, 1+int(seed)%3)
	c := m.Config()
	cfg := Config{MaxRunning: 2 + r.IntN(8), MixedTokens: r.IntN(50), Threads: pool, Logger: slog.New(slog.DiscardHandler), MaxContext: 250}
	cfg.MaxBatchTokens = cfg.MaxRunning + r.IntN(100)
	for _, g := range c.CacheGroups() {
		cfg.Blocks = append(cfg.Blocks, g.Blocks(cfg.MaxContext, cfg.MaxBatchTokens, model.BlockSize)+r.IntN(6))
	}
	e, err := New(m, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		streams := make([]inference.Stream, len(requests))
		for i, req := range requests {
			if streams[i], err = e.Submit(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
		for i, s := range streams {
			got := read(s, max(1, requests[i].Choices))
			compareAnswers(t, fmt.Sprintf("limits %d, round %d, request %d", seed, round, i), got, want[i])
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	checkEmpty(t, e)
}

func compareAnswers(t *testing.T, where string, got, want answer) {
	t.Helper()
	if got.err != nil {
		t.Errorf("%s: %v", where, got.err)
		return
	}
	for choice := range want.tokens {
		if !slices.Equal(got.tokens[choice], want.tokens[choice]) {
			t.Errorf("%s: choice %d:\ngot   %v\nalone %v", where, choice, got.tokens[choice], want.tokens[choice])
			return
		}
	}
	logprobs := func(a answer) (list []float32) {
		for choice := range a.tokens {
			for _, e := range a.events {
				if e.Choice == choice {
					list = append(list, e.Logprob)
				}
			}
		}
		return list
	}
	if !slices.Equal(logprobs(got), logprobs(want)) {
		t.Errorf("%s: equal tokens with other logprobs", where)
	}
}

func TestDraftModelsChangeNothing(t *testing.T) {
	requests := tinyRequests(rand.New(rand.NewPCG(4, 9)))
	for _, tt := range []struct {
		name          string
		target, draft string
		seed          uint64
		exact         bool
	}{
		{"the model itself", "llama", "llama", 7, true},
		{"another model", "llama", "llama", 8, false},
		{"one with windows", "llama", "gemma3", 9, false},
		{"one with LongRoPE", "llama", "longrope", 7, false},
		{"a target with LongRoPE", "longrope", "llama", 7, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := aloneAnswers(t, tt.target, quant.F32, requests)
			m, pool := tinyModel(t, tt.target, quant.F32, 2)
			draft, err := tinyBuilders[tt.draft](pool, quant.F32, tt.seed)
			if err != nil {
				t.Fatal(err)
			}
			e, err := newEngine(m, Config{Threads: pool, Draft: draft, DraftTokens: 4, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			e.pace.pretend(0)
			go e.run()
			streams := make([]inference.Stream, len(requests))
			for i, req := range requests {
				if streams[i], err = e.Submit(t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			for i, s := range streams {
				compareAnswers(t, fmt.Sprintf("request %d", i), read(s, max(1, requests[i].Choices)), want[i])
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			checkEmpty(t, e)
			s := e.Stats()
			t.Logf("%d of %d guesses were right", s.AcceptedTokens, s.DraftTokens)
			if e.drafter == nil || s.DraftTokens < 100 || tt.exact && s.AcceptedTokens < s.DraftTokens/2 {
				t.Errorf("%d of %d guesses were right", s.AcceptedTokens, s.DraftTokens)
			}
		})
	}
}

func TestRealBlocksComeBackFromTheDisk(t *testing.T) {
	for _, family := range []string{"llama", "gemma3", "longrope"} {
		t.Run(family, func(t *testing.T) {
			requests := tinyRequests(rand.New(rand.NewPCG(8, 9)))
			want := aloneAnswers(t, family, quant.Q80, requests)
			dir := t.TempDir()
			for round := range 2 {
				store, err := disk.Open(dir, []byte(family), 64<<20, 64<<20)
				if err != nil {
					t.Fatal(err)
				}
				m, pool := tinyModel(t, family, quant.Q80, 2)
				e, err := New(m, Config{Threads: pool, Disk: store, Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				for i, req := range requests {
					compareAnswers(t, fmt.Sprintf("round %d, request %d", round, i), submitAndRead(t.Context(), e, req), want[i])
					waitForDisk(t, e, req.Prompt)
				}
				if s := e.Stats(); round == 1 && s.CachedTokens*2 < s.PromptTokens {
					t.Errorf("%d of %d prompt tokens cached after a restart, want most", s.CachedTokens, s.PromptTokens)
				}
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
