// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"
	"time"

	"github.com/sampo-ai/sampo/internal/kvcache"
)

// A Config holds the limits of a step.
type Config struct {
	MaxBatchTokens int // token budget of a step
	MaxRunning     int // sequences that run at once, at most MaxBatchTokens
	// MixedCost is what tokens of prompts cost a step that also decodes, lest one long prompt stalls everyone's streams; nil:
	// only the budget counts.
	MixedCost Cost
	// Patience is how long a sequence waits before it may be admitted out of turn; 0: for ever.
	Patience time.Duration
}

// A Slice is some consecutive tokens of a sequence that a step computes. The last Drafts of them are of its Draft.
type Slice struct {
	*Sequence
	First, Count int
	Drafts       int
}

// A Batch is the work of one step.
type Batch struct {
	Slices    []Slice
	Copies    []kvcache.Copy // to be made, in order, before the slices are computed
	Preempted []*Sequence    // lost their blocks and wait again
}

// A Scheduler has the two queues. Its methods are for one goroutine.
type Scheduler struct {
	cfg        Config
	pool       *kvcache.Pool
	running    []*Sequence
	waiting    []*Sequence
	shares     shares
	arrivals   uint64
	admissions uint64
	now        time.Time // of the latest step
	batch      Batch
	room       room      // for prompts in the step being scheduled
	turn       *Sequence // the running prompt that the room of the latest step was too small for; nil: none
	guests     bool      // that room was too small for those who wait only: it is their turn
}

// New returns a scheduler whose sequences keep their tokens in pool.
func New(cfg Config, pool *kvcache.Pool) (*Scheduler, error) {
	if cfg.MaxRunning < 1 || cfg.MaxBatchTokens < cfg.MaxRunning {
		return nil, fmt.Errorf("scheduler: %d sequences with a budget of %d tokens: want 1 sequence or more, and a token for each",
			cfg.MaxRunning, cfg.MaxBatchTokens)
	}
	return &Scheduler{cfg: cfg, pool: pool, shares: shares{}}, nil
}

// Add queues a sequence. Its tokens must fit into the pool when it is alone.
func (s *Scheduler) Add(q *Sequence) {
	s.arrivals++
	q.order = s.arrivals
	q.tenant = s.shares.join(q.Tenant)
	s.wait(q)
}

// Fork lets child, whose Tokens begin with all that parent has computed, continue on its own from there. If all
// places are taken it waits, without blocks.
func (s *Scheduler) Fork(parent, child *Sequence, tokens int) {
	child.order, child.overdue = parent.order, parent.overdue
	child.tenant, child.paid = s.shares.join(parent.Tenant), parent.computed
	child.Table = s.pool.Fork(parent.Table, tokens)
	if len(s.running) == s.cfg.MaxRunning {
		s.pool.Release(child.Table)
		s.waitAgain(child)
		return
	}
	child.computed, child.admitted, child.cached = parent.computed, true, parent.cached
	s.run(child)
}

// Restart takes the blocks of a sequence, which then waits to compute all its tokens again, into table.
func (s *Scheduler) Restart(q *Sequence, table *kvcache.Table) {
	if q.state == gone {
		return
	}
	s.take(q)
	q.Table = table
	s.waitAgain(q)
}

// Remove takes a sequence out, wherever it is, and frees its blocks. It may be called more than once.
func (s *Scheduler) Remove(q *Sequence) {
	s.take(q)
	if q.tenant != nil {
		s.shares.leave(q.tenant)
		q.tenant = nil
	}
}

// Load returns how many sequences run and how many wait.
func (s *Scheduler) Load() (running, waiting int) { return len(s.running), len(s.waiting) }

// Running returns the sequences that run. The slice is valid until the next call of any method.
func (s *Scheduler) Running() []*Sequence { return s.running }

// Filling reports whether the next step has prompts to compute, or may have.
func (s *Scheduler) Filling() bool {
	if len(s.waiting) > 0 && len(s.running) < s.cfg.MaxRunning {
		return true
	}
	return slices.ContainsFunc(s.running, func(q *Sequence) bool { return !q.decoding() })
}

