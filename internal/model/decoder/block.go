// SPDX-License-Identifier: Apache-2.0

package decoder

import "github.com/sampo-ai/sampo/internal/model"

// A PreNorm is Llama's block, which most families share: a norm before each branch.
//
// Shapes: norms [E].
type PreNorm struct {
	attentionNorm Norm
	attention     Attention
	ffnNorm       Norm
	mlp           MLP
}

// PreNorm fetches the norms of a layer and takes its branches.
//
// Shapes: as PreNorm.
func (l *Loader) PreNorm(c *model.Config, layer int, attention Attention, mlp MLP) *PreNorm {
	return &PreNorm{
		attentionNorm: l.Norm(layerPart(layer, "attn_norm"), c.Hidden, c.NormOffset),
		attention:     attention,
		ffnNorm:       l.Norm(layerPart(layer, "ffn_norm"), c.Hidden, c.NormOffset),
		mlp:           mlp,
	}
}

// Forward computes h = x + Attention(norm(x)) and then x = h + MLP(norm(h)).
func (b *PreNorm) Forward(s *Step) {
	s.Add(b.attention.Forward(s, s.Norm(s.X(), &b.attentionNorm)))
	s.Add(b.mlp.Forward(s, s.Norm(s.X(), &b.ffnNorm)))
}

// A Sandwich is a block with norms before and after each branch, as Gemma and GLM-4 have it.
//
// Shapes: norms [E].
type Sandwich struct {
	attentionNorm     Norm
	attention         Attention
	postAttentionNorm Norm
	ffnNorm           Norm
	mlp               MLP
	postFFNNorm       Norm
}

// Sandwich fetches the norms of a layer and takes its branches.
//
// Shapes: as Sandwich.
func (l *Loader) Sandwich(c *model.Config, layer int, attention Attention, mlp MLP) *Sandwich {
	norm := func(part string) Norm { return l.Norm(layerPart(layer, part), c.Hidden, c.NormOffset) }
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
	a := b.attention.Forward(s, s.Norm(s.X(), &b.attentionNorm))
	s.Add(s.Norm(a, &b.postAttentionNorm))
	m := b.mlp.Forward(s, s.Norm(s.X(), &b.ffnNorm))
	s.Add(s.Norm(m, &b.postFFNNorm))
}

// A PostNorm is a block with norms after the branches instead of before them, as OLMo 2 and EXAONE 4.0 have it.
//
// Shapes: norms [E].
type PostNorm struct {
	attention         Attention
	postAttentionNorm Norm
	mlp               MLP
	postFFNNorm       Norm
}

// PostNorm fetches the norms of a layer and takes its branches.
//
// Shapes: as PostNorm.
func (l *Loader) PostNorm(c *model.Config, layer int, attention Attention, mlp MLP) *PostNorm {
	return &PostNorm{
		attention:         attention,
		postAttentionNorm: l.Norm(layerPart(layer, "post_attention_norm"), c.Hidden, c.NormOffset),
		mlp:               mlp,
		postFFNNorm:       l.Norm(layerPart(layer, "post_ffw_norm"), c.Hidden, c.NormOffset),
	}
}

// Forward computes h = x + norm(Attention(x)) and then x = h + norm(MLP(h)).
func (b *PostNorm) Forward(s *Step) {
	s.Add(s.Norm(b.attention.Forward(s, s.X()), &b.postAttentionNorm))
	s.Add(s.Norm(b.mlp.Forward(s, s.X()), &b.postFFNNorm))
}

// A Parallel is a block whose branches see the same norm of the stream, as Cohere's have it.
//
// Shapes: norm [E].
type Parallel struct {
	norm      Norm
	attention Attention
	mlp       MLP
}

// Parallel fetches the norm of a layer and takes its branches.
//
// Shapes: as Parallel.
func (l *Loader) Parallel(c *model.Config, layer int, attention Attention, mlp MLP) *Parallel {
	return &Parallel{norm: l.Norm(layerPart(layer, "attn_norm"), c.Hidden, c.NormOffset), attention: attention, mlp: mlp}
}

// Forward computes x + Attention(norm(x)) + MLP(norm(x)).
func (b *Parallel) Forward(s *Step) {
	n := s.Norm(s.X(), &b.norm)
	s.Add(b.attention.Forward(s, n))
	s.Add(b.mlp.Forward(s, s.Kept(n)))
}
