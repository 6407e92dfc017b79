// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"sync/atomic"
	"testing"
	"time"
)

func TestPoolRunsEveryItemOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 7} {
		p := NewPool(threads)
		for n := range 200 {
			var calls [200]atomic.Int32
			var busy [7]atomic.Bool
			p.Do(n, func(i, worker int) {
				if busy[worker].Swap(true) {
					t.Errorf("threads %d: worker %d runs two items at once", threads, worker)
				}
				calls[i].Add(1)
				busy[worker].Store(false)
			})
			for i := range calls {
				if got, want := calls[i].Load(), int32(0); i < n && got != 1 || i >= n && got != want {
					t.Fatalf("threads %d: item %d of %d ran %d times", threads, i, n, got)
				}
			}
		}
		p.Close()
	}
}

func TestPoolWakesAfterSleep(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 3 {
		for p.sleepers.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		var met [2]atomic.Bool
		p.Do(2, func(i, _ int) {
			met[i].Store(true)
			for !met[1-i].Load() { // needs both threads
				pause(31)
			}
		})
	}
}

func TestPoolDoesNotAllocate(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	work := func(int, int) {}
	if got := testing.AllocsPerRun(100, func() { p.Do(8, work) }); got != 0 {
		t.Errorf("Do allocates %v times, want 0", got)
	}
}

func BenchmarkPoolDo(b *testing.B) {
	p := NewPool(2)
	defer p.Close()
	work := func(int, int) {}
	for b.Loop() {
		p.Do(2, work)
	}
}
