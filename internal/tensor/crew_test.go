// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A disturbance is what a scripted machine does to a crew: rounds, and waits in those with more threads than it has
// cores for.
type disturbance struct {
	round time.Duration // what a round takes
	every time.Duration // a thread without a core of its own is preempted so often
	turn  time.Duration // and for so long
}

// play lets a crew work from one time to another on a machine with so many free cores, and returns how much of the time was
// lost for waiting, and for how much of it how many threads worked on average.
func (d disturbance) play(c *crew, from, to time.Duration, cores int) (lost, threads float64) {
	now, preempted := from, from
	for now < to {
		c.tried(now)
		step, wait := d.round, time.Duration(0)
		if c.size > cores && now-preempted >= d.every {
			wait = d.turn
		}
		now += step + wait
		threads += float64(c.size) * float64(step+wait)
		if lost += float64(wait); wait > 0 {
			preempted = now
			c.waited(now, wait)
		}
	}
	span := float64(now - from)
	return lost / span, threads / span
}

func TestAnotherProgramCostsTheCoresThatItTakes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		threads := 2 + r.IntN(15)
		taken := 1 + r.IntN(threads-1)
		d := disturbance{
			round: time.Duration(1+r.IntN(300)) * time.Microsecond,
			every: time.Duration(1+r.IntN(4)) * time.Millisecond,
			turn:  time.Duration(3+r.IntN(8)) * time.Millisecond,
		}
		// Less than a thread's worth may be lost without end: then it is not left out.
		if d.turn*time.Duration(threads-1) < 2*(d.every+d.round) {
			continue
		}
		c := newCrew(threads)
		const second = time.Second
		if lost, n := d.play(&c, 0, 5*second, threads); lost != 0 || n != float64(threads) {
			t.Fatalf("%+v, nothing taken of %d: %v threads, %v lost", d, threads, n, lost)
		}
		d.play(&c, 5*second, 15*second, threads-taken)
		if lost, n := d.play(&c, 15*second, 35*second, threads-taken); lost > 0.1 || n > float64(threads-taken)+0.2 || n < float64(threads-taken) {
			t.Fatalf("%+v, %d of %d cores taken: %v threads, %v lost", d, taken, threads, n, lost)
		}
		free := 36*second + time.Duration(taken)*settled
		d.play(&c, 35*second, free, threads)
		if lost, n := d.play(&c, free, free+second, threads); lost != 0 || n != float64(threads) {
			t.Fatalf("%+v, the cores of %d free again: %v threads, %v lost", d, threads, n, lost)
		}
	}
}

// Whatever happens, a stint with all threads loses no more beyond what the last of them was worth than patience and one wait.
func TestCrewNeverLosesMuchMoreThanAThreadIsWorth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		c := newCrew(1 + r.IntN(8))
		now, stint, lost, longest := time.Duration(0), time.Duration(0), time.Duration(0), time.Duration(0)
		for range 2000 {
			size := c.size
			now += time.Duration(r.IntN(20_000)) * time.Microsecond
			switch r.IntN(4) {
			case 0:
				c.tried(now)
			case 1:
				c.woken(now, r.IntN(40))
			default:
				wait := time.Duration(r.IntN(3000)) * time.Microsecond
				now += wait
				lost, longest = lost+wait, max(longest, wait)
				c.waited(now, wait)
			}
			if c.size < 1 || c.size > c.most || c.pause < leastPause || c.pause > mostPause {
				t.Fatalf("%+v", c)
			}
			if c.size != size {
				stint, lost, longest = now, 0, 0
				continue
			}
			if most := (now-stint)/time.Duration(c.size) + crewPatience + longest; c.size > 1 && lost > most {
				t.Fatalf("%d threads lost %v in %v, want at most %v", c.size, lost, now-stint, most)
			}
		}
	}
}

func TestShortWaitsAreNoReasonToLeaveAThreadOut(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for threads := 1; threads <= 32; threads *= 2 {
		c := newCrew(threads)
		for now := time.Duration(0); now < time.Minute; {
			now += time.Millisecond
			if c.waited(now, time.Duration(r.Int64N(int64(time.Millisecond)/int64(threads)))) {
				t.Fatalf("%d threads: one is left out after %v", threads, now)
			}
		}
	}
}

// A worker that wakes on the core of the thread that woke it made steps three times as long.
func TestThreadsThatWakeInVainAreLeftOut(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		c := newCrew(threads)
		for want := threads - 1; want >= 1; want-- {
			if c.woken(0, crewVain*(c.size-1)-1) {
				t.Errorf("%d threads: one is left out too early", c.size)
			}
			if !c.woken(0, crewVain*(c.size-1)) || c.size != want {
				t.Errorf("%d of %d threads work, want %d", c.size, threads, want)
			}
		}
		if c.woken(0, 1000) || c.size != 1 {
			t.Errorf("%d threads work, want 1", c.size)
		}
	}
}

func TestPausesDoubleWhileAThreadIsOfNoUse(t *testing.T) {
	c := newCrew(2)
	now, want := time.Duration(0), leastPause
	c.woken(now, crewVain-1) // nothing yet
	for i := range 12 {
		c.woken(now, max(1, crewVain*(1-i)))
		if c.pause != want {
			t.Fatalf("at %v: a pause of %v, want %v", now, c.pause, want)
		}
		if c.tried(now + want - 1) {
			t.Fatalf("at %v: tried before the pause is over", now)
		}
		if now += want; !c.tried(now) {
			t.Fatalf("at %v: not tried after the pause", now)
		}
		want = min(2*want, mostSleep)
	}
	if c.woken(now+mostPause, crewVain-1) {
		t.Errorf("a thread that did well for long is left out as if it had just been tried")
	}
	c.woken(now+mostPause, crewVain)
	if c.pause != leastPause {
		t.Errorf("after a good time: a pause of %v, want %v", c.pause, leastPause)
	}
}
