// SPDX-License-Identifier: Apache-2.0

package kernel

// tree adds up 16 partial sums: halves onto halves.
func tree(sums *[16]float32) float32 {
	for n := 8; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}
