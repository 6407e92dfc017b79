// SPDX-License-Identifier: Apache-2.0

package quant

import "math"

// The K formats store a scale for few values, so it pays to look for a good one. All searches work alike: round the
// values with each of a series of scales near the obvious one; for the integers that come out, least squares gives the
// best scale (and minimum) there is; keep what leaves the smallest sum of squared errors. Every value counts the same.

// nearest rounds v to the nearest integer, ties to even.
//
// Shapes: one value; |v| below 2^22. Adding 1.5 * 2^23 leaves no bits for a fraction.
func nearest(v float32) int32 {
	return int32(math.Float32bits(v+0x1.8p23)&0x7fffff) - 0x400000
}

// tiny is the largest magnitude that is taken for zero: its reciprocal would overflow half floats anyway.
const tiny = 1e-15

// fitScale gives the d with which d*q comes closest to x, for integers q from -top to top-1.
//
// Shapes: x [n].
// The value of largest magnitude goes to about -top: to between 0.9 below and above, in steps of 0.1.
func fitScale(x []float32, top int32) float32 {
	m := largest(x)
	if abs(m) < tiny {
		return 0
	}
	var scale, best float32
	for step := -9; step <= 9; step++ {
		inverse := -(float32(top) + 0.1*float32(step)) / m
		var xq float32
		var qq int32
		for _, v := range x {
			q := max(-top, min(top-1, nearest(v*inverse)))
			xq += float32(v * float32(q))
			qq += q * q
		}
		// With d = xq/qq the squared error is the sum of x*x less this.
		if gain := xq * xq / float32(qq); qq > 0 && gain > best {
			scale, best = xq/float32(qq), gain
		}
	}
	return scale
}

// moments are the sums that least squares needs of values x and their codes q.
type moments struct {
	n, x, xx float32
	q, qq    int32
	xq       float32
}

// line gives the scale and the minimum with which scale*q - minimum comes closest to x, and the squared error. The
// minimum is not negative.
func (m *moments) line() (scale, minimum, squares float32) {
	q, qq := float32(m.q), float32(m.qq)
	if d := m.n*qq - q*q; d > 0 {
		scale = (m.n*m.xq - m.x*q) / d
		minimum = (q*m.xq - qq*m.x) / d
	}
	if minimum < 0 || scale == 0 {
		minimum = 0
		scale = 0
		if qq > 0 {
			scale = m.xq / qq
		}
	}
	squares = m.xx - 2*scale*m.xq + 2*minimum*m.x + scale*scale*qq - 2*scale*minimum*q + m.n*minimum*minimum
	return scale, minimum, squares
}

// A ladder is a series of scales to try: the span of the values is divided into top + first, and then up to steps times
// a tenth more, parts.
type ladder struct {
	top   int32 // largest code
	first float32
	steps int
}

// fit gives the scale and the minimum with which scale*q - minimum comes closest to x, for integers q from 0 to top.
//
// Shapes: x [n].
// Both are at least 0, for that is what the formats can store.
func (l ladder) fit(x []float32) (scale, minimum float32) {
	low, high := span(x)
	low = min(low, 0)
	if high-low < tiny {
		return 0, -low
	}
	sums := moments{n: float32(len(x))}
	for _, v := range x {
		sums.x += v
		sums.xx += float32(v * v)
	}
	best := float32(math.MaxFloat32)
	for step := range l.steps {
		inverse := (float32(l.top) + l.first + 0.1*float32(step)) / (high - low)
		sums.q, sums.qq, sums.xq = 0, 0, 0
		for _, v := range x {
			q := max(0, min(l.top, nearest((v-low)*inverse)))
			sums.q += q
			sums.qq += q * q
			sums.xq += float32(v * float32(q))
		}
		if s, m, squares := sums.line(); squares < best && s >= 0 {
			scale, minimum, best = s, m, squares
		}
	}
	return scale, minimum
}
