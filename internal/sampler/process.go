// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"math"

	"github.com/sampo-ai/sampo/internal/token"
)

var negativeInfinity = float32(math.Inf(-1))

// process returns the row with everything applied that comes before the temperature. It does not change logits.
//
// Shapes: logits [V]; result [V], logits itself or s.row.
func (s *Sampler) process(logits []float32, st *State) []float32 {
	if st.plain() {
		return logits
	}
	z := row(s.row[:len(logits)])
	copy(z, logits)
	p := &st.params
	if p.Allowed != nil {
		z.allow(p.Allowed)
	}
	for _, word := range p.BadWords {
		if st.completes(word) {
			z.forbid(word[len(word)-1])
		}
	}
	if st.count < p.MinTokens {
		for _, id := range p.Ends {
			z.forbid(id)
		}
	}
	for _, b := range p.Bias {
		if z.has(b.Token) {
			z[b.Token] += b.Value
		}
	}
	for _, id := range st.prompt {
		z.repeat(id, p.Repetition)
	}
	for _, t := range st.seen {
		if !t.old && st.repeats() {
			z.repeat(t.id, p.Repetition)
		}
		if z.has(t.id) {
			z[t.id] -= float32(p.Frequency * t.times)
			z[t.id] -= p.Presence
		}
	}
	if len(st.forced) > 0 {
		z.force(st.forced[0])
	}
	return z
}

// A row is logits that may be changed.
type row []float32

func (z row) has(id token.ID) bool { return id >= 0 && int(id) < len(z) }

func (z row) forbid(id token.ID) {
	if z.has(id) {
		z[id] = negativeInfinity
	}
}

// force leaves one token, whatever forbade it.
func (z row) force(id token.ID) {
	if !z.has(id) {
		return
	}
	for i := range z {
		z[i] = negativeInfinity
	}
	z[id] = 0
}

func (z row) allow(mask *token.Mask) {
	for id := range mask.Missing() {
		z.forbid(id)
	}
	for i := mask.Len(); i < len(z); i++ {
		z[i] = negativeInfinity
	}
}

// mostLogit is what a tiny or a huge penalty can make of a logit, above zero or below: still finite when it is divided by the
// least temperature. Minus infinity would forbid the token.
const mostLogit = math.MaxFloat32 / 128

// repeat applies the repetition penalty to a token.
//
// Keskar et al. 2019 (arXiv:1909.05858), with multiplication for negative logits as everyone has it since.
func (z row) repeat(id token.ID, penalty float32) {
	switch {
	case !z.has(id), z[id] > mostLogit: // what is not finite must be found
	case z[id] > 0:
		z[id] = min(z[id]/penalty, mostLogit)
	case z[id] >= -mostLogit: // what is forbidden stays so
		z[id] = max(z[id]*penalty, -mostLogit)
	}
}
