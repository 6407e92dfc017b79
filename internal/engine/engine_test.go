// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/token"
)

// forced asks for tokens that must be one of ids.
func forced(prompt []token.ID, maxTokens int, ids ...token.ID) inference.Request {
	req := plainRequest(prompt, maxTokens)
	req.Sampling.Allowed = token.NewMask(fakeVocab)
	for _, id := range ids {
		req.Sampling.Allowed.Add(id)
	}
	return req
}

func TestEndsInTheOrderOfTheContract(t *testing.T) {
	prompt := []token.ID{1, 2, 3}
	for _, tt := range []struct {
		name string
		edit func(*inference.Request)
		n    int // tokens
		end  inference.Finish
	}{
		{"EOS", func(r *inference.Request) { r.EOS = 9 }, 1, inference.FinishEOS},
		{"EOS before a stop token", func(r *inference.Request) { r.EOS, r.Stop = 9, []token.ID{9} }, 1, inference.FinishEOS},
		{"EOS is ignored", func(r *inference.Request) { r.EOS, r.IgnoreEOS = 9, true }, 5, inference.FinishLength},
		{"a stop token holds", func(r *inference.Request) { r.EOS, r.IgnoreEOS, r.Stop = 9, true, []token.ID{9} }, 1, inference.FinishStop},
		{"further EOS", func(r *inference.Request) { r.MoreEOS = []token.ID{9} }, 1, inference.FinishStop},
		{"further EOS is ignored", func(r *inference.Request) { r.MoreEOS, r.IgnoreEOS = []token.ID{9}, true }, 5, inference.FinishLength},
		{"a stop token at the limit", func(r *inference.Request) { r.MaxTokens, r.Stop = 1, []token.ID{9} }, 1, inference.FinishStop},
		{"the context ends", func(r *inference.Request) { r.MaxTokens = inference.Unlimited }, 61, inference.FinishLength},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := start(t, newFake(64), Config{})
			req := forced(prompt, 5, 9)
			tt.edit(&req)
			got := submitAndRead(t.Context(), e, req)
			if got.err != nil || len(got.tokens[0]) != tt.n || got.ends[0] != tt.end {
				t.Errorf("got %v, finish %d, %v, want %d tokens and finish %d", got.tokens[0], got.ends[0], got.err, tt.n, tt.end)
			}
		})
	}
}

// Under ignore_eos an end of text is a token like others: it is chosen where it is the best one, counted and followed by more, as in vLLM.
// llama-server bans it instead, which gives other text from there on.
func TestGenerationGoesOnPastAnIgnoredEOS(t *testing.T) {
	e := start(t, newFake(64), Config{})
	plain := submitAndRead(t.Context(), e, plainRequest([]token.ID{1, 2, 3}, 12))
	if plain.err != nil || len(plain.tokens[0]) != 12 {
		t.Fatalf("got %v, %v", plain.tokens, plain.err)
	}
	for _, end := range []int{0, 4, 11} { // the end of text is the token that greedy text has here anyway
		req := plainRequest([]token.ID{1, 2, 3}, 12)
		req.EOS, req.IgnoreEOS = plain.tokens[0][end], true
		req.MoreEOS = []token.ID{plain.tokens[0][end/2]}
		got := submitAndRead(t.Context(), e, req)
		if got.err != nil || !slices.Equal(got.tokens[0], plain.tokens[0]) || got.ends[0] != inference.FinishLength {
			t.Errorf("EOS %d: got %v, finish %d, %v, want %v", req.EOS, got.tokens[0], got.ends[0], got.err, plain.tokens[0])
		}
	}
}

func TestMinTokensForbidsEnds(t *testing.T) {
	e := start(t, newFake(64), Config{})
	req := forced([]token.ID{1}, 20, 8, 9)
	req.EOS, req.MinTokens = 9, 7
	req.Sampling.Bias = []inference.Bias{{Token: 9, Value: 100}}
	got := submitAndRead(t.Context(), e, req)
	want := []token.ID{8, 8, 8, 8, 8, 8, 8, 9}
	if !slices.Equal(got.tokens[0], want) || got.ends[0] != inference.FinishEOS {
		t.Errorf("got %v, finish %d, %v, want %v", got.tokens[0], got.ends[0], got.err, want)
	}
}

