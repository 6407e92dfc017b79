// SPDX-License-Identifier: Apache-2.0

package decoder

import "github.com/sampo-ai/sampo/internal/model"

// A PreNorm is Llama's block, which most families share: a norm before each branch.
//
// Shapes: norms [E].
type PreNorm struct {
	attentionNorm []float32
	attention     Attention
	ffnNorm       []float32
	mlp           MLP
}

// NewPreNorm fetches the norms of a layer and takes its branches.
//
// Shapes: as PreNorm.
func NewPreNorm(l *Loader, c *model.Config, layer int, attention Attention, mlp MLP) *PreNorm {
	return &PreNorm{
		attentionNorm: l.Norm(LayerPart(layer, "attn_norm"), c.Hidden, c.NormOffset),
		attention:     attention,
		ffnNorm:       l.Norm(LayerPart(layer, "ffn_norm"), c.Hidden, c.NormOffset),
		mlp:           mlp,
	}
}

// Forward computes h = x + Attention(norm(x)) and then x = h + MLP(norm(h)).
func (b *PreNorm) Forward(s *Step) {
	s.Add(b.attention.Forward(s, s.Norm(s.X(), b.attentionNorm)))
	s.Add(b.mlp.Forward(s, s.Norm(s.X(), b.ffnNorm)))
}

// A Sandwich is a block with norms before and after each branch, as Gemma and GLM-4 have it.
//
// Shapes: norms [E].
type Sandwich struct {
	attentionNorm     []float32
	attention         Attention
	postAttentionNorm []float32
	ffnNorm           []float32
	mlp               MLP
	postFFNNorm       []float32
}

// NewSandwich fetches the norms of a layer and takes its branches.
//
// Shapes: as Sandwich.
func NewSandwich(l *Loader, c *model.Config, layer int, attention Attention, mlp MLP) *Sandwich {
	norm := func(part string) []float32 { return l.Norm(LayerPart(layer, part), c.Hidden, c.NormOffset) }
	return &Sandwich{
		attentionNorm:     norm("attn_norm"),
		attention:         attention,
		postAttentionNorm: norm("post_attention_norm"),
		ffnNorm:           norm("ffn_norm"),
		mlp:               mlp,
		postFFNNorm:       norm("post_ffw_norm"),
	}
}

// Forward computes h = x + norm(Attention(norm(x))) and then x = h + norm(MLP(norm(h))).
func (b *Sandwich) Forward(s *Step) {
	a := b.attention.Forward(s, s.Norm(s.X(), b.attentionNorm))
	s.Add(s.Norm(a, b.postAttentionNorm))
	m := b.mlp.Forward(s, s.Norm(s.X(), b.ffnNorm))
	s.Add(s.Norm(m, b.postFFNNorm))
}

// A PostNorm is a block with norms after the branches instead of before them, as OLMo 2 and EXAONE 4.0 have it.
//
// Shapes: norms [E].
type PostNorm struct {
	attention         Attention
	postAttentionNorm []float32
	mlp               MLP
	postFFNNorm       []float32
}

// NewPostNorm fetches the norms of a layer and takes its branches.
//
// Shapes: as PostNorm.
func NewPostNorm(l *Loader, c *model.Config, layer int, attention Attention, mlp MLP) *PostNorm {
	return &PostNorm{
		attention:         attention,
		postAttentionNorm: l.Norm(LayerPart(layer, "post_attention_norm"), c.Hidden, c.NormOffset),
		mlp:               mlp,
		postFFNNorm:       l.Norm(LayerPart(layer, "post_ffw_norm"), c.Hidden, c.NormOffset),
	}
}

// Forward computes h = x + norm(Attention(x)) and then x = h + norm(MLP(h)).
func (b *PostNorm) Forward(s *Step) {
	s.Add(s.Norm(b.attention.Forward(s, s.X()), b.postAttentionNorm))
	s.Add(s.Norm(b.mlp.Forward(s, s.X()), b.postFFNNorm))
}
