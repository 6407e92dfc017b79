// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"testing"
	"time"
)

func TestPromptsRideAlongAsFarAsStreamsCanBear(t *testing.T) {
	var p pace
	if got := p.mixed(4, 64); got != leastMixed {
		t.Errorf("before anything was measured: %d prompt tokens, want %d", got, leastMixed)
	}
	for range 50 {
		p.add(4, 0, 10*time.Millisecond)
		p.add(4, 40, 30*time.Millisecond) // half a millisecond each
	}
	for _, tt := range []struct{ rows, most, want int }{
		{4, 64, 30}, // 15 ms more than the 10 of the step
		{4, 16, 16},
		{4, 0, 0},   // no limit
		{0, 64, 64}, // nobody waits for a token
	} {
		if got := p.mixed(tt.rows, tt.most); got != tt.want {
			t.Errorf("%d rows, at most %d: got %d, want %d", tt.rows, tt.most, got, tt.want)
		}
	}
}

func TestPaceEstimatesWhatItHasNotSeen(t *testing.T) {
	var p pace
	p.add(2, 0, 10*time.Second)
	p.add(6, 0, 18*time.Second)
	for rows, want := range map[int]float64{0: 0, 1: 10, 2: 10, 4: 14, 6: 18, 16: 36, 1000: 18 * (1 + rowCost*(paceRows-6))} {
		if got := p.step(rows); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d rows: got %v s, want %v", rows, got, want)
		}
	}
}

func TestOneSlowStepIsNotTheRule(t *testing.T) {
	var p pace
	p.add(1, 0, time.Millisecond)
	p.add(1, 0, time.Hour)
	if got := p.step(1); got > 0.0014 {
		t.Errorf("after one slow step: %v s, want little more than 0.001", got)
	}
}
