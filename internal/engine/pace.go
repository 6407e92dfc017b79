// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/bits"
	"time"
)

// paceRows is up to how many rows steps are told apart by their number.
const paceRows = 128

// mixedFactor is how much longer than a usual step of as many sequences a step may take because of prompts. The promise is
// 4 for the slowest steps; costs are estimates, and machines have other things to do.
const mixedFactor = 1.75

// leastShare is the part of a usual step that prompts may add in any case: beside streams that are slow because of all
// that they attend to, prompts would hardly end.
const leastShare = 0.4

// paceReach is the unit of what a token looks back on.
const paceReach = 1024

// paceParts is how many prices of rows there are: for the second, the third and fourth, up to the eighth, and so on.
const paceParts = 16

// firstMixed is how many prompt tokens ride along while nothing is known of what they cost.
const firstMixed = 4

// rowCost is what a row more adds to a step, as a share of a step of one row, where nothing was measured yet.
const rowCost = 0.1

// A pace knows what steps cost on this machine, and decides by it how many prompt tokens ride along with decoding and
// how many guesses pay. It changes when tokens are computed, never which.
//
// A step's seconds are those of its sequences alone, which depend on how much they look back on, plus those of prompts: a
// row more costs so much, where kernels take several rows at once as much as they need for few of them, and so much for
// what it looks back on. Every price is learned from the steps that it explains.
type pace struct {
	decode [paceRows + 1]usual // steps of so many sequences and nothing else
	guess  [paceRows + 1]usual // steps of so many rows, guesses among them
	look   float64             // seconds for each paceReach tokens before one that decodes
	row    [paceParts]float64  // seconds of a prompt token that is the first, second, third or fourth, ... row of a step
	reach  float64             // seconds more for each paceReach tokens before it
	asked  [paceRows + 1]bool  // a step without prompts was asked for
	fixed  bool                // it learns nothing more: tests decide what steps cost

	rows int     // that decode in the step to come
	room float64 // seconds that prompts may add to it; 0: none are to be computed
	most int     // prompt tokens in it
}

// A work is what a step computed.
type work struct {
	rows    int  // that decode, guesses among them
	guesses bool // there are some
	context int  // tokens before those rows, added up
	prompt  int  // tokens of prompts
	before  int  // tokens before those, added up
}

// A usual is what steps of one kind cost and look back on in the middle: half of them cost more.
type usual struct {
	steps   int
	seconds float64
	context float64 // in units of paceReach
}

// usualSteps is how many steps a usual remembers.
const usualSteps = 64

// add moves the middle a little towards a step. What is far out counts as out, not as far.
func (u *usual) add(seconds, context float64) {
	if u.steps == 0 {
		u.seconds, u.context = seconds, context
	}
	u.steps = min(u.steps+1, usualSteps)
	near := min(max(seconds, u.seconds/1.5), u.seconds*1.5)
	u.seconds += (near - u.seconds) / float64(u.steps)
	u.context += (context - u.context) / float64(u.steps)
}

// add learns from a step.
func (p *pace) add(w work, took time.Duration) {
	seconds, context := took.Seconds(), float64(w.context)/paceReach
	switch {
	case p.fixed || w.rows > paceRows:
	case w.prompt > 0:
		p.addPrompt(w, seconds-p.expect(w.rows, context))
	case w.guesses:
		p.guess[w.rows].add(seconds, context)
	case w.rows > 0:
		if u := p.decode[w.rows]; u.steps > 0 {
			p.addContext(context-u.context, seconds-p.expect(w.rows, context), u)
		}
		p.decode[w.rows].add(seconds, context)
	}
}

// addContext learns from the seconds more that a step took which had to look back on more than usual.
func (p *pace) addContext(more, seconds float64, u usual) {
	wrong := min(max(seconds, -u.seconds/2), u.seconds/2) / 8
	p.look = max(0, p.look+wrong*more/(more*more+u.context*u.context/4+1e-9))
}

// addPrompt learns from the seconds that prompt tokens added: it moves the prices towards what would have explained
// them, each by the part that it had in them (normalised least mean squares). What is far out counts as far, not as it is.
func (p *pace) addPrompt(w work, seconds float64) {
	seconds = max(0, seconds)
	reach := float64(w.before) / paceReach
	if p.row[0] == 0 {
		for i := range p.row {
			p.row[i] = seconds / (float64(w.prompt) + reach)
		}
		return
	}
	if w.rows == 0 {
		return // what a step costs in any case cannot be told apart
	}
	told := p.prompts(w.rows, w.prompt, w.before)
	wrong := (min(seconds, 4*told) - told) / 4
	square := reach * reach
	parts(w.rows, w.prompt, func(_ int, n float64) { square += n * n })
	parts(w.rows, w.prompt, func(i int, n float64) { p.row[i] = max(p.row[i]/2, p.row[i]+wrong*n/square) })
	p.reach = max(0, p.reach+wrong*reach/square)
}

