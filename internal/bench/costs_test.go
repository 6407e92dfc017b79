// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

// A fakeSource has matrices of zeros.
type fakeSource struct {
	names   []string
	tensors map[string]weights.Tensor
}

func (s *fakeSource) Tensor(name string) (weights.Tensor, bool) {
	t, ok := s.tensors[name]
	return t, ok
}
func (s *fakeSource) Names() []string { return s.names }
func (s *fakeSource) Close() error    { return nil }

func (s *fakeSource) add(name string, t quant.Type, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	s.names = append(s.names, name)
	s.tensors[name] = weights.Tensor{Name: name, Type: t, Shape: shape, Data: make([]byte, t.RowBytes(n))}
}

// toyModel is a decoder of two layers, the second of which sees a window of 4 tokens.
func toyModel(tied bool, t quant.Type) (model.Config, *fakeSource) {
	c := model.Config{
		Vocab: 96, Hidden: 64, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 32, FFN: 128, MaxContext: 64,
		TiedOutput: tied, Window: 4, WindowLayers: []bool{false, true},
	}
	s := &fakeSource{tensors: map[string]weights.Tensor{}}
	s.add("token_embd.weight", t, c.Vocab, c.Hidden)
	if !tied {
		s.add("output.weight", t, c.Vocab, c.Hidden)
	}
	for layer := range c.Layers {
		at := fmt.Sprintf("blk.%d.", layer)
		s.add(at+"attn_norm.weight", quant.F32, c.Hidden)
		s.add(at+"attn_q.weight", t, 128, 64)
		s.add(at+"attn_k.weight", t, 64, 64)
		s.add(at+"attn_v.weight", t, 64, 64)
		s.add(at+"attn_output.weight", t, 64, 128)
		s.add(at+"ffn_up.weight", t, 128, 64)
		s.add(at+"ffn_gate.weight", t, 128, 64)
		s.add(at+"ffn_down.weight", t, 64, 128)
	}
	return c, s
}

const (
	toyKV    = 2 * 64 * 64               // elements of a layer's key and value matrices
	toyRest  = 2*128*64 + 3*128*64       // of its other ones
	toyHead  = 96 * 64                   // of the output matrix
	toyBody  = 2*toyKV + toyRest         // what every row goes through
	toyTail  = toyRest + toyHead         // what output rows go through besides
	toyKey   = 2 * 2 * 2 * 32            // bytes of a key and value: f16, two heads of 32
	toyMACs  = 2 * 4 * 32                // multiply-adds of a query with a key and its value
	q80Bytes = float64(34) / float64(32) // of an element
)

func toyCosts(t *testing.T, tied bool, kind quant.Type) Costs {
	t.Helper()
	cfg, src := toyModel(tied, kind)
	c, err := NewCosts(cfg, src)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCostsCountEveryMatrixOnce(t *testing.T) {
	for _, tied := range []bool{false, true} {
		c := toyCosts(t, tied, quant.Q80)
		if want := (Work{Bytes: toyBody * q80Bytes, Int8: toyBody}); c.body != want {
			t.Errorf("tied %v: every row: got %+v, want %+v", tied, c.body, want)
		}
		if want := (Work{Bytes: toyTail * q80Bytes, Int8: toyTail}); c.output != want {
			t.Errorf("tied %v: output rows: got %+v, want %+v", tied, c.output, want)
		}
	}
}

func TestCostsCountTheArithmeticOfTheWeightsType(t *testing.T) {
	for kind, want := range map[quant.Type]Work{
		quant.F32:  {Bytes: toyBody * 4, FP32: toyBody},
		quant.F16:  {Bytes: toyBody * 2, FP32: toyBody},
		quant.BF16: {Bytes: toyBody * 2, BF16: toyBody},
		quant.Q40:  {Bytes: toyBody * 18.0 / 32, Int8: toyBody},
	} {
		if got := toyCosts(t, false, kind).body; got != want {
			t.Errorf("%v: got %+v, want %+v", kind, got, want)
		}
	}
}

func TestDecodeReadsWeightsOnceAStepAndKeysForEachSequence(t *testing.T) {
	c := toyCosts(t, false, quant.Q80)
	// Two steps of three sequences after 5 tokens: 6 and 7 keys in the first layer, a window of 4 in the second.
	keys := float64(3 * (6 + 4 + 7 + 4))
	want := Work{
		Bytes: 2*(toyBody+toyTail)*q80Bytes + keys*toyKey,
		Int8:  6 * (toyBody + toyTail), FP32: keys * toyMACs,
	}
	if got := c.decode(5, 2, 3); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPrefillCountsTheOutputOfItsLastTokenOnly(t *testing.T) {
	c := toyCosts(t, false, quant.Q80)
	// Chunks of 4 and 2 tokens. First layer: 1 to 6 keys for the queries, of which 4 and then 6 are read. Second layer:
	// only the last token attends, to a window of 4.
	want := Work{
		Bytes: (2*toyBody+toyTail)*q80Bytes + (4+6+4)*toyKey,
		Int8:  6*toyBody + toyTail, FP32: (1 + 2 + 3 + 4 + 5 + 6 + 4) * toyMACs,
	}
	if got := c.prefill(6, 4); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCostsReadBothStylesOfNames(t *testing.T) {
	c := Costs{cfg: model.Config{Layers: 3}}
	for name, want := range map[string]*Work{
		"token_embd.weight":                                 nil,
		"model.embed_tokens.weight":                         nil,
		"output.weight":                                     &c.output,
		"lm_head.weight":                                    &c.output,
		"blk.1.ffn_up.weight":                               &c.body,
		"blk.2.ffn_up.weight":                               &c.output,
		"blk.2.attn_k.weight":                               &c.body,
		"model.layers.0.mlp.up_proj.weight":                 &c.body,
		"model.layers.2.self_attn.o_proj.weight":            &c.output,
		"model.language_model.layers.2.self_attn.v_proj.w":  &c.body,
		"vision_tower.encoder.layers.1.self_attn.q_proj.w":  nil,
		"multi_modal_projector.mm_input_projection_weight.": nil,
	} {
		if got := c.part(name); got != want {
			t.Errorf("%s: counted to the wrong part", name)
		}
	}
}

func TestCostsWithoutAnOutputMatrixAreRefused(t *testing.T) {
	cfg, src := toyModel(true, quant.Q80)
	cfg.TiedOutput = false
	src.names = src.names[:1] // the embedding alone
	if _, err := NewCosts(cfg, src); err == nil {
		t.Error("costs without an output matrix: want an error")
	}
}
