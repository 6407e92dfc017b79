// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"

	"github.com/sampo-ai/sampo/internal/kvcache"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// BlockSize is the number of tokens in a cache block.
const BlockSize = tensor.KVBlock

// A Config holds the sizes and constants of a dense decoder, however its file spells them.
type Config struct {
	Family     string // "llama", "qwen3", "gemma3" ...
	Vocab      int    // rows of the embedding and output matrices
	Hidden     int
	Layers     int
	Heads      int
	KVHeads    int
	HeadDim    int
	FFN        int
	MaxContext int // longest sequence that the model was trained for

	NormEps        float32
	NormOffset     float32 // added to norm weights as stored: 1 where a file stores w of (1+w)
	AttentionScale float32 // of q·k
	AttentionCap   float32 // soft cap of attention scores: s becomes cap·tanh(s/cap); 0: none
	QueryScale     *QueryScale
	EmbeddingScale float32 // of embedding rows; 1 in most families
	ResidualScale  float32 // of what a layer adds to the residual stream; 0 is as good as 1
	LogitScale     float32 // of logits; 0 is as good as 1
	LogitCap       float32 // soft cap of logits, after LogitScale; 0: none
	LayerNorm      bool    // norms take the mean away; else they are RMSNorms
	Activation     tensor.Nonlinearity
	TiedOutput     bool // logits use the embedding matrix

	// Not read from a file: the caller may set it before Load.
	CacheType tensor.KVType // of keys and values; F16 unless set

	Window       int    // tokens that a window layer sees, the current one included; 0: no window layers
	WindowLayers []bool // [L], or nil: none
	Rope         Rope   // of layers that see everything
	WindowRope   Rope   // of window layers
	NoRopeLayers []bool // [L] layers that do not turn queries and keys (NoPE, arXiv:2305.19466), or nil: none
}

// A QueryScale multiplies queries at position p by 1 + Beta·ln(1 + ⌊p/Context⌋), so that attention stays sharp in long
// texts (Llama 4, Ministral 3).
type QueryScale struct{ Beta, Context float64 }

// At returns the scale at a position.
func (q *QueryScale) At(position int32) float32 {
	return float32(1 + q.Beta*math.Log(1+math.Floor(float64(position)/q.Context)))
}

// CacheGroups returns the groups of layers that share block tables: those that see all tokens, then those that see a
// window. A group without layers is left out.
func (c *Config) CacheGroups() []kvcache.Group {
	var groups []kvcache.Group
	if c.windowLayers() < c.Layers {
		groups = append(groups, kvcache.Group{Kind: kvcache.All})
	}
	if c.windowLayers() > 0 {
		groups = append(groups, kvcache.Group{Kind: kvcache.Window, Window: c.Window})
	}
	return groups
}

// BlockBytes returns the memory of one cache block for each group: keys and values of all its layers.
func (c *Config) BlockBytes() []int64 {
	bytes := make([]int64, len(c.CacheGroups()))
	for layer := range c.Layers {
		bytes[c.Group(layer)] += c.CacheType.BlockBytes(c.KVHeads, c.HeadDim)
	}
	return bytes
}

// Group returns the cache group of a layer.
func (c *Config) Group(layer int) int {
	if c.IsWindow(layer) && c.windowLayers() < c.Layers {
		return 1
	}
	return 0
}

// IsWindow reports whether a layer sees a window only.
func (c *Config) IsWindow(layer int) bool {
	return c.Window > 0 && c.WindowLayers != nil && c.WindowLayers[layer]
}

// TurnsHeads reports whether a layer has rotary positions.
func (c *Config) TurnsHeads(layer int) bool {
	return c.NoRopeLayers == nil || !c.NoRopeLayers[layer]
}

// LongAfter returns the length after which a sequence has other keys, from its first token on: LongRoPE's original
// context. 0: there is no such length.
func (c *Config) LongAfter() int {
	for _, r := range []*Rope{&c.Rope, &c.WindowRope} {
		if r.Long != nil {
			return r.Long.OriginalContext
		}
	}
	return 0
}

func (c *Config) windowLayers() int {
	n := 0
	for layer := range c.Layers {
		if c.IsWindow(layer) {
			n++
		}
	}
	return n
}