func TestChoicesUseConsecutiveSeeds(t *testing.T) {
	e := start(t, newFake(100), Config{})
	seed := int64(math.MaxInt64) // wraps
	req := plainRequest([]token.ID{1, 2, 3}, 20)
	req.Sampling = inference.Sampling{Temperature: 1, Seed: &seed}
	req.Choices = 3
	all := submitAndRead(t.Context(), e, req)
	req.Choices = 1
	for i := range 3 {
		s := int64(uint64(seed) + uint64(i))
		req.Sampling.Seed = &s
		if got := submitAndRead(t.Context(), e, req); !slices.Equal(got.tokens[0], all.tokens[i]) {
			t.Errorf("choice %d: got %v, alone %v", i, all.tokens[i], got.tokens[0])
		}
	}
	if slices.Equal(all.tokens[0], all.tokens[1]) {
		t.Errorf("choices 0 and 1 are equal: %v", all.tokens[0])
	}
}

func TestWithoutASeedEachChoiceIsFresh(t *testing.T) {
	e := start(t, newFake(100), Config{})
	req := plainRequest([]token.ID{1, 2, 3}, 20)
	req.Sampling.Temperature, req.Choices = 1, 2
	if got := submitAndRead(t.Context(), e, req); slices.Equal(got.tokens[0], got.tokens[1]) {
		t.Errorf("two equal choices: %v", got.tokens[0])
	}
}

func TestGreedyChoicesAreDecodedOnce(t *testing.T) {
	f := newFake(100)
	rows := 0
	f.forward = func(b *model.Batch) error {
		rows += len(b.Tokens)
		return nil
	}
	e := start(t, f, Config{})
	req := plainRequest([]token.ID{1, 2, 3}, 10)
	req.Choices = 3
	got := submitAndRead(t.Context(), e, req)
	if !slices.Equal(got.tokens[0], got.tokens[2]) || len(got.tokens[1]) != 10 || rows != 3+9 {
		t.Errorf("%v in %d rows, want three equal choices in 12", got.tokens, rows)
	}
}

func TestRefusesWhatCannotRun(t *testing.T) {
	e := start(t, newFake(64), Config{})
	var length *inference.LengthError
	if got := submitAndRead(t.Context(), e, plainRequest(make([]token.ID, 60), 5)); !errors.As(got.err, &length) {
		t.Errorf("60 and 5 of 64 tokens: got %v, want a LengthError", got.err)
	}
	if got := submitAndRead(t.Context(), e, plainRequest([]token.ID{1}, math.MaxInt)); !errors.As(got.err, &length) {
		t.Errorf("as many tokens as there are numbers: got %v, want a LengthError", got.err)
	}
	if got := submitAndRead(t.Context(), e, plainRequest(make([]token.ID, 64), inference.Unlimited)); !errors.As(got.err, &length) {
		t.Errorf("a full prompt: got %v, want a LengthError", got.err)
	}
	if got := submitAndRead(t.Context(), e, plainRequest([]token.ID{fakeVocab}, 5)); got.err == nil {
		t.Errorf("a token outside the vocabulary was taken")
	}
	if got := submitAndRead(t.Context(), e, plainRequest(nil, 5)); got.err == nil {
		t.Errorf("an empty prompt was taken")
	}
	if got := submitAndRead(t.Context(), e, forced([]token.ID{1}, 5)); !errors.Is(got.err, inference.ErrNoToken) {
		t.Errorf("every token forbidden: got %v, want ErrNoToken", got.err)
	}
}

// A gate holds the model in Forward until the test lets it go.
type gate struct{ entered, leave chan struct{} }

// newGate is called before the engine starts, so that its cleanup comes after the engine's.
func newGate(t *testing.T, f *fake) *gate {
	g := &gate{make(chan struct{}), make(chan struct{})}
	t.Cleanup(func() { close(g.entered) })
	f.forward = func(*model.Batch) error {
		g.entered <- struct{}{}
		<-g.leave
		return nil
	}
	return g
}

// open lets all steps pass from now on. The model is in Forward.
func (g *gate) open() {
	go func() {
		for range g.entered {
		}
	}()
	close(g.leave)
}

