// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
)

// keptOf returns the tokens of a row that Keep leaves in play.
func keptOf(t *testing.T, logits []float32, st *State) []token.ID {
	t.Helper()
	list := make([]Logprob, len(logits))
	for i := range list {
		list[i].Token = token.ID(i)
	}
	if err := New(len(logits)).Keep(list, logits, st); err != nil {
		t.Fatal(err)
	}
	var kept []token.ID
	for _, l := range list {
		if l.Kept {
			kept = append(kept, l.Token)
		}
	}
	return kept
}

func TestKeepFollowsTheFilters(t *testing.T) {
	// Weights 1, 8, 2, 4, 1 of 16.
	logits := []float32{0, float32(math.Log(8)), float32(math.Log(2)), float32(math.Log(4)), 0}
	for _, tt := range []struct {
		name string
		p    Params
		want []token.ID
	}{
		{"all", Params{Temperature: 1}, []token.ID{0, 1, 2, 3, 4}},
		{"greedy", Params{}, []token.ID{1}},
		{"top-k keeps ties", Params{Temperature: 1, TopK: 4}, []token.ID{0, 1, 2, 3, 4}},
		{"top-k", Params{Temperature: 1, TopK: 2}, []token.ID{1, 3}},
		{"top-p stops when the sum reaches it", Params{Temperature: 1, TopP: 0.7499}, []token.ID{1, 3}},
		{"top-p keeps the best", Params{Temperature: 1, TopP: 1e-6}, []token.ID{1}},
		{"top-p takes the lower ID of equal ones", Params{Temperature: 1, TopP: 0.93}, []token.ID{0, 1, 2, 3}},
		{"top-p is of what top-k left", Params{Temperature: 1, TopK: 2, TopP: 0.6}, []token.ID{1}},
		{"min-p", Params{Temperature: 1, MinP: 0.24}, []token.ID{1, 2, 3}},
		{"temperature counts", Params{Temperature: 10, TopP: 0.93}, []token.ID{0, 1, 2, 3, 4}},
		{"a bias counts", Params{Temperature: 1, TopK: 1, Bias: []Bias{{Token: 4, Value: 9}}}, []token.ID{4}},
	} {
		if got := keptOf(t, logits, NewState(tt.p, nil, 1)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWhatIsDrawnWasKept(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 9))
		vocab := 1 + r.IntN(50)
		logits := make([]float32, vocab)
		for i := range logits {
			logits[i] = float32(r.NormFloat64() * 3)
		}
		p := Params{Temperature: float32(r.IntN(3)), TopP: r.Float32(), TopK: r.IntN(vocab + 1), MinP: r.Float32() * 0.2}
		st := NewState(p, nil, seed)
		kept := keptOf(t, logits, st)
		id, err := New(vocab).Sample(logits, st)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(kept, id) {
			t.Fatalf("seed %d: %+v: %d was drawn, kept are %v", seed, p, id, kept)
		}
		if p.Temperature > 0 && p.TopK > 0 && len(kept) > p.TopK {
			t.Fatalf("seed %d: %+v: %d kept", seed, p, len(kept))
		}
	}
}
