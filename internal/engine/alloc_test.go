// SPDX-License-Identifier: Apache-2.0

//go:build !invariants

package engine

import (
	"testing"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/token"
)

func TestSteadyDecodingAllocatesNothing(t *testing.T) {
	e := prepare(t, newFake(2000), Config{})
	var streams []inference.Stream
	for i := range token.ID(4) {
		req := plainRequest([]token.ID{i, 1, 2}, 1000)
		if i > 1 {
			req.Sampling = inference.Sampling{Temperature: 1, TopP: 0.9, TopK: 20, PresencePenalty: 0.1}
		}
		s, err := e.Submit(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, s)
	}
	step := func() {
		if !e.await() {
			t.Fatal("closed")
		}
		e.turn()
		for _, s := range streams {
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 200 { // every token has been seen by the penalties
		step()
	}
	if allocs := testing.AllocsPerRun(300, step); allocs != 0 {
		t.Errorf("a step of 4 sequences allocates %v times, want 0", allocs)
	}
}
