// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestPromptsRideAlongAsFarAsStreamsCanBear(t *testing.T) {
	var p pace
	if got, _ := p.mixed(4, 64); got != leastMixed {
		t.Errorf("before anything was measured: %d prompt tokens, want %d", got, leastMixed)
	}
	for range 50 {
		p.add(work{rows: 4}, 10*time.Millisecond)
		p.add(work{rows: 4, prompt: 40}, 30*time.Millisecond) // half a millisecond each
	}
	for _, tt := range []struct{ rows, most, want int }{
		{4, 64, 30}, // 15 ms more than the 10 of the step
		{4, 16, 16},
		{4, 0, 0},   // no limit
		{0, 64, 64}, // nobody waits for a token
	} {
		if got, _ := p.mixed(tt.rows, tt.most); got != tt.want {
			t.Errorf("%d rows, at most %d: got %d, want %d", tt.rows, tt.most, got, tt.want)
		}
	}
}

// The same token costs several times as much at the end of a long prompt as at its beginning. Who takes the average for
// both lets a long prompt stall the streams beside it.
func TestTokensOfLongPromptsCountForMore(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p pace
	for range 2000 {
		p.add(work{rows: 8}, 10*time.Millisecond)
		n, pos := 1+r.IntN(64), r.IntN(4000)
		if r.IntN(2) == 0 {
			pos = r.IntN(100)
		}
		// A tenth of a millisecond each, and as much again for each 2000 tokens before it; and the machine's noise.
		took := 10 + float64(n)*0.1*(1+float64(pos)/2000)*(0.8+0.4*r.Float64())
		p.add(work{rows: 8, prompt: n, before: n * pos}, time.Duration(took*float64(time.Millisecond)))
	}
	tokens, reach := p.mixed(8, 1000)
	if tokens < 120 || tokens > 180 || reach < 1500 || reach > 2700 {
		t.Errorf("got %d tokens, doubling at %d; want about 150 and 2000", tokens, reach)
	}
}

func TestPaceEstimatesWhatItHasNotSeen(t *testing.T) {
	var p pace
	p.add(work{rows: 2}, 10*time.Second)
	p.add(work{rows: 6}, 18*time.Second)
	for rows, want := range map[int]float64{0: 0, 1: 10, 2: 10, 4: 14, 6: 18, 16: 36, 1000: 18 * (1 + rowCost*(paceRows-6))} {
		if got := p.step(rows); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d rows: got %v s, want %v", rows, got, want)
		}
	}
}

func TestOneSlowStepIsNotTheRule(t *testing.T) {
	var p pace
	p.add(work{rows: 1}, time.Millisecond)
	p.add(work{rows: 1}, time.Hour)
	if got := p.step(1); got > 0.0014 {
		t.Errorf("after one slow step: %v s, want little more than 0.001", got)
	}
}
