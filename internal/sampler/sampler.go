// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/token"
)

// ErrNotFinite says that a row of logits holds NaN or +Inf.
var ErrNotFinite = errors.New("sampler: logits are not finite")

// ErrNoToken says that every token is forbidden.
var ErrNoToken = errors.New("sampler: every token is forbidden")

// A Sampler is scratch memory for one worker. Its methods allocate nothing, but for results that say so.
type Sampler struct {
	row        []float32   // [V] processed logits
	exp        []float32   // [V], rounded up to the kernel's lanes
	candidates []candidate // at most V, in the order of IDs
	heap       []float32   // at most V
	sums       [radixSize]uint64
}

// A candidate is a token that may still be drawn.
type candidate struct {
	weight uint64
	key    uint32 // orders as the logits do
	id     token.ID
}

// New returns a Sampler for rows of up to vocab logits.
func New(vocab int) *Sampler {
	if vocab > maxVocab {
		panic(fmt.Sprintf("sampler: vocabulary of %d tokens, at most %d", vocab, maxVocab))
	}
	return &Sampler{
		row:        make([]float32, vocab),
		exp:        make([]float32, vocab+16),
		candidates: make([]candidate, 0, vocab),
		heap:       make([]float32, 0, vocab),
	}
}

// Sample returns the choice's next token. It does not change logits or st.
//
// Shapes: logits [V].
func (s *Sampler) Sample(logits []float32, st *State) (token.ID, error) {
	z := s.process(logits, st)
	best, err := argmax(z)
	if err != nil || st.params.Temperature == 0 {
		return best, err
	}
	p, uniform := &st.params, Uniform(st.seed, uint64(st.count))
	scaled := s.row[:len(z)]
	kernel.Scale(scaled, z, 1/max(p.Temperature, 0.01))
	top := scaled[best]
	if math.Abs(float64(top)) > math.MaxFloat32 {
		return token.None, ErrNotFinite
	}
	if p.TopK > 0 && p.TopK < len(z) || p.MinP > 0 {
		s.gather(scaled, top, p)
		if p.nuclear() {
			s.nucleus(target(p.TopP, s.sum()))
		}
		return s.draw(uniform), nil
	}
	weights := s.exponentials(scaled, top)
	total := kernel.WeightSum(weights)
	if !p.nuclear() {
		return drawAny(weights, total, uniform), nil
	}
	target := target(p.TopP, total)
	s.gatherBest(scaled, weights, top, target)
	s.nucleus(target)
	return s.draw(uniform), nil
}

// nuclear reports whether top-p is on.
func (p *Params) nuclear() bool { return p.TopP > 0 && p.TopP < 1 }

// argmax returns the lowest ID of the largest logit.
//
// Shapes: z [V].
func argmax(z []float32) (token.ID, error) {
	best, at := negativeInfinity, token.None
	for i := kernel.Above(z, best); i < len(z); i += kernel.Above(z[i:], best) {
		best, at = z[i], token.ID(i)
		if best != best {
			return token.None, ErrNotFinite
		}
	}
	if at == token.None {
		return at, ErrNoToken
	}
	if best > math.MaxFloat32 {
		return token.None, ErrNotFinite
	}
	return at, nil
}

// gather makes candidates of the tokens that pass min-p and top-k.
//
// min-p drops by probability over that of the best token, which is the weight itself; so neither filter needs a sum,
// and both keep an upper part of the order of logits.
//
// Shapes: z [V].
func (s *Sampler) gather(z []float32, top float32, p *Params) {
	floor := minWeight(p.MinP)
	s.candidates = s.candidates[:0]
	// What weighs less than a quarter of the floor, by logarithm, need not be looked at closer.
	least := top + float32(math.Log(float64(floor)/(4*weightOne)))
	if p.TopK > 0 && p.TopK < len(z) {
		least = max(least, s.kth(z, p.TopK))
	}
	for i, v := range z {
		if v < least {
			continue
		}
		if w := weight(kernel.Exp(v - top)); w >= floor {
			s.candidates = append(s.candidates, candidate{weight: w, key: key(v), id: token.ID(i)})
		}
	}
}

// gatherBest makes candidates of the best tokens: as many as reach the target, and some more. How deep that is cannot be
// known, so it goes deeper until it is enough.
//
// Shapes: z, e [V]: logits and their exponentials. The sum of all weights is at least target.
func (s *Sampler) gatherBest(z, e []float32, top float32, target uint64) {
	for depth := float32(3); ; depth += 3 {
		s.candidates = s.candidates[:0]
		least, sum := top-depth, uint64(0)
		for i, v := range z {
			if v < least {
				continue
			}
			if w := weight(e[i]); w > 0 {
				s.candidates = append(s.candidates, candidate{weight: w, key: key(v), id: token.ID(i)})
				sum += w
			}
		}
		if sum >= target {
			return
		}
	}
}

// minWeight returns the least weight that min-p keeps; at least 1, since what weighs nothing cannot be drawn.
func minWeight(minP float32) uint64 {
	return max(1, uint64(math.Ceil(float64(float64(minP)*weightOne))))
}

// sum adds up the weights of the candidates.
func (s *Sampler) sum() (total uint64) {
	for i := range s.candidates {
		total += s.candidates[i].weight
	}
	return total
}

// draw picks the candidate at which the running sum of weights, in the order of IDs, passes a uniform number.
func (s *Sampler) draw(uniform uint64) token.ID {
	at, _ := bits.Mul64(uniform, s.sum())
	for i := range s.candidates {
		c := &s.candidates[i]
		if at < c.weight {
			return c.id
		}
		at -= c.weight
	}
	panic("sampler: a draw beyond the sum of weights")
}

// drawAny is draw with every token a candidate, which needs no list of them.
//
// Shapes: e [V], exponentials whose weights add up to total.
func drawAny(e []float32, total, uniform uint64) token.ID {
	const step = 1024 // tokens to skip at once
	at, _ := bits.Mul64(uniform, total)
	first := 0
	for first+step < len(e) {
		sum := kernel.WeightSum(e[first : first+step])
		if at < sum {
			break
		}
		at -= sum
		first += step
	}
	for i, v := range e[first:] {
		w := weight(v)
		if at < w {
			return token.ID(first + i)
		}
		at -= w
	}
	panic("sampler: a draw beyond the sum of weights")
}
