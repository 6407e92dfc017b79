// SPDX-License-Identifier: Apache-2.0

package decoder

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// A Norm is an RMSNorm or, if the configuration says so, a LayerNorm.
//
// Shapes: weight [n], nil if there is no norm; bias [n] or nil.
type Norm struct{ weight, bias []float32 }

// apply sets dst to x after the norm.
//
// Shapes: dst, x [T, n]. dst may be x.
func (n *Norm) apply(c *model.Config, dst, x []float32) {
	if c.LayerNorm {
		tensor.LayerNorm(dst, x, n.weight, n.bias, c.NormEps)
		return
	}
	tensor.RMSNorm(dst, x, n.weight, c.NormEps)
	if n.bias != nil {
		addBias(dst, n.bias)
	}
}
