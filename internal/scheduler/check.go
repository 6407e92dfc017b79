// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"

	"github.com/sampo-ai/sampo/internal/kvcache"
)

// Check verifies what is always true of the queues and of the pool, if no table exists outside them.
func (s *Scheduler) Check() error {
	if len(s.running) > s.cfg.MaxRunning {
		return fmt.Errorf("scheduler: %d sequences run, at most %d may", len(s.running), s.cfg.MaxRunning)
	}
	if !slices.IsSortedFunc(s.running, before) || !slices.IsSortedFunc(s.waiting, before) {
		return fmt.Errorf("scheduler: a queue is out of order")
	}
	tables := make([]*kvcache.Table, 0, len(s.running))
	for _, q := range s.running {
		if q.state != running || q.Table.Tokens() != q.computed || q.computed > len(q.Tokens) {
			return fmt.Errorf("scheduler: running sequence in state %d with %d of %d tokens computed, %d in its table",
				q.state, q.computed, len(q.Tokens), q.Table.Tokens())
		}
		tables = append(tables, q.Table)
	}
	for _, q := range s.waiting {
		if q.state != waiting || q.computed != 0 || q.Table.Tokens() != 0 {
			return fmt.Errorf("scheduler: waiting sequence in state %d with %d tokens computed", q.state, q.computed)
		}
	}
	if err := s.checkShares(); err != nil {
		return err
	}
	total := 0
	for _, slice := range s.batch.Slices {
		total += slice.Count
	}
	if total > s.cfg.MaxBatchTokens {
		return fmt.Errorf("scheduler: step of %d tokens, budget %d", total, s.cfg.MaxBatchTokens)
	}
	return s.pool.Check(tables...)
}

// checkShares counts the sequences of each tenant.
func (s *Scheduler) checkShares() error {
	count := map[*tenant]int{}
	for _, queue := range [][]*Sequence{s.running, s.waiting} {
		for _, q := range queue {
			count[q.tenant]++
		}
	}
	for name, t := range s.shares {
		if t.sequences != count[t] || t.name != name {
			return fmt.Errorf("scheduler: tenant %q has %d sequences, counted %d", name, t.sequences, count[t])
		}
		delete(count, t)
	}
	if len(count) > 0 {
		return fmt.Errorf("scheduler: %d tenants with sequences are forgotten", len(count))
	}
	return nil
}

// debugCheck panics if something that is always true is not, in builds with the tag invariants.
func (s *Scheduler) debugCheck() {
	if !invariants {
		return
	}
	if err := s.Check(); err != nil {
		panic(err)
	}
}
