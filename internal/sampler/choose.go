// SPDX-License-Identifier: Apache-2.0

package sampler

import "math"

// Keys are looked at from their highest bits down, 11 at a time (11 + 11 + 10): 2,048 sums of 8 bytes stay in L1.
const (
	radixBits = 11
	radixSize = 1 << radixBits
)

// key maps a logit to a number that orders as logits do.
func key(v float32) uint32 {
	if v == 0 {
		v = 0 // -0 equals 0
	}
	b := math.Float32bits(v)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

// kth returns the k-th largest logit, equal ones counted each. k is from 1 to V.
//
// It keeps the k largest so far in a heap with the least on top: for the usual k nearly every logit is compared once.
//
// Shapes: z [V].
func (s *Sampler) kth(z []float32, k int) float32 {
	h := append(s.heap[:0], z[:k]...)
	for i := k/2 - 1; i >= 0; i-- {
		sift(h, i)
	}
	for _, v := range z[k:] {
		if v > h[0] {
			h[0] = v
			sift(h, 0)
		}
	}
	return h[0]
}

// sift moves h[i] down to its place in a heap with the least on top.
func sift(h []float32, i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[i] <= h[child] {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// target is the weight that top-p wants of a whole.
func target(p float32, total uint64) uint64 {
	return max(1, uint64(math.Ceil(float64(float64(p)*float64(total)))))
}

// nucleus keeps the candidates for which the sum of all larger ones is below the target: the smallest set of best tokens
// that reaches it. Equal ones count as larger when their ID is lower.
func (s *Sampler) nucleus(target uint64) {
	edge, above := s.edge(target)
	kept := s.candidates[:0]
	for _, c := range s.candidates {
		switch {
		case c.key < edge, c.key == edge && above >= target:
			continue
		case c.key == edge:
			above += c.weight
		}
		kept = append(kept, c)
	}
	s.candidates = kept
}

// edge returns the key at which the sum of weights, from the largest key down, reaches target, and the sum of weights
// above that key. The sum of all weights is at least target.
func (s *Sampler) edge(target uint64) (edge uint32, above uint64) {
	for shift := 32; shift > 0; {
		seen := shift
		shift = max(0, shift-radixBits)
		mask := uint32(1)<<(seen-shift) - 1
		clear(s.sums[:])
		for i := range s.candidates {
			if c := &s.candidates[i]; uint64(c.key)>>seen == uint64(edge)>>seen {
				s.sums[c.key>>shift&mask] += c.weight
			}
		}
		digit := mask
		for above+s.sums[digit] < target {
			above += s.sums[digit]
			digit--
		}
		edge |= digit << shift
	}
	return edge, above
}
