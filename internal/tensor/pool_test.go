// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math/rand/v2"
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

// gather brings a pool to where nothing has disturbed it yet: the next round has all its threads.
func gather(p *Pool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.vain, p.crew = 0, newCrew(p.threads)
	p.working.Store(int32(p.threads))
	p.rest.Broadcast()
}

func TestPoolWakesAfterSleep(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 3 {
		for p.sleepers.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		gather(p)
		var met [2]atomic.Bool
		p.Do(2, func(i, _ int) {
			met[i].Store(true)
			for !met[1-i].Load() { // needs both threads
				runtime.Gosched()
			}
		})
	}
}

func TestPoolCallerSleepsWhileWorkersAreBusy(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for range 5 {
		var joined, finished atomic.Bool
		gather(p)
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
		gather(p)
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

// Threads come and go between rounds, as they do on a machine that others use; every item runs once nevertheless.
func TestPoolRunsEveryItemOnceWhileTheCrewChanges(t *testing.T) {
	const threads, n = 4, 50
	p := NewPool(threads)
	defer p.Close()
	r := rand.New(rand.NewPCG(1, 2))
	var calls [n]atomic.Int32
	work := func(i, _ int) { calls[i].Add(1) }
	for round := range int32(3000) {
		switch r.IntN(20) {
		case 0:
			p.crew.shrink(p.clock(), mostPause)
			p.crew.size = max(1, p.crew.size)
			p.working.Store(int32(p.crew.size))
		case 1:
			p.crew.next = 0 // the pause is over
		case 2:
			time.Sleep(2 * spinTime) // workers sleep
		}
		p.Do(n, work)
		for i := range calls {
			if got := calls[i].Load(); got != round+1 {
				t.Fatalf("round %d, %d threads: item %d ran %d times", round, p.crew.size, i, got)
			}
		}
	}
}

// The other program gets the core of a worker that is left out: it does not spin there.
func TestWorkersThatAreLeftOutSleep(t *testing.T) {
	p := NewPool(3)
	defer p.Close()
	work := func(int, int) {}
	for range 3 {
		gather(p)
		p.Do(8, work)
		p.mu.Lock()
		p.crew.size, p.crew.next = 1, 1<<62
		p.working.Store(1)
		p.mu.Unlock()
		for {
			p.mu.Lock()
			asleep := p.resting + int(p.sleepers.Load())
			p.mu.Unlock()
			if asleep == 2 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		ran := 0 // by this thread alone, or the race detector tells
		p.Do(100, func(int, int) { ran++ })
		if ran != 100 {
			t.Errorf("%d of 100 items ran", ran)
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
