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
	Family     string // "llama", "qwen3", "gemma3"
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
	EmbeddingScale float32 // of embedding rows; 1 in most families
	Activation     Activation
	TiedOutput     bool // logits use the embedding matrix

	CacheType    tensor.KVType // of keys and values; not read from a file: F16 unless set before Load
	Window       int           // tokens that a window layer sees, the current one included; 0: no window layers
	WindowLayers []bool        // [L], or nil: none
	Rope         Rope          // of layers that see everything
	WindowRope   Rope          // of window layers
}

// An Activation is the function on the gate of a gated MLP.
type Activation uint8

// The activations.
const (
	SiLU     Activation = iota // x · sigmoid(x)
	GELUTanh                   // tanh approximation of GELU
)

// A Rope says how positions turn queries and keys (RoPE, arXiv:2104.09864).
type Rope struct {
	Base        float64
	Width       int     // components of each head that are turned; even
	Interleaved bool    // pairs (2m, 2m+1) as GGUF's Llama has them; else halves (m, m+Width/2)
	Linear      float64 // angles are divided by it; 0 or 1: not scaled
	Llama3      *Llama3Rope
	Divisors    []float32 // [Width/2] of the frequencies, or nil: the scaling as GGUF stores it
}

// Llama3Rope is the scaling of Llama 3.1: low frequencies are divided by Factor, high ones kept, those between blended.
type Llama3Rope struct {
	Factor, LowFreqFactor, HighFreqFactor float64
	OriginalContext                       float64
}

// Frequencies returns the angle per position of each pair.
//
// Shapes: result [Width/2].
func (r Rope) Frequencies() []float32 {
	freqs := make([]float32, r.Width/2)
	for m := range freqs {
		f := math.Pow(r.Base, -2*float64(m)/float64(r.Width))
		if r.Linear > 1 {
			f /= r.Linear
		}
		if r.Llama3 != nil {
			f = r.Llama3.scale(f)
		}
		if r.Divisors != nil {
			f /= float64(r.Divisors[m])
		}
		freqs[m] = float32(f)
	}
	return freqs
}

// scale applies the scaling to one frequency, by how often its wave fits into the original context.
func (s *Llama3Rope) scale(f float64) float64 {
	waves := s.OriginalContext * f / (2 * math.Pi)
	switch {
	case waves > s.HighFreqFactor:
		return f
	case waves < s.LowFreqFactor:
		return f / s.Factor
	}
	smooth := (waves - s.LowFreqFactor) / (s.HighFreqFactor - s.LowFreqFactor)
	return (1-smooth)*f/s.Factor + smooth*f
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

func (c *Config) windowLayers() int {
	n := 0
	for layer := range c.Layers {
		if c.IsWindow(layer) {
			n++
		}
	}
	return n
}
