// SPDX-License-Identifier: Apache-2.0

package families_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/families"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// llamaJSON is the config.json of a Llama 3.2 in the older spelling.
const llamaJSON = `{"architectures": ["LlamaForCausalLM"], "vocab_size": 128256, "hidden_size": 2048, "num_hidden_layers": 16,
	"num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 8192, "max_position_embeddings": 131072,
	"rms_norm_eps": 1e-05, "rope_theta": 500000.0, "hidden_act": "silu", "tie_word_embeddings": true, "sliding_window": null,
	"rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}}`

// gemmaJSON is the config.json of Gemma 3 4B, which leaves most sizes to the reference code.
const gemmaJSON = `{"architectures": ["Gemma3ForConditionalGeneration"], "vision_config": {"hidden_size": 1152}, "text_config": {
	"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
	"rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}}`

func fromJSON(t *testing.T, text string, change map[string]string) (model.Config, error) {
	t.Helper()
	v, err := ordjson.Parse([]byte(text), 10)
	if err != nil {
		t.Fatal(err)
	}
	config := v.(*ordjson.Object)
	for key, value := range change {
		v, err := ordjson.Parse([]byte(value), 10)
		if err != nil {
			t.Fatal(err)
		}
		config.Set(key, v)
	}
	names, _ := config.Array("architectures")
	family, ok := families.ByHF(names[0].(string))
	if !ok {
		t.Fatalf("no family for %v", names)
	}
	return family.FromHF(config)
}

