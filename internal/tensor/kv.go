// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"iter"
	"runtime"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// KVBlock is the number of positions in a cache block: P in the shapes below.
const KVBlock = kernel.KVBlock

// A KVType is the type of the numbers in a cache.
type KVType = kernel.KVType

// The types of caches.
const (
	KVF16  = kernel.KVF16
	KVF32  = kernel.KVF32 // for comparisons with float32 references
	KVBF16 = kernel.KVBF16
	KVQ8   = kernel.KVQ8
)

// largeCache is from how many bytes on a layer's cache asks for large pages: where it is several of them. Attention then reads 8
// to 20 % faster, as walking through many pages misses the TLB.
const largeCache = 4 << 20

// largePage is the size of large pages on most machines; where they are larger, so much the better.
const largePage = 2 << 20

// valuesShift is how much further than keys the values of a large cache begin in a page of 4 KiB. Processors look ahead within such
// pages and begin anew in each; keys and values that are read at the same time then cross into new ones one after the other: 7 to
// 8 % of the speed of one row behind 16,384 others (AVX2).
const valuesShift = 2 << 10

// KV holds one layer's keys and values of all cache blocks: see kernel.KVLayout.
//
// The numbers lie outside the Go heap: the collector would count gigabytes of them as live and let as much garbage gather.
// They live as long as the KV is reachable or until Close.
//
// Shapes: keys and values [B/R, K, R] blocks of one head each, R being kernel.KVRun.
type KV struct {
	memory       *offHeap
	keys, values kvNumbers
	kvHeads      int // K
	headDim      int // D
}

// kvNumbers are all keys or all values: see kernel.KVBlocks.
type kvNumbers struct {
	layout       kernel.KVLayout
	heads, first int // first is where block 0 lies
	bytes        []byte
}

// NewKVs allocates so many blocks for each of some layers. Memory that was never written is not backed by pages yet.
//
// Layers fill their blocks together. If each began on a large page, a block now and then would be the first of a new one in
// all of them, and the step that writes it would wait until the system has cleared a hundred megabytes. So their first blocks
// lie at different places of a page, spread evenly.
//
// Shapes: as KV says; blocks are rounded up to a multiple of R.
func NewKVs(t KVType, blocks []int, kvHeads, headDim int) []*KV {
	if !t.Known() || kvHeads < 1 || headDim < 1 {
		panic(fmt.Sprintf("tensor: KV of type %d, %d heads of %d", t, kvHeads, headDim))
	}
	layers := make([]*KV, len(blocks))
	for i, n := range blocks {
		if n < 0 {
			panic(fmt.Sprintf("tensor: KV of %d blocks", n))
		}
		c := &KV{
			kvHeads: kvHeads, headDim: headDim,
			keys: kvNumbers{layout: kernel.KeyLayout(t, headDim), heads: kvHeads}, values: kvNumbers{layout: kernel.ValueLayout(t, headDim), heads: kvHeads},
		}
		large := n*int(t.BlockBytes(kvHeads, headDim)) >= largeCache
		if large {
			c.keys.first = c.keys.blocksIn(largePage) * i / len(blocks)
			c.values.first = c.values.blocksIn(largePage) * (2*i + 1) / (2 * len(blocks))
		}
		keys, values := c.keys.bytesFor(n), c.values.bytesFor(n)
		if !large {
			c.memory = newOffHeap(keys + values)
			c.keys.bytes, c.values.bytes = c.memory.bytes[:keys:keys], c.memory.bytes[keys:]
		} else {
			c.memory = newOffHeap(keys + valuesShift + values + 2*largePage)
			rest := c.memory.bytes[toPage(c.memory.bytes):]
			c.keys.bytes, rest = rest[:keys:keys], rest[keys:]
			c.values.bytes = rest[toPage(rest)+valuesShift:][:values]
			adviseLargePages(c.keys.used())
			adviseLargePages(c.values.used())
		}
		layers[i] = c
	}
	return layers
}

// toPage is how many bytes of b lie before the first large page.
func toPage(b []byte) int { return toMultiple(b, largePage) }

// blocksIn is how many blocks of all heads so many bytes hold.
func (n *kvNumbers) blocksIn(bytes int) int { return bytes / n.blockBytes() }

// bytesFor is the memory of so many blocks from the first on.
func (n *kvNumbers) bytesFor(blocks int) int {
	return roundUp(n.first+blocks, kernel.KVRun) * n.blockBytes()
}

// used is the memory from the run of the first block on. What lies before it has no large pages, as they would be part empty.
func (n *kvNumbers) used() []byte {
	return n.bytes[n.first/kernel.KVRun*kernel.KVRun*n.blockBytes():]
}

// blockBytes is the size of a block of all heads.
func (n *kvNumbers) blockBytes() int { return n.heads * n.layout.Bytes }

// Close frees the memory at once, instead of when the KV is collected. It must not be used afterwards.
func (c *KV) Close() {
	c.keys, c.values = kvNumbers{}, kvNumbers{}
	c.memory.free()
}

// parts are the keys of each head, and then the values of each head.
func (c *KV) parts() iter.Seq[kernel.KVBlocks] {
	return func(yield func(kernel.KVBlocks) bool) {
		defer runtime.KeepAlive(c)
		for i := range 2 * c.kvHeads {
			n := []*kvNumbers{&c.keys, &c.values}[i/c.kvHeads]
			if !yield(n.of(i % c.kvHeads)) {
				return
			}
		}
	}
}

// CopyBlock copies the keys and values of block src to block dst.
func (c *KV) CopyBlock(dst, src int) {
	for part := range c.parts() {
		copy(part.At(dst), part.At(src))
	}
}

// Store writes the keys and values of one position: row slot of a block.
//
// Shapes: k, v [K, D].
func (c *KV) Store(block, slot int, k, v []float32) {
	for head := range c.kvHeads {
		at, end := head*c.headDim, (head+1)*c.headDim
		c.keys.store(block, head, slot, k[at:end])
		c.values.store(block, head, slot, v[at:end])
	}
	runtime.KeepAlive(c)
}

func (n *kvNumbers) store(block, head, slot int, x []float32) {
	blocks := n.of(head)
	n.layout.Store(blocks.At(block), slot, x)
}

// of returns one head's part of all blocks.
func (n *kvNumbers) of(head int) kernel.KVBlocks {
	return kernel.KVBlocks{KVLayout: n.layout, Data: n.bytes[head*kernel.KVRun*n.layout.Bytes:], Heads: n.heads, First: n.first}
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// AppendBlock appends the bytes of a block's keys and values to dst.
func (c *KV) AppendBlock(dst []byte, block int) []byte {
	for part := range c.parts() {
		dst = append(dst, part.At(block)...)
	}
	return dst
}

// SetBlock sets a block's keys and values to what AppendBlock gave, and returns the rest of data. It panics if there is
// too little.
func (c *KV) SetBlock(block int, data []byte) []byte {
	for part := range c.parts() {
		data = data[copy(part.At(block), data[:part.Bytes]):]
	}
	return data
}
