// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// nextScales moves on to the scales of the next block.
func (k mul256) nextScales() {
	switch k.scales {
	case single, bfloat:
		k.op("ADDQ $32, BX")
	case superOne:
		k.op("ADDQ $16, R10")
	case withMin:
		k.op("ADDQ $64, BX")
	case superMin, halves, halvesMin:
		k.op("ADDQ $32, R10")
	}
}

// zeroPoints stores 32 times the sums of activations that the words of a lane have, both halves of a block in 16 bytes each.
func (k mul256) zeroPoints() {
	sum, turned := k.sums, k.sums+1
	for row := range k.rows {
		k.op("VMOVDQU thirtytwo<>(SB), Y%d", sum)
		k.op("VPMADDUBSW %d(DX), Y%d, Y%d", row*recordBytes, sum, sum)
		for _, order := range []int{0x4E, 0xB1} { // the other 8 bytes, the other 4
			k.op("VPSHUFD $%#x, Y%d, Y%d", order, sum, turned)
			k.op("VPADDW Y%d, Y%d, Y%d", turned, sum, sum)
		}
		k.op("VMOVDQU Y%d, %s", sum, zeroOf(row, 0))
	}
}

// zeroOf is where the frame has the zero points of a row and a half of a block.
func zeroOf(row, part int) string { return fmt.Sprintf("%d(R8)", wideSums+32*row+16*part) }

// correctWords takes the zero point off sums of 16 bits, of which are then exact what wrapped around before.
func (k mul256) correctWords(lanes []lane, part int) {
	for row := range k.rows {
		k.op("VPBROADCASTD %s, Y%d", zeroOf(row, part), k.product)
		for n := range lanes {
			sum := k.sums + n*k.rows + row
			k.op("VPSUBW Y%d, Y%d, Y%d", k.product, sum, sum)
		}
	}
}

// correct takes the zero point off the integer sums of some lanes.
func (k mul256) correct(lanes []lane, zero int) {
	for row := range k.rows {
		k.op("VPBROADCASTD %d(DX), Y%d", row*recordBytes+zero, k.product)
		if k.bits == 3 {
			k.op("VPSRAD $3, Y%d, Y%d", k.product, k.product) // -32 times the sum to -4 times
		}
		for n := range lanes {
			sum := k.sums + n*k.rows + row
			k.op("VPADDD Y%d, Y%d, Y%d", k.product, sum, sum)
		}
	}
}

// superScales stores the scales of a super-block of some lanes as floats, and its minima with the sign with which they are
// added, a 32nd of them in Q2_K. R10 then points at the bytes of its blocks.
func (k mul256) superScales(lanes []lane) {
	fine := 32
	for _, l := range lanes {
		k.op("VCVTPH2PS %s, Y%d", l.in("BX", 16*l.half), k.code)
		k.op("VMOVUPS Y%d, %s", k.code, l.superOf(0))
		if k.scales != superMin && k.scales != halvesMin {
			continue
		}
		fine = 64
		k.op("VCVTPH2PS %s, Y%d", l.in("BX", 32+16*l.half), k.code)
		if k.scales == halvesMin {
			k.op("VMULPS thirtysecond<>(SB), Y%d, Y%d", k.code, k.code)
		} else {
			k.op("VXORPS negative<>(SB), Y%d, Y%d", k.code, k.code)
		}
		k.op("VMOVUPS Y%d, %s", k.code, l.superOf(1))
	}
	k.op("LEAQ %d(BX), R10", fine)
	k.op("ADDQ $%d, BX", k.superBytes())
}

// scale sets the register code to the scales of a lane and minima to its minima, which are as in superScales. Part is the half of
// a block whose halves have scales of their own.
func (k mul256) scale(l lane, part int) {
	switch k.scales {
	case single:
		k.op("VCVTPH2PS %s, Y%d", l.in("BX", 16*l.half), k.code)
	case bfloat:
		k.op("VPMOVZXWD %s, Y%d", l.in("BX", 16*l.half), k.code)
		k.op("VPSLLD $16, Y%d, Y%d", k.code, k.code)
	case withMin:
		k.op("VCVTPH2PS %s, Y%d", l.in("BX", 16*l.half), k.code)
		k.op("VCVTPH2PS %s, Y%d", l.in("BX", 32+16*l.half), k.minima)
	case superOne, halves:
		k.op("VPMOVSXBD %s, Y%d", l.in("R10", 16*part+8*l.half), k.code)
		k.times(k.code, l.superOf(0))
	case superMin:
		k.op("VPMOVZXBD %s, Y%d", l.in("R10", 8*l.half), k.code)
		k.times(k.code, l.superOf(0))
		k.op("VPMOVZXBD %s, Y%d", l.in("R10", 16+8*l.half), k.minima)
		k.times(k.minima, l.superOf(1))
	case halvesMin:
		k.op("VPMOVZXBD %s, Y%d", l.in("R10", 16*part+8*l.half), k.code)
		k.op("VPSRLD $4, Y%d, Y%d", k.code, k.minima)
		k.op("VPAND fifteen<>(SB), Y%d, Y%d", k.code, k.code)
		k.times(k.code, l.superOf(0))
		k.times(k.minima, l.superOf(1))
	}
}

