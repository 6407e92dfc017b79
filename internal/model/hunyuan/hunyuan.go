// SPDX-License-Identifier: Apache-2.0

// Package hunyuan is Tencent's dense Hunyuan family, 0.5B to 7B.
//
// Llama's block with an RMSNorm of each query and key head after the rotation (not before it, as in Qwen3), and a rope base
// that a constant alpha enlarges. Rotation pairs halves in every format. GGUF has the enlarged base.
package hunyuan

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Hunyuan to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "hunyuan",
		GGUF:     []string{"hunyuan-dense"},
		HF:       []string{"HunYuanDenseV1ForCausalLM"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
		HFParts:  hfParts,
	}
}

// hfParts are the names that differ from other families'.
var hfParts = map[string]string{"attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, hfParts)
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		attention := l.Attention(c, layer).WithLateHeadNorms(l, c, layer)
		return l.PreNorm(c, layer, attention, l.MLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	return f.Finish(fields.GGUFConfig("hunyuan", f, meta))
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config)
	c := fields.HFConfig("hunyuan", f)
	c.Rope = fields.HFAlphaRope(f, 10000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	f.OneOf("hidden_act", "silu")
	f.Off("use_cla") // keys and values shared between layers
	f.FullAttention()
	return f.Finish(c)
}
