// SPDX-License-Identifier: Apache-2.0

package model

import "math"

// A Rope says how positions turn queries and keys (RoPE, arXiv:2104.09864).
type Rope struct {
	Base        float64
	Width       int     // components of each head that are turned; even
	Interleaved bool    // pairs (2m, 2m+1) as GGUF's Llama has them; else halves (m, m+Width/2)
	Magnitude   float64 // of all cosines and sines; 0 is as good as 1

	// At most one scaling to longer contexts.
	Linear   float64 // angles are divided by it; 0 or 1: not scaled
	Llama3   *Llama3Rope
	Yarn     *YarnRope
	Long     *LongRope
	Divisors []float32 // [Width/2] of the frequencies, or nil: Llama 3.1's scaling as GGUF stores it
}

// Llama3Rope is the scaling of Llama 3.1: low frequencies are divided by Factor, high ones kept, those between blended.
type Llama3Rope struct {
	Factor, LowFreqFactor, HighFreqFactor float64
	OriginalContext                       float64
}

// YarnRope is YaRN (arXiv:2309.00071): frequencies that turn fewer than BetaSlow times in the original context are
// divided by Factor, those that turn more than BetaFast times kept, and those between blended by their index.
type YarnRope struct {
	Factor, OriginalContext float64
	BetaFast, BetaSlow      float64
	Exact                   bool // the range of indices is not rounded to whole ones
}

// YarnMagnitude is the magnitude that YaRN recommends, with a weight on the logarithm.
func YarnMagnitude(factor, weight float64) float64 {
	if factor <= 1 {
		return 1
	}
	return 0.1*weight*math.Log(factor) + 1
}

// LongRope is LongRoPE (arXiv:2402.13753): each frequency has a divisor of its own, from the long list in sequences that
// are longer than the original context. All keys of a sequence are turned by one list: see Config.LongAfter.
//
// Shapes: Short, Long [Width/2].
type LongRope struct {
	Short, Long     []float32
	OriginalContext int
}

// LongMagnitude is the magnitude that LongRoPE recommends.
func LongMagnitude(factor, originalContext float64) float64 {
	if factor <= 1 {
		return 1
	}
	return math.Sqrt(1 + math.Log(factor)/math.Log(originalContext))
}

// Frequencies returns the angle per position of each pair, in a sequence of so many tokens.
//
// Shapes: result [Width/2].
func (r Rope) Frequencies(tokens int) []float32 {
	divisors := r.Divisors
	if r.Long != nil {
		divisors = r.Long.Short
		if tokens > r.Long.OriginalContext {
			divisors = r.Long.Long
		}
	}
	freqs := make([]float32, r.Width/2)
	for m := range freqs {
		f := math.Pow(r.Base, -2*float64(m)/float64(r.Width))
		if r.Linear > 0 {
			f /= r.Linear
		}
		if r.Llama3 != nil {
			f = r.Llama3.scale(f)
		}
		if r.Yarn != nil {
			f = r.Yarn.scale(f, m, r)
		}
		if divisors != nil {
			f /= float64(divisors[m])
		}
		freqs[m] = float32(f)
	}
	return freqs
}

// scale applies the scaling to one frequency, by how often its wave fits into the original context.
func (s *Llama3Rope) scale(f float64) float64 {
	waves := s.OriginalContext * f / (2 * math.Pi)
	switch {
	case waves > s.HighFreqFactor:
		return f
	case waves < s.LowFreqFactor:
		return f / s.Factor
	}
	smooth := (waves - s.LowFreqFactor) / (s.HighFreqFactor - s.LowFreqFactor)
	return (1-smooth)*f/s.Factor + smooth*f
}

// scale applies the scaling to the frequency of pair m.
func (s *YarnRope) scale(f float64, m int, r Rope) float64 {
	// index is where the pair would stand that turns so often in the original context.
	index := func(turns float64) float64 {
		return float64(r.Width) * math.Log(s.OriginalContext/(turns*2*math.Pi)) / (2 * math.Log(r.Base))
	}
	low, high := index(s.BetaFast), index(s.BetaSlow)
	if !s.Exact {
		low, high = math.Floor(low), math.Ceil(high)
	}
	low, high = max(low, 0), min(high, float64(r.Width-1))
	if low == high {
		high += 0.001
	}
	ramp := min(max((float64(m)-low)/(high-low), 0), 1)
	return ramp*f/s.Factor + (1-ramp)*f
}