func TestReadsLlama3Config(t *testing.T) {
	got, err := fromJSON(t, llamaJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Config{
		Family: "llama", Vocab: 128256, Hidden: 2048, Layers: 16, Heads: 32, KVHeads: 8, HeadDim: 64, FFN: 8192, MaxContext: 131072,
		NormEps: 1e-5, AttentionScale: 0.125, EmbeddingScale: 1, TiedOutput: true,
		Rope: model.Rope{Base: 500000, Width: 64, Llama3: &model.Llama3Rope{Factor: 32, LowFreqFactor: 1, HighFreqFactor: 4, OriginalContext: 8192}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

func TestReadsGemma3ConfigWithDefaults(t *testing.T) {
	got, err := fromJSON(t, gemmaJSON, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Config{
		Family: "gemma3", Vocab: 262208, Hidden: 2560, Layers: 34, Heads: 8, KVHeads: 4, HeadDim: 256, FFN: 10240, MaxContext: 131072,
		NormEps: 1e-6, NormOffset: 1, AttentionScale: 1. / 16, EmbeddingScale: float32(math.Sqrt(2560)), Activation: model.GELUTanh, TiedOutput: true,
		Window:     1024,
		Rope:       model.Rope{Base: 1000000, Width: 256, Linear: 8},
		WindowRope: model.Rope{Base: 10000, Width: 256},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(model.Config{}, "WindowLayers")); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	for layer, local := range got.WindowLayers {
		if want := layer%6 != 5; local != want {
			t.Errorf("layer %d sees a window: %v, want %v", layer, local, want)
		}
	}
}

func TestMistralWindowHoldsForAllLayers(t *testing.T) {
	got, err := fromJSON(t, llamaJSON, map[string]string{"architectures": `["MistralForCausalLM"]`, "sliding_window": "4096"})
	if err != nil {
		t.Fatal(err)
	}
	if groups := got.CacheGroups(); len(groups) != 1 || groups[0].Window != 4096 || !got.IsWindow(15) {
		t.Errorf("cache groups %+v, want one of window 4096", groups)
	}
}

func TestRefusesByNameWhatItWouldNotHonour(t *testing.T) {
	for _, tt := range []struct {
		name, json, key, value, want string
	}{
		{"rope type", llamaJSON, "rope_scaling", `{"rope_type": "yarn", "factor": 4}`, `"yarn"`},
		{"rope type, old spelling", llamaJSON, "rope_scaling", `{"type": "dynamic", "factor": 4}`, `"dynamic"`},
		{"rope type, new spelling", llamaJSON, "rope_parameters", `{"rope_type": "longrope"}`, `"longrope"`},
		{"rope without factor", llamaJSON, "rope_scaling", `{"type": "linear"}`, "factor is missing"},
		{"partial rotation", llamaJSON, "partial_rotary_factor", `0.5`, "partial_rotary_factor"},
		{"activation", llamaJSON, "hidden_act", `"relu"`, `"relu"`},
		{"quantisation", llamaJSON, "quantization_config", `{"quant_method": "awq"}`, "quantization_config"},
		{"layer types", llamaJSON, "layer_types", `["chunked_attention"]`, `"chunked_attention"`},
		{"missing size", llamaJSON, "hidden_size", `null`, "hidden_size is missing"},
		{"size of another type", llamaJSON, "hidden_size", `"big"`, "hidden_size"},
		{"negative size", llamaJSON, "num_hidden_layers", `-1`, "number of layers is -1"},
		{"endless layers", llamaJSON, "num_hidden_layers", `2000000000`, "number of layers"},
		{"overflowing size", llamaJSON, "vocab_size", `99999999999`, "vocab_size"},
		{"heads that do not divide", llamaJSON, "num_key_value_heads", `5`, "not a multiple of 5"},
		{"no heads", llamaJSON, "num_attention_heads", `0`, "number of heads is 0"},
		{"odd head", llamaJSON, "head_dim", `63`, "63"},
		{"epsilon", llamaJSON, "rms_norm_eps", `0`, "epsilon"},
		{"soft cap", gemmaJSON, "text_config", `{"hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34, "final_logit_softcapping": 30.0}`, "final_logit_softcapping"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fromJSON(t, tt.json, map[string]string{tt.key: tt.value})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s = %s: error %v, want one with %q", tt.key, tt.value, err, tt.want)
			}
		})
	}
}

func TestGGUFRefusesByName(t *testing.T) {
	for key, value := range map[string]any{
		"llama.rope.scaling.type":        "yarn",
		"llama.expert_count":             uint32(8),
		"llama.attention.value_length":   uint32(12),
		"llama.attention.head_count_kv":  []uint32{1, 2, 3},
		"llama.attention.sliding_window": uint32(4096),
		"llama.embedding_length":         "wide",
	} {
		f, err := gguf.Open(filepath.Join("..", "llama/testdata/llama3/model.gguf"))
		if err != nil {
			t.Fatal(err)
		}
		f.Meta().Set(key, value)
		family, _ := families.ByGGUF("llama")
		if _, err := family.FromGGUF(f.Meta()); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s = %v: error %v, want one that names it", key, value, err)
		}
		f.Close()
	}
}

// changed is a source with one tensor added, changed or, with a nil shape, taken away.
type changed struct {
	weights.Source
	tensor weights.Tensor
}

func (c changed) Names() []string { return append([]string{c.tensor.Name}, c.Source.Names()...) }

func (c changed) Tensor(name string) (weights.Tensor, bool) {
	if name == c.tensor.Name {
		return c.tensor, c.tensor.Shape != nil
	}
	return c.Source.Tensor(name)
}

func TestLoadRefusesByNameWhatDoesNotFit(t *testing.T) {
	family, cfg, src := openGGUF(t, checkpoints[0])
	defer src.Close()
	pool := newPool(t, 1)
	matrix, _ := src.Tensor("blk.1.attn_q.weight")
	for _, tt := range []struct{ name, tensor, want string }{
		{"missing", "blk.2.ffn_down.weight", `"blk.2.ffn_down.weight" is missing`},
		{"wrong shape", "blk.0.attn_k.weight", `"blk.0.attn_k.weight" has shape`},
		{"wrong rank", "blk.0.attn_norm.weight", `"blk.0.attn_norm.weight" has shape`},
		{"unknown", "blk.0.attn_sinks.weight", `"blk.0.attn_sinks.weight" is not known`},
	} {
		bad := weights.Tensor{Name: tt.tensor, Type: matrix.Type, Shape: matrix.Shape, Data: matrix.Data}
		if tt.name == "missing" {
			bad.Shape = nil
		}
		_, err := family.Load(cfg, changed{src, bad}, pool, model.GGUF)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

func TestForwardRefusesBatchesThatDoNotFit(t *testing.T) {
	m := load(t, checkpoints[3], model.GGUF, newPool(t, 1), tensor.KVF16)
	prompt := readPrompt(t, checkpoints[3])
	for name, change := range map[string]func(b *model.Batch){
		"token":           func(b *model.Batch) { b.Tokens[3] = 149 },
		"position":        func(b *model.Batch) { b.Positions[3] = 9 },
		"output row":      func(b *model.Batch) { b.Outputs = []int32{5, 5} },
		"block tables":    func(b *model.Batch) { b.Sequences[0].Tables = b.Sequences[0].Tables[:1] },
		"table of":        func(b *model.Batch) { b.Sequences[0].Tables[1] = b.Sequences[0].Tables[1][:1] },
		"block 1000000 ":  func(b *model.Batch) { b.Sequences[0].Tables[0][1] = 1000000 },
		"block -1 ":       func(b *model.Batch) { b.Sequences[0].Tables[0][0] = -1 },
		"sequence":        func(b *model.Batch) { b.Sequences[0].Rows++ },
		"input embedding": func(b *model.Batch) { b.Embeddings = make([]float32, 4) },
		"tokens":          func(b *model.Batch) { b.Tokens = nil },
	} {
		b := batchOf(len(prompt), newSequence(m.Config(), append(prompt[:0:0], prompt...), 0))
		change(b)
		if _, err := m.Forward(b, newCache(m, 1, len(prompt))); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}
