// SPDX-License-Identifier: Apache-2.0

package kernel

// Above returns the index of the first number that is larger than a bound or NaN, or n if there is none.
//
// Shapes: x [n].
func Above(x []float32, bound float32) int {
	at := 0
	if whole := vectorLen(len(x)); whole > 0 {
		at = notAbove(x[:whole], bound)
	}
	for at < len(x) && x[at] <= bound {
		at++
	}
	return at
}
