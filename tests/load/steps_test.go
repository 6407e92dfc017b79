// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStepsAreReadFromTheLog(t *testing.T) {
	var log strings.Builder
	for i := range leastSteps {
		fmt.Fprintf(&log, "time=1 level=DEBUG msg=\"engine: step\" decode=%d prefill=0 preempted=0 seconds=0.5\n", 3+i%2)
	}
	log.WriteString("time=1 level=DEBUG msg=\"engine: step\" decode=4 prefill=10 preempted=0 seconds=1\n")
	log.WriteString("time=1 level=DEBUG msg=\"engine: step\" decode=9 prefill=0 preempted=0 seconds=1\nother\n")
	for range leastSteps {
		log.WriteString("time=1 level=DEBUG msg=\"engine: step\" decode=4 prefill=0 guesses=3 preempted=0 seconds=7\n")
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readSteps(path)
	if err != nil || len(got) != 2 || !got[1].Guesses || got[1].Plain != 7 {
		t.Fatalf("got %+v, %v, want the steps of 3 and 4 rows only, those with guesses apart", got, err)
	}
	if s := got[0]; s.Rows != 3 || s.Steps != leastSteps+1 || s.Mixed != 1 || s.Prompt != 10 || s.Plain != 0.5 || s.Noise != 1 || s.Ratio != 2 {
		t.Errorf("got %+v", s)
	}
}

func TestBatchSizesAreGroupedByDoublings(t *testing.T) {
	for rows, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3, 5: 5, 8: 5, 9: 9, 64: 33} {
		if got := bucketOf(rows); got != want {
			t.Errorf("%d rows: got group %d, want %d", rows, got, want)
		}
	}
}
