// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/bits"
	"time"
)

// paceRows is up to how many rows steps are told apart by their number.
const paceRows = 128

// mixedShare is how much longer than a usual step of as many sequences a step may take because of prompts, as a share of
// that, and leastShare what prompts may add in any case: beside streams that are slow because of all that they attend to,
// they would hardly end. The promise is 4 times the usual step for the slowest in a hundred; costs are estimates.
const (
	mixedShare = 0.75
	leastShare = 0.4
)

// Where steps scatter, because the machine has other things to do, estimates are kept and the promise is not. So prompts
// get less where more than one in 200 of their steps was late, down to two fifths.
const (
	lateFactor = 3.25   // times a usual step: late
	lateCut    = 0.75   // what a late step leaves prompts
	lateGain   = 1.0014 // what one in time gives back: lateCut after 200
	leastPart  = 0.4
)

// paceReach is the unit of what a token looks back on.
const paceReach = 1024

// paceParts is how many prices of rows there are: for the second, the third and fourth, up to the eighth, and so on.
const paceParts = 16

// So few tokens of a prompt take no more than such a share, whatever they cost, lest long prompts never end beside streams.
// With the row of a stream they are four, which kernels compute in little more than the time of one; and what lies before them
// is read once for all.
const (
	fewTokens = 3
	fewShare  = 0.7
)

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
	held   [8]float64          // what prompts must leave of their shares, beside 1, 2, 3 to 4, 5 to 8 sequences and so on
	asked  [paceRows + 1]int   // how often a step without prompts was asked for
	draft  float64             // seconds of one guess of the draft model for all sequences
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
	common  float64 // seconds too, over more steps, so that those with long contexts do not make all look short
}

// usualSteps is how many steps a usual remembers, and commonSteps how many for what is common. Of few the fastest tells most:
// a machine makes steps slow, never fast.
const (
	fewSteps    = 3
	usualSteps  = 64
	commonSteps = 1024
)

// add moves the middle a little towards a step. What is far out counts as out, not as far.
func (u *usual) add(seconds, context float64) {
	if u.steps == 0 {
		u.seconds, u.context, u.common = seconds, context, seconds
	}
	if u.steps++; u.steps <= fewSteps {
		u.bound(seconds)
		return
	}
	u.steps = min(u.steps, commonSteps)
	n := float64(min(u.steps, usualSteps))
	u.seconds += (near(seconds, u.seconds) - u.seconds) / n
	u.context += (context - u.context) / n
	u.common += (near(seconds, u.common) - u.common) / float64(u.steps)
}

// bound takes note that a step cannot take longer than so many seconds.
func (u *usual) bound(seconds float64) {
	u.seconds, u.common = min(u.seconds, seconds), min(u.common, seconds)
}

// near brings a value that is far out to where it only counts as out.
func near(v, middle float64) float64 { return min(max(v, middle/1.5), middle*1.5) }

// least is what a step took in the middle, lately or over more of them, whichever is less.
func (u usual) least() float64 { return min(u.seconds, u.common) }

// add learns from a step.
func (p *pace) add(w work, took time.Duration) {
	seconds, context := took.Seconds(), float64(w.context)/paceReach
	switch {
	case p.fixed || w.rows > paceRows:
	case w.prompt > 0:
		alone := p.expect(w.rows, context)
		p.addLate(w.rows, seconds, alone)
		p.addPrompt(w, seconds-alone)
		p.addBound(w.rows, seconds, context)
	case w.guesses:
		p.guess[w.rows].add(seconds, context)
	case w.rows > 0:
		if u := p.decode[w.rows]; u.steps > 0 {
			p.addContext(context-u.context, seconds-p.expect(w.rows, context), u)
		}
		p.decode[w.rows].add(seconds, context)
	}
}

// addDraft learns what one guess of the draft model took for all sequences, if it made any.
func (p *pace) addDraft(seconds float64) {
	if seconds > 0 && !p.fixed {
		learn(&p.draft, seconds)
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
	last := 0
	parts(w.rows, w.prompt, func(i int, n float64) { last, p.row[i] = i, max(p.row[i]/2, p.row[i]+wrong*n/square) })
	p.reach = max(0, p.reach+wrong*reach/square)
	// A price that was too high once would never be paid again, nor corrected.
	for i := last + 1; i < paceParts; i++ {
		p.row[i] -= max(0, p.row[i]-p.row[last]) / 64
	}
}

// addBound learns from a step with prompts that took less than what was thought of one without.
func (p *pace) addBound(rows int, seconds, context float64) {
	if alone := p.expect(rows, context); rows == 0 || alone <= seconds {
		return
	}
	u := &p.decode[rows]
	if u.steps == 0 {
		u.add(seconds, context)
	}
	u.bound(seconds + p.look*max(0, u.context-context))
}

// addLate learns from whether a step with prompts was late. Beside sequences that attend to so much that their step alone
// takes longer than a usual one, that is no fault of the prompts.
func (p *pace) addLate(rows int, seconds, alone float64) {
	if rows == 0 || alone == 0 {
		return
	}
	held := &p.held[bits.Len(uint(rows-1))]
	part := (1 - *held) * lateGain
	if seconds > max(lateFactor*p.usual(rows).least(), (1+mixedShare)*alone) {
		part = (1 - *held) * lateCut
	}
	*held = 1 - min(max(part, leastPart), 1)
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
	between := func(low, high float64) float64 { return low + (high-low)*part }
	return usual{1, between(low.seconds, high.seconds), between(low.context, high.context), between(low.common, high.common)}
}

func (u usual) times(seconds, context float64) usual {
	return usual{u.steps, u.seconds * seconds, u.context * context, u.common * seconds}
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
	part := 1 - p.held[bits.Len(uint(min(rows, paceRows)-1))]
	p.room = part * max(leastShare*u.least(), (1+mixedShare)*u.least()-p.expect(rows, float64(context)/paceReach))
	if p.row[0] == 0 || u.seconds == 0 {
		p.room, p.most = math.Inf(1), min(most, firstMixed)
	}
}

// cost returns the share that prompt tokens, with so many before them, take of what they may cost the step to come.
func (p *pace) cost(tokens, before int) float64 {
	if p.room == 0 {
		return 1
	}
	share := p.prompts(p.rows, tokens, before) / p.room
	if tokens <= fewTokens {
		share = min(share, fewShare)
	}
	return max(float64(tokens)/float64(p.most), share)
}

// unknown reports, a few times, that steps of about so many sequences have hardly been seen: one without prompts tells.
func (p *pace) unknown(rows int) bool {
	rows = min(rows, paceRows)
	if p.fixed || p.asked[rows] >= fewSteps {
		return false
	}
	seen := 0
	for r := (rows + 1) / 2; r <= min(2*rows, paceRows); r++ {
		seen += p.decode[r].steps
	}
	if seen >= fewSteps {
		return false
	}
	p.asked[rows]++
	return true
}
