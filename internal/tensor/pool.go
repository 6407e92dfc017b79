// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sampo-ai/sampo/internal/kernel"
)

const (
	// spinTime is how long a worker looks for work before it sleeps. It stays awake over the gaps within a step (a few
	// microseconds) and over sampling, but sleeps soon after the last request ended.
	spinTime = 200 * time.Microsecond
	// waitTime is how long Do looks for the end of the others' work before it sleeps. If it takes longer than that, a
	// worker has lost its core to another program, which then may have this one.
	waitTime = 50 * time.Microsecond
	// spinRounds is how many looks a thread takes before it asks the clock, or lets other goroutines run: 2 to 10
	// microseconds.
	spinRounds = 64
	// timedFor is how long rounds are timed after one in which Do slept. Others need no clock.
	timedFor = 100 * time.Millisecond
)

// cacheLine keeps words that different threads write apart.
type cacheLine [64]byte

// A Pool is a fixed set of threads that share work: the caller of Do and threads-1 workers.
//
// A call to Do opens a round. Workers that are awake join it, claim items until none is left, and leave. The caller
// does the same, closes the round, and waits for those that joined. A worker that sleeps or lost its core before it
// joined is not waited for. Those that hold up the rest more than they help rest for a while (crew).
//
// Do is called by one goroutine at a time and must not be called from within work. Users that share a pool, such as the
// engines of two models, take turns with Lock and Unlock.
type Pool struct {
	threads int
	turn    sync.Mutex // held by whoever uses the pool

	// The work of the open round. Written by Do while no worker is inside, read by workers that joined.
	items int
	work  func(i, worker int)

	_ cacheLine
	// state is the round's number times roundUnit, plus openBit while workers may join, plus the number inside.
	state atomic.Uint64
	_     cacheLine
	next  atomic.Int64 // the next item to claim
	// failure is what a worker panicked with in the open round.
	failure atomic.Pointer[string]
	_       cacheLine

	// mu guards closed and vain, and orders going to sleep with waking up.
	mu       sync.Mutex
	wake     *sync.Cond   // workers sleep here
	sleepers atomic.Int32 // how many do and were not woken; changed under mu
	vain     int          // how often, in a row, one of them slept again and had not been of use
	rest     *sync.Cond   // workers that are left out sleep here
	resting  int          // how many do
	idle     *sync.Cond   // Do sleeps here until the last worker has left
	waiting  atomic.Bool  // whether it does
	closed   bool
	done     sync.WaitGroup

	// What follows is Do's.
	crew   crew
	born   time.Time     // times count from here
	timed  time.Duration // rounds are timed until then
	opened time.Duration // when the open round began; 0: it is not timed

	working atomic.Int32 // crew.size, for workers

	products productRun
	slab     slab // memory of packed weights
}

const (
	insideMask = 1<<16 - 1
	openBit    = 1 << 16
	roundUnit  = 1 << 17
)

// MaxThreads is more than any machine has cores.
const MaxThreads = 1024

// NewPool starts a pool of the given number of threads, the caller of Do being one of them. 0 means one for each CPU
// that the process may use.
func NewPool(threads int) *Pool {
	if threads <= 0 {
		threads = min(runtime.GOMAXPROCS(0), MaxThreads)
	}
	if threads > MaxThreads {
		panic(fmt.Sprintf("tensor: pool: got %d threads, want at most %d", threads, MaxThreads))
	}
	p := &Pool{threads: threads, crew: newCrew(threads), born: time.Now()}
	p.working.Store(int32(threads))
	p.wake, p.rest, p.idle = sync.NewCond(&p.mu), sync.NewCond(&p.mu), sync.NewCond(&p.mu)
	p.products.init(p)
	for worker := 1; worker < threads; worker++ {
		p.done.Add(1)
		go p.run(worker)
	}
	return p
}

// Threads is the number of threads. Worker numbers are below it.
func (p *Pool) Threads() int { return p.threads }

