// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "errors"

// A pieceTrie finds the pieces that a text begins with, byte by byte. Its edges are one open-addressed table, which takes
// little time to build and one cache line to follow.
type pieceTrie struct {
	slots []trieEdge
	shift uint
	ids   []uint32 // of the piece that ends in each node, or noID; node 0 is not used
}

// A trieEdge leads from node key>>8 with byte key&255 to child; key 0 is an empty slot.
type trieEdge struct{ key, child uint32 }

const maxTrieNodes = 1 << 24

var errTrieFull = errors.New("the vocabulary is too large")

func newPieceTrie() *pieceTrie {
	return &pieceTrie{slots: make([]trieEdge, 1<<10), shift: 32 - 10, ids: []uint32{noID, noID}}
}

func (t *pieceTrie) root() uint32 { return 1 }

// slot returns where an edge is or belongs.
func (t *pieceTrie) slot(key uint32) *trieEdge {
	mask := uint32(len(t.slots) - 1)
	for h := (key ^ key>>15) * 0x9E3779B1 >> t.shift; ; h = (h + 1) & mask {
		if e := &t.slots[h]; e.key == key || e.key == 0 {
			return e
		}
	}
}

// child follows an edge.
func (t *pieceTrie) child(node uint32, b byte) (uint32, bool) {
	e := t.slot(node<<8 | uint32(b))
	return e.child, e.key != 0
}

// add enters a piece. It reports false if the trie is full.
func (t *pieceTrie) add(piece string, id uint32) bool {
	at := t.root()
	for i := range len(piece) {
		key := at<<8 | uint32(piece[i])
		e := t.slot(key)
		if e.key == 0 {
			if len(t.ids) >= maxTrieNodes {
				return false
			}
			*e = trieEdge{key, uint32(len(t.ids))}
			t.ids = append(t.ids, noID)
			at = e.child
			t.grow()
			continue
		}
		at = e.child
	}
	t.ids[at] = id
	return true
}

// grow doubles the table when it is more than half full.
func (t *pieceTrie) grow() {
	if len(t.ids)*2 < len(t.slots) {
		return
	}
	old := t.slots
	t.slots, t.shift = make([]trieEdge, 2*len(old)), t.shift-1
	for _, e := range old {
		if e.key != 0 {
			*t.slot(e.key) = e
		}
	}
}

// lookup returns the ID of a whole piece.
func (t *pieceTrie) lookup(piece string) (uint32, bool) {
	at := t.root()
	for i := range len(piece) {
		var ok bool
		if at, ok = t.child(at, piece[i]); !ok {
			return noID, false
		}
	}
	return t.ids[at], t.ids[at] != noID
}
