// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/sampo-ai/sampo/internal/token"
)

func TestLogitsOfOneSequenceTakeOneRow(t *testing.T) {
	e := prepare(t, newFake(200), Config{MaxRunning: 16})
	rows := func(sequences int) int {
		for range sequences {
			s, err := e.Submit(t.Context(), plainRequest([]token.ID{1, 2}, 3))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
		}
		for range 3 {
			if !e.await() {
				t.Fatal("closed")
			}
			e.turn()
		}
		return len(e.logits.values) / fakeVocab
	}
	for _, c := range []struct{ sequences, want int }{{1, 1}, {2, 2}, {3, 4}, {2, 4}, {9, 16}, {16, 16}} {
		if got := rows(c.sequences); got != c.want {
			t.Errorf("%d sequences leave memory for %d rows of logits, want %d", c.sequences, got, c.want)
		}
	}
}

func TestLogitsAreBounded(t *testing.T) {
	for _, c := range []struct{ width, most, want int }{{256, 16, 16}, {1 << 20, 64, 16}, {300_000, 64, 55}, {1 << 25, 64, 1}} {
		l := bounded(c.width, c.most)
		if l.most != c.want {
			t.Errorf("a vocabulary of %d has %d rows at once, want %d", c.width, l.most, c.want)
		}
	}
	l := logitRows{width: 7, most: 5}
	if got := len(l.first(5)); got != 35 {
		t.Errorf("5 rows of 7 have %d numbers", got)
	}
	l.row(4)[6] = 1
	if l.first(3); l.row(4)[6] != 1 {
		t.Error("asking for fewer rows lost some")
	}
}