// Lock makes the caller the pool's only user until Unlock. An engine holds it for a step.
func (p *Pool) Lock() { p.turn.Lock() }

// Unlock lets others use the pool.
func (p *Pool) Unlock() { p.turn.Unlock() }

// Close stops the workers and waits for them. The pool must not be used afterwards.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.state.Add(roundUnit)
	p.wake.Broadcast()
	p.rest.Broadcast()
	p.mu.Unlock()
	p.done.Wait()
}

// Do calls work(i, worker) once for every i below n, on all threads, and returns when all calls have returned. Threads
// take items in ascending order. Calls with the same worker number never overlap, so it may index scratch memory.
//
// A panic in work reaches the caller, whichever thread it was on; the pool stays usable.
// It allocates nothing; a caller in a hot loop keeps the function value instead of making a new closure each time.
func (p *Pool) Do(n int, work func(i, worker int)) {
	if p.threads == 1 || n <= 1 || p.alone() {
		for i := range n {
			work(i, 0)
		}
		return
	}
	p.items, p.work = n, work
	p.next.Store(0)
	if p.opened = 0; p.timed > 0 {
		if p.opened = p.clock(); p.opened > p.timed {
			p.timed = 0
		}
	}
	round := p.state.Load() + roundUnit
	p.state.Store(round | openBit)
	if p.sleepers.Load() > 0 {
		p.rouse()
	}
	defer p.closeRound() // also if work panics
	p.claim(0)
}

// clock is the time since the pool began.
func (p *Pool) clock() time.Duration { return time.Since(p.born) }

// alone reports whether the caller of Do works without others for now.
func (p *Pool) alone() bool {
	if p.crew.size == p.threads {
		return false
	}
	if p.crew.tried(p.clock()) {
		p.mu.Lock()
		p.working.Store(int32(p.crew.size))
		p.rest.Broadcast()
		p.mu.Unlock()
	}
	return p.crew.size == 1
}

// rouse wakes the workers that sleep, unless that was in vain too often.
func (p *Pool) rouse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.vain > 0 && p.crew.woken(p.clock(), p.vain) {
		p.vain = 0
		p.working.Store(int32(p.crew.size))
		if p.crew.size == 1 {
			return
		}
	}
	p.sleepers.Store(0)
	p.wake.Broadcast()
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

// closeRound stops workers from joining, waits for those inside, and passes on a panic of one of them.
func (p *Pool) closeRound() {
	p.await()
	if failure := p.failure.Swap(nil); failure != nil {
		panic(*failure)
	}
}

// await closes the round and waits until no worker is inside.
func (p *Pool) await() {
	p.state.Add(^uint64(openBit - 1))
	if p.lookOut() {
		return
	}
	begun := p.clock()
	now := begun
	for out := false; !out && now < begun+waitTime; now = p.clock() {
		runtime.Gosched()
		out = p.lookOut()
	}
	if now >= begun+waitTime {
		p.sleepUntilOut()
		now = p.clock()
		p.timed = now + timedFor
	}
	// A worker that has a core of its own does not need as long for its last item as this thread for all of its items.
	if lost := now - begun - (begun - p.opened); p.opened > 0 && lost > 0 && p.crew.waited(now, lost) {
		p.working.Store(int32(p.crew.size))
	}
}

// lookOut looks for a few microseconds whether all workers are outside.
func (p *Pool) lookOut() bool {
	for range spinRounds {
		if p.state.Load()&insideMask == 0 {
			return true
		}
		kernel.Pause(2)
	}
	return false
}

// sleepUntilOut sleeps until all workers are outside.
func (p *Pool) sleepUntilOut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting.Store(true)
	for p.state.Load()&insideMask != 0 {
		p.idle.Wait()
	}
	p.waiting.Store(false)
}

