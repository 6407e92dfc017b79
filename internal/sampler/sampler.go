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
	if err := s.gather(z, best, &st.params); err != nil {
		return token.None, err
	}
	if p := st.params.TopP; p > 0 && p < 1 {
		s.nucleus(p)
	}
	return s.draw(Uniform(st.seed, uint64(st.count))), nil
}

// argmax returns the lowest ID of the largest logit. One comparison a logit finds both a larger one and NaN.
//
// Shapes: z [V].
func argmax(z []float32) (token.ID, error) {
	best, at := negativeInfinity, token.None
	for i, v := range z {
		if !(v <= best) {
			if v != v {
				return token.None, ErrNotFinite
			}
			best, at = v, token.ID(i)
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

// gather divides by the temperature and makes candidates of the tokens that pass min-p and top-k.
//
// min-p drops by probability over that of the best token, which is the weight itself; so neither filter needs a sum,
// and both keep an upper part of the order of logits.
//
// Shapes: z [V], which may be s.row.
func (s *Sampler) gather(z []float32, best token.ID, p *Params) error {
	scaled := s.row[:len(z)]
	kernel.Scale(scaled, z, 1/max(p.Temperature, 0.01))
	top := scaled[best]
	if math.Abs(float64(top)) > math.MaxFloat32 {
		return ErrNotFinite
	}
	floor := minWeight(p.MinP)
	s.candidates = s.candidates[:0]
	if p.TopK > 0 && p.TopK < len(z) {
		least := s.kth(scaled, p.TopK)
		for i, v := range scaled {
			if v >= least {
				s.add(token.ID(i), v, kernel.Exp(v-top), floor)
			}
		}
		return nil
	}
	for i, e := range s.exponentials(scaled, top) {
		s.add(token.ID(i), scaled[i], e, floor)
	}
	return nil
}

// add makes a candidate of a token whose exponential is e, if that weighs at least floor.
func (s *Sampler) add(id token.ID, v, e float32, floor uint64) {
	if w := weight(e); w >= floor {
		s.candidates = append(s.candidates, candidate{weight: w, key: key(v), id: id})
	}
}

// minWeight returns the least weight that min-p keeps; at least 1, since what weighs nothing cannot be drawn.
func minWeight(minP float32) uint64 {
	return max(1, uint64(math.Ceil(float64(float64(minP)*weightOne))))
}

// draw picks the candidate at which the running sum of weights, in the order of IDs, passes a uniform number.
func (s *Sampler) draw(uniform uint64) token.ID {
	total := uint64(0)
	for i := range s.candidates {
		total += s.candidates[i].weight
	}
	at, _ := bits.Mul64(uniform, total)
	for i := range s.candidates {
		c := &s.candidates[i]
		if at < c.weight {
			return c.id
		}
		at -= c.weight
	}
	panic("sampler: a draw beyond the sum of weights")
}
