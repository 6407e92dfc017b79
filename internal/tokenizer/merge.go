// SPDX-License-Identifier: Apache-2.0

package tokenizer

// shortWord is the most symbols for which searching all pairs for the best one beats a heap.
const shortWord = 40

// mergeShort merges e.symbols by searching for the best pair each time: quadratic, but without bookkeeping.
func (m *bpe) mergeShort(e *encoder, word string) {
	s := e.symbols
	for {
		best, rank := 0, noRank
		for i := range s {
			if s[i].rank < rank {
				best, rank = i, s[i].rank
			}
		}
		if rank == noRank {
			break
		}
		s[best].id = s[best].merged
		s[best].rank = noRank
		s = append(s[:best+1], s[best+2:]...)
		if best+1 < len(s) {
			s[best].rank, s[best].merged = m.rank(word, &s[best], &s[best+1], endOf(s, best+1, word))
		}
		if best > 0 {
			s[best-1].rank, s[best-1].merged = m.rank(word, &s[best-1], &s[best], endOf(s, best, word))
		}
	}
	e.symbols = s
}

// endOf returns where symbol i ends.
func endOf(s []symbol, i int, word string) int32 {
	if i+1 < len(s) {
		return s[i+1].start
	}
	return int32(len(word))
}

// A link joins a symbol to its living neighbours; -1 is none. A merged symbol points to itself as next.
type link struct{ prev, next int32 }

// mergeLong merges e.symbols with a heap of rank<<32 | position, so that a word of n symbols costs n log n. An entry
// is stale when its symbol is gone or has another rank now.
func (m *bpe) mergeLong(e *encoder, word string) {
	s := e.symbols
	e.links = e.links[:0]
	e.heap = e.heap[:0]
	for i := range s {
		e.links = append(e.links, link{int32(i) - 1, int32(i) + 1})
		if s[i].rank != noRank {
			e.heap = append(e.heap, uint64(s[i].rank)<<32|uint64(i))
		}
	}
	e.links[len(s)-1].next = -1
	e.heap.init()
	for len(e.heap) > 0 {
		top := e.heap.pop()
		i := int32(uint32(top))
		if s[i].rank == noRank || s[i].rank != uint32(top>>32) {
			continue
		}
		right := e.links[i].next
		after := e.links[right].next
		s[i].id = s[i].merged
		s[right].rank = noRank
		e.links[i].next, e.links[right].next = after, right
		if after >= 0 {
			e.links[after].prev = i
		}
		m.rerank(e, word, i)
		if prev := e.links[i].prev; prev >= 0 {
			m.rerank(e, word, prev)
		}
	}
	kept := s[:0]
	for i := int32(0); i >= 0; i = e.links[i].next {
		kept = append(kept, s[i])
	}
	e.symbols = kept
}

// rerank ranks the pair at symbol i anew and queues it.
func (m *bpe) rerank(e *encoder, word string, i int32) {
	s := e.symbols
	s[i].rank = noRank
	next := e.links[i].next
	if next < 0 {
		return
	}
	end := int32(len(word))
	if after := e.links[next].next; after >= 0 {
		end = s[after].start
	}
	s[i].rank, s[i].merged = m.rank(word, &s[i], &s[next], end)
	if s[i].rank != noRank {
		e.heap.push(uint64(s[i].rank)<<32 | uint64(i))
	}
}

// A rankHeap is a heap with four children a node: half the levels of a binary one, and its children share a cache line.
type rankHeap []uint64

func (h rankHeap) init() {
	for i := (len(h) - 2) / 4; i >= 0 && len(h) > 1; i-- {
		h.down(i)
	}
}

func (h *rankHeap) push(v uint64) {
	a := append(*h, v)
	*h = a
	i := len(a) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if a[parent] <= v {
			break
		}
		a[i] = a[parent]
		i = parent
	}
	a[i] = v
}

func (h *rankHeap) pop() uint64 {
	a := *h
	top, last := a[0], len(a)-1
	a[0] = a[last]
	*h = a[:last]
	if last > 0 {
		h.down(0)
	}
	return top
}

func (h rankHeap) down(i int) {
	v := h[i]
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		best := child
		for k := child + 1; k < min(child+4, len(h)); k++ {
			if h[k] < h[best] {
				best = k
			}
		}
		if h[best] >= v {
			break
		}
		h[i] = h[best]
		i = best
	}
	h[i] = v
}