// Decoding returns how many running sequences need one token only, and how many tokens lie before those.
func (s *Scheduler) Decoding() (sequences, before int) {
	for _, q := range s.running {
		if q.decoding() {
			sequences++
			before += q.computed
		}
	}
	return sequences, before
}

// Schedule decides the step that begins now. The batch is valid until the next call; an empty one means that nothing waits or
// runs.
func (s *Scheduler) Schedule(now time.Time) *Batch {
	s.now = now
	s.batch = Batch{Slices: s.batch.Slices[:0], Preempted: s.batch.Preempted[:0]}
	s.plan()
	s.grow()
	if len(s.batch.Preempted) == 0 {
		places := len(s.running)
		s.admit()
		s.guests = s.turn == nil && len(s.running) == places && len(s.waiting) > 0 && s.room.tokens > 0
		s.topUp()
	}
	s.batch.Copies = s.pool.TakeCopies()
	s.debugCheck()
	return &s.batch
}

// Done says that the batch was computed. Drafts do not count until they are accepted.
func (s *Scheduler) Done(b *Batch) {
	for i := range b.Slices {
		if slice := &b.Slices[i]; slice.state == running {
			s.commit(slice.Sequence, slice.Count-slice.Drafts)
		}
	}
	s.debugCheck()
}

// Accept says that the last token of q, which the owner appended after Done, was computed as a draft.
func (s *Scheduler) Accept(q *Sequence) {
	if q.state == running {
		s.commit(q, 1)
	}
}

func (s *Scheduler) commit(q *Sequence, count int) {
	q.computed += count
	q.charge(q.computed, outputCost)
	s.pool.Commit(q.Table, q.Tokens[:q.computed])
}

// plan says how many tokens each running sequence gets, blocks aside. Those that need one token come first: a stream is
// never late because of a prompt.
func (s *Scheduler) plan() {
	decoding := 0
	for _, q := range s.running {
		s.pool.Trim(q.Table)
		if q.planned = min(1, q.remaining()); q.decoding() {
			decoding++
		}
	}
	budget := s.cfg.MaxBatchTokens - len(s.running)
	for _, q := range s.running {
		if q.decoding() {
			n := min(len(q.Draft), budget)
			q.planned += n
			budget -= n
		}
	}
	s.room = room{left: budget + len(s.running) - decoding}
	if decoding > 0 {
		s.room.limit(s.cfg.MixedCost)
	}
	s.planPrompts(len(s.running) - decoding)
}

// planPrompts divides the room among so many running sequences with prompts left, oldest first. Beside streams it may be too
// small for all of them: who had none in the step before is first then.
func (s *Scheduler) planPrompts(prompts int) {
	waits := len(s.waiting) > 0 && len(s.running) < s.cfg.MaxRunning
	first, n := max(0, slices.Index(s.running, s.turn)), len(s.running)
	if s.room.cost == nil {
		first, s.guests = 0, false
	}
	s.turn, s.guests = nil, s.guests && waits && s.hasBlocks(s.waiting[s.candidate()])
	for i := range n {
		q := s.running[(first+i)%n]
		if q.remaining() <= 1 {
			continue
		}
		prompts--
		if q.planned = 0; s.guests {
			continue
		}
		q.planned = s.room.most(q, prompts > 0 || waits)
		s.room.take(q.planned, q.computed, prompts > 0 || waits)
		if q.planned == 0 && s.turn == nil {
			s.turn = q
		}
	}
}

// grow gives running sequences the blocks for what is planned, oldest first. Where blocks are lacking, the youngest
// gives up its own.
func (s *Scheduler) grow() {
	for i := 0; i < len(s.running); i++ { //nolint:intrange // preempt shortens the queue
		q := s.running[i]
		for q.planned > 0 && !s.pool.Grow(q.Table, q.computed+q.planned) {
			if q.drafts() > 0 { // not worth anybody's blocks
				q.planned = q.remaining()
				continue
			}
			s.preempt(s.running[len(s.running)-1])
			if q.state != running {
				return
			}
		}
		if q.planned > 0 {
			s.batch.Slices = append(s.batch.Slices, Slice{Sequence: q, First: q.computed, Count: q.planned, Drafts: q.drafts()})
		}
	}
}

