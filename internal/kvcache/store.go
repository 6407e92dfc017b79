// SPDX-License-Identifier: Apache-2.0

package kvcache

import "fmt"

// A block is what a store knows of one block.
type block struct {
	refs       int32
	named      bool
	saved      bool    // see Pool.Unsaved
	kept       bool    // of a conversation that comes back; see Table.Keep
	prev, next BlockID // neighbours in the free list, when refs is 0
	hash       Hash    // when named
}

// A store has the blocks of one group: a reference count for each, two lists of free ones in the order of their
// reuse, and the names.
type store struct {
	blocks []block // the last two are the rings of the free lists: their next is reused first
	names  map[Hash]BlockID
	free   int    // in both lists
	kept   int    // in the list of blocks that are kept
	evicts uint64 // names dropped because the block was needed
}

// rings are the places behind the blocks that the free lists hang on.
const rings = 2

func newStore(n int) store {
	s := store{blocks: make([]block, n+rings), names: make(map[Hash]BlockID, n)}
	for _, ring := range []BlockID{s.ring(), s.keptRing()} {
		s.blocks[ring].prev, s.blocks[ring].next = ring, ring
	}
	for b := range BlockID(n) {
		s.link(b, s.blocks[s.ring()].prev)
	}
	return s
}

func (s *store) ring() BlockID     { return BlockID(len(s.blocks) - 1) }
func (s *store) keptRing() BlockID { return BlockID(len(s.blocks) - 2) }

// link puts b into the free list behind after.
func (s *store) link(b, after BlockID) {
	next := s.blocks[after].next
	s.blocks[b].prev, s.blocks[b].next = after, next
	s.blocks[after].next, s.blocks[next].prev = b, b
	s.free++
	if s.blocks[b].kept {
		s.kept++
	}
}

func (s *store) unlink(b BlockID) {
	e := &s.blocks[b]
	s.blocks[e.prev].next, s.blocks[e.next].prev = e.next, e.prev
	s.free--
	if e.kept {
		s.kept--
	}
}

// take returns a block without a name and with one reference. At least one block is free.
func (s *store) take() BlockID {
	b := s.blocks[s.ring()].next
	// Blocks are kept while others are free, but they get no more than half of the cache.
	if b == s.ring() || s.kept > (len(s.blocks)-rings)/2 {
		b = s.blocks[s.keptRing()].next
	}
	if b >= s.keptRing() {
		panic("kvcache: take from an empty free list")
	}
	s.unlink(b)
	e := &s.blocks[b]
	e.kept, e.saved = false, false
	if e.named {
		delete(s.names, e.hash)
		e.named = false
		s.evicts++
	}
	e.refs = 1
	return b
}

// share adds a reference to b, which may be free.
func (s *store) share(b BlockID) {
	if s.blocks[b].refs == 0 {
		s.unlink(b)
	}
	s.blocks[b].refs++
}

// drop takes a reference from b. A block without a name is reused first: nothing can find it again.
func (s *store) drop(b BlockID) {
	e := &s.blocks[b]
	e.refs--
	switch {
	case e.refs > 0:
	case e.named && e.kept:
		s.link(b, s.blocks[s.keptRing()].prev)
	case e.named:
		s.link(b, s.blocks[s.ring()].prev)
	default:
		e.kept = false
		s.link(b, s.ring())
	}
}

// name calls b by h, unless another block already has that name.
func (s *store) name(b BlockID, h Hash) {
	if _, taken := s.names[h]; taken || s.blocks[b].named {
		return
	}
	s.blocks[b].hash, s.blocks[b].named = h, true
	s.names[h] = b
}

// check compares the store with refs, the number of tables that list each block.
func (s *store) check(refs []int32) error {
	free, err := s.countFree()
	if err != nil {
		return err
	}
	if free != s.free {
		return fmt.Errorf("free lists have %d blocks, counted %d", free, s.free)
	}
	unused, named := 0, 0
	for b := range refs {
		e := &s.blocks[b]
		if e.refs != refs[b] {
			return fmt.Errorf("block %d has %d references, %d tables list it", b, e.refs, refs[b])
		}
		if e.refs == 0 {
			unused++
		}
		if !e.named {
			continue
		}
		named++
		if at, ok := s.names[e.hash]; !ok || at != BlockID(b) {
			return fmt.Errorf("block %d has a name that leads to block %d (%t)", b, at, ok)
		}
	}
	if unused != free {
		return fmt.Errorf("%d blocks have no reference, %d are in free lists", unused, free)
	}
	if named != len(s.names) {
		return fmt.Errorf("%d blocks have a name, %d names exist", named, len(s.names))
	}
	return nil
}

// countFree walks the free lists.
func (s *store) countFree() (free int, err error) {
	kept := 0
	for _, ring := range []BlockID{s.ring(), s.keptRing()} {
		for b := s.blocks[ring].next; b != ring; b = s.blocks[b].next {
			e := &s.blocks[b]
			if e.refs != 0 || e.kept != (ring == s.keptRing()) {
				return 0, fmt.Errorf("block %d is in a free list with %d references, kept %t", b, e.refs, e.kept)
			}
			if e.kept {
				kept++
			}
			if free++; free > len(s.blocks) {
				return 0, fmt.Errorf("a free list is a loop")
			}
		}
	}
	if kept != s.kept {
		return 0, fmt.Errorf("%d free blocks are kept, counted %d", kept, s.kept)
	}
	return free, nil
}
