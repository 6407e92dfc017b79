// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// spinRounds is how often a thread looks for work, or for the end of it, before it sleeps. A round takes about 0.3
// microseconds, so a thread stays awake over the gaps between the products of a step (a few microseconds) and over
// sampling, but sleeps soon after the last request ended.
const spinRounds = 600

// cacheLine keeps words that different threads write apart.
type cacheLine [64]byte

// A Pool is a fixed set of threads that share work: the caller of Do and threads-1 workers.
//
// A call to Do opens a round. Workers that are awake join it, claim items until none is left, and leave. The caller
// does the same, closes the round, and waits for those that joined. A worker that sleeps or lost its core before it
// joined is not waited for.
//
// Do is called by one goroutine at a time and must not be called from within work.
type Pool struct {
	threads int

	// The work of the open round. Written by Do while no worker is inside, read by workers that joined.
	items int
	work  func(i, worker int)

	_ cacheLine
	// state is the round's number times roundUnit, plus openBit while workers may join, plus the number inside.
	state atomic.Uint64
	_     cacheLine
	next  atomic.Int64 // the next item to claim
	_     cacheLine

	// mu guards sleepers and closed.
	mu       sync.Mutex
	wake     *sync.Cond
	sleepers atomic.Int32
	closed   bool
	done     sync.WaitGroup

	products productRun
	slab     slab // memory of packed weights
}

const (
	insideMask = 1<<16 - 1
	openBit    = 1 << 16
	roundUnit  = 1 << 17
)

// NewPool starts a pool of the given number of threads, the caller of Do being one of them. 0 means one for each CPU
// that the process may use.
func NewPool(threads int) *Pool {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if threads >= insideMask {
		panic(fmt.Sprintf("tensor: pool: got %d threads, want fewer than %d", threads, insideMask))
	}
	p := &Pool{threads: threads}
	p.wake = sync.NewCond(&p.mu)
	p.products.init(p)
	for worker := 1; worker < threads; worker++ {
		p.done.Add(1)
		go p.run(worker)
	}
	return p
}

// Threads is the number of threads. Worker numbers are below it.
func (p *Pool) Threads() int { return p.threads }

// Close stops the workers and waits for them. The pool must not be used afterwards.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.state.Add(roundUnit)
	p.wake.Broadcast()
	p.mu.Unlock()
	p.done.Wait()
}

// Do calls work(i, worker) once for every i below n, on all threads, and returns when all calls have returned. Threads
// take items in ascending order. Calls with the same worker number never overlap, so it may index scratch memory.
//
// It allocates nothing; a caller in a hot loop keeps the function value instead of making a new closure each time.
func (p *Pool) Do(n int, work func(i, worker int)) {
	if p.threads == 1 || n <= 1 {
		for i := range n {
			work(i, 0)
		}
		return
	}
	p.items, p.work = n, work
	p.next.Store(0)
	round := p.state.Load() + roundUnit
	p.state.Store(round | openBit)
	if p.sleepers.Load() > 0 {
		p.mu.Lock()
		p.wake.Broadcast()
		p.mu.Unlock()
	}
	p.claim(0)
	p.closeRound()
}

// claim runs items until none is left.
func (p *Pool) claim(worker int) {
	for {
		i := int(p.next.Add(1)) - 1
		if i >= p.items {
			return
		}
		p.work(i, worker)
	}
}

// closeRound stops workers from joining and waits for those inside.
func (p *Pool) closeRound() {
	p.state.Add(^uint64(openBit - 1))
	for spins := 0; p.state.Load()&insideMask != 0; spins++ {
		pause(spins)
	}
}

// pause lets a spinning thread wait a moment. Now and then it offers the thread to other goroutines: with as many
// spinning threads as CPUs, a request's goroutine would else wait for the runtime's next forced preemption.
func pause(spins int) {
	kernel.Pause(8)
	if spins%32 == 31 {
		runtime.Gosched()
	}
}

// run is the life of a worker.
func (p *Pool) run(worker int) {
	defer p.done.Done()
	for seen := uint64(0); ; {
		state := p.await(seen)
		if state == 0 {
			return
		}
		if state&openBit == 0 || !p.state.CompareAndSwap(state, state+1) {
			continue
		}
		seen = state / roundUnit
		p.claim(worker)
		p.state.Add(^uint64(0))
	}
}

// await returns the state of an open round other than the one seen, or 0 when the pool is closed. It spins first and
// sleeps then. A worker that was woken too late for a round spins again: more rounds are likely to follow.
func (p *Pool) await(seen uint64) uint64 {
	for {
		for spins := range spinRounds {
			if state := p.state.Load(); isNew(state, seen) {
				return state
			}
			pause(spins)
		}
		if !p.sleep(seen) {
			return 0
		}
	}
}

// isNew says whether state is that of an open round other than the one seen.
func isNew(state, seen uint64) bool { return state&openBit != 0 && state/roundUnit != seen }

// sleep waits until Do opens a round other than the one seen. It returns false when the pool is closed.
func (p *Pool) sleep(seen uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Do reads sleepers after it opened the round, and this reads the round after it counted itself, so one of the
	// two sees the other.
	p.sleepers.Add(1)
	defer p.sleepers.Add(-1)
	if !p.closed && !isNew(p.state.Load(), seen) {
		p.wake.Wait()
	}
	return !p.closed
}
