// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// paceRows is up to how many rows steps are told apart by their number.
const paceRows = 128

// mixedFactor is how much longer than plain decoding a step may take because of prompts. The promise is 4 for the
// slowest steps; costs are estimates, and machines have other things to do.
const mixedFactor = 2.5

// leastMixed is how many prompt tokens ride along in any case, or prompts would never end beside many streams.
const leastMixed = 8

// rowCost is what a row more adds to a step, as a share of a step of one row, where nothing was measured yet.
const rowCost = 0.1

// A pace knows what steps cost on this machine, and decides by it how many prompt tokens ride along with decoding and
// how many guesses pay. It changes when tokens are computed, never which.
type pace struct {
	decode [paceRows + 1]float64 // seconds of a step of so many rows without prompts; 0: not seen
	prompt float64               // seconds that a prompt token adds
	fixed  bool                  // it learns nothing more: tests decide what steps cost
}

// add learns from a step of rows decoded, guesses among them, and prompt tokens.
func (p *pace) add(rows, prompt int, took time.Duration) {
	seconds := took.Seconds()
	switch {
	case p.fixed:
	case prompt > 0:
		learn(&p.prompt, max(0, seconds-p.step(rows))/float64(prompt))
	case rows > 0 && rows <= paceRows:
		learn(&p.decode[rows], seconds)
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

// mixed returns how many prompt tokens may ride along with rows that decode, at most most (0: as many as there are).
func (p *pace) mixed(rows, most int) int {
	if most == 0 || rows == 0 {
		return most
	}
	if p.prompt == 0 || p.step(rows) == 0 {
		return min(most, leastMixed)
	}
	return max(min(most, leastMixed), min(most, int((mixedFactor-1)*p.step(rows)/p.prompt)))
}
