// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"testing"

	"github.com/sampo-ai/sampo/internal/quant"
)

func TestSchemesFavourTheMatricesThatMatter(t *testing.T) {
	plain := Traits{Layers: 16, Heads: 8, KVHeads: 8}
	tied, wide := plain, plain
	tied.Tied = true
	wide.KVHeads = 2
	experts, large := plain, Traits{Layers: 80, Heads: 64, KVHeads: 8}
	experts.Experts = 8
	for _, tt := range []struct {
		scheme, tensor string
		traits         Traits
		shape          []int
		want           quant.Type
	}{
		{"Q4_K_M", "blk.5.attn_q.weight", plain, []int{256, 256}, quant.Q4K},
		{"Q4_K_M", "blk.0.attn_v.weight", plain, []int{256, 256}, quant.Q6K},
		{"Q4_K_M", "blk.2.attn_v.weight", plain, []int{256, 256}, quant.Q4K},
		{"Q4_K_M", "blk.4.attn_v.weight", plain, []int{256, 256}, quant.Q6K},
		{"Q4_K_M", "blk.14.ffn_down.weight", plain, []int{256, 512}, quant.Q6K},
		{"Q4_K_M", "blk.5.attn_qkv.weight", plain, []int{768, 256}, quant.Q5K},
		{"Q5_K", "blk.5.attn_qkv.weight", plain, []int{768, 256}, quant.Q6K},
		{"q4_k", "output.weight", plain, []int{1000, 256}, quant.Q6K},
		{"Q4_K_M", "token_embd.weight", plain, []int{1000, 256}, quant.Q4K},
		{"Q4_K_M", "token_embd.weight", tied, []int{1000, 256}, quant.Q6K},
		{"Q8_0", "token_embd.weight", tied, []int{1000, 256}, quant.Q80},
		{"Q4_0", "output.weight", plain, []int{1000, 96}, quant.Q80},
		{"Q4_K_M", "blk.12.attn_v.weight", large, []int{256, 256}, quant.Q6K},
		{"Q4_K_M", "blk.11.attn_v.weight", large, []int{256, 256}, quant.Q5K},
		{"Q4_K_M", "blk.3.attn_k.weight", experts, []int{256, 256}, quant.Q80},
		{"IQ4_NL", "blk.5.attn_v.weight", wide, []int{256, 256}, quant.Q5K},
		{"IQ4_NL", "blk.1.ffn_down.weight", plain, []int{256, 256}, quant.Q5K},
		{"IQ4_NL", "blk.5.ffn_up.weight", plain, []int{256, 256}, quant.IQ4NL},
		{"MXFP4", "blk.5.ffn_up_exps.weight", experts, []int{8, 256, 256}, quant.MXFP4},
		// Rows that no super-block fits, and rows that no block fits.
		{"Q4_K_M", "blk.5.attn_q.weight", plain, []int{96, 96}, quant.Q50},
		{"Q5_K_M", "blk.5.attn_q.weight", plain, []int{96, 96}, quant.Q51},
		{"Q6_K", "blk.5.attn_q.weight", plain, []int{96, 96}, quant.Q80},
		{"Q4_K_M", "blk.5.attn_q.weight", plain, []int{96, 100}, quant.F16},
		// What stays as it is.
		{"Q4_K_M", "blk.5.attn_norm.weight", plain, []int{256}, quant.F32},
		{"Q4_K_M", "blk.5.attn_q.bias", plain, []int{256}, quant.F32},
		{"Q4_K_M", "blk.5.ffn_gate_inp.weight", experts, []int{8, 256}, quant.F32},
	} {
		s, ok := ParseScheme(tt.scheme)
		if !ok {
			t.Fatalf("no scheme %q", tt.scheme)
		}
		if got := s.Type(tt.tensor, tt.shape, quant.F32, tt.traits); got != tt.want {
			t.Errorf("%s: %s %v of %+v: got %v, want %v", tt.scheme, tt.tensor, tt.shape, tt.traits, got, tt.want)
		}
	}
	s, _ := ParseScheme("Q4_K_M")
	if got := s.Pure().Type("output.weight", []int{10, 256}, quant.F32, plain); got != quant.Q4K {
		t.Errorf("pure: got %v", got)
	}
	if _, ok := ParseScheme("Q3_K_M"); ok {
		t.Error("Q3_K_M is no scheme")
	}
}
