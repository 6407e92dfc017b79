// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "hash/maphash"

// A pieceTable finds the ID of a spelling: open addressing over a list of strings, so that a vocabulary of a quarter
// million entries is indexed in milliseconds and one allocation.
type pieceTable struct {
	seed  maphash.Seed
	text  []string // spelling of each ID
	slots []pieceSlot
}

type pieceSlot struct {
	tag uint32 // upper bits of the hash
	id  uint32 // plus 1; 0 is an empty slot
}

// newPieceTable indexes the spellings for which keep is true. Of equal spellings the first wins.
func newPieceTable(text []string, keep func(id int) bool) *pieceTable {
	size := 16
	for size < 2*len(text) {
		size *= 2
	}
	p := &pieceTable{seed: maphash.MakeSeed(), text: text, slots: make([]pieceSlot, size)}
	for id, s := range text {
		if !keep(id) {
			continue
		}
		if slot, found := p.find(s); !found {
			p.slots[slot].id = uint32(id) + 1
		}
	}
	return p
}

// find returns the slot of s, or the free slot where it belongs, with its tag set.
func (p *pieceTable) find(s string) (slot int, found bool) {
	h := maphash.String(p.seed, s)
	tag, mask := uint32(h>>32), len(p.slots)-1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		switch e := &p.slots[i]; {
		case e.id == 0:
			e.tag = tag
			return i, false
		case e.tag == tag && p.text[e.id-1] == s:
			return i, true
		}
	}
}

// lookup returns the ID of s.
func (p *pieceTable) lookup(s string) (id uint32, ok bool) {
	h := maphash.String(p.seed, s)
	tag, mask := uint32(h>>32), len(p.slots)-1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		switch e := p.slots[i]; {
		case e.id == 0:
			return 0, false
		case e.tag == tag && p.text[e.id-1] == s:
			return e.id - 1, true
		}
	}
}

// lookupAll sets ids[i] to the ID of keys[i], noID if there is none. hash is memory for as many hashes. Each loop does one
// step of all lookups, so that the processor waits for many lines of the cache at once.
func (p *pieceTable) lookupAll(keys [][]byte, ids []uint32, hash []uint64) {
	mask := uint64(len(p.slots) - 1)
	for i, key := range keys {
		hash[i] = maphash.Bytes(p.seed, key)
	}
	for i := range keys {
		ids[i] = p.slots[hash[i]&mask].id
	}
	for i, key := range keys {
		// The slot may be that of another piece, which a different length often tells.
		if id := ids[i]; id != 0 && len(p.text[id-1]) != len(key) {
			ids[i] = 0
		}
	}
	for i, key := range keys {
		if id := ids[i]; id != 0 && p.text[id-1] == string(key) {
			ids[i] = id - 1
			continue
		}
		id, ok := p.lookup(string(key))
		if !ok {
			id = noID
		}
		ids[i] = id
	}
}

// A pairTable finds what a pair of neighbouring tokens merges into.
type pairTable struct {
	slots []pairSlot
	shift uint
}

type pairSlot struct {
	key  uint64 // (left+1)<<32 | right; 0 is an empty slot
	rank uint32
	id   uint32
}

// noRank is worse than every rank: the pair does not merge.
const noRank = ^uint32(0)

func newPairTable(n int) *pairTable {
	bits := uint(4)
	for 1<<bits < n+n/2 {
		bits++
	}
	return &pairTable{slots: make([]pairSlot, 1<<bits), shift: 64 - bits}
}

// slot returns where the pair is or belongs. Fibonacci hashing: the upper bits of the product are well mixed.
func (p *pairTable) slot(left, right uint32) (*pairSlot, uint64) {
	key := uint64(left+1)<<32 | uint64(right)
	mask := uint64(len(p.slots) - 1)
	h := (key ^ key>>29) * 0x9E3779B97F4A7C15 >> p.shift
	for {
		s := &p.slots[h]
		if s.key == key || s.key == 0 {
			return s, key
		}
		h = (h + 1) & mask
	}
}

// add stores a merge. Of equal pairs the last wins, as in the reference.
func (p *pairTable) add(left, right, rank, id uint32) {
	s, key := p.slot(left, right)
	*s = pairSlot{key, rank, id}
}

// lookup returns the merge of a pair; its rank is noRank if there is none.
func (p *pairTable) lookup(left, right uint32) (rank, id uint32) {
	s, _ := p.slot(left, right)
	if s.key == 0 {
		return noRank, 0
	}
	return s.rank, s.id
}

// forbid removes the merges that make a token for which banned is true.
func (p *pairTable) forbid(banned func(id uint32) bool) {
	for i := range p.slots {
		if s := &p.slots[i]; s.key != 0 && banned(s.id) {
			s.rank = noRank
		}
	}
}
