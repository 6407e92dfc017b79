// SPDX-License-Identifier: Apache-2.0

package decoder

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
)

// A Loader fetches tensors by their GGUF names, whatever names the file has, and checks their shapes. The first thing
// that is wrong is kept: callers fetch everything and look at Finish.
type Loader struct {
	naming model.Naming
	src    weights.Source
	pool   *tensor.Pool
	parts  map[string]string // GGUF's usual name of a layer's part -> Hugging Face's, see HFParts
	own    map[string]string // GGUF's usual name of a layer's part -> the family's
	root   string            // Hugging Face: what names of the text model begin with
	used   map[string]bool
	err    error
}

// hfParts are the Hugging Face names that most families share. A family gives its exceptions to NewLoader.
var hfParts = map[string]string{
	"attn_norm":   "input_layernorm",
	"attn_q":      "self_attn.q_proj",
	"attn_k":      "self_attn.k_proj",
	"attn_v":      "self_attn.v_proj",
	"attn_output": "self_attn.o_proj",
	"attn_qkv":    "self_attn.qkv_proj",
	"attn_q_norm": "self_attn.q_norm",
	"attn_k_norm": "self_attn.k_norm",
	"ffn_norm":    "post_attention_layernorm",
	"ffn_gate":    "mlp.gate_proj",
	"ffn_up":      "mlp.up_proj",
	"ffn_down":    "mlp.down_proj",
}

// HFParts gives the Hugging Face names of parts of a layer, by GGUF name, for a family with these exceptions.
func HFParts(exceptions map[string]string) map[string]string {
	all := maps.Clone(hfParts)
	maps.Copy(all, exceptions)
	return all
}

// NewLoader reads tensors of src. Parts has the Hugging Face names, by GGUF name, in which a family differs; it may be nil.
func NewLoader(src weights.Source, pool *tensor.Pool, naming model.Naming, parts map[string]string) *Loader {
	l := &Loader{naming: naming, src: src, pool: pool, parts: HFParts(parts), own: map[string]string{}, used: map[string]bool{}}
	l.root = HFRoot(src)
	return l
}

// HFRoot is what Hugging Face's names of the text model begin with: "" if there is no text model.
func HFRoot(src weights.Source) string {
	for _, root := range []string{"language_model.model.", "model.language_model.", "model."} {
		if _, ok := weights.Describe(src, root+"embed_tokens.weight"); ok {
			return root
		}
	}
	return ""
}

// layerPart names a part of a layer as GGUF does.
func layerPart(layer int, part string) string { return "blk." + strconv.Itoa(layer) + "." + part }

// name translates a GGUF name without its suffix.
func (l *Loader) name(name string) string {
	if l.naming == model.GGUF {
		return l.ggufName(name)
	}
	switch name {
	case "token_embd":
		return l.root + "embed_tokens"
	case "output_norm":
		if own, ok := l.parts[name]; ok {
			return l.root + own
		}
		return l.root + "norm"
	case "output":
		if head, ok := strings.CutSuffix(l.root, "model."); ok {
			return head + "lm_head"
		}
		return "lm_head"
	}
	layer, part, _ := strings.Cut(strings.TrimPrefix(name, "blk."), ".")
	if hf, ok := l.parts[part]; ok {
		part = hf
	}
	return l.root + "layers." + layer + "." + part
}

// ggufName puts a family's own name in place of the usual one.
func (l *Loader) ggufName(name string) string {
	if at := strings.LastIndexByte(name, '.'); at >= 0 {
		if own, ok := l.own[name[at+1:]]; ok {
			return name[:at+1] + own
		}
	}
	return name
}

// Rename says that GGUF files of the family have a part of layers under another name than the usual one.
func (l *Loader) Rename(usual, own string) { l.own[usual] = own }

// Has reports whether the file has a tensor; name includes the suffix.
func (l *Loader) Has(name string) bool {
	stem, suffix := cutSuffix(name)
	_, ok := weights.Describe(l.src, l.name(stem)+suffix)
	return ok
}

// cutSuffix splits "blk.0.attn_q.weight" before its last dot.
func cutSuffix(name string) (stem, suffix string) {
	at := strings.LastIndexByte(name, '.')
	return name[:at], name[at:]
}

// tensor fetches a tensor of the given shape; name includes the suffix. A size of 0 may be anything.
func (l *Loader) tensor(name string, shape ...int) (weights.Tensor, bool) {
	stem, suffix := cutSuffix(name)
	name = l.name(stem) + suffix
	t, ok := l.src.Tensor(name)
	if !ok {
		l.Fail("tensor %q is missing", name)
		return t, false
	}
	l.used[name] = true
	for len(t.Shape) > len(shape) && t.Shape[0] == 1 { // ggml makes no difference between n and n by 1
		t.Shape = t.Shape[1:]
	}
	matches := func(got, want int) bool { return want == 0 || got == want }
	if !slices.EqualFunc(t.Shape, shape, matches) {
		l.Fail("tensor %q has shape %v, want %v", name, t.Shape, shape)
		return t, false
	}
	if !t.Type.Supported() {
		l.Fail("tensor %q has type %v, which is not supported", name, t.Type)
		return t, false
	}
	return t, true
}

// Matrix fetches a weight matrix. Rows 0 means any number.
//
// Shapes: the tensor is [rows, cols].
func (l *Loader) Matrix(name string, rows, cols int) *tensor.Matrix {
	t, ok := l.tensor(name, rows, cols)
	if !ok {
		return nil
	}
	return l.matrix(t)
}

