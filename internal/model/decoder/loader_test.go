// SPDX-License-Identifier: Apache-2.0

package decoder

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
)

// tensors is a source in memory.
type tensors map[string]weights.Tensor

func (s tensors) Tensor(name string) (weights.Tensor, bool) {
	t, ok := s[name]
	return t, ok
}

func (s tensors) Names() []string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s tensors) Close() error { return nil }

// add adds a tensor of numbers that tell where they stand.
func (s tensors) add(t *testing.T, name string, typ quant.Type, shape ...int) {
	t.Helper()
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i%127) - 63
	}
	data := make([]byte, n/typ.BlockElems()*typ.BlockBytes())
	if err := quant.Quantize(data, typ, values); err != nil {
		t.Fatal(err)
	}
	s[name] = weights.Tensor{Name: name, Type: typ, Shape: shape, Data: data}
}

// rows reads a matrix.
func rows(m *tensor.Matrix) [][]float32 {
	var all [][]float32
	for i := range m.Rows() {
		row := make([]float32, m.Cols())
		m.Row(row, i)
		all = append(all, row)
	}
	return all
}

func TestSplitCutsRowsAndBiases(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	for _, typ := range []quant.Type{quant.F32, quant.Q80, quant.Q40} {
		src := tensors{}
		src.add(t, "blk.0.attn_qkv.weight", typ, 5+16+3, 64)
		src.add(t, "blk.0.attn_qkv.bias", quant.F32, 5+16+3)
		l := NewLoader(src, pool, model.GGUF, nil)
		whole := rows(l.Matrix("blk.0.attn_qkv.weight", 0, 64))
		parts := l.Split("blk.0.attn_qkv", 64, 5, 16, 3)
		if err := l.Finish(); err != nil {
			t.Fatal(err)
		}
		var got [][]float32
		var bias []float32
		for _, part := range parts {
			got, bias = append(got, rows(part.W)...), append(bias, part.Bias...)
		}
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Errorf("%v: rows of the parts (-want +got):\n%s", typ, diff)
		}
		if want := l.Vector("blk.0.attn_qkv.bias", 24); !cmp.Equal(want, bias) {
			t.Errorf("%v: biases of the parts are %v, want %v", typ, bias, want)
		}
	}
}

func TestFusedWeightsMayHaveBiasesApart(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	src := tensors{}
	src.add(t, "blk.0.attn_qkv.weight", quant.F32, 8+4+4, 8)
	src.add(t, "blk.0.attn_k.bias", quant.F32, 4)
	src.add(t, "blk.0.attn_output.weight", quant.F32, 8, 8)
	l := NewLoader(src, pool, model.GGUF, nil)
	a := l.Attention(&model.Config{Hidden: 8, Heads: 2, KVHeads: 1, HeadDim: 4}, 0)
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	if a.q.Bias != nil || a.v.Bias != nil || !cmp.Equal(a.k.Bias, []float32{-63, -62, -61, -60}) {
		t.Errorf("biases are %v, %v, %v, want one of k", a.q.Bias, a.k.Bias, a.v.Bias)
	}
}

// TestSizesOfOneBehindTheOthersWereRefused is about GGUF files that call a vector n by 1, as ggml lets them.
func TestSizesOfOneBehindTheOthersWereRefused(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	src := tensors{}
	src.add(t, "output_norm.weight", quant.F32, 1, 8)
	src.add(t, "output.weight", quant.F32, 1, 1, 16, 8)
	l := NewLoader(src, pool, model.GGUF, nil)
	if v := l.Vector("output_norm.weight", 8); len(v) != 8 {
		t.Errorf("a vector of %d, want 8", len(v))
	}
	if m := l.Matrix("output.weight", 16, 8); m == nil {
		t.Error("no matrix of 16 by 8")
	}
	if err := l.Finish(); err != nil {
		t.Error(err)
	}
}

func TestSplitRefusesAnotherSumOfRows(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	src := tensors{}
	src.add(t, "blk.0.ffn_up.weight", quant.F32, 12, 8)
	l := NewLoader(src, pool, model.GGUF, nil)
	if parts := l.Split("blk.0.ffn_up", 8, 8, 8); len(parts) != 2 {
		t.Errorf("%d parts after an error, want 2", len(parts))
	}
	if err := l.Finish(); err == nil || !strings.Contains(err.Error(), `"blk.0.ffn_up.weight" has shape [12 8], want [16 8]`) {
		t.Errorf("error %v, want one about the shape", err)
	}
}
