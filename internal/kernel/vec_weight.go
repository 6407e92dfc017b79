// SPDX-License-Identifier: Apache-2.0

package kernel

// WeightOne is the weight of 1: see Weight.
const WeightOne = 1 << 44

// Weight turns a number from 0 to 1, such as an exponential, into a whole number, so that sums do not depend on their order.
func Weight(e float32) uint64 { return uint64(float64(e)*WeightOne + 0.5) }

// WeightSum returns the sum of the weights.
//
// Shapes: e [n], n up to 2^20 - 1.
func WeightSum(e []float32) uint64 { return weightSum(e) }

func weightSumGo(e []float32) (sum uint64) {
	for _, v := range e {
		sum += Weight(v)
	}
	return sum
}
