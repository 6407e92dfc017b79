// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"
)

// A machine is what steps take on some machine: decode, what a row more costs, how many rows it computes in the time of one,
// and what a thousand tokens before one cost that decodes, or is of a prompt; all in milliseconds.
type machine struct {
	decode, row float64
	free        int
	look, reach float64
	noise       float64 // share by which times vary
}

func (m machine) step(r *rand.Rand, rows, context, tokens, before int) time.Duration {
	ms := m.decode + m.row*float64(max(0, rows+tokens-m.free)) + m.look*float64(context)/1024 + m.reach*float64(before)/1024
	return time.Duration(ms * (1 + m.noise*(2*r.Float64()-1)) * float64(time.Millisecond))
}

// Prompts beside few streams of a fast model, beside contexts of all lengths, and where kernels take eight rows at once: no
// step is much longer than the usual one of as many sequences, however far the prompts are, and prompts get on.
func TestPromptsRideAlongAsFarAsStreamsCanBear(t *testing.T) {
	for name, m := range map[string]machine{
		"tiny model":          {decode: 0.1, row: 0.022, free: 1, look: 0.08, reach: 0.02, noise: 0.1},
		"rows come by eights": {decode: 3.5, row: 0.25, free: 8, look: 1, reach: 0.3, noise: 0.1},
		"no attention":        {decode: 7, row: 0.4, free: 1, noise: 0.1},
		"large output":        {decode: 20, row: 0.2, free: 1, look: 0.1, reach: 0.05, noise: 0.1},
	} {
		for _, rows := range []int{1, 2, 4, 16, 48} {
			r := rand.New(rand.NewPCG(1, uint64(rows)))
			var p pace
			for range 200 {
				context := rows * (200 + r.IntN(400))
				p.add(work{rows: rows, context: context}, m.step(r, rows, context, 0, 0))
			}
			usual := m.step(rand.New(rand.NewPCG(0, 0)), rows, rows*400, 0, 0).Seconds()
			var late, steps, tokens int
			for i := range 4000 {
				context, pos := rows*(200+r.IntN(400)), i%4000
				p.prepare(rows, context, 64)
				n := 1
				for p.cost(n+1, (n+1)*pos) <= 1 {
					n++
				}
				took := m.step(r, rows, context, n, n*pos)
				p.add(work{rows: rows, context: context, prompt: n, before: n * pos}, took)
				if tokens += n; i >= 100 {
					if steps++; took.Seconds() > 4*usual {
						late++
					}
				}
			}
			if late > steps/100 {
				t.Errorf("%s, %d sequences: %d of %d steps took over 4 times the usual", name, rows, late, steps)
			}
			if tokens < 3*4000/2 {
				t.Errorf("%s, %d sequences: %d prompt tokens in 4000 steps", name, rows, tokens)
			}
		}
	}
}

// On a machine that has other things to do one step in forty takes 2.7 times as long, with prompts or without. With all that
// prompts may add otherwise, more than one in a hundred would take over four times the usual one.
func TestPromptsHoldBackWhereStepsScatter(t *testing.T) {
	for _, rows := range []int{1, 3, 16, 48} {
		r := rand.New(rand.NewPCG(2, uint64(rows)))
		m := machine{decode: 0.3, row: 0.05, free: 1, look: 0.05, reach: 0.02, noise: 0.1}
		step := func(context, tokens, before int) time.Duration {
			took := m.step(r, rows, context, tokens, before)
			if r.IntN(40) == 0 {
				took = took * 27 / 10
			}
			return took
		}
		var p pace
		for range 200 {
			p.add(work{rows: rows, context: rows * 400}, step(rows*400, 0, 0))
		}
		usual := m.step(rand.New(rand.NewPCG(0, 0)), rows, rows*400, 0, 0).Seconds()
		var late, steps, tokens int
		for i := range 6000 {
			p.prepare(rows, rows*400, 64)
			n := 1
			for p.cost(n+1, (n+1)*500) <= 1 {
				n++
			}
			took := step(rows*400, n, n*500)
			p.add(work{rows: rows, context: rows * 400, prompt: n, before: n * 500}, took)
			if i < 1000 {
				continue
			}
			steps++
			tokens += n
			if took.Seconds() > 4*usual {
				late++
			}
		}
		if late > steps/100 {
			t.Errorf("%d sequences: %d of %d steps took over 4 times the usual", rows, late, steps)
		}
		if tokens < steps*5/4 {
			t.Errorf("%d sequences: %d prompt tokens in %d steps", rows, tokens, steps)
		}
		// The machine is free again: so are prompts.
		for range 2000 {
			p.add(work{rows: rows, context: rows * 400, prompt: 1, before: 500}, m.step(r, rows, rows*400, 1, 500))
		}
		if held := p.held[bits.Len(uint(rows-1))]; held != 0 {
			t.Errorf("%d sequences: prompts leave %v of their share on a free machine", rows, held)
		}
	}
}

func TestBeforeAnythingWasMeasuredFewPromptTokensRideAlong(t *testing.T) {
	var p pace
	if p.prepare(4, 400, 64); p.cost(0, 0) < 1 {
		t.Errorf("the first step has prompt tokens: nothing tells what it would take without")
	}
	for range fewSteps {
		p.add(work{rows: 4, context: 400}, 10*time.Millisecond)
	}
	if p.prepare(4, 400, 64); p.cost(firstMixed, 0) > 1 || p.cost(firstMixed+1, 0) <= 1 {
		t.Errorf("%d and %d tokens cost %v and %v of a step, want up to 1 and more", firstMixed, firstMixed+1, p.cost(firstMixed, 0), p.cost(firstMixed+1, 0))
	}
}

