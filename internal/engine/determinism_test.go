// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/token"
)

// randomRequest asks for anything that gives the same answer every time.
func randomRequest(r *rand.Rand, context int) inference.Request {
	req := plainRequest(randomPrompt(r, context*2/3), 0)
	req.MaxTokens = 1 + r.IntN(context-len(req.Prompt))
	req.Choices = 1 + max(0, r.IntN(6)-2)
	req.Priority = int64(r.IntN(3))
	req.EOS = token.ID(r.IntN(4) - 1)
	req.MoreEOS, req.Stop = []token.ID{4}, []token.ID{5}
	req.IgnoreEOS = r.IntN(2) == 0
	req.MinTokens = r.IntN(min(20, req.MaxTokens) + 1)
	if r.IntN(2) == 0 {
		req.CacheSalt = "salt"
	}
	if r.IntN(4) > 0 {
		s := r.Int64()
		req.Sampling = inference.Sampling{Temperature: 0.8, Seed: &s, TopK: r.IntN(10), TopP: 0.9, RepetitionPenalty: 1.1}
	}
	if r.IntN(6) == 0 {
		req.PromptLogprobs = r.IntN(3)
	}
	return req
}

func TestTokensDependOnTheRequestAlone(t *testing.T) {
	threads := tensor.NewPool(2)
	t.Cleanup(threads.Close)
	const context = 160
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 11))
		groups := newFake(context).Config()
		cfg := Config{MaxRunning: 1 + r.IntN(8), MixedTokens: r.IntN(40) - 1, NoPrefixCache: r.IntN(4) == 0}
		cfg.MaxBatchTokens = cfg.MaxRunning + r.IntN(80)
		if r.IntN(2) == 0 {
			cfg.Threads = threads
		}
		for _, g := range groups.CacheGroups() {
			cfg.Blocks = append(cfg.Blocks, g.Blocks(context, cfg.MaxBatchTokens, model.BlockSize)+r.IntN(12))
		}
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			e := start(t, newFake(context), cfg)
			var work sync.WaitGroup
			for range 24 {
				req := randomRequest(r, context)
				work.Go(func() { compareWithReference(t, e, req, context) })
			}
			work.Wait()
		})
	}
}

func compareWithReference(t *testing.T, e *Engine, req inference.Request, context int) {
	got := submitAndRead(t.Context(), e, req)
	if got.err != nil {
		t.Errorf("%+v: %v", req, got.err)
		return
	}
	for i := range req.Choices {
		want, end := reference(t, req, i, context)
		if !slices.Equal(got.tokens[i], want) || got.ends[i] != end {
			t.Errorf("%+v: choice %d:\ngot  %v %v\nwant %v %v", req, i, got.tokens[i], got.ends[i], want, end)
		}
	}
	if got.prompt == nil {
		t.Errorf("%+v: no prompt information", req)
	}
}

