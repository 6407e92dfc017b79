// SPDX-License-Identifier: Apache-2.0

package kvcache

// A BlockID is the number of a block within its group.
type BlockID int32

// None stands in a table for a block that a window has left behind.
const None BlockID = -1

// A Kind says what the layers of a group remember.
type Kind uint8

// The kinds of groups.
const (
	All        Kind = iota // every token
	Window                 // the latest Window tokens, the current one included
	State                  // one running state; a block is a snapshot of it (not built yet)
	Compressed             // several tokens to an entry (not built yet)
)

// A Group is a set of layers that remember alike and share block tables.
type Group struct {
	Kind   Kind
	Window int // tokens, for Kind Window
}

// Blocks returns how many blocks of blockSize tokens a sequence of tokens needs at most, when no step adds more
// than chunk tokens to it.
func (g Group) Blocks(tokens, chunk, blockSize int) int {
	all := (tokens + blockSize - 1) / blockSize
	if g.Kind != Window {
		return all
	}
	// A step reads back Window-1 tokens before its first and may start and end inside a block.
	return min(all, (g.Window-1+chunk+blockSize-1)/blockSize+1)
}

// First returns the index of the first block that is read when the token at position pos is computed.
func (g Group) First(pos, blockSize int) int {
	if g.Kind != Window {
		return 0
	}
	return max(0, pos-g.Window+1) / blockSize
}
