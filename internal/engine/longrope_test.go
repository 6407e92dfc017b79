// SPDX-License-Identifier: Apache-2.0

//go:build !race

package engine

import (
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/tiny"
	"github.com/sampo-ai/sampo/internal/token"
)

// phiFolders have tiny models with LongRoPE whose original context is 64 tokens, the second with a window in all layers, and greedy
// text across it by transformers.
var phiFolders = []string{"../model/phi3/testdata/phi4-mini", "../model/phi3/testdata/phi3-grouped"}

// openPhi opens one of them with a float32 cache.
func openPhi(t *testing.T, folder string) (model.Model, *tensor.Pool) {
	t.Helper()
	family, c, f := tiny.OpenGGUF(t, filepath.Join(folder, "model.gguf"))
	c.CacheType = tensor.KVF32
	pool := tensor.NewPool(2)
	m, err := family.Load(c, f, pool, model.GGUF)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return m, pool
}

func TestGreedyTextCrossesLongRopesLimitAsInTransformers(t *testing.T) {
	for _, folder := range phiFolders {
		t.Run(filepath.Base(folder), func(t *testing.T) { checkCrossing(t, folder) })
	}
}

func checkCrossing(t *testing.T, folder string) {
	data, err := os.ReadFile(filepath.Join(folder, "crossing.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Prompt, Tokens []token.ID
		Logits         [][]float32
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	m, pool := openPhi(t, folder)
	c := m.Config()
	limit := c.LongAfter()
	if end := len(want.Prompt) + len(want.Tokens); len(want.Prompt) >= limit || end <= limit+1 {
		t.Fatalf("a prompt of %d and text of %d tokens do not cross %d", len(want.Prompt), len(want.Tokens), limit)
	}
	e, err := New(m, Config{Threads: pool, MaxBatchTokens: 20, MaxRunning: 4, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	// Each prompt ends somewhere in the text, and several times the cache has blocks of the same tokens of either kind.
	for _, skip := range []int{0, 3, 8, 9, 12, 8, 0} {
		req := plainRequest(slices.Concat(want.Prompt, want.Tokens[:skip]), len(want.Tokens)-skip)
		req.Logprobs = inference.AllLogprobs
		a := submitAndRead(t.Context(), e, req)
		if a.err != nil {
			t.Fatal(a.err)
		}
		if !slices.Equal(a.tokens[0], want.Tokens[skip:]) {
			t.Errorf("after %d tokens: got %v, want %v", skip, a.tokens[0], want.Tokens[skip:])
			continue
		}
		for i, event := range a.events {
			checkLogprobs(t, event, want.Logits[skip+i])
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	checkEmpty(t, e)
}

// checkLogprobs compares an event's logprobs with the logits of the reference.
func checkLogprobs(t *testing.T, event inference.Event, logits []float32) {
	t.Helper()
	sum, size := 0.0, 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l))
		size = max(size, math.Abs(float64(l)))
	}
	if len(event.Top) != len(logits) {
		t.Fatalf("%d logprobs, want %d", len(event.Top), len(logits))
	}
	for _, top := range event.Top {
		want := float64(logits[top.Token]) - math.Log(sum)
		if diff := math.Abs(float64(top.Logprob) - want); diff > 1e-4*size {
			t.Errorf("token %d has logprob %g, want %g", top.Token, top.Logprob, want)
		}
	}
}