func TestFullQueueIsBusy(t *testing.T) {
	f := newFake(64)
	g := newGate(t, f)
	e := start(t, f, Config{MaxRunning: 1, MaxWaiting: 1})
	req := plainRequest([]token.ID{1}, 2)
	var streams []inference.Stream
	for i := range 2 {
		s, err := e.Submit(t.Context(), req)
		if err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		streams = append(streams, s)
	}
	if _, err := e.Submit(t.Context(), req); !errors.Is(err, inference.ErrBusy) {
		t.Errorf("third request before the first step: got %v, want ErrBusy", err)
	}
	<-g.entered
	if _, err := e.Submit(t.Context(), req); !errors.Is(err, inference.ErrBusy) {
		t.Errorf("third request in a step: got %v, want ErrBusy", err)
	}
	if running, waiting := e.Load(); running != 1 || waiting != 1 {
		t.Errorf("Load() = %d, %d, want 1, 1", running, waiting)
	}
	g.open()
	for _, s := range streams {
		if got := read(s, 1); got.err != nil || len(got.tokens[0]) != 2 {
			t.Errorf("got %v, %v, want two tokens", got.tokens, got.err)
		}
	}
}

func TestRequestThatWaitsTooLongExpires(t *testing.T) {
	f := newFake(64)
	g := newGate(t, f)
	e := start(t, f, Config{MaxRunning: 1, QueueTimeout: time.Hour})
	runs, err := e.Submit(t.Context(), plainRequest([]token.ID{1}, 3))
	if err != nil {
		t.Fatal(err)
	}
	<-g.entered
	waits, err := e.Submit(t.Context(), plainRequest([]token.ID{2}, 3))
	if err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	e.inbox[len(e.inbox)-1].req.arrived = time.Now().Add(-2 * time.Hour)
	e.mu.Unlock()
	g.open()
	if got := read(waits, 1); !errors.Is(got.err, inference.ErrExpired) {
		t.Errorf("the request that waited: got %v, want ErrExpired", got.err)
	}
	if got := read(runs, 1); got.err != nil || len(got.tokens[0]) != 3 {
		t.Errorf("the request that runs: got %v, %v, want three tokens", got.tokens, got.err)
	}
	if n := waitFor(e, 1, func(s inference.Stats) uint64 { return s.Expired }); n != 1 {
		t.Errorf("%d requests expired, want 1", n)
	}
}

