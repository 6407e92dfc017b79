// SPDX-License-Identifier: Apache-2.0

package packed

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
)

// memory is a Source of tensors in memory.
type memory []weights.Tensor

func (m memory) Tensor(name string) (weights.Tensor, bool) {
	i := slices.IndexFunc(m, func(t weights.Tensor) bool { return t.Name == name })
	if i < 0 {
		return weights.Tensor{}, false
	}
	return m[i], true
}

func (m memory) Names() []string {
	var names []string
	for _, t := range m {
		names = append(names, t.Name)
	}
	return names
}

func (m memory) Close() error { return nil }

func config(t *testing.T, text string) *ordjson.Object {
	t.Helper()
	v, err := ordjson.Parse([]byte(text), 10)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*ordjson.Object)
}

func float32s(name string, shape []int, values ...float32) weights.Tensor {
	t := weights.Tensor{Name: name, Type: quant.F32, Shape: shape}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
	}
	return t
}

// The codes of 1, 2, -1.5, 0.25, 448 and 2^-9.
const one, two, minus, quarter, top, least = 0x38, 0x40, 0xbc, 0x28, 0x7e, 0x01

func TestScalesMultiplyTheirPart(t *testing.T) {
	matrix := weights.Tensor{Name: "a.weight", Type: quant.F8E4M3, Shape: []int{3, 3}, Data: []byte{one, two, minus, one, one, one, top, quarter, least}}
	norm := float32s("norm.weight", []int{1}, 7)
	const block = `{"quant_method":"fp8","weight_block_size":[2,2]}`
	for _, tt := range []struct {
		name, config string
		scales       weights.Tensor
		want         []float32
	}{
		{"blocks", block, float32s("a.weight_scale_inv", []int{2, 2}, 2, 4, 8, 16), []float32{2, 4, -6, 2, 2, 4, 3584, 2, 0.03125}},
		{"one", `{"quant_method":"fp8"}`, float32s("a.weight_scale", []int{1}, 2), []float32{2, 4, -3, 2, 2, 2, 896, 0.5, 0.00390625}},
		{"rows", `{"quant_method":"fp8"}`, float32s("a.weight_scale", []int{3, 1}, 2, 4, 8), []float32{2, 4, -3, 4, 4, 4, 3584, 2, 0.015625}},
		{
			"powers of two", block,
			weights.Tensor{Name: "a.weight_scale_inv", Type: quant.F8E8M0, Shape: []int{2, 2}, Data: []byte{128, 129, 130, 131}},
			[]float32{2, 4, -6, 2, 2, 4, 3584, 2, 0.03125},
		},
		{
			"compressed-tensors", `{"quant_method":"compressed-tensors","format":"float-quantized","config_groups":{"group_0":{"weights":{"strategy":"channel","block_structure":null}}}}`,
			float32s("a.weight_scale", []int{3, 1}, 2, 4, 8),
			[]float32{2, 4, -3, 4, 4, 4, 3584, 2, 0.015625},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Open(memory{matrix, tt.scales, norm, float32s("a.input_scale", []int{1}, 3)}, config(t, tt.config))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Names(); !slices.Equal(got, []string{"norm.weight", "a.weight"}) {
				t.Errorf("names: got %v", got)
			}
			for range 2 { // made anew after it was released
				a, ok := s.Tensor("a.weight")
				got := make([]float32, 9)
				if err := quant.Dequantize(got, a.Type, a.Data); !ok || err != nil || a.Type != quant.BF16 || !slices.Equal(got, tt.want) {
					t.Errorf("got %v %v (%v), want %v", a.Type, got, err, tt.want)
				}
				weights.Release(s, a)
				if len(s.made) > 0 {
					t.Error("a released matrix is still there")
				}
			}
			if n, ok := s.Tensor("norm.weight"); !ok || n.Type != quant.F32 {
				t.Errorf("norm: got %v, %v", n.Type, ok)
			}
			if _, ok := s.Tensor(tt.scales.Name); ok {
				t.Error("the scales are still there")
			}
		})
	}
}

