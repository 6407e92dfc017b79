// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
)

func quiet(choices int) *Queue { return NewQueue(choices, func(int) {}, func() {}) }

func TestQueueEndsAfterTheLastChoice(t *testing.T) {
	q := quiet(2)
	q.Push(Event{Choice: 0, Token: 1, Finish: FinishLength, Prompt: &PromptInfo{CachedTokens: 7}})
	q.Push(Event{Choice: 0, Token: 2}) // after its end: dropped
	q.Push(Event{Choice: 1, Token: 3, Finish: FinishEOS})
	for i, want := range []token.ID{1, 3} {
		e, err := q.Next()
		if err != nil || e.Token != want {
			t.Errorf("event %d: got token %d, %v, want %d", i, e.Token, err, want)
		}
		if (e.Prompt != nil) != (i == 0) {
			t.Errorf("event %d: prompt information %v, want it on the first event only", i, e.Prompt)
		}
	}
	if _, err := q.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last choice: got %v, want io.EOF", err)
	}
}

func TestQueueDropsUnreadEventsOfAStoppedChoice(t *testing.T) {
	stopped := -1
	q := NewQueue(2, func(choice int) { stopped = choice }, func() {})
	q.Push(Event{Choice: 0, Token: 1, Prompt: &PromptInfo{}})
	q.Push(Event{Choice: 1, Token: 2})
	q.Push(Event{Choice: 0, Token: 3, Finish: FinishLength})
	q.Stop(0)
	q.Push(Event{Choice: 0, Token: 4})
	e, _ := q.Next()
	if e.Choice != 1 || e.Prompt == nil {
		t.Errorf("first event: choice %d, prompt information %v, want choice 1 and the information", e.Choice, e.Prompt)
	}
	e, _ = q.Next()
	if e.Choice != 0 || e.Token != token.None || e.Finish != FinishEOS {
		t.Errorf("second event: %+v, want the end of choice 0 without a token", e)
	}
	if stopped != 0 {
		t.Errorf("the engine was told to stop choice %d, want 0", stopped)
	}
	q.Stop(0) // its end was read: nothing happens
	q.Push(Event{Choice: 1, Token: 5, Finish: FinishEOS})
	if e, _ = q.Next(); e.Token != 5 {
		t.Errorf("third event: token %d, want 5", e.Token)
	}
}

func TestQueueFailsAfterWhatWasPushed(t *testing.T) {
	q := quiet(1)
	q.Push(Event{Token: 1})
	q.Fail(ErrEngine)
	q.Push(Event{Token: 2})
	if e, err := q.Next(); err != nil || e.Token != 1 {
		t.Errorf("got token %d, %v, want 1", e.Token, err)
	}
	if _, err := q.Next(); !errors.Is(err, ErrEngine) {
		t.Errorf("got %v, want ErrEngine", err)
	}
}

func TestQueueThatEndedCannotFail(t *testing.T) {
	q := quiet(1)
	q.Push(Event{Token: 1, Finish: FinishEOS})
	q.Fail(context.Canceled)
	if _, err := q.Next(); err != nil {
		t.Errorf("got %v, want the last token", err)
	}
	if _, err := q.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want io.EOF", err)
	}
}

func TestQueueCloseWakesTheReaderAndTellsTheEngineOnce(t *testing.T) {
	aborts := 0
	q := NewQueue(1, func(int) {}, func() { aborts++ })
	got := make(chan error)
	go func() {
		_, err := q.Next()
		got <- err
	}()
	q.Close()
	q.Close()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("Next after Close: got %v, want context.Canceled", err)
	}
	if aborts != 1 {
		t.Errorf("the engine was told %d times, want once", aborts)
	}
}

// Who closes a queue still has to count what was made.
func TestQueueThatIsClosedGivesWhatWasPushed(t *testing.T) {
	q := quiet(2)
	q.Push(Event{Choice: 0, Token: 1, Prompt: &PromptInfo{CachedTokens: 7}})
	q.Push(Event{Choice: 1, Token: 2})
	q.Close()
	q.Push(Event{Choice: 0, Token: 3})
	for _, want := range []token.ID{1, 2} {
		if e, err := q.Next(); err != nil || e.Token != want || (e.Prompt != nil) != (want == 1) {
			t.Errorf("got %+v, %v, want token %d", e, err, want)
		}
	}
	if _, err := q.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("at the end: got %v, want context.Canceled", err)
	}
}

func TestQueueReusesItsBuffer(t *testing.T) {
	q := quiet(1)
	allocs := testing.AllocsPerRun(1000, func() {
		q.Push(Event{Token: 1})
		if _, err := q.Next(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("Push and Next allocate %v times, want 0", allocs)
	}
}

func TestAReaderIsWokenByWhateverEndsItsWait(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(q *Queue)
	}{
		{"a token", func(q *Queue) { q.Push(Event{Token: 1}) }},
		{"a failure", func(q *Queue) { q.Fail(ErrClosed) }},
		{"a stop", func(q *Queue) { q.Stop(0) }},
		{"its own end", func(q *Queue) { q.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, woken := quiet(1), 0
			wake := func() { woken++ }
			if q.Ready(wake) {
				t.Fatal("an empty queue is ready")
			}
			tt.do(q)
			if woken != 1 || !q.Ready(wake) {
				t.Errorf("woken %d times, ready: %t; want once, and ready", woken, q.Ready(wake))
			}
		})
	}
}