// prompts estimates the seconds that so many prompt tokens, with so many before them, add to a step with rows that decode.
func (p *pace) prompts(rows, tokens, before int) (seconds float64) {
	parts(rows, tokens, func(i int, n float64) { seconds += n * p.row[i] })
	return seconds + p.reach*float64(before)/paceReach
}

// parts calls yield with each price that counts for tokens behind rows, and for how many of them it does.
func parts(rows, tokens int, yield func(i int, n float64)) {
	for first, end := rows, rows+tokens; first < end; {
		i := bits.Len(uint(first))
		last := min(end, 1<<i)
		yield(min(i, paceParts-1), float64(last-first))
		first = last
	}
}

// learn moves an average towards a value. What is far out counts as far, not as it is.
func learn(average *float64, v float64) {
	if *average == 0 {
		*average = v
		return
	}
	*average += (min(v, 4**average) - *average) / 8
}

// usual estimates what steps of so many sequences cost and look back on; zero if nothing is known.
func (p *pace) usual(rows int) usual {
	rows = min(rows, paceRows)
	if rows <= 0 || p.decode[rows].steps > 0 {
		return p.decode[max(0, rows)]
	}
	below, above := rows, rows
	for below > 0 && p.decode[below].steps == 0 {
		below--
	}
	for above < paceRows && p.decode[above].steps == 0 {
		above++
	}
	low, high := p.decode[below], p.decode[above]
	switch {
	case high.steps == 0:
		return low.times(1+rowCost*float64(rows-below), float64(rows)/float64(max(1, below)))
	case low.steps == 0:
		return high.times((1+rowCost*float64(rows))/(1+rowCost*float64(above)), float64(rows)/float64(above))
	}
	part := float64(rows-below) / float64(above-below)
	return usual{1, low.seconds + (high.seconds-low.seconds)*part, low.context + (high.context-low.context)*part}
}

func (u usual) times(seconds, context float64) usual {
	return usual{u.steps, u.seconds * seconds, u.context * context}
}

// expect estimates the seconds of a step of so many sequences that look back on context; 0 if nothing is known.
func (p *pace) expect(rows int, context float64) float64 {
	u := p.usual(rows)
	return max(u.seconds/2, u.seconds+p.look*(context-u.context))
}

// step estimates the seconds of a usual step of so many sequences and guesses; 0 if nothing is known. Rows of one sequence
// cost less than those of several, which look back on different contexts.
func (p *pace) step(sequences, guesses int) float64 {
	rows := min(sequences+guesses, paceRows)
	below, above := rows, rows
	for below > sequences && p.guess[below].steps == 0 {
		below--
	}
	for above < paceRows && p.guess[above].steps == 0 {
		above++
	}
	low, high := p.guess[max(0, below)].seconds, p.guess[above].seconds
	if below <= sequences {
		low = p.usual(sequences).seconds
	}
	switch {
	case below >= rows:
		return low
	case high == 0:
		return low * (1 + rowCost*float64(rows-below))
	}
	return low + (high-low)*float64(rows-below)/float64(above-below)
}

// prepare sets what prompts may cost the step to come, in which so many sequences decode that look back on context tokens.
func (p *pace) prepare(rows, context, most int) {
	p.rows, p.most, p.room = rows, most, 0
	if rows == 0 || p.unknown(rows) {
		return
	}
	u := p.usual(rows)
	p.room = max(leastShare*u.seconds, mixedFactor*u.seconds-p.expect(rows, float64(context)/paceReach))
	if p.row[0] == 0 || u.seconds == 0 {
		p.room, p.most = math.Inf(1), min(most, firstMixed)
	}
}

// cost returns the share that prompt tokens, with so many before them, take of what they may cost the step to come.
func (p *pace) cost(tokens, before int) float64 {
	if p.room == 0 {
		return 1
	}
	return max(float64(tokens)/float64(p.most), p.prompts(p.rows, tokens, before)/p.room)
}

// unknown reports, once, that steps of about so many sequences have not been seen: one without prompts tells.
func (p *pace) unknown(rows int) bool {
	rows = min(rows, paceRows)
	if p.fixed || p.asked[rows] {
		return false
	}
	for r := (rows + 1) / 2; r <= min(2*rows, paceRows); r++ {
		if p.decode[r].steps > 0 {
			return false
		}
	}
	p.asked[rows] = true
	return true
}
