// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/token"
)

func TestExponentialsAreThoseOfTheirTwin(t *testing.T) {
	z := make([]float32, 1003)
	for i := range z {
		z[i] = 7 - float32(i)/20
	}
	z[5] = negativeInfinity
	for i, got := range New(len(z)).exponentials(z, 7) {
		if want := kernel.Exp(z[i] - 7); got != want {
			t.Fatalf("exp(%v - 7) = %v, the twin gives %v", z[i], got, want)
		}
	}
	if weight(1) != weightOne || weight(0) != 0 {
		t.Errorf("weight(1) = %d, weight(0) = %d, want %d and 0", weight(1), weight(0), uint64(weightOne))
	}
}

// The vectors are those published with Random123.
func TestPhiloxMatchesItsAuthors(t *testing.T) {
	for _, tt := range []struct{ counter, key, want [4]uint32 }{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{
			counter: [4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
			key:     [4]uint32{0xffffffff, 0xffffffff},
			want:    [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
		},
		{
			counter: [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			key:     [4]uint32{0xa4093822, 0x299f31d0},
			want:    [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
		},
	} {
		if got := philox(tt.counter, [2]uint32{tt.key[0], tt.key[1]}); got != tt.want {
			t.Errorf("philox(%x, %x) = %x, want %x", tt.counter, tt.key, got, tt.want)
		}
	}
}

func TestGreedyTakesTheLowestIDOfEqualLogits(t *testing.T) {
	got, err := New(4).Sample([]float32{1, 3, 3, 2}, NewState(Params{}, nil, 0))
	if err != nil || got != 1 {
		t.Errorf("got %d, %v, want 1", got, err)
	}
}

func TestSmallTemperatureIsNotGreedy(t *testing.T) {
	// At 1e-6, taken as 0.01, a logit lower by 0.005 still has exp(-0.5) of the best one's weight.
	other := 0
	for seed := range uint64(200) {
		if id, _ := New(2).Sample([]float32{1, 0.995}, NewState(Params{Temperature: 1e-6}, nil, seed)); id == 1 {
			other++
		}
	}
	if other < 40 || other > 120 {
		t.Errorf("the second token came %d times of 200, want about 75", other)
	}
}

func TestDrawsFollowTheDistribution(t *testing.T) {
	logits := []float32{0, float32(math.Log(3)), float32(math.Log(6))}
	counts := make([]float64, 3)
	st := NewState(Params{Temperature: 1}, nil, 42)
	s := New(3)
	const draws = 20_000
	for range draws {
		id, err := s.Sample(logits, st)
		if err != nil {
			t.Fatal(err)
		}
		counts[id]++
		st.Add(id)
	}
	for i, want := range []float64{0.1, 0.3, 0.6} {
		// Five standard deviations.
		if got := counts[i] / draws; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/draws) {
			t.Errorf("token %d: %v of draws, want %v", i, got, want)
		}
	}
}

func TestLogprobs(t *testing.T) {
	logits := []float32{2, float32(math.Inf(-1)), 5, 5, 1}
	own, top, err := New(5).Logprobs(logits, 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	norm := math.Log(math.Exp(2) + 2*math.Exp(5) + math.Exp(1))
	want := []Logprob{{Token: 2, Logprob: float32(5 - norm), Rank: 1}, {Token: 3, Logprob: float32(5 - norm), Rank: 2}, {Token: 0, Logprob: float32(2 - norm), Rank: 3}}
	near := cmp.Comparer(func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-6 })
	if diff := cmp.Diff(want, top, near); diff != "" {
		t.Errorf("best tokens (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1], own, near); diff != "" {
		t.Errorf("own entry (-want +got):\n%s", diff)
	}
	own, top, _ = New(5).Logprobs(logits, 1, 100)
	if len(top) != 5 || own.Rank != 5 || !math.IsInf(float64(top[4].Logprob), -1) {
		t.Errorf("whole vocabulary: %d entries, rank %d of the impossible token, last %v", len(top), own.Rank, top[4])
	}
}

func TestSampleAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	logits := randomRow(r, 1000)
	for _, p := range []Params{
		{},
		{Temperature: 1},
		{Temperature: 0.7, TopK: 20, TopP: 0.9, MinP: 0.01, Repetition: 1.1, Bias: []Bias{{3, 1}}},
	} {
		s, st := New(1000), NewState(p, []token.ID{1, 2, 3}, 5)
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := s.Sample(logits, st); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%+v: %v allocations a token, want 0", p, allocs)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, vocab := range []int{49152, 262144} {
		logits := make([]float32, vocab)
		for i := range logits {
			logits[i] = float32(r.NormFloat64()) * 3
		}
		for name, p := range map[string]Params{
			"greedy":    {},
			"plain":     {Temperature: 1},
			"topk":      {Temperature: 1, TopK: 20, TopP: 0.95},
			"topp":      {Temperature: 1, TopP: 0.9},
			"penalties": {Repetition: 1.1, Presence: 0.5},
		} {
			b.Run(fmt.Sprintf("%s/vocab=%d", name, vocab), func(b *testing.B) {
				s, st := New(vocab), NewState(p, []token.ID{1, 2, 3}, 5)
				for b.Loop() {
					if _, err := s.Sample(logits, st); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("logprobs/vocab=%d", vocab), func(b *testing.B) {
			s := New(vocab)
			for b.Loop() {
				if _, _, err := s.Logprobs(logits, 7, 20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A penalty is any number above 0, and the least float32 is one.
func TestTinyPenaltyLeavesLogitsFinite(t *testing.T) {
	for _, temperature := range []float32{0, 0.001, 1} {
		st := NewState(Params{Repetition: math.SmallestNonzeroFloat32, Temperature: temperature}, []token.ID{1}, 0)
		if got, err := New(3).Sample([]float32{1, 2, 3}, st); err != nil || got != 1 {
			t.Errorf("temperature %v: got %d, %v, want 1", temperature, got, err)
		}
	}
}

// A penalty that made minus infinity of a logit forbade the token: where no other was allowed, the request ended with an error
// that blamed its other fields.
func TestHugePenaltyForbidsNothing(t *testing.T) {
	for _, temperature := range []float32{0, 0.001, 1} {
		only := token.NewMask(3)
		only.Add(1)
		st := NewState(Params{Repetition: math.MaxFloat32, Temperature: temperature, Allowed: only}, []token.ID{0, 1}, 0)
		if got, err := New(3).Sample([]float32{1, -20, 3}, st); err != nil || got != 1 {
			t.Errorf("temperature %v: got %d, %v, want 1", temperature, got, err)
		}
	}
}

// Each of 64 choices kept the prompt's tokens for itself: a request of 40 KB took 28 MB while it waited.
func TestChoicesShareTheirPrompt(t *testing.T) {
	prompt := make([]token.ID, 5000)
	for i := range prompt {
		prompt[i] = token.ID(i)
	}
	p := Params{Repetition: 1.5, Frequency: 0.5}
	first := NewState(p, prompt, 0)
	if n := testing.AllocsPerRun(100, func() { first.Sibling(1) }); n > 1 {
		t.Errorf("a sibling allocates %v times, want once", n)
	}
	second := first.Sibling(1)
	logits := make([]float32, 6000)
	logits[10], logits[5500], logits[5501] = 4, 3.5, 3
	for range 6 {
		first.Add(5500)
	}
	for name, tt := range map[string]struct {
		st   *State
		want token.ID
	}{"with output": {first, 5501}, "without": {second, 5500}, "from the start": {NewState(p, prompt, 1), 5500}} {
		if got, err := New(len(logits)).Sample(logits, tt.st); err != nil || got != tt.want {
			t.Errorf("%s: got %d, %v, want %d", name, got, err, tt.want)
		}
	}
}