// preempt takes all blocks of a running sequence. Its tokens stay, so it goes on exactly where it was.
func (s *Scheduler) preempt(q *Sequence) {
	s.take(q)
	s.waitAgain(q)
	s.batch.Preempted = append(s.batch.Preempted, q)
}

// admit lets waiting sequences run while there are places, room and blocks.
func (s *Scheduler) admit() {
	for s.room.open() && len(s.waiting) > 0 && len(s.running) < s.cfg.MaxRunning {
		at := s.candidate()
		q := s.waiting[at]
		if !q.SkipCache {
			q.computed = s.pool.Match(q.Table, q.Tokens)
		}
		others := len(s.waiting) > 1 && len(s.running)+1 < s.cfg.MaxRunning
		count := s.room.most(q, others)
		if count == 0 { // so deep in its prompt that a token is too much for what is left
			s.pool.Release(q.Table)
			q.computed = 0
			return
		}
		if !s.fits(q) || !s.pool.Grow(q.Table, q.computed+count) {
			s.pool.Release(q.Table)
			q.computed = 0
			if len(s.running) == 0 {
				panic(fmt.Sprintf("scheduler: a sequence of %d tokens does not fit into an empty pool", len(q.Tokens)))
			}
			return
		}
		s.enter(at)
		s.room.take(count, q.computed, others)
		s.batch.Slices = append(s.batch.Slices, Slice{Sequence: q, First: q.computed, Count: count})
	}
}

// topUp gives what nobody took to prompts that can use it.
func (s *Scheduler) topUp() {
	for i := range s.batch.Slices {
		slice := &s.batch.Slices[i]
		end := slice.computed + slice.Count
		more := min(s.room.fit(end, 1), len(slice.Tokens)-end)
		if more > 0 && s.pool.Grow(slice.Table, end+more) {
			s.room.take(more, end, false)
			slice.Count += more
		}
	}
}

// enter moves the waiting sequence at a place to those that run. Its tenant pays for the prompt at once, lest a crowd
// of one tenant's sequences is admitted before the first of them has cost anything.
func (s *Scheduler) enter(at int) {
	q := s.waiting[at]
	if !q.admitted {
		q.admitted, q.cached, q.paid = true, q.computed, q.computed
		q.charge(len(q.Tokens), 1)
	}
	q.waited = s.now.Sub(q.Arrived)
	q.overdue = q.overdue || s.cfg.Patience > 0 && q.waited >= s.cfg.Patience
	s.admissions++
	s.waiting = slices.Delete(s.waiting, at, at+1)
	s.run(q)
}

// hasBlocks reports whether the waiting sequence q fits now: who runs is not held back for one that cannot come in.
func (s *Scheduler) hasBlocks(q *Sequence) bool {
	if !q.SkipCache {
		s.pool.Match(q.Table, q.Tokens)
		defer s.pool.Release(q.Table)
	}
	return s.fits(q)
}

// fits reports whether there are blocks for all of q's tokens, beside what running sequences still need for theirs
// and one block for each of them to go on. Without this a sequence would be admitted only to be preempted.
func (s *Scheduler) fits(q *Sequence) bool {
	for g, group := range s.pool.Groups() {
		need := s.outstanding(q, g, group) + len(s.running)
		for _, r := range s.running {
			need += s.outstanding(r, g, group)
		}
		if need > s.pool.Free(g) {
			return false
		}
	}
	return true
}

// outstanding returns how many blocks of group g the sequence still needs for the tokens it has.
func (s *Scheduler) outstanding(q *Sequence, g int, group kvcache.Group) int {
	most := group.Blocks(len(q.Tokens), s.cfg.MaxBatchTokens, s.pool.BlockSize())
	return max(0, most-q.Table.Held(g))
}
