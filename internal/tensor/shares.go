// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"iter"
	"sync/atomic"
)

// A share is a run of items of work that one thread begins with; what it has left others take. What items of a run read follows
// each other in memory, so what a thread prefetches at the end of one is what it reads next.
type share struct {
	next atomic.Int64
	end  int // of its items; they begin where those of the share before it end
	_    cacheLine
}

// left claims one item after the other, until none is left.
func (s *share) left() iter.Seq[int] {
	return func(yield func(int) bool) {
		for item := s.claim(); item < s.end && yield(item); item = s.claim() {
		}
	}
}

func (s *share) claim() int { return int(s.next.Add(1)) - 1 }

// take claims some items, a third of what is left but not more than most, so that threads end together. If nothing is left, end
// is first.
func (s *share) take(most int) (first, end int) {
	for {
		next := s.next.Load()
		left := s.end - int(next)
		if left <= 0 {
			return 0, 0
		}
		n := min((left+2)/3, most)
		if s.next.CompareAndSwap(next, next+int64(n)) {
			return int(next), int(next) + n
		}
	}
}

// shares are those of each thread.
type shares []share

// begin makes all items unclaimed. First is that of the first share.
func (s shares) begin(first int) {
	for i := range s {
		s[i].next.Store(int64(first))
		first = s[i].end
	}
}
