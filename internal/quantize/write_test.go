// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

func TestValuesThatATypeCannotHoldBecameInfinite(t *testing.T) {
	for _, tt := range []struct {
		value float32
		to    quant.Type
		fails bool
	}{
		{65504, quant.F16, false},
		{-7e4, quant.F16, true},
		{7e4, quant.BF16, false},
		{7e4, quant.Q80, false},
		{1e7, quant.Q80, true},
		{-1e6, quant.Q40, true},
		{1e5, quant.Q4K, false},
	} {
		in := Input{Tensor: weights.Tensor{Name: "x.weight", Type: quant.F32, Shape: []int{1, 256}, Data: make([]byte, 4*256)}}
		binary.LittleEndian.PutUint32(in.Data[40:], math.Float32bits(tt.value))
		err := in.row(make([]byte, tt.to.RowBytes(256)), make([]float32, 256), tt.to, 0)
		if failed := err != nil && strings.Contains(err.Error(), "cannot hold"); failed != tt.fails {
			t.Errorf("%g as %v: error %v, want one: %v", tt.value, tt.to, err, tt.fails)
		}
	}
}