func TestPreemptionHappensAndLosesNothing(t *testing.T) {
	const context = 160
	cfg := Config{MaxRunning: 8, MaxBatchTokens: 64, MaxContext: context, Blocks: []int{14, 14}}
	e := prepare(t, newFake(context), cfg)
	var requests []inference.Request
	var streams []inference.Stream
	for i := range token.ID(8) {
		seed := int64(i)
		req := plainRequest([]token.ID{i, 1, 2}, 100)
		req.Sampling = inference.Sampling{Temperature: 1, Seed: &seed, FrequencyPenalty: 0.5}
		s, err := e.Submit(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		requests, streams = append(requests, req), append(streams, s)
	}
	run(t, e)
	for i, s := range streams {
		got := read(s, 1)
		if want, _ := reference(t, requests[i], 0, context); got.err != nil || !slices.Equal(got.tokens[0], want) {
			t.Errorf("request %d: %v:\ngot  %v\nwant %v", i, got.err, got.tokens[0], want)
		}
	}
	if n := e.Stats().Preemptions; n == 0 {
		t.Errorf("no preemption: the test does not reach it")
	}
}

func TestTheNextTurnStartsBehindTheAnswer(t *testing.T) {
	e := start(t, newFake(400), Config{})
	prompt := randomPrompt(rand.New(rand.NewPCG(1, 1)), 1)
	first := submitAndRead(t.Context(), e, plainRequest(prompt, 100))
	next := slices.Concat(prompt, first.tokens[0], []token.ID{1, 2, 3})
	second := submitAndRead(t.Context(), e, plainRequest(next, 5))
	// The answer's last token was never computed.
	want := (len(prompt) + 99) / model.BlockSize * model.BlockSize
	if second.prompt == nil || second.prompt.CachedTokens != want {
		t.Errorf("prompt information %+v, want %d cached tokens", second.prompt, want)
	}
	req := plainRequest(next, 5)
	req.CacheSalt = "other"
	if third := submitAndRead(t.Context(), e, req); third.prompt.CachedTokens != 0 {
		t.Errorf("%d cached tokens under another salt, want 0", third.prompt.CachedTokens)
	}
}

func TestNamedConversationOutlivesACrowd(t *testing.T) {
	for _, tt := range []struct {
		session string
		cached  int
	}{{"", 0}, {"mine", 128}} {
		e := start(t, newFake(400), Config{MaxContext: 400, MaxBatchTokens: 64, Blocks: []int{20, 20}})
		turn := make([]token.ID, 130)
		req := plainRequest(turn, 1)
		req.Session = tt.session
		submitAndRead(t.Context(), e, req)
		for i := range token.ID(12) {
			crowd := make([]token.ID, 100)
			crowd[0] = i + 1
			submitAndRead(t.Context(), e, plainRequest(crowd, 1))
		}
		if got := submitAndRead(t.Context(), e, req); got.err != nil || got.prompt.CachedTokens != tt.cached {
			t.Errorf("session %q: %d tokens cached after the crowd (%v), want %d", tt.session, got.prompt.CachedTokens, got.err, tt.cached)
		}
	}
}

func TestPromptLogprobsDoNotDependOnChunksAndIgnoreTheCache(t *testing.T) {
	prompt := make([]token.ID, 90)
	for i := range prompt {
		prompt[i] = token.ID(i % 5)
	}
	req := plainRequest(prompt, 2)
	req.PromptLogprobs, req.Logprobs = 3, 2
	var want answer
	for i, budget := range []int{512, 7, 33} {
		e := start(t, newFake(200), Config{MaxBatchTokens: budget})
		for again := range 2 {
			got := submitAndRead(t.Context(), e, req)
			if got.err != nil || len(got.prompt.Logprobs) != len(prompt)-1 || got.prompt.CachedTokens != 0 {
				t.Fatalf("budget %d: %v, %+v", budget, got.err, got.prompt)
			}
			if i+again == 0 {
				want = got
			}
			if diff := cmp.Diff(want.prompt.Logprobs, got.prompt.Logprobs); diff != "" {
				t.Errorf("budget %d, again %d: prompt logprobs differ:\n%s", budget, again, diff)
			}
			if diff := cmp.Diff(want.events[0].Top, got.events[0].Top); diff != "" {
				t.Errorf("budget %d, again %d: logprobs differ:\n%s", budget, again, diff)
			}
		}
	}
	for i, list := range want.prompt.Logprobs {
		if len(list) != 4 || list[0].Token != prompt[i+1] || list[1].Rank != 1 || list[1].Logprob < list[3].Logprob {
			t.Fatalf("entry %d of prompt token %d: %+v", i, prompt[i+1], list)
		}
	}
}

func TestScoringOnlyGeneratesNothing(t *testing.T) {
	e := start(t, newFake(100), Config{})
	req := plainRequest([]token.ID{1, 2, 3, 4}, 0)
	req.PromptLogprobs, req.Choices = 0, 2
	got := submitAndRead(t.Context(), e, req)
	if got.err != nil || len(got.events) != 2 || got.events[0].Token != token.None || got.ends[1] != inference.FinishLength {
		t.Errorf("got %+v, want an event without a token for each choice", got)
	}
	if len(got.prompt.Logprobs) != 3 || len(got.prompt.Logprobs[0]) != 1 {
		t.Errorf("prompt logprobs %v, want three single entries", got.prompt.Logprobs)
	}
}
