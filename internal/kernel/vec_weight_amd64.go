// SPDX-License-Identifier: Apache-2.0

package kernel

//go:noescape
func weightSumAVX2(e *float32, n int) uint64

//go:noescape
func weightSumAVX512(e *float32, n int) uint64

func weightSum(e []float32) (sum uint64) {
	whole := vectorLen(len(e))
	if whole > 0 && active == avx512 {
		sum = weightSumAVX512(&e[0], whole)
	} else if whole > 0 {
		sum = weightSumAVX2(&e[0], whole)
	}
	return sum + weightSumGo(e[whole:])
}
