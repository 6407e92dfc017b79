// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"cmp"
	"slices"
)

// agingTurn is which of so many admissions goes to whoever waits longest, if that is longer than Config.Patience.
const agingTurn = 4

// candidate returns the place of the waiting sequence that is admitted next: of the first priority, who ran before,
// else that of the tenant with least service. Now and then it is whoever waits longest, so that nobody starves.
func (s *Scheduler) candidate() int {
	if s.cfg.Patience > 0 && s.admissions%agingTurn == agingTurn-1 {
		if i := s.oldest(); s.now.Sub(s.waiting[i].Arrived) >= s.cfg.Patience {
			return i
		}
	}
	best := 0
	for i, q := range s.waiting {
		first := s.waiting[best]
		if q.Priority != first.Priority || q.overdue != first.overdue || first.admitted {
			break
		}
		if q.admitted || q.tenant.served < first.tenant.served {
			best = i
		}
	}
	return best
}

// oldest returns the place of the sequence that waits longest.
func (s *Scheduler) oldest() int {
	best := 0
	for i, q := range s.waiting {
		first := s.waiting[best]
		if c := cmp.Or(q.Arrived.Compare(first.Arrived), cmp.Compare(q.order, first.order)); c < 0 {
			best = i
		}
	}
	return best
}

func (s *Scheduler) wait(q *Sequence) {
	q.state = waiting
	s.waiting = insert(s.waiting, q)
}

// waitAgain queues a sequence that ran, or that another brought along. Only the time that it waited counts towards Config.Patience.
func (s *Scheduler) waitAgain(q *Sequence) {
	q.Arrived = s.now.Add(-q.waited)
	s.wait(q)
}

func (s *Scheduler) run(q *Sequence) {
	q.state = running
	q.planned = 0
	s.running = insert(s.running, q)
}

// take takes q out of its queue and frees its blocks.
func (s *Scheduler) take(q *Sequence) {
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
