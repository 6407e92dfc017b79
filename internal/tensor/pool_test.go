// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"runtime"
	"strings"
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
				pause(63)
			}
		})
	}
}

func TestPoolCallerSleepsWhileWorkersAreBusy(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 5 {
		var joined, finished atomic.Bool
		p.Do(2, func(_, worker int) {
			if worker == 0 {
				for !joined.Load() {
					runtime.Gosched()
				}
				return
			}
			joined.Store(true)
			for !p.waiting.Load() {
				time.Sleep(time.Millisecond)
			}
			finished.Store(true)
		})
		if !finished.Load() {
			t.Fatal("Do returned before its worker")
		}
	}
}

func TestPoolPassesOnPanics(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for guilty := range 2 { // the caller, the worker
		var met [2]atomic.Bool
		got := func() (v any) {
			defer func() { v = recover() }()
			p.Do(2, func(_, worker int) {
				met[worker].Store(true)
				for !met[1-worker].Load() {
					runtime.Gosched()
				}
				if worker == guilty {
					panic("out of ink")
				}
			})
			return nil
		}()
		if text := fmt.Sprint(got); !strings.HasPrefix(text, "out of ink") {
			t.Errorf("thread %d panics: got %v, want its panic", guilty, got)
		}
		ran := atomic.Int32{}
		p.Do(10, func(int, int) { ran.Add(1) })
		if ran.Load() != 10 {
			t.Errorf("after the panic of thread %d: %d of 10 items ran", guilty, ran.Load())
		}
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

// BenchmarkPoolDo shows what a round costs beyond the work in it: two items of a few microseconds each, on one thread and
// on two.
func BenchmarkPoolDo(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			p := NewPool(threads)
			defer p.Close()
			row := make([]float32, 8192)
			var sums [64]float32 // a cache line apart
			work := func(i, _ int) {
				for _, v := range row {
					sums[32*i] += v
				}
			}
			for b.Loop() {
				p.Do(2, work)
			}
		})
	}
}
