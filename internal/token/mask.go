// SPDX-License-Identifier: Apache-2.0

package token

import (
	"iter"
	"math/bits"
)

// A Mask is a set of token IDs, one bit for each entry of a vocabulary. The zero Mask is empty and has room for
// nothing; make one with NewMask.
type Mask struct {
	words []uint64
	size  int
}

// NewMask returns an empty mask over a vocabulary of size entries.
func NewMask(size int) *Mask {
	return &Mask{words: make([]uint64, (size+63)/64), size: size}
}

// Len returns the size of the vocabulary that the mask covers.
func (m *Mask) Len() int { return m.size }

// Add puts id into the mask. An id outside the vocabulary is left out.
func (m *Mask) Add(id ID) {
	if id >= 0 && int(id) < m.size {
		m.words[id>>6] |= 1 << (id & 63)
	}
}

// Remove takes id out of the mask.
func (m *Mask) Remove(id ID) {
	if id >= 0 && int(id) < m.size {
		m.words[id>>6] &^= 1 << (id & 63)
	}
}

// Has reports whether id is in the mask.
func (m *Mask) Has(id ID) bool {
	return id >= 0 && int(id) < m.size && m.words[id>>6]&(1<<(id&63)) != 0
}

// Missing returns the entries of the vocabulary that are not in the mask, in order.
func (m *Mask) Missing() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for i, w := range m.words {
			for left := ^w; left != 0; left &= left - 1 {
				id := i<<6 + bits.TrailingZeros64(left)
				if id >= m.size || !yield(ID(id)) {
					return
				}
			}
		}
	}
}

// Fill puts every entry of the vocabulary into the mask.
func (m *Mask) Fill() {
	for i := range m.words {
		m.words[i] = ^uint64(0)
	}
	if tail := m.size & 63; tail != 0 {
		m.words[len(m.words)-1] = 1<<tail - 1
	}
}

// Count returns how many entries are in the mask.
func (m *Mask) Count() int {
	n := 0
	for _, w := range m.words {
		n += bits.OnesCount64(w)
	}
	return n
}
