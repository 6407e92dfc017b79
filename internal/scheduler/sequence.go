// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"time"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/token"
)

// A Sequence is one list of tokens to be computed: a prompt and what was generated after it. The owner fills the
// exported fields before Add or Fork, and appends to Tokens between Done and Schedule.
type Sequence struct {
	Owner     any // for whoever reads the batch
	Tokens    []token.ID
	Draft     []token.ID // guesses of what follows Tokens; computed while decoding if that costs nobody anything
	Table     *kvcache.Table
	Priority  int64     // lower runs first
	Tenant    string    // tenants that compete get equal shares
	Arrived   time.Time // since when it waits; later, when that would have been without a pause
	SkipCache bool      // compute every token: read no prefix from the cache

	computed int
	cached   int // tokens that the first admission found in the cache
	planned  int // tokens of the step being scheduled
	paid     int // tokens of the list that its tenant was charged for
	tenant   *tenant
	waited   time.Duration // up to the latest admission
	admitted bool
	overdue  bool   // it was admitted out of turn, and goes before everybody
	order    uint64 // of arrival
	state    state
}

type state uint8

const (
	gone state = iota
	waiting
	running
)

// Cached returns how many tokens were found in the prefix cache when the sequence was first admitted.
func (q *Sequence) Cached() int { return q.cached }

// remaining returns how many tokens are still to be computed.
func (q *Sequence) remaining() int { return len(q.Tokens) - q.computed }

// decoding reports whether only the latest token is to be computed.
func (q *Sequence) decoding() bool { return q.remaining() == 1 }

// drafts returns how many guesses are among the tokens planned.
func (q *Sequence) drafts() int { return max(0, q.planned-q.remaining()) }

// before orders sequences: those overdue, then by priority, then by arrival.
func before(a, b *Sequence) int {
	if a.overdue != b.overdue {
		if a.overdue {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.order, b.order))
}
