// SPDX-License-Identifier: Apache-2.0

package server

import (
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/engine"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A faulty model is a true one whose steps do what a test wants.
type faulty struct {
	model.Model
	fault atomic.Pointer[func()]
}

func (f *faulty) Forward(b *model.Batch, c *model.Cache) ([]float32, error) {
	if do := f.fault.Load(); do != nil {
		(*do)()
	}
	return f.Model.Forward(b, c)
}

// withFaults serves the built-in model on an engine whose log is returned too.
func withFaults(t *testing.T, stepTimeout time.Duration) (*site, *faulty, *logBuffer) {
	t.Helper()
	b, err := bundle.OpenBytes("m", assets.MiniChat(), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := tensor.NewPool(1)
	real, err := b.LoadModel(pool)
	if err != nil {
		t.Fatal(err)
	}
	m := &faulty{Model: real}
	log := &logBuffer{}
	e, err := engine.New(m, engine.Config{MaxContext: 256, StepTimeout: stepTimeout, Threads: pool, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := real.Close(); err != nil {
			t.Error(err)
		}
		pool.Close()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return startEngine(t, answer.New(answer.Config{Name: "m", Engine: e, Tokenizer: b.Tokenizer}), e.Close, nil), m, log
}

const onePrompt = `{"prompt":"Once","max_tokens":2}`

func TestAPanicInAStepFailsItsRequestsAndNothingElse(t *testing.T) {
	s, m, log := withFaults(t, time.Minute)
	broken := func() { panic("a fault of this test") }
	m.fault.Store(&broken)
	for i := range 3 {
		if got := s.do(http.MethodGet, "/health", ""); got.StatusCode != http.StatusOK {
			t.Errorf("after %d failures: /health answers %d", i, got.StatusCode)
		}
		if got := s.post("/v1/completions", onePrompt); got.StatusCode != http.StatusInternalServerError || strings.Contains(got.body, "fault") {
			t.Errorf("got %d %s, want a 500 that tells nothing", got.StatusCode, got.body)
		}
	}
	healthIs := func(status int) func() bool {
		return func() bool { return s.do(http.MethodGet, "/health", "").StatusCode == status }
	}
	waitFor(t, "/health to tell of three failures in a row", healthIs(http.StatusServiceUnavailable))
	if text := log.String(); !strings.Contains(text, "a fault of this test") || !strings.Contains(text, "fault_test.go") {
		t.Errorf("the log has no panic with its stack: %s", text)
	}
	m.fault.Store(nil)
	if got := s.post("/v1/completions", onePrompt); got.StatusCode != http.StatusOK {
		t.Errorf("the engine does not go on: %d %s", got.StatusCode, got.body)
	}
	waitFor(t, "/health after a step that succeeded", healthIs(http.StatusOK))
}

func TestAStepThatHangsFailsItsRequestsAndIsTold(t *testing.T) {
	s, m, log := withFaults(t, 2*time.Second)
	release := make(chan struct{})
	hang := func() { <-release }
	m.fault.Store(&hang)
	if got := s.post("/v1/completions", onePrompt); got.StatusCode != http.StatusInternalServerError {
		t.Errorf("got %d %s, want a 500", got.StatusCode, got.body)
	}
	if got := s.do(http.MethodGet, "/health", ""); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("while a step hangs /health answers %d", got.StatusCode)
	}
	if text := log.String(); !strings.Contains(text, "step takes too long") || !strings.Contains(text, "goroutine") {
		t.Errorf("the log has no stack: %s", text)
	}
	m.fault.Store(nil)
	close(release)
	waitFor(t, "health", func() bool { return s.do(http.MethodGet, "/health", "").StatusCode == http.StatusOK })
	if got := s.post("/v1/completions", onePrompt); got.StatusCode != http.StatusOK {
		t.Errorf("the engine does not go on: %d %s", got.StatusCode, got.body)
	}
}