// times multiplies integers with the scales of a super-block, or its minima.
func (k mul256) times(register int, floats string) {
	k.op("VCVTDQ2PS Y%d, Y%d", register, register)
	k.op("VMULPS %s, Y%d, Y%d", floats, register, register)
}

// add adds the integer sums of some lanes to their float sums.
func (k mul256) add(lanes []lane, part int) {
	if k.scalesOnce() {
		for row := range k.rows {
			k.op("VBROADCASTSS %d(DX), Y%d", row*recordBytes+recordScale, k.act+row)
		}
	}
	if k.rows == 1 {
		k.actSum(0, part, k.act+1)
	}
	for n, l := range lanes {
		k.scale(l, part)
		for row := range k.rows {
			k.addRow(l, n, row, part)
		}
	}
}

// scalesOnce says whether the scales of all rows are loaded once for all lanes, to where activations are. With more than one row
// minima need those registers.
func (k mul256) scalesOnce() bool { return k.rows == 1 || k.shared && !k.kind().minima }

// actSum sets a register to the sum of a row's activations that minima are multiplied with, if there are any.
func (k mul256) actSum(row, part, register int) {
	switch k.scales {
	case withMin, superMin:
		k.op("VBROADCASTSS %d(DX), Y%d", row*recordBytes+recordSum, register)
	case halvesMin: // -32 times the sum, for a 32nd of the minimum
		k.op("VPBROADCASTD %d(DX), Y%d", row*recordBytes+recordZeroA+4*part, register)
		k.op("VCVTDQ2PS Y%d, Y%d", register, register)
	default: // no minima
	}
}

// addRow adds the integer sums of one lane and row.
func (k mul256) addRow(l lane, n, row, part int) {
	sum, scale, actSum := k.sums+n*k.rows+row, k.act+row, k.act+1
	if k.rows > 1 {
		actSum = k.act
	}
	if !k.scalesOnce() {
		scale = k.act
		k.op("VBROADCASTSS %d(DX), Y%d", row*recordBytes+recordScale, scale)
	}
	if k.wraps() {
		k.op("VPMADDWD %s, Y%d, Y%d", k.onesIn(), sum, sum)
	}
	k.op("VCVTDQ2PS Y%d, Y%d", sum, sum)
	k.op("VMULPS Y%d, Y%d, Y%d", k.code, scale, k.product)
	floats := sum
	if k.floats > 0 {
		floats = k.floats + n
		k.op("VFMADD231PS Y%d, Y%d, Y%d", k.product, sum, floats)
	} else {
		k.op("VFMADD213PS %s, Y%d, Y%d", k.sumOf(l, row), k.product, sum)
	}
	minima := k.minima
	if k.scales == halvesMin {
		minima = k.product
		k.op("VMULPS Y%d, Y%d, Y%d", k.minima, k.act, k.product)
	}
	if k.kind().minima {
		if k.rows > 1 {
			k.actSum(row, part, actSum)
		}
		k.op("VFMADD231PS Y%d, Y%d, Y%d", actSum, minima, floats)
	}
	if k.floats == 0 {
		k.op("VMOVUPS Y%d, %s", sum, k.sumOf(l, row))
	}
}

// store writes the float sums of all panels.
func (k mul256) store() {
	k.op("MOVQ apart+8(FP), R11")
	k.op("MOVQ ldd+16(FP), R9")
	for row := range k.rows {
		for _, l := range k.all() {
			register := k.floats + l.number()
			if k.floats == 0 {
				register = 0
				k.op("VMOVUPS %s, Y0", k.sumOf(l, row))
			}
			k.op("VMOVUPS Y%d, %s", register, l.in("DI", 32*l.half))
		}
		if row+1 < k.rows {
			k.op("ADDQ R9, DI")
		}
	}
}
