// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/sampo-ai/sampo/internal/token"
)

// A Queue is the Stream that engines use: a buffer of events between an engine, which never waits for it, and one
// reader. It holds at most what the request may generate. It keeps the contract's promises: each choice ends once,
// nothing follows a choice's end, and the first event that is read carries PromptInfo if the engine gave it.
type Queue struct {
	stop  func(choice int) // tells the engine that a choice is no longer wanted
	abort func()           // tells the engine that nothing is

	// mu guards all below.
	mu     sync.Mutex
	ready  sync.Cond
	events []Event // those before head are read
	head   int
	closed []bool // per choice: its end was pushed
	open   int    // choices whose end was not pushed
	told   []bool // per choice: its end was read
	prompt *PromptInfo
	err    error
	wake   func() // nil: nobody asked for it
}

// NewQueue returns a queue for a number of choices. stop and abort are called when the reader stops a choice or
// closes the stream; they must not block and must not call the queue.
func NewQueue(choices int, stop func(choice int), abort func()) *Queue {
	q := &Queue{stop: stop, abort: abort, closed: make([]bool, choices), told: make([]bool, choices), open: choices}
	q.ready.L = &q.mu
	return q
}

// Push adds an event. Events of a choice that ended or of a stream that failed are dropped.
func (q *Queue) Push(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.Prompt != nil {
		q.prompt, e.Prompt = e.Prompt, nil
	}
	if q.err != nil || q.closed[e.Choice] {
		return
	}
	if q.head > 64 && q.head > len(q.events)/2 {
		n := copy(q.events, q.events[q.head:])
		clear(q.events[n:])
		q.events, q.head = q.events[:n], 0
	}
	q.events = append(q.events, e)
	if e.Finish != Running {
		q.closed[e.Choice] = true
		q.open--
	}
	q.signal()
}

// signal tells the reader that Next need not wait. mu is held.
func (q *Queue) signal() {
	q.ready.Broadcast()
	if q.wake != nil {
		q.wake()
		q.wake = nil
	}
}

// Fail ends the stream with err, after the events that were pushed before. A stream that has ended stays as it is.
func (q *Queue) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil && q.open > 0 {
		q.err = err
		q.signal()
	}
}

// Next implements Stream.
func (q *Queue) Next() (Event, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.now() {
		q.ready.Wait()
	}
	if q.head == len(q.events) {
		err := q.err
		if err == nil {
			err = io.EOF
		}
		return Event{Token: token.None}, err
	}
	e := q.events[q.head]
	q.events[q.head] = Event{}
	if q.head++; q.head == len(q.events) {
		q.events, q.head = q.events[:0], 0
	}
	if e.Finish != Running {
		q.told[e.Choice] = true
	}
	e.Prompt, q.prompt = q.prompt, nil
	return e, nil
}

// now reports whether Next need not wait. mu is held.
func (q *Queue) now() bool { return q.head < len(q.events) || q.err != nil || q.open == 0 }

// Ready implements Stream.
func (q *Queue) Ready(wake func()) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.now() {
		return true
	}
	q.wake = wake
	return false
}

// Stop implements Stream. The choice ends with an event without a token whose Finish is FinishEOS, unless its end
// was read before.
func (q *Queue) Stop(choice int) {
	if q.drop(choice) {
		q.stop(choice)
	}
}

func (q *Queue) drop(choice int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if choice < 0 || choice >= len(q.told) || q.told[choice] || q.err != nil {
		return false
	}
	rest := slices.DeleteFunc(q.events[q.head:], func(e Event) bool { return e.Choice == choice })
	q.events = append(q.events[:q.head+len(rest)], Event{Choice: choice, Token: token.None, Finish: FinishEOS, Time: time.Now()})
	if !q.closed[choice] {
		q.closed[choice] = true
		q.open--
	}
	q.signal()
	return true
}

// Close implements Stream. Next then gives the events that were pushed before, and context.Canceled after them.
func (q *Queue) Close() {
	q.mu.Lock()
	running := q.err == nil && q.open > 0
	if running {
		q.err = context.Canceled
	}
	q.signal()
	q.mu.Unlock()
	if running {
		q.abort()
	}
}
