// SPDX-License-Identifier: Apache-2.0

package sampler

import "math"

// weightOne is the weight of the best token. With 2^44 a sum over 2^20 tokens fits into 64 bits.
const (
	weightOne = 1 << 44
	maxVocab  = 1 << 20
)

// ln 2 in two parts, as in fdlibm's exp: a whole number of up to 20 bits times the first is exact.
const (
	expSteps   = 64 // table entries for one halving
	expHigh    = 6.93147180369123816490e-01 / expSteps
	expLow     = 1.90821492927058770002e-10 / expSteps
	expInverse = expSteps / math.Ln2
	expLeast   = -31.2 // exp of less is below half a unit: -45 ln 2
)

// expTable has 2^(-j/64) in units of weights.
var expTable = newExpTable()

// newExpTable builds the table from square roots and products, which every machine rounds alike.
func newExpTable() (table [expSteps]float64) {
	table[0] = weightOne
	root := 0.5
	for bit := expSteps / 2; bit > 0; bit /= 2 {
		root = math.Sqrt(root)
		for j := 0; j < expSteps; j += 2 * bit {
			table[j+bit] = float64(table[j] * root)
		}
	}
	return table
}

// weight returns exp(x) in units of 2^-44, rounded, for x at most 0.
//
// x is split into -k ln2/64 and a rest r up to ln2/64, whose exponential is a polynomial (error below 2^-48). The
// conversions keep compilers from fusing products and sums: every machine computes the same bits.
func weight(x float64) uint64 {
	if x < expLeast {
		return 0
	}
	k := int(x * expInverse) // towards zero: r is at most 0
	kf := float64(k)
	r := (x - float64(kf*expHigh)) - float64(kf*expLow)
	p := 1 + float64(r*(1.0/5))
	p = 1 + float64(float64(r*(1.0/4))*p)
	p = 1 + float64(float64(r*(1.0/3))*p)
	p = 1 + float64(float64(r*0.5)*p)
	p = 1 + float64(r*p)
	k = -k
	e := float64(expTable[k%expSteps] * p)
	// Halving k/64 times: exact, as weights are far from the smallest float64.
	e *= math.Float64frombits(uint64(1023-k/expSteps) << 52)
	return uint64(e + 0.5)
}
