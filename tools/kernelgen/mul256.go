// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

const header256 = `// Products of panels of 16 weight rows with 1, 2 or 4 rows of activations, for AVX2 with FMA and F16C.
//
// Identity: VPMADDUBSW multiplies unsigned codes with signed activations and adds pairs to 16 bits, VPMADDWD with ones
// adds pairs of those to 32 bits. A lane is a weight row, so there are no horizontal sums. Codes carry a zero point z:
// -z times the sum of the activations, from the activation record, is added. Q8_0 instead moves the sign of the weight
// to the activation: |w| * (sign(w)*a), exact also for w = -128; so do IQ4_NL and IQ4_XS, whose codes are looked up by
// VPSHUFB. MXFP4 looks up unsigned codes up to 28.
// Headroom in 16 bits, for pairs added up over several groups before they are widened: 4-bit codes 8 groups,
// 8*2*15*127 = 30480; 5-bit 4 groups, 31496; MXFP4 4 groups, 28448; 6-bit 2 groups, 32004; 8-bit 1 group, 32512; 2-bit
// and 3-bit 4 groups, which is half a block; all below 32768.
// Float order: as in the avx512 kernels, operation for operation, so the bits are the same.
// Tails: none; see there.
// Bound: one row by memory, 4 rows by the vector ports: for each row and group one multiply, one load and 1 to 2 adds
// for each half of the panel.
//
// One and two rows do both halves of a panel (8 weight rows to a register) at once. Four rows do the upper half in a
// second pass. 8 rows have kernels of their own: mul_avx2x8_amd64.s. Registers: Y0-Y3 float sums, Y4-Y7 sums of 16 bits, Y8-Y11 of 32 bits, Y12-Y15 temporary.

#include "textflag.h"

`

// rows256 are the numbers of activation rows that have a kernel.
var rows256 = []int{1, 2, 4}

// A lane is one accumulator: eight weight rows with one activation row.
type lane struct{ row, half int }

// A mul256 prints the kernel for one format and number of rows.
type mul256 struct {
	mul
	lanes []lane
}

func avx2() string {
	var p printer
	p.WriteString(generated + header256)
	constants256(&p)
	for _, f := range formats {
		for _, rows := range rows256 {
			mul256{mul{&p, f, rows}, lanes256(rows)}.print()
		}
	}
	return p.String()
}

// constants256 defines what both files of kernels need.
func constants256(p *printer) {
	p.constant("nibbles", 0x0F0F0F0F0F0F0F0F)
	p.constant("fifth", 0x1010101010101010)
	p.constant("upper", 0x3030303030303030)
	p.constant("signs", 0x8080808080808080)
	p.constant("ones", 0x0001000100010001)
	p.constant("pairs", 0x0303030303030303)
	p.constant("third", 0x0404040404040404)
	p.constant("thirtysecond", 0x3D0000003D000000) // 1/32 twice
	p.constant("fifteen", 0x0000000F0000000F)
	p.lookup("nonlinear", 0)
	p.lookup("float4", 16)
}

// lanes256 gives the accumulators of one pass over the panel.
func lanes256(rows int) []lane {
	if rows == 4 {
		return []lane{{0, 0}, {1, 0}, {2, 0}, {3, 0}}
	}
	var lanes []lane
	for half := range 2 {
		for row := range rows {
			lanes = append(lanes, lane{row, half})
		}
	}
	return lanes
}

func (k mul256) print() {
	k.function(fmt.Sprintf("mul%sAVX2X%d", k.name, k.rows))
	if k.streams() {
		k.panelSize()
	}
	if k.rows == 4 {
		k.op("XORQ R11, R11")
		k.label("pass")
		k.op("LEAQ 0(SI)(R11*4), SI")
	}
	for i := range k.lanes {
		k.op("VXORPS Y%d, Y%d, Y%d", i, i, i)
	}
	if k.super() {
		k.label("super")
		k.superScales()
		k.op("MOVQ $8, AX")
	} else if k.rows == 4 {
		k.op("LEAQ 0(BX)(R11*2), BX")
	}
	k.label("block")
	k.block()
	k.op("ADDQ $%d, SI", k.codeBytes())
	k.op("ADDQ R9, DX")
	k.repeat()
	k.store()
	k.end()
}

// streams says whether memory is the limit for all rows, so that scales are prefetched too.
func (k mul256) streams() bool { return k.rows <= 2 }

// block adds one block to the float sums and moves on to the scales of the next.
func (k mul256) block() {
	if k.streams() {
		k.prefetch()
	} else {
		k.prefetchCodes()
	}
	k.parts()
	k.nextScales()
}

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

// parts adds a block, or one half after the other if they have scales of their own, to the float sums.
func (k mul256) parts() {
	if k.split() {
		for half := range 2 {
			k.sum(4*half, 4*half+4)
			if k.zero != 0 {
				k.correct(k.zero + 4*half)
			}
			k.add(half)
		}
		return
	}
	k.sum(0, 8)
	if k.zero != 0 && !k.signed() {
		k.correct(k.zero)
	}
	k.add(0)
}

