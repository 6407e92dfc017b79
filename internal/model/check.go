// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
)

// MaxLayers, like the other limits, keeps a hostile file from asking for memory out of proportion.
const (
	MaxLayers = 1 << 10

	maxWidth = 1 << 20 // of any row
	maxVocab = 1 << 24
	maxHeads = 1 << 12
)

// Check reports the first size or constant that no model can have.
func (c *Config) Check() error {
	for _, size := range []struct {
		name            string
		got, least, top int
	}{
		{"vocab size", c.Vocab, 0, maxVocab},
		{"hidden size", c.Hidden, 1, maxWidth},
		{"number of layers", c.Layers, 1, MaxLayers},
		{"number of heads", c.Heads, 1, maxHeads},
		{"number of KV heads", c.KVHeads, 1, c.Heads},
		{"head dim", c.HeadDim, 2, maxHeads},
		{"FFN size", c.FFN, 1, maxWidth},
		{"context length", c.MaxContext, 1, math.MaxInt32},
		{"width of the rotation", c.Rope.Width, 2, c.HeadDim},
		{"window", c.Window, 0, math.MaxInt32},
	} {
		if size.got < size.least || size.got > size.top {
			return fmt.Errorf("model: %s: %s is %d, want %d to %d", c.Family, size.name, size.got, size.least, size.top)
		}
	}
	if c.Heads%c.KVHeads != 0 {
		return fmt.Errorf("model: %s: %d heads are not a multiple of %d KV heads", c.Family, c.Heads, c.KVHeads)
	}
	if c.HeadDim%2 != 0 || c.Rope.Width%2 != 0 || c.Heads*c.HeadDim > maxWidth {
		return fmt.Errorf("model: %s: %d heads of %d with a rotation of %d", c.Family, c.Heads, c.HeadDim, c.Rope.Width)
	}
	if !(c.NormEps > 0 && c.NormEps < 1) {
		return fmt.Errorf("model: %s: epsilon of the norms is %g, want above 0 and below 1", c.Family, c.NormEps)
	}
	for _, factor := range []float32{c.AttentionScale, c.EmbeddingScale, c.ResidualScale, c.LogitScale, c.NormOffset, c.AttentionCap, c.LogitCap} {
		if math.IsInf(float64(factor), 0) || factor != factor {
			return fmt.Errorf("model: %s: a scale or cap is %g, want a finite number", c.Family, factor)
		}
	}
	if !(c.AttentionCap >= 0 && c.LogitCap >= 0) {
		return fmt.Errorf("model: %s: soft caps %g of attention and %g of logits, want 0 or more", c.Family, c.AttentionCap, c.LogitCap)
	}
	for _, layers := range [][]bool{c.WindowLayers, c.NoRopeLayers} {
		if layers != nil && len(layers) != c.Layers {
			return fmt.Errorf("model: %s: list of %d layers, want %d", c.Family, len(layers), c.Layers)
		}
	}
	return c.checkRope()
}

func (c *Config) checkRope() error {
	for _, r := range []Rope{c.Rope, c.WindowRope} {
		if r.Width == 0 {
			continue
		}
		if !(r.Base > 0 && r.Linear >= 0 && r.Magnitude >= 0) {
			return fmt.Errorf("model: %s: rope base %g, factor %g, magnitude %g", c.Family, r.Base, r.Linear, r.Magnitude)
		}
		if s := r.Llama3; s != nil && !(s.Factor > 0 && s.OriginalContext > 0 && s.HighFreqFactor > s.LowFreqFactor) {
			return fmt.Errorf("model: %s: Llama 3 rope scaling %+v", c.Family, *s)
		}
		if s := r.Yarn; s != nil && !(s.Factor > 0 && s.OriginalContext > 0 && s.BetaFast > 0 && s.BetaSlow > 0 && r.Base > 1) {
			return fmt.Errorf("model: %s: YaRN rope scaling %+v", c.Family, *s)
		}
		// The lists may be tensors, which Load reads.
		if s := r.Long; s != nil && !(s.OriginalContext > 0 && len(s.Short) == len(s.Long) && (s.Long == nil || len(s.Long) == r.Width/2)) {
			return fmt.Errorf("model: %s: long rope scaling has %d short and %d long factors, want %d", c.Family, len(s.Short), len(s.Long), r.Width/2)
		}
	}
	if q := c.QueryScale; q != nil && !(q.Context > 0) {
		return fmt.Errorf("model: %s: query scale %+v", c.Family, *q)
	}
	return nil
}
