// SPDX-License-Identifier: Apache-2.0

package token

import (
	"slices"
	"testing"
)

func TestMaskHoldsOnlyIDsOfTheVocabulary(t *testing.T) {
	m := NewMask(70)
	for _, id := range []ID{-1, 0, 63, 64, 69, 70, 1000} {
		m.Add(id)
	}
	if got, want := m.Count(), 4; got != want {
		t.Errorf("Count() = %d, want %d", got, want)
	}
	for _, id := range []ID{-1, 1, 70, 1000} {
		if m.Has(id) {
			t.Errorf("Has(%d) = true, want false", id)
		}
	}
	m.Remove(64)
	if m.Has(64) {
		t.Errorf("Has(64) after Remove = true, want false")
	}
}

func TestMissingAreThoseThatTheMaskHasNot(t *testing.T) {
	for _, size := range []int{0, 1, 63, 64, 65, 130} {
		m := NewMask(size)
		for id := range ID(size) {
			if id%7 != 3 && id < 64 {
				m.Add(id)
			}
		}
		var want []ID
		for id := range ID(size) {
			if !m.Has(id) {
				want = append(want, id)
			}
		}
		if got := slices.Collect(m.Missing()); !slices.Equal(got, want) {
			t.Errorf("size %d: Missing() = %v, want %v", size, got, want)
		}
	}
}

func TestMaskFillStopsAtTheVocabulary(t *testing.T) {
	for _, size := range []int{0, 1, 63, 64, 65, 128} {
		m := NewMask(size)
		m.Fill()
		if got := m.Count(); got != size {
			t.Errorf("size %d: Count() after Fill = %d, want %d", size, got, size)
		}
	}
}