func TestWhatCannotBeReadIsRefusedByName(t *testing.T) {
	matrix := weights.Tensor{Name: "a.weight", Type: quant.F8E4M3, Shape: []int{3, 3}, Data: make([]byte, 9)}
	scale := float32s("a.weight_scale", []int{2}, 1, 1)
	for _, tt := range []struct {
		config string
		src    memory
		want   string
	}{
		{`{"quant_method":"fp8"}`, memory{matrix}, `packed: tensor "a.weight" has no scales`},
		{`{"quant_method":"fp8"}`, memory{matrix, scale}, `packed: tensor "a.weight_scale" has shape [2], which are no scales of a matrix of shape [3 3] in blocks of [0 0]`},
		{`{"quant_method":"fp8","weight_block_size":[128]}`, memory{}, "quantization_config: a block has 1 sizes, want 2"},
		{`{"quant_method":"fp8","weight_block_size":[0,128]}`, memory{}, "quantization_config: 0 is no size of a block"},
		{`{"quant_method":"compressed-tensors","format":"pack-quantized","config_groups":{"g":{"weights":{}}}}`, memory{}, `quantization_config: compressed-tensors format "pack-quantized" is not supported, want float-quantized or mxfp4-pack-quantized`},
		{`{"quant_method":"compressed-tensors","format":"float-quantized"}`, memory{}, "quantization_config: config_groups: want one group"},
		{
			`{"quant_method":"compressed-tensors","format":"float-quantized","config_groups":{"g":null}}`,
			memory{},
			"quantization_config: config_groups.g: no weights",
		},
		{`{"quant_method":"awq"}`, memory{}, `quantization_config: quant_method "awq" is not supported, want fp8, mxfp4 or compressed-tensors`},
	} {
		if _, err := Open(tt.src, config(t, tt.config)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v, want %q", tt.config, err, tt.want)
		}
	}
	if Reads(config(t, `{"quant_method":"awq"}`)) {
		t.Error("awq is not for this package")
	}
}

