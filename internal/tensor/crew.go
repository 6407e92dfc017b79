// SPDX-License-Identifier: Apache-2.0

package tensor

import "time"

const (
	// leastPause and mostPause are how long a thread is left out: the first time, and when it was of no use again and
	// again. A thread that is tried in vain costs about crewPatience, so trying for ever costs little. One that only woke in
	// vain costs less, and may be missed in the next step, which has more work: mostSleep.
	leastPause = 10 * time.Millisecond
	mostPause  = time.Second
	mostSleep  = 200 * time.Millisecond
	// settled is how long a thread that was added must hold before the next one is, or before being left out again counts
	// as a new trouble. The systems' turns last 1 to 10 ms.
	settled = 50 * time.Millisecond
	// crewPatience is how much more time than the last thread is worth may be lost before it is left out: one turn of
	// another program is no reason yet, or hardly.
	crewPatience = 2 * time.Millisecond
	// crewVain is how often each thread is woken in vain, in a row, before one is left out; once where it was tried just now.
	crewVain = 3
)

// A crew is how many threads of a pool work. Where other programs want the processors, a thread whose core was taken in
// the middle of a round holds up all others for as long as the system lets the other program run, and a thread that wakes
// on the core of the one that woke it does nothing but hold it up. Then the rest of them alone are faster.
//
// The last of n threads is worth one n-th of the time. When more than that is lost for waiting, it is left out for a
// pause, then tried again; pauses double while that does not go well.
//
// It reads no clock; times count from any beginning and ascend.
type crew struct {
	most  int           // threads of the pool
	size  int           // of them that work, at least 1
	lost  time.Duration // more than the last thread was worth, lately
	seen  time.Duration // when that was so
	pause time.Duration // the latest
	grown time.Duration // when a thread was last added
	next  time.Duration // when one is to be
}

func newCrew(threads int) crew {
	return crew{most: threads, size: threads, pause: leastPause, grown: -mostPause}
}

// waited tells that all others waited for a thread for some time, until now, while it did no more than what they did
// before that. It reports whether the crew is smaller now.
func (c *crew) waited(now, lost time.Duration) bool {
	if c.size == 1 {
		return false
	}
	c.lost = max(0, c.lost-(now-c.seen)/time.Duration(c.size)) + lost
	c.seen = now
	if c.lost <= crewPatience {
		return false
	}
	c.shrink(now, mostPause)
	return true
}

// woken tells how many threads in a row were woken in vain. It reports whether the crew is smaller now.
func (c *crew) woken(now time.Duration, vain int) bool {
	often := crewVain
	if now-c.grown < settled {
		often = 1
	}
	if c.size == 1 || vain < often*(c.size-1) {
		return false
	}
	c.shrink(now, mostSleep)
	return true
}

// shrink leaves a thread out for a pause, and most at most.
func (c *crew) shrink(now, most time.Duration) {
	c.size--
	if now-c.grown < max(c.pause, settled) {
		c.pause = min(2*c.pause, most)
	} else {
		c.pause = leastPause
	}
	c.lost, c.next = 0, now+c.pause
}

// tried adds a thread if it is time to, and reports whether it did.
func (c *crew) tried(now time.Duration) bool {
	if c.size == c.most || now < c.next {
		return false
	}
	c.size++
	c.lost, c.seen, c.grown, c.next = 0, now, now, now+settled
	return true
}
