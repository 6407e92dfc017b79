// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"runtime"
	"sync"
	"unsafe"
)

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
	memory *offHeap
	free   []byte
	taken  int // bytes so far
}

// take cuts n zeroed bytes that start on a cache line. They live as long as what they are cut from.
func (s *slab) take(n int) ([]byte, *offHeap) {
	n = (n + lineBytes - 1) &^ (lineBytes - 1)
	s.taken += n
	if n > len(s.free) {
		size := min(max(s.taken, leastBytes), slabBytes)
		if n >= size/2 {
			memory := newWeights(n + largePage)
			return onLargePages(memory.bytes, n), memory
		}
		s.memory = newWeights(size + largePage)
		s.free = onLargePages(s.memory.bytes, size)
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken, s.memory
}

// weights counts the memory of all weights, as the collector does not. It would not run while one model after the other is loaded and
// forgotten.
var weights struct {
	// mu guards all below.
	mu        sync.Mutex
	bytes     int
	collected int // bytes at most since garbage was collected last
}

// newWeights allocates memory for weights. First it collects garbage if there is twice as much as the last time.
func newWeights(n int) *offHeap {
	weights.mu.Lock()
	defer weights.mu.Unlock()
	weights.bytes += n
	if weights.bytes > 2*max(weights.collected, slabBytes) {
		runtime.GC() // what it frees is counted later
		weights.collected = weights.bytes
	}
	m := newOffHeap(n)
	runtime.AddCleanup(m, forgetWeights, n)
	return m
}

// forgetWeights says that so many bytes were freed.
func forgetWeights(n int) {
	weights.mu.Lock()
	defer weights.mu.Unlock()
	weights.bytes -= n
	weights.collected = min(weights.collected, weights.bytes)
}

// onLargePages gives n bytes of b that begin where a large page does, on large pages if the system has them to give. B has at
// least a page more.
func onLargePages(b []byte, n int) []byte {
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
