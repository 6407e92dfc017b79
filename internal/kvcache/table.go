// SPDX-License-Identifier: Apache-2.0

package kvcache

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/token"
)

// A Table lists the blocks of one sequence. Pool.NewTable makes one; only its pool changes it. The sequence may get
// longer, but the tokens that its table has seen never change, not even after Release.
type Table struct {
	blocks [][]BlockID // [group][position/BlockSize]
	let    []int       // per group: entries before this index are None
	hashes []Hash      // of the sequence's full blocks, as far as they were needed
	root   Hash
	tokens int  // positions before this are computed and lie in the blocks
	named  int  // blocks before this index went through naming
	keep   bool // see Keep
	tenant string
}

// Blocks returns the table of each group. The caller must not change it and must not keep it past the next
// operation on the pool.
func (t *Table) Blocks() [][]BlockID { return t.blocks }

// Keep says that the sequence belongs to a conversation that comes back: the blocks it fills or finds from now on are
// evicted after those of others, as long as they are at most half of the cache.
func (t *Table) Keep() { t.keep = true }

// Belong says whose sequence it is. What tenants leave in the cache is evicted from whoever has most.
func (t *Table) Belong(tenant string) { t.tenant = tenant }

// Tokens returns how many tokens the blocks hold.
func (t *Table) Tokens() int { return t.tokens }

// name returns the hash of the sequence's block i; tokens has at least that block.
func (t *Table) name(c *chainer, tokens []token.ID, i, blockSize int) Hash {
	for n := len(t.hashes); n <= i; n++ {
		parent := t.root
		if n > 0 {
			parent = t.hashes[n-1]
		}
		t.hashes = append(t.hashes, c.next(parent, tokens[n*blockSize:(n+1)*blockSize]))
	}
	return t.hashes[i]
}

// Held returns how many blocks the table lists in group g.
func (t *Table) Held(g int) int { return len(t.blocks[g]) - t.let[g] }

// count adds the table's blocks of group g to refs. The table needs at least so many entries.
func (t *Table) count(refs []int32, g, least int) error {
	if len(t.blocks[g]) < least {
		return fmt.Errorf("%d blocks for %d tokens", len(t.blocks[g]), t.tokens)
	}
	for i, b := range t.blocks[g] {
		if (b == None) != (i < t.let[g]) {
			return fmt.Errorf("entry %d of a table is %d, and %d are let go", i, b, t.let[g])
		}
		if b != None {
			refs[b]++
		}
	}
	return nil
}
