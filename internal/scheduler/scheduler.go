// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"

	"github.com/sampo-ai/sampo/internal/kvcache"
)

// A Config holds the limits of a step.
type Config struct {
	MaxBatchTokens int // token budget of a step
	MaxRunning     int // sequences that run at once, at most MaxBatchTokens
	// MixedTokens is how many tokens of prompts a step computes at most when it also decodes, so that one long
	// prompt does not stall everyone's streams; 0: only the budget counts.
	MixedTokens int
}

// A Slice is some consecutive tokens of a sequence that a step computes.
type Slice struct {
	*Sequence
	First, Count int
}

// A Batch is the work of one step.
type Batch struct {
	Slices    []Slice
	Copies    []kvcache.Copy // to be made, in order, before the slices are computed
	Preempted []*Sequence    // lost their blocks and wait again
}

// A Scheduler has the two queues. Its methods are for one goroutine.
type Scheduler struct {
	cfg      Config
	pool     *kvcache.Pool
	running  []*Sequence
	waiting  []*Sequence
	arrivals uint64
	batch    Batch
}

// New returns a scheduler whose sequences keep their tokens in pool.
func New(cfg Config, pool *kvcache.Pool) (*Scheduler, error) {
	if cfg.MaxRunning < 1 || cfg.MaxBatchTokens < cfg.MaxRunning {
		return nil, fmt.Errorf("scheduler: %d sequences with a budget of %d tokens: want 1 sequence or more, and a token for each",
			cfg.MaxRunning, cfg.MaxBatchTokens)
	}
	return &Scheduler{cfg: cfg, pool: pool}, nil
}

// Add queues a sequence. Its tokens must fit into the pool when it is alone.
func (s *Scheduler) Add(q *Sequence) {
	s.arrivals++
	q.order = s.arrivals
	s.wait(q)
}

// Fork lets child, whose Tokens begin with all that parent has computed, continue on its own from there. If all
// places are taken it waits, without blocks.
func (s *Scheduler) Fork(parent, child *Sequence, tokens int) {
	child.order = parent.order
	child.Table = s.pool.Fork(parent.Table, tokens)
	if len(s.running) == s.cfg.MaxRunning {
		s.pool.Release(child.Table)
		s.wait(child)
		return
	}
	child.computed, child.admitted, child.cached = parent.computed, true, parent.cached
	s.run(child)
}

// Remove takes a sequence out, wherever it is, and frees its blocks. It may be called more than once.
func (s *Scheduler) Remove(q *Sequence) {
	same := func(other *Sequence) bool { return other == q }
	switch q.state {
	case gone:
	case waiting:
		s.waiting = slices.DeleteFunc(s.waiting, same)
	case running:
		s.running = slices.DeleteFunc(s.running, same)
		s.pool.Release(q.Table)
	}
	q.state = gone
	q.computed = 0
}

// Load returns how many sequences run and how many wait.
func (s *Scheduler) Load() (running, waiting int) { return len(s.running), len(s.waiting) }

// Schedule decides the next step. The batch is valid until the next call; an empty one means that nothing waits or
// runs.
func (s *Scheduler) Schedule() *Batch {
	s.batch = Batch{Slices: s.batch.Slices[:0], Preempted: s.batch.Preempted[:0]}
	budget := s.plan()
	s.grow()
	if len(s.batch.Preempted) == 0 {
		s.admit(budget)
	}
	s.batch.Copies = s.pool.TakeCopies()
	s.debugCheck()
	return &s.batch
}

// Done says that the batch was computed.
func (s *Scheduler) Done(b *Batch) {
	for _, slice := range b.Slices {
		if slice.state != running {
			continue
		}
		slice.computed += slice.Count
		s.pool.Commit(slice.Table, slice.Tokens[:slice.computed])
	}
	s.debugCheck()
}

// plan says how many tokens each running sequence gets, blocks aside, and returns how many prompt tokens are left
// for others. Those that need one token come first: a stream is never late because of a prompt.
func (s *Scheduler) plan() int {
	decoding := 0
	for _, q := range s.running {
		if q.planned = min(1, q.remaining()); q.remaining() == 1 {
			decoding++
		}
	}
	budget := s.cfg.MaxBatchTokens - decoding
	if decoding > 0 && s.cfg.MixedTokens > 0 {
		budget = min(budget, s.cfg.MixedTokens)
	}
	for _, q := range s.running {
		if q.remaining() > 1 {
			q.planned = min(q.remaining(), budget)
			budget -= q.planned
		}
	}
	return budget
}

// grow gives running sequences the blocks for what is planned, oldest first. Where blocks are lacking, the youngest
// gives up its own.
func (s *Scheduler) grow() {
	for i := 0; i < len(s.running); i++ {
		q := s.running[i]
		for q.planned > 0 && !s.pool.Grow(q.Table, q.computed+q.planned) {
			s.preempt(s.running[len(s.running)-1])
			if q.state != running {
				return
			}
		}
		if q.planned > 0 {
			s.batch.Slices = append(s.batch.Slices, Slice{Sequence: q, First: q.computed, Count: q.planned})
		}
	}
}

// preempt takes all blocks of a running sequence. Its tokens stay, so it goes on exactly where it was.
func (s *Scheduler) preempt(q *Sequence) {
	s.Remove(q)
	s.wait(q)
	s.batch.Preempted = append(s.batch.Preempted, q)
}

// admit lets waiting sequences run, in order, while there are places, tokens and blocks.
func (s *Scheduler) admit(budget int) {
	for budget > 0 && len(s.waiting) > 0 && len(s.running) < s.cfg.MaxRunning {
		q := s.waiting[0]
		if !q.SkipCache {
			q.computed = s.pool.Match(q.Table, q.Tokens)
		}
		count := min(q.remaining(), budget)
		if !s.fits(q) || !s.pool.Grow(q.Table, q.computed+count) {
			s.pool.Release(q.Table)
			q.computed = 0
			if len(s.running) == 0 {
				panic(fmt.Sprintf("scheduler: a sequence of %d tokens does not fit into an empty pool", len(q.Tokens)))
			}
			return
		}
		if !q.admitted {
			q.admitted, q.cached = true, q.computed
		}
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.run(q)
		budget -= count
		s.batch.Slices = append(s.batch.Slices, Slice{Sequence: q, First: q.computed, Count: count})
	}
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
	return max(0, most-s.pool.Held(q.Table, g))
}

func (s *Scheduler) wait(q *Sequence) {
	q.state = waiting
	s.waiting = insert(s.waiting, q)
}

func (s *Scheduler) run(q *Sequence) {
	q.state = running
	q.planned = 0
	s.running = insert(s.running, q)
}

// insert puts q behind those that come before it or are equal.
func insert(queue []*Sequence, q *Sequence) []*Sequence {
	at, _ := slices.BinarySearchFunc(queue, q, func(a, b *Sequence) int {
		if before(a, b) <= 0 {
			return -1
		}
		return 1
	})
	return slices.Insert(queue, at, q)
}
