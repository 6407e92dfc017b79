// SPDX-License-Identifier: Apache-2.0

package kvcache

import "fmt"

// A block is what a store knows of one block.
type block struct {
	refs       int32
	named      bool
	prev, next BlockID // neighbours in the free list, when refs is 0
	hash       Hash    // when named
}

// A store has the blocks of one group: a reference count for each, the list of free ones in the order of their
// reuse, and the names.
type store struct {
	blocks []block // the last one is the free list's ring: its next is reused first
	names  map[Hash]BlockID
	free   int
	evicts uint64 // names dropped because the block was needed
}

func newStore(n int) store {
	s := store{blocks: make([]block, n+1), names: make(map[Hash]BlockID, n)}
	ring := s.ring()
	s.blocks[ring].prev, s.blocks[ring].next = ring, ring
	for b := range BlockID(n) {
		s.link(b, s.blocks[ring].prev)
	}
	return s
}

func (s *store) ring() BlockID { return BlockID(len(s.blocks) - 1) }

// link puts b into the free list behind after.
func (s *store) link(b, after BlockID) {
	next := s.blocks[after].next
	s.blocks[b].prev, s.blocks[b].next = after, next
	s.blocks[after].next, s.blocks[next].prev = b, b
	s.free++
}

func (s *store) unlink(b BlockID) {
	e := &s.blocks[b]
	s.blocks[e.prev].next, s.blocks[e.next].prev = e.next, e.prev
	s.free--
}

// take returns a block without a name and with one reference. At least one block is free.
func (s *store) take() BlockID {
	b := s.blocks[s.ring()].next
	if b == s.ring() {
		panic("kvcache: take from an empty free list")
	}
	s.unlink(b)
	e := &s.blocks[b]
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
	case e.named:
		s.link(b, s.blocks[s.ring()].prev)
	default:
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
	free := 0
	ring := s.ring()
	for b := s.blocks[ring].next; b != ring; b = s.blocks[b].next {
		if s.blocks[b].refs != 0 {
			return fmt.Errorf("block %d is in the free list with %d references", b, s.blocks[b].refs)
		}
		if free++; free > len(refs) {
			return fmt.Errorf("the free list is a loop")
		}
	}
	if free != s.free {
		return fmt.Errorf("free list has %d blocks, counted %d", free, s.free)
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
		return fmt.Errorf("%d blocks have no reference, %d are in the free list", unused, free)
	}
	if named != len(s.names) {
		return fmt.Errorf("%d blocks have a name, %d names exist", named, len(s.names))
	}
	return nil
}
