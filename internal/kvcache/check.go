// SPDX-License-Identifier: Apache-2.0

package kvcache

import "fmt"

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
	owned := map[*owner]int{}
	for b := range refs {
		e := &s.blocks[b]
		if e.refs != refs[b] {
			return fmt.Errorf("block %d has %d references, %d tables list it", b, e.refs, refs[b])
		}
		if e.refs == 0 {
			unused++
		}
		if e.owner != nil {
			owned[e.owner]++
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
	return s.checkOwners(owned)
}

// checkOwners compares what is known of tenants with the blocks that they own.
func (s *store) checkOwners(owned map[*owner]int) error {
	for _, o := range s.owners {
		if o.blocks != owned[o] || o.blocks == 0 {
			return fmt.Errorf("tenant %q has %d blocks, counted %d", o.tenant, o.blocks, owned[o])
		}
		delete(owned, o)
	}
	if len(owned) > 0 {
		return fmt.Errorf("%d tenants with blocks are forgotten", len(owned))
	}
	return nil
}

// countFree walks the free lists.
func (s *store) countFree() (free int, err error) {
	if free, err = s.countRing(s.bare, nil); err != nil {
		return 0, err
	}
	kept := 0
	for _, o := range s.owners {
		plain, err := s.countRing(o.plain, o)
		if err != nil {
			return 0, err
		}
		held, err := s.countRing(o.kept, o)
		if err != nil {
			return 0, err
		}
		if plain+held != o.free {
			return 0, fmt.Errorf("tenant %q has %d free blocks, counted %d", o.tenant, o.free, plain+held)
		}
		free, kept = free+plain+held, kept+held
	}
	if kept != s.kept {
		return 0, fmt.Errorf("%d free blocks are kept, counted %d", kept, s.kept)
	}
	return free, nil
}

// countRing counts the blocks of one free list, which are all of one owner.
func (s *store) countRing(ring BlockID, of *owner) (n int, err error) {
	for b := s.blocks[ring].next; b != ring; b = s.blocks[b].next {
		e := &s.blocks[b]
		if e.refs != 0 || e.owner != of || e.named == (of == nil) || e.kept != (of != nil && ring == of.kept) {
			return 0, fmt.Errorf("block %d is in a wrong free list: %d references, named %t, kept %t", b, e.refs, e.named, e.kept)
		}
		if n++; n > s.n {
			return 0, fmt.Errorf("a free list is a loop")
		}
	}
	return n, nil
}
