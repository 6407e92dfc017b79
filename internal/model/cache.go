// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A Cache holds the keys and values of all layers in blocks. Which block holds what is kvcache's business.
type Cache struct {
	layers []*tensor.KV // [L]
	groups []int        // [L] cache group of each layer
	kinds  []kvcache.Group
	blocks []int // blocks in each group
}

// NewCache allocates blocks[g] blocks for each group g of the configuration.
func NewCache(c *Config, blocks []int) *Cache {
	kinds := c.CacheGroups()
	if len(blocks) != len(kinds) {
		panic(fmt.Sprintf("model: cache for %d groups, want %d", len(blocks), len(kinds)))
	}
	cache := &Cache{kinds: kinds, blocks: append([]int(nil), blocks...)}
	counts := make([]int, c.Layers)
	for layer := range c.Layers {
		g := c.Group(layer)
		cache.groups = append(cache.groups, g)
		counts[layer] = blocks[g]
	}
	cache.layers = tensor.NewKVs(c.CacheType, counts, c.KVHeads, c.HeadDim)
	return cache
}

// Close frees the memory of keys and values at once; without it that happens when the Cache is collected. No Forward may
// use the Cache afterwards.
func (c *Cache) Close() {
	for _, kv := range c.layers {
		kv.Close()
	}
}

// Layer returns the keys and values of a layer.
func (c *Cache) Layer(layer int) *tensor.KV { return c.layers[layer] }

// Groups returns how many groups of layers there are.
func (c *Cache) Groups() int { return len(c.blocks) }

// CopyBlock copies what block src of a group holds to block dst: the first half of copy-on-write.
func (c *Cache) CopyBlock(group int, dst, src kvcache.BlockID) {
	for layer, kv := range c.layers {
		if c.groups[layer] == group {
			kv.CopyBlock(int(dst), int(src))
		}
	}
}

// AppendBlock appends what block b of a group holds to dst.
func (c *Cache) AppendBlock(dst []byte, group int, b kvcache.BlockID) []byte {
	for layer, kv := range c.layers {
		if c.groups[layer] == group {
			dst = kv.AppendBlock(dst, int(b))
		}
	}
	return dst
}

// SetBlock sets what block b of a group holds to what AppendBlock gave. It panics if data is too short.
func (c *Cache) SetBlock(group int, b kvcache.BlockID, data []byte) {
	for layer, kv := range c.layers {
		if c.groups[layer] == group {
			data = kv.SetBlock(int(b), data)
		}
	}
}

// checkTable reports whether a table names existing blocks for all that the tokens at positions first to end-1 read.
func (c *Cache) checkTable(table []kvcache.BlockID, group, first, end int) error {
	if want := (end + BlockSize - 1) / BlockSize; len(table) < want {
		return fmt.Errorf("table of %d blocks, want at least %d", len(table), want)
	}
	for i := c.kinds[group].First(first, BlockSize); i*BlockSize < end; i++ {
		if table[i] < 0 || int(table[i]) >= c.blocks[group] {
			return fmt.Errorf("block %d at index %d, want 0 to %d", table[i], i, c.blocks[group]-1)
		}
	}
	return nil
}
