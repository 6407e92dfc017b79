// SPDX-License-Identifier: Apache-2.0

package sampo_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sampo-ai/sampo"
)

func load(t *testing.T) *sampo.Model {
	t.Helper()
	m, err := sampo.Load("sampo/mini-chat", sampo.Options{CacheBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestGenerateStopsAfterSixteenTokensUnlessTold(t *testing.T) {
	m := load(t)
	var last sampo.Delta
	for d, err := range m.Generate(t.Context(), "Hello", sampo.SamplingParams{IgnoreEOS: true, Temperature: ptr(0.0)}) {
		if err != nil {
			t.Fatal(err)
		}
		last = d
	}
	if last.Usage.OutputTokens != 16 || last.Finish != "length" {
		t.Errorf("got %d tokens and finish %q, want 16 and length", last.Usage.OutputTokens, last.Finish)
	}
}

func TestLeavingTheLoopEndsTheRequest(t *testing.T) {
	m := load(t)
	for range 50 {
		for _, err := range m.Generate(t.Context(), "Hello", sampo.SamplingParams{IgnoreEOS: true, MaxTokens: ptr(2000)}) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
}

func TestACancelledContextIsTheError(t *testing.T) {
	m := load(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got error
	for _, err := range m.Generate(ctx, "Hello", sampo.SamplingParams{IgnoreEOS: true, MaxTokens: ptr(2000)}) {
		cancel()
		got = err
	}
	if !errors.Is(got, context.Canceled) {
		t.Errorf("the sequence ended with %v, want context.Canceled", got)
	}
}

func TestEqualSeedsGiveEqualTextInAnyCompany(t *testing.T) {
	m := load(t)
	ask := func(seed int64) string {
		text, err := sampo.Text(m.Generate(t.Context(), "Once upon a time", sampo.SamplingParams{
			Seed: &seed, MaxTokens: ptr(20), IgnoreEOS: true, Temperature: ptr(1.0),
		}))
		if err != nil {
			t.Error(err)
		}
		return text
	}
	alone := ask(7)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if got := ask(7 + int64(i%2)); i%2 == 0 && got != alone {
				t.Errorf("in company: %q, alone: %q", got, alone)
			}
		})
	}
	wg.Wait()
}

func TestWrongParametersAreNamed(t *testing.T) {
	m := load(t)
	for _, tt := range []struct {
		params sampo.SamplingParams
		want   string
	}{
		{sampo.SamplingParams{Temperature: ptr(-1.0)}, "temperature"},
		{sampo.SamplingParams{TopP: ptr(0.0)}, "top_p"},
		{sampo.SamplingParams{TopK: ptr(-2)}, "top_k"},
		{sampo.SamplingParams{MinP: ptr(2.0)}, "min_p"},
		{sampo.SamplingParams{RepetitionPenalty: ptr(0.0)}, "repetition_penalty"},
		{sampo.SamplingParams{PresencePenalty: 3}, "presence_penalty"},
		{sampo.SamplingParams{FrequencyPenalty: -3}, "frequency_penalty"},
		{sampo.SamplingParams{MaxTokens: ptr(-5)}, "max_tokens"},
		{sampo.SamplingParams{MaxTokens: ptr(1 << 20)}, "exceed"},
		{sampo.SamplingParams{LogitBias: map[int]float64{1 << 30: 1}}, "logit_bias"},
		{sampo.SamplingParams{StopTokenIDs: []int{-1}}, "stop_token_ids"},
		{sampo.SamplingParams{Stop: []string{""}}, "stop"},
		{sampo.SamplingParams{Logprobs: ptr(-7)}, "logprobs"},
		{sampo.SamplingParams{MinTokens: 30}, "min_tokens"},
	} {
		_, err := sampo.Text(m.Generate(t.Context(), "Hello", tt.params))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want one that names %s", tt.params, err, tt.want)
		}
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct {
		name string
		opt  sampo.Options
		want string
	}{
		{"owner/nosuch", sampo.Options{}, "not on this machine"},
		{"./nosuch.gguf", sampo.Options{}, "no such file"},
		{"sampo/mini-chat@cuda", sampo.Options{}, "backend"},
		{"sampo/mini-chat", sampo.Options{Context: 1 << 20}, "trained for"},
		{"sampo/mini-chat", sampo.Options{CacheBytes: 1000}, "too small"},
		{"sampo/mini-chat", sampo.Options{ChatTemplate: "{% for %}"}, "line 1"},
	} {
		m, err := sampo.Load(tt.name, tt.opt)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Load(%q, %+v) = %v, want an error with %q", tt.name, tt.opt, err, tt.want)
		}
		if m != nil {
			m.Close()
		}
	}
}

// outside is a program that knows the public package only.
const outside = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sampo-ai/sampo"
)

