// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"slices"
	"testing"
)

func TestTakeClaimsLessAndLess(t *testing.T) {
	all := shares{{end: 7}, {end: 40}}
	all.begin(0)
	for i, want := range [][]int{{3, 2, 1, 1}, {8, 8, 6, 4, 3, 2, 1, 1}} {
		var got []int
		for first, end := all[i].take(8); first < end; first, end = all[i].take(8) {
			got = append(got, end-first)
		}
		if !slices.Equal(got, want) {
			t.Errorf("share %d: got claims of %v items, want %v", i, got, want)
		}
	}
}

// TestDivideGivesEqualBytes divides a round of two matrices, one of which has thrice the rows of the other.
func TestDivideGivesEqualBytes(t *testing.T) {
	r := productRun{shares: make(shares, 2)}
	for _, rows := range []int{48 * 16, 16 * 16} {
		next := piece{Product: Product{W: &Matrix{rows: rows, cols: 32}}}
		next.W.floats.Bytes = make([]byte, rows*64)
		first := 0
		if n := len(r.pieces); n > 0 {
			first = r.pieces[n-1].end
		}
		next.plan(first, 1000) // rows of activations: panels are the units then
		r.pieces = append(r.pieces, next)
	}
	r.divide(64 * 16 * 64)
	if got := []int{r.shares[0].end, r.shares[1].end}; !slices.Equal(got, []int{32, 64}) {
		t.Errorf("got shares up to %v of 64 units, want 32 and 64", got)
	}
}

func TestLargeMatricesAreDividedOn32Bits(t *testing.T) {
	const units, size = 3072, 17 << 20 // 49,152 rows of 576 columns in Q4_1
	for _, c := range []struct{ bytes, want int }{{0, 0}, {size / 2, units / 2}, {size, units}} {
		if got := portion(units, c.bytes, size); got != c.want {
			t.Errorf("%d of %d bytes are %d units of %d, want %d", c.bytes, size, got, units, c.want)
		}
	}
}
