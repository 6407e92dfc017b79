// SPDX-License-Identifier: Apache-2.0

package kernel

// tree adds up 16 partial sums: halves onto halves.
func tree(sums *[16]float32) float32 {
	a := (sums[0] + sums[8]) + (sums[4] + sums[12])
	b := (sums[1] + sums[9]) + (sums[5] + sums[13])
	c := (sums[2] + sums[10]) + (sums[6] + sums[14])
	d := (sums[3] + sums[11]) + (sums[7] + sums[15])
	return (a + c) + (b + d)
}