func TestMatricesOfFourBitsAreRefusedByName(t *testing.T) {
	bytesOf := func(name string, typ quant.Type, shape ...int) weights.Tensor {
		tensor := weights.Tensor{Name: name, Type: typ, Shape: shape}
		tensor.Data = make([]byte, typ.RowBytes(tensor.Elems()))
		return tensor
	}
	const mxfp4 = `{"quant_method":"mxfp4"}`
	for _, tt := range []struct {
		src  memory
		want string
	}{
		{memory{bytesOf("a_blocks", quant.U8, 2, 3, 16)}, `packed: tensor "a_blocks" has no scales`},
		{
			memory{bytesOf("a_blocks", quant.U8, 2, 3, 16), bytesOf("a_scales", quant.U8, 2, 4)},
			`packed: tensor "a_blocks" is U8 of shape [2 3 16] and its scales U8 of shape [2 4], want U8 codes of which 16 bytes share a scale of 8 bits`,
		},
		{
			memory{bytesOf("a_blocks", quant.U8, 16), bytesOf("a_scales", quant.U8, 1)},
			`packed: tensor "a_blocks" is U8 of shape [16] and its scales U8 of shape [1], want U8 codes of which 16 bytes share a scale of 8 bits`,
		},
		{
			memory{bytesOf("a_blocks", quant.I8, 2, 1, 16), bytesOf("a_scales", quant.F32, 2, 1)},
			`packed: tensor "a_blocks" is I8 of shape [2 1 16] and its scales F32 of shape [2 1], want U8 codes of which 16 bytes share a scale of 8 bits`,
		},
		{
			memory{bytesOf("a_blocks", quant.U8, 2, 1, 16), bytesOf("a_scales", quant.U8, 2, 1), bytesOf("a.weight", quant.F32, 2, 32)},
			`packed: tensor "a.weight" is there both packed and plain`,
		},
	} {
		if _, err := Open(tt.src, config(t, mxfp4)); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	// Experts keep their three dimensions and their name.
	s, err := Open(memory{bytesOf("experts.up_blocks", quant.U8, 2, 3, 1, 16), bytesOf("experts.up_scales", quant.U8, 2, 3, 1)}, config(t, mxfp4))
	if err != nil {
		t.Fatal(err)
	}
	got, ok := s.Tensor("experts.up")
	if !ok || got.Type != quant.MXFP4 || !slices.Equal(got.Shape, []int{2, 3, 32}) || len(got.Data) != 6*17 {
		t.Errorf("got %v %v with %d bytes", got.Type, got.Shape, len(got.Data))
	}
}

// FuzzOpen makes packed tensors of any types and shapes. What opens gives matrices of the size that their type and shape say.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"quant_method":"fp8","weight_block_size":[2,2]}`), []byte{0, 2, 3, 3, 1, 2, 2, 2})
	f.Add([]byte(`{"quant_method":"mxfp4"}`), []byte{4, 3, 2, 1, 16, 5, 2, 2, 1})
	f.Add([]byte(`{"quant_method":"compressed-tensors","format":"mxfp4-pack-quantized","config_groups":{"g":{"weights":{}}}}`), []byte{6, 2, 2, 16, 7, 2, 2, 1})
	names := []string{"a.weight", "a.weight_scale_inv", "a.weight_scale", "a.input_scale", "a_blocks", "a_scales", "a.weight_packed", "a.weight_scale"}
	types := []quant.Type{quant.F8E4M3, quant.F32, quant.F32, quant.F32, quant.U8, quant.U8, quant.U8, quant.U8, quant.BF16, quant.F8E8M0, quant.Q40}
	f.Fuzz(func(t *testing.T, text, layout []byte) {
		value, err := ordjson.Parse(text, 10)
		c, ok := value.(*ordjson.Object)
		if err != nil || !ok {
			return
		}
		var src memory
		for len(layout) >= 2 {
			n := min(int(layout[1]%5), len(layout)-2)
			tensor := weights.Tensor{Name: names[int(layout[0])%len(names)], Type: types[int(layout[0])%len(types)]}
			for _, d := range layout[2 : 2+n] {
				tensor.Shape = append(tensor.Shape, int(d%40))
			}
			size, reason := weights.Size(tensor.Type, tensor.Shape)
			layout = layout[2+n:]
			if reason != "" || size > 1<<20 {
				continue
			}
			tensor.Data = make([]byte, size)
			src = append(src, tensor)
		}
		s, err := Open(src, c)
		if err != nil {
			return
		}
		for _, name := range s.Names() {
			tensor, ok := s.Tensor(name)
			if size, reason := weights.Size(tensor.Type, tensor.Shape); !ok || reason != "" || size != int64(len(tensor.Data)) {
				t.Fatalf("tensor %q: %v of shape %v with %d bytes (%s)", name, tensor.Type, tensor.Shape, len(tensor.Data), reason)
			}
		}
	})
}

// The bytes are those that are read.
func BenchmarkUnpack(b *testing.B) {
	const out, in = 4096, 4096
	fp8 := memory{
		{Name: "a.weight", Type: quant.F8E4M3, Shape: []int{out, in}, Data: make([]byte, out*in)},
		float32s("a.weight_scale_inv", []int{out / 128, in / 128}, make([]float32, out*in/128/128)...),
	}
	mxfp4 := memory{
		{Name: "a.weight_blocks", Type: quant.U8, Shape: []int{out, in / 32, 16}, Data: make([]byte, out*in/2)},
		{Name: "a.weight_scales", Type: quant.U8, Shape: []int{out, in / 32}, Data: make([]byte, out*in/32)},
	}
	for _, tt := range []struct {
		name, config string
		src          memory
	}{{"fp8", `{"quant_method":"fp8","weight_block_size":[128,128]}`, fp8}, {"mxfp4", `{"quant_method":"mxfp4"}`, mxfp4}} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", tt.name, threads), func(b *testing.B) {
				value, _ := ordjson.Parse([]byte(tt.config), 10)
				s, err := Open(tt.src, value.(*ordjson.Object))
				if err != nil {
					b.Fatal(err)
				}
				pool := tensor.NewPool(threads)
				defer pool.Close()
				s.Parallel(pool.Do)
				b.SetBytes(int64(len(tt.src[0].Data)))
				for b.Loop() {
					a, _ := s.Tensor("a.weight")
					weights.Release(s, a)
				}
			})
		}
	}
}
