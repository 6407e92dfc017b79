// SPDX-License-Identifier: Apache-2.0

package quant

import "math"

// nonlinearNear gives the code of the value nearest to v at place floor(2v) + 256, float4Near that of the 4-bit float
// nearest to v halves at place floor(2v), for v >= 0. The borders between values lie on halves, so this is exact.
var (
	nonlinearNear = nearestCodes(nonlinear[:], 512, 256)
	float4Near    = nearestCodes(fp4Halves[:8], 32, 0)
)

// nearestCodes makes a table of n codes, the place of v being floor(2v) + zero.
func nearestCodes(values []int8, n, zero int) []uint8 {
	codes := make([]uint8, n)
	for at := range codes {
		v := (float32(at-zero) + 0.5) / 2 // the middle of those that share the place
		for code, value := range values {
			if abs(v-float32(value)) < abs(v-float32(values[codes[at]])) {
				codes[at] = uint8(code)
			}
		}
	}
	return codes
}

// nonlinearCode gives the code of the value of IQ4_NL nearest to v.
func nonlinearCode(v float32) uint8 {
	return nonlinearNear[int(max(0, min(511, v*2+256)))]
}

// fitNonlinear gives the d with which d times values of IQ4_NL come closest to x.
//
// Shapes: x [n].
// The value of largest magnitude goes to between -134 and -120, the lowest value being -127.
func fitNonlinear(x []float32) float32 {
	m := largest(x)
	if abs(m) < tiny {
		return 0
	}
	var scale, best float32
	for step := -7; step <= 7; step++ {
		inv := float32(int(nonlinear[0])+step) / m
		var xq, qq float32
		for _, v := range x {
			q := float32(nonlinear[nonlinearCode(v*inv)])
			xq += float32(v * q)
			qq += float32(q * q)
		}
		if gain := xq * xq / qq; gain > best {
			scale, best = xq/qq, gain
		}
	}
	return scale
}

func quantizeIQ4NL(dst []byte, src []float32) {
	bs := blocks[blockIQ4NL](dst)
	for n := range bs {
		b, x := &bs[n], src[32*n:32*n+32]
		b.d.set(fitNonlinear(x))
		inv := inverse(b.d.value())
		for i := range b.qs {
			b.qs[i] = nonlinearCode(x[i]*inv) | nonlinearCode(x[i+16]*inv)<<4
		}
	}
}

// float4Code gives the code of the 4-bit float nearest to v halves.
func float4Code(v float32) uint8 {
	code := float4Near[int(min(31, abs(v)*2))]
	if v < 0 && code > 0 {
		code |= 8
	}
	return code
}

// float4Squares is the sum of squared errors of x with exponent e.
func float4Squares(x []float32, e int) float32 {
	d := PowerOfTwo(uint8(e))
	var squares float32
	for _, v := range x {
		rest := v - d*float32(fp4Halves[float4Code(v/d)])
		squares += float32(rest * rest)
	}
	return squares
}

func quantizeMXFP4(dst []byte, src []float32) {
	bs := blocks[blockMXFP4](dst)
	for n := range bs {
		b, x := &bs[n], src[32*n:32*n+32]
		*b = blockMXFP4{}
		m := abs(largest(x))
		if m < 0x1p-120 {
			continue
		}
		// The exponent that brings the largest magnitude to between 8 and 16 halves, of which 12 is the most there is;
		// or the next one, with which nothing is cut off.
		e := math.Ilogb(float64(m)) - 3 + 128
		if float4Squares(x, e+1) < float4Squares(x, e) {
			e++
		}
		b.e = uint8(e)
		d := PowerOfTwo(b.e)
		for i := range b.qs {
			b.qs[i] = float4Code(x[i]/d) | float4Code(x[i+16]/d)<<4
		}
	}
}
