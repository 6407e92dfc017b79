// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/token"
)

// Guesses are checked with the same logits and the same random numbers that the tokens come from without them, so
// tokens, logprobs and ends are equal, greedy or sampled. Equal samples under a seed say more than a statistical test.
func TestGuessesChangeNothing(t *testing.T) {
	const context = 200
	right, all := uint64(0), uint64(0)
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 17))
		cfg := Config{MaxContext: context, MaxRunning: 1 + r.IntN(6), DraftTokens: 1 + r.IntN(MostDraftTokens)}
		cfg.MaxBatchTokens = cfg.MaxRunning + r.IntN(60)
		groups := newFake(context).Config()
		for _, g := range groups.CacheGroups() {
			cfg.Blocks = append(cfg.Blocks, g.Blocks(context, cfg.MaxBatchTokens, model.BlockSize)+r.IntN(8))
		}
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			f := newFake(context)
			f.habit = true
			e := prepare(t, f, cfg)
			e.pace.pretend(0)
			run(t, e)
			var requests []inference.Request
			var streams []inference.Stream
			for range 12 {
				req := randomRequest(r, context)
				req.Logprobs = r.IntN(3) - 1
				s, err := e.Submit(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				requests, streams = append(requests, req), append(streams, s)
			}
			for i, s := range streams {
				compareHabit(t, requests[i], read(s, requests[i].Choices), context)
			}
			s := e.Stats()
			right, all = right+s.AcceptedTokens, all+s.DraftTokens
		})
	}
	if right < 100 || all < right+100 {
		t.Errorf("%d of %d guesses were right: the test does not reach both cases", right, all)
	}
}

// The same, without a look at seeds: over many samples each token comes as often as the model's probabilities say, give or
// take what chance allows, after guesses that were right and after those that were wrong.
func TestSampledTokensFollowTheModelsProbabilities(t *testing.T) {
	const context, temperature = 120, 1
	f := newFake(context)
	f.habit = true
	e := prepare(t, f, Config{MaxContext: context, Draft: newFake(context), MaxRunning: 8})
	e.pace.pretend(0)
	run(t, e)
	twin := newFake(context)
	twin.habit = true
	var seen, want, spread [fakeVocab]float64
	row := make([]float32, fakeVocab)
	for n := range int64(60) {
		req := plainRequest([]token.ID{1, 2, 3, 1, 2, 3}, 100)
		req.Sampling = inference.Sampling{Temperature: temperature, Seed: &n}
		got := submitAndRead(t.Context(), e, req)
		if got.err != nil {
			t.Fatal(got.err)
		}
		tokens := slices.Clone(req.Prompt)
		for _, id := range got.tokens[0] {
			twin.Head(row, twin.hash(nil, append(slices.Clone(tokens), tokens[max(0, len(tokens)-fakeWindow):]...), len(tokens)-1), 1)
			sum := 0.0
			for _, v := range row {
				sum += math.Exp(float64(v) / temperature)
			}
			for k, v := range row {
				p := math.Exp(float64(v)/temperature) / sum
				want[k] += p
				spread[k] += p * (1 - p)
			}
			seen[id]++
			tokens = append(tokens, id)
		}
	}
	for k := range seen {
		if z := (seen[k] - want[k]) / math.Sqrt(spread[k]); math.Abs(z) > 4.5 {
			t.Errorf("token %d: drawn %v times, want %.1f, give or take %.1f", k, seen[k], want[k], math.Sqrt(spread[k]))
		}
	}
	if s := e.Stats(); s.AcceptedTokens < 500 || s.DraftTokens < s.AcceptedTokens+500 {
		t.Errorf("%d of %d guesses were right: the test does not reach both cases", s.AcceptedTokens, s.DraftTokens)
	}
}

// pretend sets what a row more costs, as a share of a step of one row, and that draft models cost nothing: what fake and tiny models
// cost cannot be measured.
func (p *pace) pretend(row float64) {
	p.fixed = true
	for i := range p.decode {
		p.decode[i] = usual{steps: 1, seconds: 1 + row*float64(i-1)}
		p.guess[i] = p.decode[i]
	}
	for i := range p.row {
		p.row[i] = 0.01
	}
}

func compareHabit(t *testing.T, req inference.Request, got answer, context int) {
	t.Helper()
	if got.err != nil {
		t.Errorf("%+v: %v", req, got.err)
		return
	}
	for i := range req.Choices {
		f := newFake(context)
		f.habit = true
		want, end := referenceOn(t, f, req, i)
		if !slices.Equal(got.tokens[i], want) || got.ends[i] != end {
			t.Errorf("%+v: choice %d:\ngot  %v %v\nwant %v %v", req, i, got.tokens[i], got.ends[i], want, end)
		}
	}
}