func main() {
	model, err := sampo.Load("sampo/mini-chat", sampo.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer model.Close()
	zero, few := 0.0, 12
	for delta, err := range model.Chat(context.Background(),
		[]sampo.Message{{Role: "user", Content: "Hello"}},
		sampo.SamplingParams{Temperature: &zero, MaxTokens: &few}) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Print(delta.Text)
	}
}
`

func TestAProgramOutsideTheModuleUsesThePublicPackage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(mod), "\n")
	files := map[string]string{
		"main.go": outside,
		"go.sum":  string(sums),
		"go.mod":  "module example.org/outside\n" + rest + "\nrequire github.com/sampo-ai/sampo v0.0.0\nreplace github.com/sampo-ai/sampo => " + root + "\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go run: %v\n%s", err, out)
	}
	if len(strings.TrimSpace(string(out))) == 0 {
		t.Error("the program printed nothing")
	}
}

// Too many threads ended the program, and a token far outside the vocabulary stood for another one.
func TestWhatTheLibraryCannotDoIsAnError(t *testing.T) {
	for field, opt := range map[string]sampo.Options{"Threads": {Threads: 5000}, "Context": {Context: -1}, "CacheBytes": {CacheBytes: -1}} {
		m, err := sampo.Load("sampo/mini-chat", opt)
		if err == nil {
			_ = m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), field+": got ") {
			t.Errorf("%+v: got %v, want an error of %s", opt, err, field)
		}
	}
	m := load(t)
	for name, params := range map[string]sampo.SamplingParams{
		fmt.Sprintf("LogitBias: token %d ", math.MaxInt):       {LogitBias: map[int]float64{math.MaxInt: 1}},
		"LogitBias: got NaN for token 5":                       {LogitBias: map[int]float64{5: math.NaN()}},
		"LogitBias: got 1e+300 for token 5":                    {LogitBias: map[int]float64{5: 1e300}},
		fmt.Sprintf("StopTokenIDs: token %d is ", math.MinInt): {StopTokenIDs: []int{math.MinInt}},
	} {
		_, err := sampo.Text(m.Generate(t.Context(), "Hello", params))
		_, err2 := sampo.Text(m.Chat(t.Context(), []sampo.Message{{Role: "user", Content: "Hello"}}, params))
		for _, err := range []error{err, err2} {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%+v: got %v, want %q", params, err, name)
			}
		}
	}
}

// Programs could tell neither error from others.
func TestRequestsOfABusyOrClosedModelEndWithTheirErrors(t *testing.T) {
	m := load(t)
	var wg sync.WaitGroup
	var busy, closed atomic.Int32
	for range 400 {
		wg.Go(func() {
			switch _, err := sampo.Text(m.Generate(t.Context(), "Hello", sampo.SamplingParams{IgnoreEOS: true, MaxTokens: ptr(2000)})); {
			case errors.Is(err, sampo.ErrBusy):
				if busy.Add(1) == 80 {
					_ = m.Close()
				}
			case errors.Is(err, sampo.ErrClosed):
				closed.Add(1)
			default:
				t.Errorf("got %v, want ErrBusy or ErrClosed", err)
			}
		})
	}
	wg.Wait()
	if busy.Load() < 80 || busy.Load()+closed.Load() != 400 {
		t.Errorf("%d requests found the model busy and %d closed, want at least 80 and 400 together", busy.Load(), closed.Load())
	}
	if _, err := sampo.Text(m.Chat(t.Context(), []sampo.Message{{Role: "user", Content: "Hello"}}, sampo.SamplingParams{})); !errors.Is(err, sampo.ErrClosed) {
		t.Errorf("after Close: got %v, want ErrClosed", err)
	}
}

// A message without a role got whatever the template made of none.
func TestAMessageNeedsARole(t *testing.T) {
	m := load(t)
	_, err := sampo.Text(m.Chat(t.Context(), []sampo.Message{{Role: "user", Content: "Hello"}, {Content: "Hello"}}, sampo.SamplingParams{}))
	if err == nil || !strings.Contains(err.Error(), "message 1 of the conversation has no role") {
		t.Errorf("got %v, want an error about the second message", err)
	}
}

// Tokenize was said to give what Generate runs.
func TestControlTokensAreTextForTokenizeAndTokensForGenerate(t *testing.T) {
	m := load(t)
	if n := len(m.Tokenize("<|im_end|>")); n < 2 {
		t.Errorf("Tokenize gave %d tokens, want the text's", n)
	}
	for d, err := range m.Generate(t.Context(), "<|im_end|>", sampo.SamplingParams{MaxTokens: ptr(1)}) {
		if err != nil {
			t.Fatal(err)
		}
		if d.Usage.PromptTokens != 1 {
			t.Errorf("Generate ran %d tokens, want 1", d.Usage.PromptTokens)
		}
	}
}