// join is a worker's part in a round. A panic ends the round and is kept for Do, whose caller may recover from it.
func (p *Pool) join(worker int) {
	defer p.leave()
	defer func() {
		if v := recover(); v != nil {
			failure := fmt.Sprintf("%v\n\nin worker %d:\n%s", v, worker, debug.Stack())
			p.failure.Store(&failure)
			p.next.Store(int64(p.items))
		}
	}()
	p.claim(worker)
}

// leave ends a worker's part in a round. The last one wakes Do if that sleeps: it said so before it looked at the state
// for the last time, so one of the two sees the other.
func (p *Pool) leave() {
	if p.state.Add(^uint64(0))&insideMask == 0 && p.waiting.Load() {
		p.mu.Lock()
		p.idle.Signal()
		p.mu.Unlock()
	}
}

// run is the life of a worker.
func (p *Pool) run(worker int) {
	defer p.done.Done()
	w := watch{worker: worker}
	for {
		state := p.nextRound(&w)
		if state == 0 {
			return
		}
		if state&openBit == 0 || !p.state.CompareAndSwap(state, state+1) {
			continue
		}
		w.seen = state / roundUnit
		w.rounds++
		p.join(worker)
	}
}

// A watch is what a worker did since it woke.
type watch struct {
	worker int
	seen   uint64 // the latest round that it joined
	rounds int    // how many it joined
	woke   time.Duration
}

// vain reports whether the worker, going to sleep now, might as well have slept on: it joined one round at most, and not for
// long. Mostly it has the core of the thread that woke it, which waits meanwhile.
func (w *watch) vain(now time.Duration) bool { return w.rounds <= 1 && now-w.woke < 2*spinTime }

// nextRound returns the state of an open round other than the one seen, or 0 when the pool is closed. It spins first and
// sleeps then. A worker that was woken too late for a round spins again: more rounds are likely to follow.
//
// Now and then it offers the thread to other goroutines: with as many spinning threads as CPUs, a request's goroutine would
// else wait for the runtime's next forced preemption.
func (p *Pool) nextRound(w *watch) uint64 {
	for {
		for end := time.Duration(0); !p.leftOut(w.worker); runtime.Gosched() {
			if state := p.lookForRound(w.seen); state != 0 {
				return state
			}
			now := p.clock()
			if end == 0 {
				end = now + spinTime
			}
			if now > end {
				break
			}
		}
		if !p.sleep(w) {
			return 0
		}
	}
}

// lookForRound looks for a few microseconds for an open round other than the one seen. It returns 0 if there is none.
func (p *Pool) lookForRound(seen uint64) uint64 {
	for range spinRounds {
		if state := p.state.Load(); isNew(state, seen) {
			return state
		}
		kernel.Pause(2)
	}
	return 0
}

// leftOut says whether a worker is not of the crew.
func (p *Pool) leftOut(worker int) bool { return worker >= int(p.working.Load()) }

// isNew says whether state is that of an open round other than the one seen.
func isNew(state, seen uint64) bool { return state&openBit != 0 && state/roundUnit != seen }

// sleep waits until Do opens a round other than the one seen, or until a worker that is left out is wanted again. It
// returns false when the pool is closed.
func (p *Pool) sleep(w *watch) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leftOut(w.worker) {
		p.resting++
		for !p.closed && p.leftOut(w.worker) {
			p.rest.Wait()
		}
		p.resting--
	} else {
		p.sleepForRound(w)
	}
	w.rounds, w.woke = 0, p.clock()
	return !p.closed
}

// sleepForRound waits until Do opens a round other than the one seen. mu is held.
func (p *Pool) sleepForRound(w *watch) {
	if w.vain(p.clock()) {
		p.vain++
	} else {
		p.vain = 0
	}
	// Do reads sleepers after it opened the round, and this reads the round after it counted itself, so one of the
	// two sees the other.
	p.sleepers.Add(1)
	if p.closed || isNew(p.state.Load(), w.seen) {
		p.sleepers.Add(-1)
		return
	}
	p.wake.Wait()
}
