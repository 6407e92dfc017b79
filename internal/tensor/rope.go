// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// A Rotation holds the cosines and sines that turn the heads of a batch's rows (RoPE, arXiv:2104.09864).
//
// Shapes: cos, sin [T, W/2] for pairs (m, m+W/2), [T, W] for pairs (2m, 2m+1), where each pair has its cosine twice and
// its sine negated and plain.
type Rotation struct {
	freqs       []float32 // [W/2] angle per position
	interleaved bool
	magnitude   float32 // of all cosines and sines
	cos, sin    []float32
}

// NewRotation makes a rotation of pairs (m, m+W/2), or (2m, 2m+1) where interleaved.
//
// Shapes: freqs [W/2].
func NewRotation(freqs []float32, interleaved bool) *Rotation {
	return &Rotation{freqs: freqs, interleaved: interleaved, magnitude: 1}
}

// WithMagnitude makes the rotation lengthen what it turns.
func (r *Rotation) WithMagnitude(magnitude float32) *Rotation {
	r.magnitude = magnitude
	return r
}

// Set computes the angles of a batch's rows. As in the reference code, an angle is a float32 product.
//
// Shapes: positions [T].
func (r *Rotation) Set(positions []int32) {
	per := r.stride()
	r.cos, r.sin = grow(r.cos, len(positions)*per), grow(r.sin, len(positions)*per)
	for t, pos := range positions {
		cos, sin := r.cos[t*per:][:per], r.sin[t*per:][:per]
		for m, f := range r.freqs {
			sine, cosine := math.Sincos(float64(float32(pos) * f))
			s, c := float32(sine)*r.magnitude, float32(cosine)*r.magnitude
			if r.interleaved {
				cos[2*m], cos[2*m+1] = c, c
				sin[2*m], sin[2*m+1] = -s, s
				continue
			}
			cos[m], sin[m] = c, s
		}
	}
}

// Turn rotates the heads of one row; row is its index in Set. Components of a head beyond W stay as they are.
//
// Shapes: heads [n, headDim].
func (r *Rotation) Turn(heads []float32, headDim, row int) {
	per := r.stride()
	cos, sin := r.cos[row*per:][:per], r.sin[row*per:][:per]
	for at := 0; at < len(heads); at += headDim {
		head := heads[at:][:2*len(r.freqs)]
		if r.interleaved {
			kernel.RotatePairs(head, cos, sin)
		} else {
			kernel.RotateHalves(head, cos, sin)
		}
	}
}

func (r *Rotation) stride() int {
	if r.interleaved {
		return 2 * len(r.freqs)
	}
	return len(r.freqs)
}

// grow returns a slice of n elements, in buf's memory where that suffices. The elements are not cleared.
func grow[E any](buf []E, n int) []E {
	if cap(buf) >= n {
		return buf[:n]
	}
	return make([]E, n)
}
