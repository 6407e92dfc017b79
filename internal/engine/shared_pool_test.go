// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"sync"
	"testing"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/tiny"
	"github.com/sampo-ai/sampo/internal/token"
)

// Two models served by one program share the threads of the machine; their steps must not get into each other's way.
func TestTwoEnginesShareOnePool(t *testing.T) {
	pool := tensor.NewPool(2)
	defer pool.Close()
	var engines []*Engine
	for seed := range uint64(2) {
		m, err := tiny.Llama(pool, quant.Q80, seed)
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(m, Config{Threads: pool})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		engines = append(engines, e)
	}
	ask := func(e *Engine) []token.ID {
		s, err := e.Submit(t.Context(), inference.Request{
			Prompt: []token.ID{1, 2, 3}, MaxTokens: 40, EOS: token.None, Logprobs: inference.NoLogprobs, PromptLogprobs: inference.NoLogprobs,
		})
		if err != nil {
			t.Error(err)
			return nil
		}
		defer s.Close()
		var ids []token.ID
		for {
			ev, err := s.Next()
			if err != nil {
				return ids
			}
			ids = append(ids, ev.Token)
		}
	}
	var alone [2][]token.ID
	for i, e := range engines {
		alone[i] = ask(e)
	}
	var wg sync.WaitGroup
	for i, e := range engines {
		wg.Go(func() {
			if got := ask(e); !slices.Equal(got, alone[i]) {
				t.Errorf("engine %d beside another: %v, alone %v", i, got, alone[i])
			}
		})
	}
	wg.Wait()
}