// One sequence that attends to a long context makes slow steps; prompts beside it go on nevertheless.
func TestPromptsGoOnBesideALongContext(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := machine{decode: 1, row: 0.2, free: 1, look: 1, reach: 0.1}
	var p pace
	for range 300 {
		context := r.IntN(800)
		p.add(work{rows: 1, context: context}, m.step(r, 1, context, 0, 0))
	}
	for range 100 {
		p.prepare(1, 8000, 64)
		p.add(work{rows: 1, context: 8000, prompt: 4}, m.step(r, 1, 8000, 4, 0))
	}
	if p.prepare(1, 8000, 64); p.cost(2, 0) > 1 {
		t.Errorf("two tokens cost %v of what they may", p.cost(2, 0))
	}
}

func TestPaceEstimatesWhatItHasNotSeen(t *testing.T) {
	var p pace
	p.add(work{rows: 2}, 10*time.Second)
	p.add(work{rows: 6}, 18*time.Second)
	for rows, want := range map[int]float64{0: 0, 1: 10 * 1.1 / 1.2, 2: 10, 4: 14, 6: 18, 16: 36, 1000: 18 * (1 + rowCost*(paceRows-6))} {
		if got := p.usual(rows).seconds; math.Abs(got-want) > 1e-9 {
			t.Errorf("%d sequences: got %v s, want %v", rows, got, want)
		}
	}
}

// However deep a prompt is, and however little room there is, three of its tokens fit, and no fourth.
func TestAFewTokensOfADeepPromptAlwaysFit(t *testing.T) {
	m := machine{decode: 1, row: 0.1, free: 1, reach: 5}
	r := rand.New(rand.NewPCG(1, 2))
	var p pace
	for range 50 {
		p.add(work{rows: 1}, m.step(r, 1, 0, 0, 0))
	}
	for range 200 {
		p.add(work{rows: 1, prompt: 3, before: 12000}, m.step(r, 1, 0, 3, 12000))
	}
	if p.prepare(1, 0, 64); p.cost(fewTokens, 12000) > 1 || p.cost(fewTokens+1, 16000) <= 1 {
		t.Errorf("3 and 4 tokens cost %v and %v of what they may, want up to 1 and more", p.cost(fewTokens, 12000), p.cost(fewTokens+1, 16000))
	}
	if p.prepare(1, 0, 2); p.cost(fewTokens, 12000) <= 1 {
		t.Errorf("3 tokens cost %v of what they may, where two are the most", p.cost(fewTokens, 12000))
	}
}

// Eight rows of one sequence cost less than eight sequences, each with a context of its own.
func TestGuessesHaveAPriceOfTheirOwn(t *testing.T) {
	var p pace
	p.add(work{rows: 1}, 10*time.Second)
	p.add(work{rows: 8}, 40*time.Second)
	for guesses, want := range map[int]float64{0: 10, 3: 13, 7: 17} {
		if got := p.step(1, guesses); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d guesses, nothing known: got %v s, want %v", guesses, got, want)
		}
	}
	p.add(work{rows: 8, guesses: true}, 24*time.Second)
	for guesses, want := range map[int]float64{0: 10, 3: 16, 7: 24, 9: 24 * (1 + 2*rowCost)} {
		if got := p.step(1, guesses); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d guesses: got %v s, want %v", guesses, got, want)
		}
	}
	if got := p.usual(8).seconds; got != 40 {
		t.Errorf("eight sequences: got %v s, want 40", got)
	}
}

func TestOneSlowStepIsNotTheRule(t *testing.T) {
	var p pace
	p.add(work{rows: 1}, time.Millisecond)
	p.add(work{rows: 1}, time.Hour)
	if got := p.usual(1).seconds; got > 0.0015 {
		t.Errorf("after one slow step: %v s, want little more than 0.001", got)
	}
}

// The first step of eight sequences was held up; prompts beside eight then had eight times the room that they should have.
func TestASlowFirstStepIsForgotten(t *testing.T) {
	m := machine{decode: 1, row: 0.2, free: 1}
	r := rand.New(rand.NewPCG(1, 2))
	var p pace
	p.add(work{rows: 8}, 20*time.Millisecond)
	for range 5 {
		p.add(work{rows: 8, prompt: 8}, m.step(r, 8, 0, 8, 0))
	}
	if got, most := p.usual(8).seconds, m.step(r, 8, 0, 8, 0).Seconds(); got > most {
		t.Errorf("a usual step: %v s, but one with prompts took %v", got, most)
	}
	p = pace{}
	p.add(work{rows: 8}, 20*time.Millisecond)
	if !p.unknown(8) {
		t.Error("one step without prompts is enough to know them")
	}
	for range fewSteps - 1 {
		p.add(work{rows: 8}, m.step(r, 8, 0, 0, 0))
	}
	if got, want := p.usual(8).seconds, m.step(r, 8, 0, 0, 0).Seconds(); math.Abs(got-want) > 1e-9 || p.unknown(8) {
		t.Errorf("a usual step: got %v s, want %v", got, want)
	}
}
