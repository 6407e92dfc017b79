// SPDX-License-Identifier: Apache-2.0

package kvcache

import "slices"

// A block is what a store knows of one block.
type block struct {
	refs       int32
	named      bool
	saved      bool    // see Pool.Unsaved
	kept       bool    // of a conversation that comes back; see Table.Keep
	owner      *owner  // whose tokens it holds; nil: nobody's
	prev, next BlockID // neighbours in the free list, when refs is 0
	hash       Hash    // when named
}

// A store has the blocks of one group: a reference count for each, lists of free ones in the order of their reuse, and
// the names.
type store struct {
	blocks []block // the first n; then the rings that free lists hang on: their next is reused first
	n      int
	bare   BlockID // ring of the free blocks without a name
	names  map[Hash]BlockID
	owners []*owner // those with blocks, in the order in which they came
	spare  []*owner // those that had some, for the next ones
	free   int      // in all lists
	kept   int      // in those of blocks that are kept
	evicts uint64   // names dropped because the block was needed
}

// An owner is a tenant whose tokens are in blocks.
type owner struct {
	tenant      string
	blocks      int     // that hold its tokens, free ones too
	free        int     // in its two lists
	plain, kept BlockID // their rings
}

func newStore(n int) store {
	s := store{blocks: make([]block, n, n+3), n: n, names: make(map[Hash]BlockID, n)}
	s.bare = s.ring()
	for b := range BlockID(n) {
		s.link(b, s.blocks[s.bare].prev)
	}
	return s
}

// ring adds an empty list.
func (s *store) ring() BlockID {
	r := BlockID(len(s.blocks))
	s.blocks = append(s.blocks, block{prev: r, next: r})
	return r
}

// own returns what is known of a tenant.
func (s *store) own(tenant string) *owner {
	for _, o := range s.owners {
		if o.tenant == tenant {
			return o
		}
	}
	var o *owner
	if last := len(s.spare) - 1; last >= 0 {
		o, s.spare = s.spare[last], s.spare[:last]
	} else {
		o = &owner{plain: s.ring(), kept: s.ring()}
	}
	o.tenant = tenant
	s.owners = append(s.owners, o)
	return o
}

// disown says that b holds nobody's tokens any more.
func (s *store) disown(b BlockID) {
	o := s.blocks[b].owner
	s.blocks[b].owner = nil
	if o == nil {
		return
	}
	if o.blocks--; o.blocks == 0 {
		s.owners = slices.DeleteFunc(s.owners, func(other *owner) bool { return other == o })
		s.spare = append(s.spare, o)
	}
}

// link puts b into the free list behind after.
func (s *store) link(b, after BlockID) {
	next := s.blocks[after].next
	s.blocks[b].prev, s.blocks[b].next = after, next
	s.blocks[after].next, s.blocks[next].prev = b, b
	s.count(b, 1)
}

func (s *store) unlink(b BlockID) {
	e := &s.blocks[b]
	s.blocks[e.prev].next, s.blocks[e.next].prev = e.next, e.prev
	s.count(b, -1)
}

// count notes that a block came into a free list, or left it.
func (s *store) count(b BlockID, by int) {
	e := &s.blocks[b]
	s.free += by
	if e.kept {
		s.kept += by
	}
	if e.owner != nil {
		e.owner.free += by
	}
}

// take returns a block without a name and with one reference, for tokens of the tenant. At least one block is free.
func (s *store) take(tenant string) BlockID {
	o := s.own(tenant) // before anything points into blocks, which it may move
	o.blocks++
	b := s.blocks[s.bare].next
	if b == s.bare {
		b = s.victim(o)
	}
	s.unlink(b)
	e := &s.blocks[b]
	e.kept, e.saved = false, false
	if e.named {
		delete(s.names, e.hash)
		e.named = false
		s.evicts++
	}
	s.disown(b)
	e.owner, e.refs = o, 1
	return b
}

// victim returns the free block that is evicted for another of o: the one that was freed first of the tenant that has most,
// o itself if it has as many. So nobody can drive what others left in the cache out of their share of it.
func (s *store) victim(o *owner) BlockID {
	var most *owner
	for _, other := range s.owners {
		if other.free > 0 && (most == nil || other.blocks > most.blocks || other.blocks == most.blocks && other == o) {
			most = other
		}
	}
	if most == nil {
		panic("kvcache: take from empty free lists")
	}
	plain, kept := s.blocks[most.plain].next, s.blocks[most.kept].next
	// Blocks are kept while others are free, but they get no more than half of the cache.
	if plain == most.plain || s.kept > s.n/2 && kept != most.kept {
		return kept
	}
	return plain
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
		s.link(b, s.blocks[e.owner.kept].prev)
	case e.named:
		s.link(b, s.blocks[e.owner.plain].prev)
	default:
		e.kept = false
		s.disown(b)
		s.link(b, s.bare)
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

// An order is how the free blocks of a tenant are gone through.
type order uint8

const (
	firstReused order = iota
	lastReused
)

// unsaved returns a free block that has a name and was not returned before, and marks it.
func (s *store) unsaved(in order) (BlockID, Hash, bool) {
	for _, o := range s.owners {
		rings := [2]BlockID{o.plain, o.kept}
		if in == lastReused {
			rings = [2]BlockID{o.kept, o.plain}
		}
		for _, ring := range rings {
			if b := s.unsavedIn(ring, in); b != None {
				s.blocks[b].saved = true
				return b, s.blocks[b].hash, true
			}
		}
	}
	return None, Hash{}, false
}

// unsavedIn looks through one list.
func (s *store) unsavedIn(ring BlockID, in order) BlockID {
	for b := s.after(ring, in); b != ring; b = s.after(b, in) {
		if !s.blocks[b].saved {
			return b
		}
	}
	return None
}

// after returns the neighbour of b in a free list.
func (s *store) after(b BlockID, in order) BlockID {
	if in == lastReused {
		return s.blocks[b].prev
	}
	return s.blocks[b].next
}
