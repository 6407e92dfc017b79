// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"runtime"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// KVBlock is the number of positions in a cache block: P in the shapes below.
const KVBlock = 32

// valueAlign is what rows of values are padded to, so that a kernel's tile of 32 columns never leaves a row.
const valueAlign = 32

// A KVType is the type of the numbers in a cache.
type KVType uint8

// The types of caches.
const (
	KVF16 KVType = iota
	KVF32        // for comparisons with float32 references
)

// bytes is the size of a number.
func (t KVType) bytes() int64 { return 2 << t }

// KV holds one layer's keys and values of all cache blocks.
//
// The numbers lie outside the Go heap: the collector would count gigabytes of them as live and let as much garbage gather.
// They live as long as the KV is reachable or until Close.
//
// Within a block and head, keys stand with positions fastest, so that one vector holds one component of consecutive
// keys and a score needs no sum across a vector. Values stand with components fastest, for the same reason.
//
// Shapes: keys [B, K, D, P]; values [B, K, P, W] where W is D rounded up to a multiple of 32.
type KV struct {
	memory       *offHeap
	keys, values kvNumbers
	kvHeads      int // K
	headDim      int // D
	valueStride  int // W
}

// kvNumbers are the numbers of all keys or all values, head after head: f16 or f32, the other is nil.
type kvNumbers struct {
	f16  []uint16
	f32  []float32
	head int // numbers of one head in one block
}

// cutKVNumbers takes n numbers from the front of memory.
func cutKVNumbers(memory []byte, t KVType, n, head int) (numbers kvNumbers, rest []byte) {
	front, rest := memory[:n*int(t.bytes())], memory[n*int(t.bytes()):]
	if t == KVF32 {
		return kvNumbers{f32: sliceOf[float32](front), head: head}, rest
	}
	return kvNumbers{f16: sliceOf[uint16](front), head: head}, rest
}

// NewKV allocates blocks for one layer. Memory that was never written is not backed by pages yet.
//
// Shapes: keys [blocks, kvHeads, headDim, P]; values [blocks, kvHeads, P, W].
func NewKV(t KVType, blocks, kvHeads, headDim int) *KV {
	if t > KVF32 || blocks < 0 || kvHeads < 1 || headDim < 1 {
		panic(fmt.Sprintf("tensor: KV of type %d, %d blocks, %d heads of %d", t, blocks, kvHeads, headDim))
	}
	c := &KV{kvHeads: kvHeads, headDim: headDim, valueStride: roundUp(headDim, valueAlign)}
	c.memory = newOffHeap(blocks * int(t.BlockBytes(kvHeads, headDim)))
	heads, key, value := blocks*kvHeads, headDim*KVBlock, c.valueStride*KVBlock
	rest := c.memory.bytes
	c.keys, rest = cutKVNumbers(rest, t, heads*key, key)
	c.values, _ = cutKVNumbers(rest, t, heads*value, value)
	return c
}

// Close frees the memory at once, instead of when the KV is collected. It must not be used afterwards.
func (c *KV) Close() {
	c.keys, c.values = kvNumbers{}, kvNumbers{}
	c.memory.free()
}

// BlockBytes is the size of one block of one layer: keys and values.
func (t KVType) BlockBytes(kvHeads, headDim int) int64 {
	return t.bytes() * KVBlock * int64(kvHeads) * int64(headDim+roundUp(headDim, valueAlign))
}

// CopyBlock copies the keys and values of block src to block dst.
func (c *KV) CopyBlock(dst, src int) {
	for _, numbers := range []kvNumbers{c.keys, c.values} {
		n := numbers.head * c.kvHeads
		if numbers.f32 != nil {
			copy(numbers.f32[dst*n:(dst+1)*n], numbers.f32[src*n:])
			continue
		}
		copy(numbers.f16[dst*n:(dst+1)*n], numbers.f16[src*n:])
	}
	runtime.KeepAlive(c)
}

// Store writes the keys and values of one position: row slot of a block.
//
// Shapes: k, v [K, D].
func (c *KV) Store(block, slot int, k, v []float32) {
	for head := range c.kvHeads {
		at := head * c.headDim
		c.storeHead(block*c.kvHeads+head, slot, k[at:at+c.headDim], v[at:at+c.headDim])
	}
	runtime.KeepAlive(c)
}

// storeHead writes the key and the value of one head; i counts heads over all blocks.
func (c *KV) storeHead(i, slot int, k, v []float32) {
	key, value := i*c.keys.head+slot, i*c.values.head+slot*c.valueStride
	if c.keys.f32 == nil {
		kernel.ScatterHalf(c.keys.f16[key:], KVBlock, k)
		kernel.ToHalf(c.values.f16[value:value+len(v)], v)
		return
	}
	for d, x := range k {
		c.keys.f32[key+d*KVBlock] = x
	}
	copy(c.values.f32[value:], v)
}

// load makes a tile's right side that of one head in one block, from column c on.
func (n *kvNumbers) load(t *kernel.KVTile, head, c int) {
	at, end := head*n.head+c, (head+1)*n.head
	if n.f32 != nil {
		t.B16, t.B32 = nil, n.f32[at:end]
		return
	}
	t.B16, t.B32 = n.f16[at:end], nil
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
