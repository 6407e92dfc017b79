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
		NormEps: 1e-6, NormOffset: 1, AttentionScale: 1. / 16, EmbeddingScale: float32(math.Sqrt(2560)), Activation: tensor.GELUTanh, TiedOutput: true,
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

// Short forms of other families' files: what they leave out is in sizesJSON.
const (
	qwenJSON   = `{"architectures": ["Qwen2ForCausalLM"], "use_sliding_window": false, "sliding_window": 32768, "max_window_layers": 2, ` + sizesJSON
	gemma2JSON = `{"architectures": ["Gemma2ForCausalLM"], "query_pre_attn_scalar": 144, "attn_logit_softcapping": 50.0, ` + sizesJSON
	smolJSON   = `{"architectures": ["SmolLM3ForCausalLM"], ` + sizesJSON
	phiJSON    = `{"architectures": ["Phi3ForCausalLM"], "original_max_position_embeddings": 4096, ` + sizesJSON

	sizesJSON = `"vocab_size": 100, "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 96,
		"max_position_embeddings": 131072, "rms_norm_eps": 1e-06}`
)

func TestReadsYarnAsUsersSwitchItOn(t *testing.T) {
	got, err := fromJSON(t, qwenJSON, map[string]string{
		"rope_theta": `1000000.0`, "max_position_embeddings": `32768`,
		"rope_scaling": `{"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := model.Rope{
		Base: 1000000, Width: 16, Magnitude: 0.1*math.Log(4) + 1,
		Yarn: &model.YarnRope{Factor: 4, OriginalContext: 32768, BetaFast: 32, BetaSlow: 1},
	}
	if diff := cmp.Diff(want, got.Rope, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("rope (-want +got):\n%s", diff)
	}
	if got.MaxContext != 131072 {
		t.Errorf("context length %d, want 131072", got.MaxContext)
	}
}

func TestWindowsAreThoseOfTheReferenceCode(t *testing.T) {
	const mistral = `["MistralForCausalLM"]`
	for _, tt := range []struct {
		name, json string
		change     map[string]string
		window     int
		layers     []bool // that see it; nil: none
	}{
		{"Mistral", llamaJSON, map[string]string{"architectures": mistral, "num_hidden_layers": "2", "sliding_window": "77"}, 77, []bool{true, true}},
		{"Mistral without", llamaJSON, map[string]string{"architectures": mistral, "sliding_window": "null"}, 0, nil},
		{"Llama takes no notice", llamaJSON, map[string]string{"sliding_window": "77"}, 0, nil},
		{"Mistral leaves it out", smolJSON, map[string]string{"architectures": mistral}, 4096, []bool{true, true, true, true}},
		{"Qwen switched off", qwenJSON, nil, 0, nil},
		{"Qwen switched on", qwenJSON, map[string]string{"use_sliding_window": "true"}, 32768, []bool{false, false, true, true}},
		{"Gemma 2", gemma2JSON, map[string]string{"sliding_window": "99"}, 99, []bool{true, false, true, false}},
		{"Gemma 2 leaves it out", gemma2JSON, nil, 4096, []bool{true, false, true, false}},
		{"Phi-3", phiJSON, map[string]string{"sliding_window": "2047"}, 2047, []bool{true, true, true, true}},
		{"Phi-3 without", phiJSON, map[string]string{"sliding_window": "null"}, 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := fromJSON(t, tt.json, tt.change)
			if err != nil {
				t.Fatal(err)
			}
			if got.Window != tt.window || !cmp.Equal(got.WindowLayers, tt.layers) {
				t.Errorf("window %d of layers %v, want %d of %v", got.Window, got.WindowLayers, tt.window, tt.layers)
			}
		})
	}
}

func TestGemma2ScalesQueriesAsItsFileSays(t *testing.T) {
	got, err := fromJSON(t, gemma2JSON, map[string]string{"final_logit_softcapping": "null"})
	if err != nil {
		t.Fatal(err)
	}
	if got.AttentionScale != 1./12 || got.AttentionCap != 50 || got.LogitCap != 0 {
		t.Errorf("scale %g, caps %g and %g, want 1/12, 50, 0", got.AttentionScale, got.AttentionCap, got.LogitCap)
	}
}

func TestLayersWithoutPositionsAreThoseOfTheList(t *testing.T) {
	for list, want := range map[string][]bool{
		"null":         {false, false, false, true},
		"[0, 1, 1, 0]": {true, false, false, true},
	} {
		got, err := fromJSON(t, smolJSON, map[string]string{"no_rope_layers": list})
		if err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(got.NoRopeLayers, want) {
			t.Errorf("no_rope_layers %s: %v do not turn, want %v", list, got.NoRopeLayers, want)
		}
	}
}

func TestLongRopeIsChosenByTheLengthOfTheSequence(t *testing.T) {
	got, err := fromJSON(t, phiJSON, map[string]string{
		"partial_rotary_factor": `0.25`, "rope_scaling": `{"type": "longrope", "short_factor": [1, 2], "long_factor": [4, 8]}`,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(1 + math.Log(32)/math.Log(4096)); math.Abs(got.Rope.Magnitude-want) > 1e-12 {
		t.Errorf("magnitude %v, want %v", got.Rope.Magnitude, want)
	}
	if got.LongAfter() != 4096 {
		t.Errorf("long after %d tokens, want 4096", got.LongAfter())
	}
	for length, want := range map[int][]float32{0: {1, 0.01 / 2}, 4096: {1, 0.01 / 2}, 4097: {1. / 4, 0.01 / 8}} {
		if freqs := got.Rope.Frequencies(length); !cmp.Equal(freqs, want, cmpopts.EquateApprox(1e-6, 0)) {
			t.Errorf("%d tokens: frequencies %v, want %v", length, freqs, want)
		}
	}
}

func TestRefusesByNameWhatItWouldNotHonour(t *testing.T) {
	for _, tt := range []struct {
		name, json, key, value, want string
	}{
		{"rope type", llamaJSON, "rope_scaling", `{"rope_type": "proportional", "factor": 4}`, `"proportional"`},
		{"rope type, old spelling", llamaJSON, "rope_scaling", `{"type": "dynamic", "factor": 4}`, `"dynamic"`},
		{"rope type, new spelling", llamaJSON, "rope_parameters", `{"rope_type": "mrope"}`, `"mrope"`},
		{"long rope without a list", llamaJSON, "rope_scaling", `{"type": "su", "long_factor": [1]}`, "short_factor is missing"},
		{"long rope with lists of other lengths", llamaJSON, "rope_scaling", `{"type": "su", "long_factor": [1], "short_factor": [1]}`, "1 short and 1 long factors, want 32"},
		{"long rope with text", llamaJSON, "rope_scaling", `{"type": "su", "long_factor": ["x"], "short_factor": [1]}`, "long_factor: want a list of numbers"},
		{"YaRN without an original context", llamaJSON, "rope_scaling", `{"type": "yarn", "factor": 4, "original_max_position_embeddings": 0}`, "YaRN"},
		{"rope without factor", llamaJSON, "rope_scaling", `{"type": "linear"}`, "factor is missing"},
		{"partial rotation", llamaJSON, "partial_rotary_factor", `0.5`, "partial_rotary_factor"},
		{"activation", llamaJSON, "hidden_act", `"relu"`, `"relu"`},
		{"quantisation", llamaJSON, "quantization_config", `{"quant_method": "awq"}`, `quant_method "awq"`},
		{"quantisation of several models", gemmaJSON, "quantization_config", `{"quant_method": "fp8"}`, `quant_method "fp8"`},
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
		{"windows in a list", qwenJSON, "layer_types", `["sliding_attention"]`, `"sliding_attention"`},
		{"short list of windows", gemma2JSON, "layer_types", `["sliding_attention"]`, "layer_types has 1 entries, want 4"},
		{"negative soft cap", gemma2JSON, "attn_logit_softcapping", `-1`, "soft caps -1"},
		{"activation of Gemma 2", gemma2JSON, "hidden_activation", `"gelu"`, `"gelu"`},
		{"short list of rotations", smolJSON, "no_rope_layers", `[1, 0]`, "list of 2 layers, want 4"},
		{"YaRN in Phi-3", phiJSON, "rope_scaling", `{"type": "yarn", "factor": 4}`, `"yarn"`},
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
		"llama.rope.scaling.type":           "yarn9",
		"llama.rope.scaling.attn_factor":    float32(1.2),
		"llama.expert_count":                uint32(8),
		"llama.attention.value_length":      uint32(14),
		"llama.attention.head_count_kv":     []uint32{1, 2, 3},
		"llama.attention.temperature_scale": float32(0.1),
		"llama.attention.causal":            false,
		"llama.attn_logit_softcapping":      float32(50),
		"llama.final_logit_softcapping":     float32(30),
		"llama.residual_scale":              float32(0.2),
		"llama.embedding_length":            "wide",
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

// A factor without a type passed unseen.
func TestRotationsAreScaledWithoutAType(t *testing.T) {
	for _, tt := range []struct {
		keys map[string]any
		want float64
	}{
		{map[string]any{}, 0},
		{map[string]any{"factor": float32(4)}, 4},
		{map[string]any{"factor": float32(4), "type": "linear"}, 4},
		{map[string]any{"factor": float32(4), "type": "none"}, 0},
		{map[string]any{"type": "linear"}, 0},
	} {
		f, err := gguf.Open(filepath.Join("..", "llama/testdata/llama3/model.gguf"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for key, value := range tt.keys {
			f.Meta().Set("llama.rope.scaling."+key, value)
		}
		family, _ := families.ByGGUF("llama")
		if c, err := family.FromGGUF(f.Meta()); err != nil || c.Rope.Linear != tt.want {
			t.Errorf("%v: scaled by %v (%v), want %v", tt.keys, c.Rope.Linear, err, tt.want)
		}
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
		"token":           func(b *model.Batch) { b.Tokens[3] = 67 },
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
