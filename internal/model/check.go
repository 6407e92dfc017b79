// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
)

// Limits on sizes, so that a hostile file cannot ask for memory out of proportion.
const (
	maxWidth  = 1 << 20 // of any row
	maxVocab  = 1 << 24
	maxLayers = 1 << 10
	maxHeads  = 1 << 12
)

// Check reports the first size or constant that no model can have.
func (c *Config) Check() error {
	for _, size := range []struct {
		name            string
		got, least, top int
	}{
		{"vocab size", c.Vocab, 0, maxVocab},
		{"hidden size", c.Hidden, 1, maxWidth},
		{"number of layers", c.Layers, 1, maxLayers},
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
	return c.checkRope()
}

func (c *Config) checkRope() error {
	for _, r := range []Rope{c.Rope, c.WindowRope} {
		bad := r.Width > 0 && !(r.Base > 0 && r.Linear >= 0)
		if s := r.Llama3; s != nil {
			bad = bad || !(s.Factor > 0 && s.OriginalContext > 0 && s.HighFreqFactor > s.LowFreqFactor)
		}
		if bad {
			return fmt.Errorf("model: %s: rope base %g, factor %g, Llama 3 scaling %+v", c.Family, r.Base, r.Linear, r.Llama3)
		}
	}
	return nil
}
