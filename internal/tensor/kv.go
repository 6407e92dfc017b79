// SPDX-License-Identifier: Apache-2.0

package tensor

import "fmt"

// KVBlock is the number of positions in a cache block: P in the shapes below.
const KVBlock = 32

// valueAlign is what rows of values are padded to, so that a kernel's tile of 32 columns never leaves a row.
const valueAlign = 32

// KV holds one layer's keys and values of all cache blocks as half-precision floats.
//
// Within a block and head, keys stand with positions fastest, so that one vector holds one component of consecutive
// keys and a score needs no sum across a vector. Values stand with components fastest, for the same reason.
//
// Shapes: keys [B, K, D, P]; values [B, K, P, W] where W is D rounded up to a multiple of 32.
type KV struct {
	keys, values []uint16
	kvHeads      int // K
	headDim      int // D
	valueStride  int // W
}

// NewKV allocates blocks for one layer. Memory that was never written is not backed by pages yet.
//
// Shapes: keys [blocks, kvHeads, headDim, P]; values [blocks, kvHeads, P, W].
func NewKV(blocks, kvHeads, headDim int) *KV {
	if blocks < 0 || kvHeads < 1 || headDim < 1 {
		panic(fmt.Sprintf("tensor: KV of %d blocks, %d heads of %d", blocks, kvHeads, headDim))
	}
	c := &KV{kvHeads: kvHeads, headDim: headDim, valueStride: roundUp(headDim, valueAlign)}
	c.keys = make([]uint16, blocks*kvHeads*headDim*KVBlock)
	c.values = make([]uint16, blocks*kvHeads*c.valueStride*KVBlock)
	return c
}

// KVBlockBytes is the size of one block of one layer: keys and values.
func KVBlockBytes(kvHeads, headDim int) int64 {
	return 2 * KVBlock * int64(kvHeads) * int64(headDim+roundUp(headDim, valueAlign))
}

// CopyBlock copies the keys and values of block src to block dst.
func (c *KV) CopyBlock(dst, src int) {
	n := c.kvHeads * c.headDim * KVBlock
	copy(c.keys[dst*n:(dst+1)*n], c.keys[src*n:(src+1)*n])
	n = c.kvHeads * c.valueStride * KVBlock
	copy(c.values[dst*n:(dst+1)*n], c.values[src*n:(src+1)*n])
}

// blockKeys returns the keys of one head in one block: [D, P].
func (c *KV) blockKeys(block, head int) []uint16 {
	n := c.headDim * KVBlock
	at := (block*c.kvHeads + head) * n
	return c.keys[at : at+n : at+n]
}

// blockValues returns the values of one head in one block: [P, W].
func (c *KV) blockValues(block, head int) []uint16 {
	n := c.valueStride * KVBlock
	at := (block*c.kvHeads + head) * n
	return c.values[at : at+n : at+n]
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