// signed says whether weights are multiplied as magnitudes with activations that took over their signs.
func (k mul256) signed() bool { return k.bits == 8 || k.table == "nonlinear" }

// widen is how many groups are added up in 16 bits.
func (k mul256) widen() int {
	switch {
	case k.signed():
		return 1
	case k.table != "":
		return 4 // codes up to 28
	}
	return map[int]int{2: 4, 3: 4, 4: 8, 5: 4, 6: 2}[k.bits]
}

// sum sets the 32-bit sums of groups from to end (of four inputs each) of the block.
func (k mul256) sum(from, end int) {
	widen := k.widen()
	for group := from; group < end; group++ {
		first, last := (group-from)%widen == 0, (group-from)%widen == widen-1
		unpacked := -1
		for i, l := range k.lanes {
			if l.half != unpacked {
				k.unpack(group, l.half)
				unpacked = l.half
			}
			k.multiply(group, i, l.row, first)
			if !last {
				continue
			}
			if group-from < widen {
				k.op("VPMADDWD ones<>(SB), Y%d, Y%d", 4+i, 8+i)
			} else {
				k.op("VPMADDWD ones<>(SB), Y%d, Y14", 4+i)
				k.op("VPADDD Y14, Y%d, Y%d", 8+i, 8+i)
			}
		}
	}
}

// multiply adds a group's products to the 16-bit sums of lane i, or sets them if they are the first.
func (k mul256) multiply(group, i, row int, first bool) {
	k.op("VPBROADCASTD %d(DX), Y13", row*recordBytes+4*group)
	codes := 12
	if k.signed() {
		k.op("VPSIGNB Y12, Y13, Y13")
		codes = 15
	}
	if first {
		k.op("VPMADDUBSW Y13, Y%d, Y%d", codes, 4+i)
		return
	}
	k.op("VPMADDUBSW Y13, Y%d, Y14", codes)
	k.op("VPADDW Y14, Y%d, Y%d", 4+i, 4+i)
}

// unpack sets Y12 to the codes of a group; if signed to the weights, and Y15 to their magnitudes.
func (k mul256) unpack(group, half int) {
	at := 32 * half
	if k.bits == 8 {
		k.op("VMOVDQU %d(SI), Y12", group*64+at)
		k.op("VPXOR signs<>(SB), Y12, Y12")
		k.op("VPABSB Y12, Y15")
		return
	}
	if k.bits < 4 {
		k.unpackPair(group, at)
		return
	}
	k.op("VMOVDQU %d(SI), Y12", group%4*64+at)
	if group >= 4 {
		k.op("VPSRLW $4, Y12, Y12")
	}
	k.op("VPAND nibbles<>(SB), Y12, Y12")
	if k.table != "" {
		k.op("VMOVDQU %s<>(SB), Y15", k.table)
		k.op("VPSHUFB Y12, Y15, Y12")
		if k.signed() {
			k.op("VPABSB Y12, Y15")
		}
		return
	}
	switch k.bits {
	case 5:
		k.upper(256+at, 4-group, "fifth")
	case 6:
		k.upper(256+group/4*64+at, 4-group%4*2, "upper")
	}
}

// unpackPair is unpack for codes whose lower bits are pairs, four groups to a line.
func (k mul256) unpackPair(group, at int) {
	k.op("VMOVDQU %d(SI), Y12", group/4*64+at)
	if group%4 > 0 {
		k.op("VPSRLW $%d, Y12, Y12", group%4*2)
	}
	k.op("VPAND pairs<>(SB), Y12, Y12")
	if k.bits == 3 {
		k.upper(128+at, 2-group, "third")
	}
}

// upper adds bits that lie left places below their own to the codes in Y12.
func (k mul256) upper(at, left int, mask string) {
	k.op("VMOVDQU %d(SI), Y15", at)
	if left > 0 {
		k.op("VPSLLW $%d, Y15, Y15", left)
	} else if left < 0 {
		k.op("VPSRLW $%d, Y15, Y15", -left)
	}
	k.op("VPAND %s<>(SB), Y15, Y15", mask)
	k.op("VPOR Y15, Y12, Y12")
}

// correct takes the zero point off the integer sums.
func (k mul256) correct(zero int) {
	for i, l := range k.lanes {
		k.op("VPBROADCASTD %d(DX), Y13", l.row*recordBytes+zero)
		if k.bits == 3 {
			k.op("VPSRAD $3, Y13, Y13") // -32 times the sum to -4 times
		}
		k.op("VPADDD Y13, Y%d, Y%d", 8+i, 8+i)
	}
}

