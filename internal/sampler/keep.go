// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"cmp"
	"slices"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/token"
)

// Keep says of each token of a list whether Sample could draw it: whether everything before the draw leaves it in play.
// Greedy sampling leaves one token. It costs more than a draw and is for people who look at one.
//
// Shapes: logits [V].
func (s *Sampler) Keep(list []Logprob, logits []float32, st *State) error {
	z := s.process(logits, st)
	best, err := argmax(z)
	if err != nil {
		return err
	}
	p := &st.params
	if p.Temperature == 0 {
		for i := range list {
			list[i].Kept = list[i].Token == best
		}
		return nil
	}
	scaled := s.row[:len(z)]
	kernel.Scale(scaled, z, 1/max(p.Temperature, 0.01))
	s.gather(scaled, scaled[best], p)
	if p.nuclear() {
		s.nucleus(target(p.TopP, s.sum()))
	}
	for i := range list {
		_, list[i].Kept = slices.BinarySearchFunc(s.candidates, list[i].Token, func(c candidate, id token.ID) int { return cmp.Compare(c.id, id) })
	}
	return nil
}