func TestTenantsGetEqualShares(t *testing.T) {
	e := prepare(t, newFake(64), Config{MaxRunning: 1})
	var streams []inference.Stream
	for _, tenant := range []string{"a", "a", "a", "b"} {
		req := plainRequest([]token.ID{1}, 3)
		req.Tenant = tenant
		s, err := e.Submit(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	run(t, e)
	var started []time.Time
	for _, s := range streams {
		got := read(s, 1)
		if got.err != nil {
			t.Fatal(got.err)
		}
		started = append(started, got.prompt.Started)
	}
	if !started[3].Before(started[1]) {
		t.Errorf("b's only request started %v after a's second, want it before", started[3].Sub(started[1]))
	}
}

func TestCancelledRequestIsGoneAfterTheStep(t *testing.T) {
	f := newFake(64)
	g := newGate(t, f)
	e := start(t, f, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := e.Submit(ctx, plainRequest([]token.ID{1, 2}, 50))
	if err != nil {
		t.Fatal(err)
	}
	<-g.entered
	cancel()
	// The reader does not wait for the step.
	if _, err := s.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	g.leave <- struct{}{}
	other, err := e.Submit(t.Context(), plainRequest([]token.ID{3, 4}, 1))
	if err != nil {
		t.Fatal(err)
	}
	// At most one more step has the cancelled request: its abort was in the inbox before the next began.
	<-g.entered
	if running, waiting := e.Load(); running+waiting != 1 {
		t.Errorf("%d run, %d wait one step after the cancellation, want the other request only", running, waiting)
	}
	g.open()
	if got := read(other, 1); got.err != nil {
		t.Error(got.err)
	}
	if n := waitFor(e, 1, func(s inference.Stats) uint64 { return s.Aborted }); n != 1 {
		t.Errorf("%d requests aborted, want 1", n)
	}
}

// waitFor returns a figure once it is n or more, or after ten seconds: a step's figures are told after its events.
func waitFor(e *Engine, n uint64, figure func(inference.Stats) uint64) uint64 {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if got := figure(e.Stats()); got >= n || time.Now().After(end) {
			return got
		}
	}
}

// The engine's goroutine read the hook that Submit was still about to note. Had it been sooner, all requests would have failed: a race,
// which the detector tells of.
func TestClientThatLeavesDuringSubmitHarmsNobody(t *testing.T) {
	e := start(t, newFake(200), Config{MaxWaiting: 3000})
	for range 3000 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if got := submitAndRead(ctx, e, plainRequest([]token.ID{1, 2, 3}, 2)); got.err != nil && !errors.Is(got.err, context.Canceled) {
			t.Fatal(got.err)
		}
	}
}

func TestStopEndsOneChoiceAndLeavesTheOthers(t *testing.T) {
	f := newFake(64)
	g := newGate(t, f)
	e := start(t, f, Config{})
	seed := int64(1)
	req := plainRequest([]token.ID{1, 2}, 10)
	req.Sampling = inference.Sampling{Temperature: 1, Seed: &seed}
	req.Choices = 3
	s, err := e.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	<-g.entered
	s.Stop(0) // while the prompt is computed for all three
	g.open()
	got := read(s, 3)
	if got.err != nil || len(got.tokens[0]) != 0 || len(got.tokens[1]) != 10 || len(got.tokens[2]) != 10 || got.ends[0] != inference.FinishEOS {
		t.Errorf("got %v, ends %v, %v, want choice 0 stopped and the others whole", got.tokens, got.ends, got.err)
	}
	want, _ := reference(t, req, 2, 64)
	if !slices.Equal(got.tokens[2], want) {
		t.Errorf("choice 2: got %v, want %v", got.tokens[2], want)
	}
}

func TestFailedStepCostsItsRequestsOnly(t *testing.T) {
	for name, fail := range map[string]func() error{
		"panic": func() error { panic("bang") },
		"error": func() error { return errors.New("bang") },
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			f := newFake(100)
			f.forward = func(b *model.Batch) error {
				if slices.Contains(b.Tokens, 33) {
					return fail()
				}
				return nil
			}
			e := start(t, f, Config{Logger: slog.New(slog.NewTextHandler(&logged, nil)), MaxRunning: 1})
			bad, err := e.Submit(t.Context(), plainRequest([]token.ID{33, 2}, 50))
			if err != nil {
				t.Fatal(err)
			}
			good := forced([]token.ID{3, 4}, 5, 1, 2)
			waits, err := e.Submit(t.Context(), good)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(bad, 1); !errors.Is(got.err, inference.ErrEngine) {
				t.Errorf("got %v, want ErrEngine", got.err)
			}
			if got := read(waits, 1); got.err != nil || len(got.tokens[0]) != 5 {
				t.Errorf("the request that waited: %v, %v, want 5 tokens", got.tokens, got.err)
			}
			if err := e.Err(); err != nil {
				t.Errorf("Err() = %v, want nil", err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if text := logged.String(); !strings.Contains(text, "bang") || name == "panic" && !strings.Contains(text, "fake_test.go") {
				t.Errorf("the log does not tell what happened and where: %s", text)
			}
		})
	}
}

func TestPanicOutsideTheModelStartsAfresh(t *testing.T) {
	e := prepare(t, newFake(100), Config{})
	s, err := e.Submit(t.Context(), plainRequest([]token.ID{1, 2}, 50))
	if err != nil {
		t.Fatal(err)
	}
	e.inbox = append(e.inbox[:0], order{kind: submit, req: &request{unhook: func() bool { return true }, queue: inference.NewQueue(1, nil, nil)}}, e.inbox[0])
	run(t, e)
	if got := read(s, 1); !errors.Is(got.err, inference.ErrEngine) {
		t.Errorf("got %v, want ErrEngine", got.err)
	}
	if got := submitAndRead(t.Context(), e, plainRequest([]token.ID{1, 2}, 5)); got.err != nil {
		t.Errorf("the next request: %v", got.err)
	}
}

// The counter of evictions began anew with the pool.
func TestEvictionsAreCountedPastAFreshStart(t *testing.T) {
	e := prepare(t, newFake(100), Config{MaxBatchTokens: 64, MaxContext: 100, Blocks: []int{4, 4}})
	turn := func() {
		if !e.await() {
			t.Fatal("closed")
		}
		e.turn()
	}
	for i := range token.ID(4) {
		prompt := make([]token.ID, 64)
		prompt[0] = i
		if _, err := e.Submit(t.Context(), plainRequest(prompt, 1)); err != nil {
			t.Fatal(err)
		}
		turn()
	}
	before := e.Stats().Evictions
	e.post(order{kind: submit, req: &request{unhook: func() bool { return true }, queue: inference.NewQueue(1, nil, nil)}})
	turn()
	if got := e.Stats(); before == 0 || got.Evictions != before || got.Failed != 1 {
		t.Errorf("%d blocks were evicted after a fresh start (%d requests failed), %d before, want as many and some", got.Evictions, got.Failed, before)
	}
}

func TestStepThatDoesNotEndFailsItsRequests(t *testing.T) {
	f := newFake(64)
	g := newGate(t, f)
	e := start(t, f, Config{StepTimeout: time.Millisecond})
	s, err := e.Submit(t.Context(), plainRequest([]token.ID{1, 2}, 50))
	if err != nil {
		t.Fatal(err)
	}
	<-g.entered
	if got := read(s, 1); !errors.Is(got.err, inference.ErrEngine) {
		t.Errorf("got %v, want ErrEngine", got.err)
	}
	if err := e.Err(); !errors.Is(err, inference.ErrEngine) {
		t.Errorf("Err() during the step: %v, want ErrEngine", err)
	}
	close(g.leave)
	for e.Err() != nil {
		runtime.Gosched()
	}
}

func TestThreeFailuresInARowAreToldUntilAStepSucceeds(t *testing.T) {
	f := newFake(64)
	var broken atomic.Bool
	f.forward = func(*model.Batch) error {
		if broken.Load() {
			panic("bang")
		}
		return nil
	}
	e := start(t, f, Config{})
	ask := func() error { return submitAndRead(t.Context(), e, plainRequest([]token.ID{1}, 1)).err }
	broken.Store(true)
	for i := range sickAfter {
		if err := e.Err(); err != nil {
			t.Errorf("Err() after %d failures: %v, want nil", i, err)
		}
		if err := ask(); !errors.Is(err, inference.ErrEngine) {
			t.Errorf("failure %d: got %v, want ErrEngine", i, err)
		}
		for e.failed() != i+1 {
			runtime.Gosched() // the answer comes before the books are closed
		}
	}
	if err := e.Err(); !errors.Is(err, inference.ErrEngine) || !strings.Contains(err.Error(), "bang") {
		t.Errorf("Err() after %d failures: %v, want the cause", sickAfter, err)
	}
	broken.Store(false)
	e.probe()
	for e.failed() != 0 {
		runtime.Gosched()
	}
	if err := e.Err(); err != nil {
		t.Errorf("Err() after a step that succeeded: %v, want nil", err)
	}
}

// failed returns how many steps in a row failed.
func (e *Engine) failed() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failures
}

