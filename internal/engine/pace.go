// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// paceRows is up to how many rows steps are told apart by their number.
const paceRows = 128

// mixedFactor is how much longer than plain decoding a step may take because of prompts. The promise is 4 for the
// slowest steps; costs are estimates, and machines have other things to do.
const mixedFactor = 2.5

// paceReach is the unit of what a token attends to.
const paceReach = 1024

// leastMixed is how many prompt tokens ride along in any case, or prompts would never end beside many streams.
const leastMixed = 8

// rowCost is what a row more adds to a step, as a share of a step of one row, where nothing was measured yet.
const rowCost = 0.1

// A pace knows what steps cost on this machine, and decides by it how many prompt tokens ride along with decoding and
// how many guesses pay. It changes when tokens are computed, never which.
type pace struct {
	decode [paceRows + 1]float64 // seconds of a step of so many rows without prompts; 0: not seen
	prompt float64               // seconds that a prompt token adds, at the beginning of a context
	attend float64               // seconds more for each paceReach tokens before it
	fixed  bool                  // it learns nothing more: tests decide what steps cost
}

// A work is what a step computed.
type work struct {
	rows   int // that decode, guesses among them
	prompt int // tokens
	before int // tokens before those of prompts, added up
}

// add learns from a step.
func (p *pace) add(w work, took time.Duration) {
	seconds := took.Seconds()
	switch {
	case p.fixed:
	case w.prompt > 0:
		p.addPrompt(w, max(0, seconds-p.step(w.rows)))
	case w.rows > 0 && w.rows <= paceRows:
		learn(&p.decode[w.rows], seconds)
	}
}

// addPrompt learns from the seconds that prompt tokens added: it moves the two prices towards what would have explained
// them, each by the part that it had in them (normalised least mean squares). What is far out counts as far, not as it is.
func (p *pace) addPrompt(w work, seconds float64) {
	n, reach := float64(w.prompt), float64(w.before)/paceReach
	if p.prompt == 0 {
		p.prompt = seconds / (n + reach)
		return
	}
	told := n*p.prompt + reach*p.attend
	wrong := (min(seconds, 4*told) - told) / 4
	p.prompt = max(p.prompt/2, p.prompt+wrong*n/(n*n+reach*reach))
	p.attend = max(0, p.attend+wrong*reach/(n*n+reach*reach))
}

// learn moves an average towards a value. What is far out counts as far, not as it is.
func learn(average *float64, v float64) {
	if *average == 0 {
		*average = v
		return
	}
	*average += (min(v, 4**average) - *average) / 8
}

// step estimates the seconds of a step of rows without prompts; 0 if nothing is known.
func (p *pace) step(rows int) float64 {
	rows = min(rows, paceRows)
	if rows <= 0 || p.decode[rows] > 0 {
		return p.decode[max(0, rows)]
	}
	below, above := rows, rows
	for below > 0 && p.decode[below] == 0 {
		below--
	}
	for above < paceRows && p.decode[above] == 0 {
		above++
	}
	low, high := p.decode[below], p.decode[above]
	switch {
	case high == 0:
		return low * (1 + rowCost*float64(rows-below))
	case low == 0:
		return high
	}
	return low + (high-low)*float64(rows-below)/float64(above-below)
}

// mixed returns how many prompt tokens may ride along with rows that decode, at most most (0: as many as there are), and
// the position at which one counts twice (0: nowhere).
func (p *pace) mixed(rows, most int) (tokens, reach int) {
	if most == 0 || rows == 0 {
		return most, 0
	}
	if p.attend > 0 {
		reach = int(min(paceReach*p.prompt/p.attend, 1<<30)) + 1
	}
	if p.prompt == 0 || p.step(rows) == 0 {
		return min(most, leastMixed), reach
	}
	return max(min(most, leastMixed), min(most, int((mixedFactor-1)*p.step(rows)/p.prompt))), reach
}
