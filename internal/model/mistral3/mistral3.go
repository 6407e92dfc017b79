// SPDX-License-Identifier: Apache-2.0

// Package mistral3 is the text model of Mistral Small 3.1 and 3.2 and of Ministral 3: Llama's block, in Ministral 3 with
// YaRN (arXiv:2309.00071) and with queries that grow with their position.
//
// GGUF has rows of q and k in Llama's order.
package mistral3

import (
	"github.com/sampo-ai/sampo/internal/model"
	"github.com/sampo-ai/sampo/internal/model/decoder"
	"github.com/sampo-ai/sampo/internal/model/fields"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
)

// Family describes Mistral 3 to the table of families.
func Family() *model.Family {
	return &model.Family{
		Name:     "mistral3",
		GGUF:     []string{"mistral3"},
		HF:       []string{"Ministral3ForCausalLM", "Mistral3ForConditionalGeneration"},
		FromGGUF: fromGGUF,
		FromHF:   fromHF,
		Load:     load,
	}
}

func load(c model.Config, src weights.Source, pool *tensor.Pool, naming model.Naming) (model.Model, error) {
	l := decoder.NewLoader(src, pool, naming, nil)
	if naming == model.HuggingFace {
		l.Skip("vision_tower.*", "model.vision_tower.*", "multi_modal_projector.*", "model.multi_modal_projector.*")
	}
	return decoder.NewDecoder(c, l, func(c *model.Config, layer int) decoder.Block {
		return l.PreNorm(c, layer, l.Attention(c, layer), l.MLP(c, layer))
	})
}

func fromGGUF(meta *gguf.Metadata) (model.Config, error) {
	f := fields.GGUF(meta)
	c := fields.GGUFConfig("mistral3", f, meta)
	c.Rope.Interleaved = true
	if beta := f.FloatOr("attention.temperature_scale", 0); beta != 0 {
		c.QueryScale = &model.QueryScale{Beta: beta, Context: f.Float("rope.scaling.original_context_length")}
	}
	fields.AllWindow(&c, f.IntOr("attention.sliding_window", 0))
	return f.Finish(c)
}

func fromHF(config *ordjson.Object) (model.Config, error) {
	f := fields.HF(config).Text()
	c := fields.HFConfig("mistral3", f)
	c.Rope = fields.HFRope(f, "full_attention", 1000000, c.HeadDim)
	c.TiedOutput = f.BoolOr("tie_word_embeddings", false)
	if beta := f.RopeParameter("llama_4_scaling_beta"); beta != 0 && c.Rope.Yarn != nil {
		c.QueryScale = &model.QueryScale{Beta: beta, Context: c.Rope.Yarn.OriginalContext}
	}
	fields.AllWindow(&c, f.WindowOr(0))
	f.OneOf("hidden_act", "silu")
	f.OneOf("model_type", "ministral3", "mistral")
	f.FullAttention()
	return f.Finish(c)
}