func TestLookupFindsWhatFollowedBefore(t *testing.T) {
	for _, tt := range []struct {
		name string
		list []token.ID
		want []token.ID
	}{
		{"nothing repeats", []token.ID{1, 2, 3, 4}, nil},
		{"three tokens", []token.ID{1, 2, 3, 4, 5, 6, 1, 2, 3}, []token.ID{4, 5, 6}},
		{"two tokens", []token.ID{1, 2, 3, 4, 9, 2, 3}, []token.ID{4, 9, 2}},
		{"the latest place", []token.ID{1, 2, 3, 4, 1, 2, 3, 5, 1, 2, 3}, []token.ID{5, 1, 2}},
		{"three before two", []token.ID{1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3}, []token.ID{4, 9, 2}},
		{"a loop", []token.ID{1, 2, 7, 7, 7}, []token.ID{7, 7, 7}},
		{"one token", []token.ID{1}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, grown := newLookup(10), newLookup(10)
			var step []token.ID
			for i := range tt.list {
				step, _ = grown.guess(nil, tt.list[:i+1], 3)
			}
			all, _ := whole.guess(nil, tt.list, 3)
			if diff := cmp.Diff(tt.want, all); diff != "" {
				t.Errorf("all at once:\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, step); diff != "" {
				t.Errorf("one by one:\n%s", diff)
			}
		})
	}
}

func TestGuessesStopWhereTheyDoNotPay(t *testing.T) {
	f := newFake(4000)
	f.habit = true
	e := prepare(t, f, Config{})
	s, err := e.Submit(t.Context(), plainRequest([]token.ID{1, 2, 3}, 600))
	if err != nil {
		t.Fatal(err)
	}
	e.pace.pretend(1)
	steps := 0
	for range 600 {
		e.turn()
		if n, _ := e.scheduler.Decoding(); n == 0 {
			break
		}
		if steps++; !e.await() {
			t.Fatal("closed")
		}
	}
	s.Close()
	if st := e.Stats(); st.Drafts > uint64(steps/retryGuessing)+1 {
		t.Errorf("%d drafts in %d steps that cannot pay, want one in %d", st.Drafts, steps, retryGuessing)
	}
}

// A draft model whose guesses had once been wrong was asked again every 64 steps, but nothing that it said was looked at.
func TestDraftModelIsHeardAgainAfterItsGuessesDidNotPay(t *testing.T) {
	e := prepare(t, newFake(4000), Config{Draft: newFake(4000)})
	s, err := e.Submit(t.Context(), plainRequest([]token.ID{1, 2, 3}, 1000))
	if err != nil {
		t.Fatal(err)
	}
	e.pace.pretend(1)
	for range 3 * retryGuessing {
		if !e.await() {
			t.Fatal("closed")
		}
		e.turn()
	}
	g := &e.scheduler.Running()[0].Owner.(*choice).guesser
	if got := g.hits[fromModel].guesses; got == 0 {
		t.Errorf("none of the draft model's guesses was judged in %d steps", 3*retryGuessing)
	}
	s.Close()
}

// Few wrong guesses show that a text copies nothing, few right ones that it does; and neither opinion lasts for ever.
func TestGuessesAreJudgedSoon(t *testing.T) {
	r := record{share: firstHits}
	judge := func(right bool, n int) float64 {
		for range n {
			r.add(right)
		}
		return r.share
	}
	for _, tt := range []struct {
		right       bool
		n           int
		least, most float64
	}{{false, 3, 0, 0.35}, {true, 20, 0.85, 1}, {false, 20, 0, 0.15}} {
		if got := judge(tt.right, tt.n); got < tt.least || got > tt.most {
			t.Errorf("after %d guesses that were right: %t: share %v, want %v to %v", tt.n, tt.right, got, tt.least, tt.most)
		}
	}
}

func TestFailingDraftModelIsGivenUp(t *testing.T) {
	for name, fail := range map[string]func(*model.Batch) error{
		"error": func(*model.Batch) error { return errors.New("bang") },
		"panic": func(*model.Batch) error { panic("bang") },
	} {
		t.Run(name, func(t *testing.T) {
			draft := newFake(200)
			calls := 0
			draft.forward = func(b *model.Batch) error {
				if calls++; calls > 10 {
					return fail(b)
				}
				return nil
			}
			e := prepare(t, newFake(200), Config{Draft: draft})
			e.pace.pretend(0)
			run(t, e)
			for range 2 {
				req := plainRequest([]token.ID{1, 2, 3}, 100)
				want, _ := reference(t, req, 0, 200)
				if got := submitAndRead(t.Context(), e, req); got.err != nil || !slices.Equal(got.tokens[0], want) {
					t.Errorf("%v:\ngot  %v\nwant %v", got.err, got.tokens[0], want)
				}
			}
			if err := e.Close(); err != nil || e.drafter != nil || calls != 11 {
				t.Errorf("%v, draft model called %d times, want it given up after 11", err, calls)
			}
		})
	}
}