// matrix makes a matrix of a tensor or of some rows of one.
func (l *Loader) matrix(t weights.Tensor) *tensor.Matrix {
	m, err := tensor.NewMatrix(l.pool, t.Type, t.Shape[0], t.Shape[1], t.Data)
	if err != nil {
		l.Fail("tensor %q: %v", t.Name, err)
		return nil
	}
	weights.Release(l.src, t)
	return m
}

// Linear fetches a matrix and, if the file has one, its bias; name is without suffix.
//
// Shapes: the tensors are [rows, cols] and [rows].
func (l *Loader) Linear(name string, rows, cols int) Linear {
	linear := Linear{W: l.Matrix(name+".weight", rows, cols)}
	if l.Has(name + ".bias") {
		linear.Bias = l.Vector(name+".bias", rows)
	}
	return linear
}

// Split fetches a matrix that has the rows of several, one below the other, and a bias of them all if the file has one;
// name is without suffix. There is a Linear for each count of rows, also after an error.
//
// Shapes: the tensors are [sum of rows, cols] and [sum of rows].
func (l *Loader) Split(name string, cols int, rows ...int) []Linear {
	total := 0
	for _, n := range rows {
		total += n
	}
	parts := make([]Linear, len(rows))
	t, ok := l.tensor(name+".weight", total, cols)
	if !ok {
		return parts
	}
	var bias []float32
	if l.Has(name + ".bias") {
		bias = l.Vector(name+".bias", total)
	}
	first, bytes := 0, t.Type.RowBytes(cols)
	for i, n := range rows {
		part := t
		part.Shape, part.Data = []int{n, cols}, t.Data[first*bytes:(first+n)*bytes]
		parts[i].W = l.matrix(part)
		if bias != nil {
			parts[i].Bias = bias[first : first+n]
		}
		first += n
	}
	return parts
}

// tiedOutput reports whether logits use the embedding matrix: GGUF says so by having no other. A config.json says it in
// a field, and some files have the matrix twice.
func (l *Loader) tiedOutput(c *model.Config) bool {
	if l.naming == model.GGUF {
		return !l.Has("output.weight")
	}
	if c.TiedOutput {
		l.Skip(l.name("output") + ".weight")
	}
	return c.TiedOutput
}

// rope adds to a configuration what GGUF has as tensors: Llama 3.1's scaling as divisors, and LongRoPE's lists.
func (l *Loader) rope(c *model.Config) {
	if l.naming != model.GGUF {
		return
	}
	if l.Has("rope_freqs.weight") {
		c.Rope.Divisors = l.Vector("rope_freqs.weight", c.Rope.Width/2)
		c.WindowRope.Divisors = c.Rope.Divisors
	}
	if c.Rope.Long == nil {
		return
	}
	long := *c.Rope.Long
	long.Short = l.Vector("rope_factors_short.weight", c.Rope.Width/2)
	long.Long = l.Vector("rope_factors_long.weight", c.Rope.Width/2)
	c.Rope.Long = &long
	if c.WindowRope.Long != nil {
		c.WindowRope.Long = &long
	}
}

// Vector fetches a vector as floats.
//
// Shapes: the tensor and the result are [n].
func (l *Loader) Vector(name string, n int) []float32 {
	t, ok := l.tensor(name, n)
	if !ok {
		return nil
	}
	v := make([]float32, n)
	if err := quant.Dequantize(v, t.Type, t.Data); err != nil {
		l.Fail("tensor %q: %v", t.Name, err)
	}
	return v
}

// Norm fetches the weights of a norm, adds offset to them, and fetches its bias if the file has one; name is without suffix.
//
// Shapes: the tensors are [n].
func (l *Loader) Norm(name string, n int, offset float32) Norm {
	norm := Norm{weight: l.Vector(name+".weight", n)}
	for i := range norm.weight {
		norm.weight[i] += offset
	}
	if l.Has(name + ".bias") {
		norm.bias = l.Vector(name+".bias", n)
	}
	return norm
}

// Rounded returns x as a constant of the type that a tensor is stored in: reference code keeps such constants so.
func (l *Loader) Rounded(name string, x float32) float32 {
	stem, suffix := cutSuffix(name)
	switch t, _ := weights.Describe(l.src, l.name(stem)+suffix); t.Type {
	case quant.BF16:
		return quant.BF16ToF32(quant.F32ToBF16(x))
	case quant.F16:
		return quant.F16ToF32(quant.F32ToF16(x))
	default:
		return x
	}
}

// Skip marks tensors as known and not needed. A name that ends in * stands for all that begin so.
func (l *Loader) Skip(names ...string) {
	for _, have := range l.src.Names() {
		for _, name := range names {
			prefix, many := strings.CutSuffix(name, "*")
			if have == name || many && strings.HasPrefix(have, prefix) {
				l.used[have] = true
			}
		}
	}
}

// Fail keeps an error unless there is one.
func (l *Loader) Fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("model: "+format, args...)
	}
}

// Finish returns the first error. A tensor that nobody asked for is one: the model would not be what its file says.
func (l *Loader) Finish() error {
	for _, name := range l.src.Names() {
		if !l.used[name] && !strings.HasSuffix(name, ".rotary_emb.inv_freq") {
			l.Fail("tensor %q is not known to this family", name)
		}
	}
	return l.err
}
