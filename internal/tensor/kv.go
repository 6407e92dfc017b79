// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
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

// largeCache is from how many bytes on a layer's cache asks for large pages: where some unused ends of them are little beside
// the whole. Attention then reads 8 to 20 % faster, as walking through many pages misses the TLB.
const largeCache = 16 << 20

// largePage is the size of large pages on most machines; where they are larger, so much the better.
const largePage = 2 << 20

// KV holds one layer's keys and values of all cache blocks: see kernel.KVLayout.
//
// The numbers lie outside the Go heap: the collector would count gigabytes of them as live and let as much garbage gather.
// They live as long as the KV is reachable or until Close.
//
// Shapes: keys [B, K, D, P]; values [B, K, P, W] where W is D rounded up to a multiple of 32.
type KV struct {
	memory       *offHeap
	keys, values kvNumbers
	kvHeads      int // K
	headDim      int // D
}

// kvNumbers are all keys or all values, block after block, in a block head after head.
type kvNumbers struct {
	layout kernel.KVLayout
	stride int // bytes of a block
	bytes  []byte
}

// NewKV allocates blocks for one layer. Memory that was never written is not backed by pages yet.
//
// Shapes: keys [blocks, kvHeads, headDim, P]; values [blocks, kvHeads, P, W].
func NewKV(t KVType, blocks, kvHeads, headDim int) *KV {
	return NewKVs(t, []int{blocks}, kvHeads, headDim)[0]
}

// NewKVs allocates so many blocks for each of some layers.
//
// Layers fill their blocks together. If each began on a large page, a block now and then would be the first of a new one in
// all of them, and the step that writes it would wait until the system has cleared a hundred megabytes. So their beginnings
// lie at different places of a page, spread evenly.
//
// Shapes: as those of NewKV.
func NewKVs(t KVType, blocks []int, kvHeads, headDim int) []*KV {
	if !t.Known() || kvHeads < 1 || headDim < 1 {
		panic(fmt.Sprintf("tensor: KV of type %d, %d heads of %d", t, kvHeads, headDim))
	}
	layers := make([]*KV, len(blocks))
	step := largePage / (2 * max(1, len(blocks))) &^ (len(cacheLine{}) - 1)
	for i, n := range blocks {
		if n < 0 {
			panic(fmt.Sprintf("tensor: KV of %d blocks", n))
		}
		c := &KV{kvHeads: kvHeads, headDim: headDim}
		keys, values := kvNumbersOf(kernel.KeyLayout(t, headDim), kvHeads), kvNumbersOf(kernel.ValueLayout(t, headDim), kvHeads)
		size, spare := n*int(t.BlockBytes(kvHeads, headDim)), 0
		if size >= largeCache {
			spare = 2 * largePage
		}
		c.memory = newOffHeap(size + spare)
		rest := c.memory.bytes
		if spare > 0 {
			adviseLargePages(rest)
			rest = rest[toPhase(rest, 2*i*step):]
		}
		keys.bytes, rest = rest[:n*keys.stride], rest[n*keys.stride:]
		if spare > 0 {
			rest = rest[toPhase(rest, (2*i+1)*step):]
		}
		values.bytes = rest[:n*values.stride]
		c.keys, c.values = keys, values
		layers[i] = c
	}
	return layers
}

func kvNumbersOf(l kernel.KVLayout, heads int) kvNumbers {
	return kvNumbers{layout: l, stride: heads * l.Bytes}
}

// Close frees the memory at once, instead of when the KV is collected. It must not be used afterwards.
func (c *KV) Close() {
	c.keys, c.values = kvNumbers{}, kvNumbers{}
	c.memory.free()
}

// CopyBlock copies the keys and values of block src to block dst.
func (c *KV) CopyBlock(dst, src int) {
	for _, n := range []*kvNumbers{&c.keys, &c.values} {
		copy(n.bytes[dst*n.stride:(dst+1)*n.stride], n.bytes[src*n.stride:])
	}
	runtime.KeepAlive(c)
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
	n.layout.Store(n.bytes[block*n.stride+head*n.layout.Bytes:][:n.layout.Bytes], slot, x)
}

// of returns one head's part of all blocks.
func (n *kvNumbers) of(head int) kernel.KVBlocks {
	return kernel.KVBlocks{KVLayout: n.layout, Data: n.bytes[head*n.layout.Bytes:], Stride: n.stride}
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// AppendBlock appends the bytes of a block's keys and values to dst.
func (c *KV) AppendBlock(dst []byte, block int) []byte {
	for _, n := range []*kvNumbers{&c.keys, &c.values} {
		dst = append(dst, n.bytes[block*n.stride:(block+1)*n.stride]...)
	}
	runtime.KeepAlive(c)
	return dst
}

// SetBlock sets a block's keys and values to what AppendBlock gave, and returns the rest of data. It panics if there is
// too little.
func (c *KV) SetBlock(block int, data []byte) []byte {
	for _, n := range []*kvNumbers{&c.keys, &c.values} {
		copy(n.bytes[block*n.stride:(block+1)*n.stride], data[:n.stride])
		data = data[n.stride:]
	}
	runtime.KeepAlive(c)
	return data
}