func TestCloseEndsEverything(t *testing.T) {
	f := newFake(64)
	g := newGate(t, f)
	e := start(t, f, Config{MaxRunning: 1})
	var streams []inference.Stream
	for range 3 {
		s, err := e.Submit(t.Context(), plainRequest([]token.ID{1, 2}, 50))
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	<-g.entered
	closed := make(chan error)
	go func() { closed <- e.Close() }()
	for !errors.Is(e.Err(), inference.ErrClosed) {
		runtime.Gosched()
	}
	close(g.leave)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for i, s := range streams {
		if got := read(s, 1); !errors.Is(got.err, inference.ErrClosed) {
			t.Errorf("stream %d: got %v, want ErrClosed", i, got.err)
		}
	}
	if _, err := e.Submit(t.Context(), plainRequest([]token.ID{1}, 1)); !errors.Is(err, inference.ErrClosed) {
		t.Errorf("Submit after Close: got %v, want ErrClosed", err)
	}
}

func TestNothingIsLeftOfAStormOfCancelledRequests(t *testing.T) {
	before := runtime.NumGoroutine()
	e := start(t, newFake(160), Config{MaxRunning: 16, MaxWaiting: 20000, MaxBatchTokens: 64, Blocks: []int{40, 40}})
	r := rand.New(rand.NewPCG(5, 5))
	var work sync.WaitGroup
	for i := range 10000 {
		req := randomRequest(r, 160)
		ctx, cancel := context.WithCancel(t.Context())
		s, err := e.Submit(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		events := i % 4
		work.Go(func() {
			defer cancel()
			for range events {
				if _, err := s.Next(); err != nil {
					return
				}
			}
			switch i % 3 {
			case 0:
				s.Close()
			case 1:
				for c := range req.Choices {
					s.Stop(c)
				}
			}
		})
	}
	work.Wait()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	checkEmpty(t, e)
	for i := 0; runtime.NumGoroutine() > before && i < 60_000; i++ {
		time.Sleep(time.Millisecond) // context.AfterFunc runs its hooks in goroutines of their own
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}
