// SPDX-License-Identifier: Apache-2.0

package scheduler

import "sort"

// A Cost is the share that tokens of prompts take of what they may cost a step, given how many there are and how many tokens
// lie before each of them, added up: they attend to those. It grows with both. From 1 on nothing fits; Cost(0, 0) of 1 says
// that no prompt is to be computed.
type Cost func(tokens, before int) float64

// A room is what a step has left for prompts.
type room struct {
	left   int  // tokens of the budget
	cost   Cost // nil: only the budget counts
	tokens int  // that were taken
	before int  // tokens before those, added up
	share  float64
}

// othersPart is what one prompt leaves to others, if there are any: a short prompt overtakes a long one, and the long one
// hardly notices.
const othersPart = 4

// fullShare is from where on a room counts as full: each prompt leaves a part to the next, but not for ever.
const fullShare = 0.95

// limit makes cost count beside the budget.
func (r *room) limit(cost Cost) {
	if r.cost = cost; cost != nil {
		r.share = cost(0, 0)
	}
}

// open reports whether any prompt may have a token.
func (r *room) open() bool { return r.left > 0 && r.share < fullShare }

// most returns how many tokens of q's prompt are computed next: all, or what fits, but at least one if nobody has any yet,
// lest long prompts never end beside streams.
func (r *room) most(q *Sequence, others bool) int {
	if !r.open() {
		return 0
	}
	n := r.left
	if others {
		n -= n / othersPart
	}
	fit := r.fit(q.computed, r.part(others))
	if r.tokens == 0 {
		fit = max(1, fit)
	}
	return min(q.remaining(), n, fit)
}

// part returns the share up to which one prompt may fill the room.
func (r *room) part(others bool) float64 {
	if others {
		return 1 - (1-r.share)/othersPart
	}
	return 1
}

// fit returns how many tokens from position pos on fill the room up to a share.
func (r *room) fit(pos int, share float64) int {
	switch {
	case r.cost == nil:
		return r.left
	case r.share >= share:
		return 0
	}
	return sort.Search(max(0, r.left), func(n int) bool { return r.cost(r.tokens+n+1, r.before+(n+1)*pos) > share })
}

// take takes n tokens from position pos on out of the room: never the part of others, unless it is one token that is too
// much for the whole room.
func (r *room) take(n, pos int, others bool) {
	if n == 0 {
		return
	}
	part := r.part(others)
	r.left -= n
	r.tokens += n
	r.before += n * pos
	if r.cost == nil {
		return
	}
	cost := r.cost(r.tokens, r.before)
	if cost < 1 {
		cost = min(part, cost)
	}
	r.share = max(r.share, cost)
}
