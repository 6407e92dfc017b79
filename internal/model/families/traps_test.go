// SPDX-License-Identifier: Apache-2.0

package families_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/testkit/tiny"
	"github.com/sampo-ai/sampo/internal/token"
)

// TestBothSpellingsOfRopeParametersLoadAlike compares what transformers 5 writes with what older versions wrote.
func TestBothSpellingsOfRopeParametersLoadAlike(t *testing.T) {
	for _, tt := range []struct {
		name, json string
		old, new   map[string]string
	}{
		{
			"none", llamaJSON,
			map[string]string{"rope_theta": `12345.0`, "rope_scaling": `null`},
			map[string]string{"rope_theta": `null`, "rope_scaling": `null`, "rope_parameters": `{"rope_type": "default", "rope_theta": 12345.0}`},
		},
		{
			"llama3", llamaJSON,
			map[string]string{"rope_theta": `500000.0`},
			map[string]string{"rope_theta": `null`, "rope_scaling": `null`, "rope_parameters": `{"rope_type": "llama3", "rope_theta": 500000.0,
				"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192}`},
		},
		{
			"the oldest name of the type", llamaJSON,
			map[string]string{"rope_theta": `10000.0`, "rope_scaling": `{"type": "linear", "factor": 4.0}`},
			map[string]string{"rope_theta": `null`, "rope_scaling": `null`, "rope_parameters": `{"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}`},
		},
		{
			"LongRoPE", phiJSON,
			map[string]string{"rope_theta": `10000.0`, "partial_rotary_factor": `0.25`, "rope_scaling": `{"type": "su", "short_factor": [1, 2], "long_factor": [4, 8]}`},
			map[string]string{"rope_theta": `null`, "rope_scaling": `null`, "rope_parameters": `{"rope_type": "longrope", "rope_theta": 10000.0,
				"partial_rotary_factor": 0.25, "short_factor": [1, 2], "long_factor": [4, 8]}`},
		},
		{
			"one for each kind of layer", gemmaJSON, nil,
			map[string]string{"text_config": `{"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34, "sliding_window": 1024,
				"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, err := fromJSON(t, tt.json, tt.old)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fromJSON(t, tt.json, tt.new)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("older spelling -, newer +:\n%s", diff)
			}
		})
	}
}

// TestKQuantFilesMixOtherTypesWhereRowsDoNotFit runs a model whose rows of 64 are Q5_0 and Q8_0 beside Q4_K and Q6_K, as
// quantisers write them, and compares it with the same weights as floats.
func TestKQuantFilesMixOtherTypesWhereRowsDoNotFit(t *testing.T) {
	pool := newPool(t, 2)
	prompt := make([]token.ID, 40)
	for i := range prompt {
		prompt[i] = token.ID(i * 7 % tiny.Vocab)
	}
	var want []float32
	for _, plain := range []bool{true, false} {
		m, err := tiny.Mixed(pool, 3, plain)
		if err != nil {
			t.Fatal(err)
		}
		c := m.Config()
		got := logitsOf(t, m, batchOf(len(prompt), newSequence(c, prompt, 0)), newCache(m, 1, len(prompt)))
		if plain {
			want = got
			continue
		}
		// What is left is the rounding of activations, which shows in rows of 64: measured 0.083; with Q8_0 alone 0.056, with
		// Q5_0 alone 0.091. Wrong values would be off by more than their size.
		const tolMixed = 0.15
		if e := relativeError(got, want, c.Vocab); !(e < tolMixed) {
			t.Errorf("largest relative error %.3g, want below %g", e, tolMixed)
		} else {
			t.Logf("largest relative error %.3g", e)
		}
	}
}
