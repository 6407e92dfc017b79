// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHistogramCountsByUpperBounds(t *testing.T) {
	h := NewHistogram([]float64{1, 10})
	for _, v := range []float64{0, 1, 1.5, 10, 11} {
		h.Add(v)
	}
	before := h.Clone()
	h.Add(2)
	want := Histogram{Bounds: []float64{1, 10}, Counts: []uint64{2, 2, 1}, Sum: 23.5, Count: 5}
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("after five values:\n%s", diff)
	}
}

func TestUsageIsThatOfTheFullestGroup(t *testing.T) {
	s := Stats{BlocksUsed: []int{1, 3}, Blocks: []int{10, 4}}
	if got := s.Usage(); got != 0.75 {
		t.Errorf("usage %v, want 0.75", got)
	}
}
