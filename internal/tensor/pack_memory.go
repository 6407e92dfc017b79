// SPDX-License-Identifier: Apache-2.0

package tensor

import "unsafe"

const (
	lineBytes = 64
	// slabBytes is how much memory is asked for at once by a model that takes as much. Large pages need slabs of many times their
	// size (2 MiB); a small model, or a damaged one, gets smaller ones.
	slabBytes  = 32 << 20
	leastBytes = 4 << 20
)

// A slab is memory that packed weights are cut from, so that small matrices lie on large pages too: walking through
// weights of 4 KiB pages misses the TLB all the time. A slab is freed when the last matrix in it is.
type slab struct {
	free  []byte
	taken int // bytes so far
}

// take cuts n zeroed bytes that start on a cache line.
func (s *slab) take(n int) []byte {
	n = (n + lineBytes - 1) &^ (lineBytes - 1)
	s.taken += n
	if n > len(s.free) {
		size := min(max(s.taken, leastBytes), slabBytes)
		if n >= size/2 {
			return largePages(n)
		}
		s.free = largePages(size)
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

// largePages allocates zeroed bytes that start on a cache line, and where a large page begins if they fill one, on large pages
// if the system has them to give.
func largePages(n int) []byte {
	if n < largePage {
		return alignedBytes(n)
	}
	b := make([]byte, n+largePage)
	giveBack(b)
	b = b[toPage(b):][:n:n]
	adviseLargePages(b)
	return b
}

// alignedBytes allocates zeroed bytes that start on a cache line.
func alignedBytes(n int) []byte {
	b := make([]byte, n+lineBytes-1)
	return b[toMultiple(b, lineBytes):][:n:n]
}

// toMultiple is how many bytes of b lie before the first address that is a multiple of a size, a power of two.
func toMultiple(b []byte, size int) int {
	return -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (size - 1)
}