// superScales points R12 at the half floats of the super-block and R10 at the bytes of its blocks.
func (k mul256) superScales() {
	k.op("MOVQ BX, R12")
	fine := 32
	if k.scales == superMin || k.scales == halvesMin {
		fine = 64
	}
	k.op("LEAQ %d(BX), R10", fine)
	k.op("ADDQ $%d, BX", k.superBytes())
	if k.rows == 4 {
		k.op("LEAQ 0(R12)(R11*2), R12")
		k.op("ADDQ R11, R10")
	}
}

// scale sets Y15 to the scales of eight rows and Y12 to their minima, a 32nd of them in Q2_K. Part is the half of a
// block whose halves have scales of their own.
func (k mul256) scale(half, part int) {
	switch k.scales {
	case single:
		k.op("VCVTPH2PS %d(BX), Y15", 16*half)
	case withMin:
		k.op("VCVTPH2PS %d(BX), Y15", 16*half)
		k.op("VCVTPH2PS %d(BX), Y12", 32+16*half)
	case superMin:
		k.fine("VPMOVZXBD", 8*half, 16*half, 15)
		k.fine("VPMOVZXBD", 16+8*half, 32+16*half, 12)
	case halves:
		k.fine("VPMOVSXBD", 16*part+8*half, 16*half, 15)
	case halvesMin:
		k.fine("VPMOVZXBD", 16*part+8*half, 16*half, 15)
		k.op("VPMOVZXBD %d(R10), Y12", 16*part+8*half)
		k.op("VPSRLD $4, Y12, Y12")
		k.op("VCVTDQ2PS Y12, Y12")
		k.op("VCVTPH2PS %d(R12), Y13", 32+16*half)
		k.op("VMULPS thirtysecond<>(SB), Y13, Y13")
		k.op("VMULPS Y13, Y12, Y12")
	case superOne:
		k.fine("VPMOVSXBD", 8*half, 16*half, 15)
	case bfloat:
		k.op("VPMOVZXWD %d(BX), Y15", 16*half)
		k.op("VPSLLD $16, Y15, Y15")
	}
}

// fine sets a register to the bytes at one offset times the half floats at another.
func (k mul256) fine(widen string, bytes, floats, register int) {
	k.op("%s %d(R10), Y%d", widen, bytes, register)
	k.op("VCVTPH2PS %d(R12), Y13", floats)
	if k.scales == halvesMin {
		k.op("VPAND fifteen<>(SB), Y%d, Y%d", register, register)
	}
	k.op("VCVTDQ2PS Y%d, Y%d", register, register)
	k.op("VMULPS Y13, Y%d, Y%d", register, register)
}

// add adds the integer sums to the float sums.
func (k mul256) add(part int) {
	loaded := -1
	for i, l := range k.lanes {
		if l.half != loaded {
			k.scale(l.half, part)
			loaded = l.half
		}
		k.op("VCVTDQ2PS Y%d, Y%d", 8+i, 8+i)
		k.op("VBROADCASTSS %d(DX), Y13", l.row*recordBytes+recordScale)
		k.op("VMULPS Y15, Y13, Y13")
		k.op("VFMADD231PS Y13, Y%d, Y%d", 8+i, i)
		k.minimum(l.row, i, part)
	}
}

// minimum adds the minima in Y12 to the float sums of lane i.
func (k mul256) minimum(row, i, part int) {
	switch k.scales {
	case withMin:
		k.op("VBROADCASTSS %d(DX), Y14", row*recordBytes+recordSum)
		k.op("VFMADD231PS Y14, Y12, Y%d", i)
	case superMin:
		k.op("VBROADCASTSS %d(DX), Y14", row*recordBytes+recordSum)
		k.op("VFNMADD231PS Y14, Y12, Y%d", i)
	case halvesMin: // a 32nd of the minimum times -32 times the sum
		k.op("VPBROADCASTD %d(DX), Y14", row*recordBytes+recordZeroA+4*part)
		k.op("VCVTDQ2PS Y14, Y14")
		k.op("VBROADCASTSS %d(DX), Y13", row*recordBytes+recordScale)
		k.op("VMULPS Y12, Y13, Y13")
		k.op("VFMADD231PS Y13, Y14, Y%d", i)
	default: // no minima
	}
}

// store writes the float sums. Four rows go back for the upper half of the panel.
func (k mul256) store() {
	if k.rows == 4 {
		k.op("LEAQ 0(DI)(R11*4), DI")
		for i := range k.lanes {
			k.op("VMOVUPS Y%d, (DI)", i)
			k.op("ADDQ R8, DI")
		}
		k.op("ADDQ $8, R11")
		k.arguments(mulArguments)
		k.op("CMPQ R11, $8")
		k.op("JEQ pass")
		return
	}
	for row := range k.rows {
		for i, l := range k.lanes {
			if l.row == row {
				k.op("VMOVUPS Y%d, %d(DI)", i, 32*l.half)
			}
		}
		k.op("ADDQ R8, DI")
	}
}
