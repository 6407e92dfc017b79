// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

const header512 = `// Products of panels of 16 weight rows with 1, 2, 4 or 8 rows of activations, for AVX-512 with VNNI.
//
// Identity: VPDPBUSD multiplies unsigned weight codes with signed activations, four to a lane. A lane is a weight row,
// so there are no horizontal sums. Codes carry a zero point z; the lanes start at -z times the sum of the activations,
// which the activation record holds, and so end at the exact sum of (code-z)*activation.
// Headroom: a block's sum is at most 32*255*127 = 1036320, below the 2^24 that float32 holds exactly.
// Tables: VPSHUFB turns the four-bit codes of IQ4_NL, IQ4_XS and MXFP4 into unsigned bytes with a zero point.
// Float order: one fma for each block (twice as many with a minimum, and for halves that have scales of their own), in
// the order of the blocks.
// Tails: none. Panels have 16 rows, blocks 32 inputs; other numbers of activation rows are several calls.
// Bound: one row is bound by memory; 8 rows by ports 0 and 5: for each row and block 8 dot products and 3 or 4 float
// operations, plus an eighth of 8 to 24 operations that unpack the codes.
//
// Registers: Z0-Z7 float sums, Z8-Z15 integer sums, Z16-Z23 temporary, Z24 scale, Z25 minimum, Z26 super-block scale,
// Z27 super-block minimum, Z29 table, Z30 and Z31 masks.

#include "textflag.h"

`

// rows512 are the numbers of activation rows that have a kernel.
var rows512 = []int{1, 2, 4, 8}

// A mul512 prints the kernel for one format and number of rows.
type mul512 struct{ mul }

func avx512() string {
	var p printer
	p.WriteString(generated + header512)
	p.constant("thirtysecond", 0x3D0000003D000000) // 1/32 twice
	p.constant("fifteen", 0x0000000F0000000F)
	p.lookup("nonlinear", 128)
	p.lookup("float4", 16)
	for _, f := range formats {
		for _, rows := range rows512 {
			mul512{mul{&p, f, rows}}.print()
		}
	}
	return p.String()
}

func (k mul512) print() {
	k.function(fmt.Sprintf("mul%sAVX512X%d", k.name, k.rows))
	for t := range k.rows {
		k.op("VPXORD Z%d, Z%d, Z%d", t, t, t)
	}
	k.panelSize()
	k.masks()
	if k.super() {
		k.label("super")
		k.superScales()
		k.op("MOVQ $8, AX")
	}
	k.label("block")
	k.prefetch()
	if k.split() {
		for half := range 2 {
			zero := k.zero
			if zero != 0 {
				zero += 4 * half
			}
			k.sum(4*half, 4*half+4, zero)
			k.half(half)
			k.add(half)
		}
	} else {
		k.sum(0, 8, k.zero)
		k.blockScales()
		k.add(0)
	}
	k.op("ADDQ $%d, SI", k.codeBytes())
	k.op("ADDQ R9, DX")
	k.repeat()
	k.outputs(k.rows)
	k.end()
}

// nearBytes and farBytes are how far ahead codes are asked for: farther than a panel's scales are long, which lie in between.
const (
	nearBytes = 4096
	farBytes  = 4 * nearBytes
)

// prefetch asks for codes that come soon and for the scales of this block in the next panel. Without the latter each panel
// would begin with waiting for its scales, which no hardware expects.
func (k mul512) prefetch() {
	k.prefetchCodes()
	k.op("PREFETCHT0 (%s)(R13*1)", k.scalesAt())
}

// prefetchCodes asks for codes twice: those far ahead for the second cache, where what is asked for is dropped while too much
// else is on its way, and near ones for the first cache, which is never dropped. Kernels of many rows want both too: the first
// of several tiles waits for memory.
func (k mul512) prefetchCodes() {
	for at := 0; at < k.codeBytes(); at += 64 {
		k.op("PREFETCHT0 %d(SI)", nearBytes+at)
		k.op("PREFETCHT1 %d(SI)", farBytes+at)
	}
}

// outputs stores the float sums of so many rows, which are in Z0 and so on.
func (p *printer) outputs(rows int) {
	for t := range rows {
		p.op("VMOVUPS Z%d, (DI)", t)
		if t+1 < rows {
			p.op("ADDQ R8, DI")
		}
	}
}

// masks sets Z31 to the mask of a code's lower bits, Z30 to that of the upper bits in place, and Z29 to a table.
func (k mul512) masks() {
	if k.bits == 8 {
		return
	}
	lower := 0x0F0F0F0F
	if k.bits < 4 {
		lower = 0x03030303
	}
	k.op("MOVL $0x%08X, AX", lower)
	k.op("VPBROADCASTD AX, Z31")
	if upper := map[int]int{3: 0x04040404, 5: 0x10101010, 6: 0x30303030}[k.bits]; upper != 0 {
		k.op("MOVL $%#x, AX", upper)
		k.op("VPBROADCASTD AX, Z30")
	}
	if k.table != "" {
		k.op("VMOVDQU32 %s<>(SB), Z29", k.table)
	}
}

// sum sets the integer sums of groups from to end (of four inputs each) of the block.
func (k mul512) sum(from, end, zero int) {
	for t := range k.rows {
		if zero == 0 {
			k.op("VPXORD Z%d, Z%d, Z%d", 8+t, 8+t, 8+t)
		} else {
			k.op("VPBROADCASTD %d(DX), Z%d", t*recordBytes+zero, 8+t)
		}
	}
	if zero != 0 && k.bits == 3 {
		for t := range k.rows {
			k.op("VPSRAD $3, Z%d, Z%d", 8+t, 8+t) // -32 times the sum to -4 times
		}
	}
	k.upperBits(from)
	for _, group := range k.order(from, end) {
		w := k.unpack(group)
		for t := range k.rows {
			k.op("VPDPBUSD.BCST %d(DX), Z%d, Z%d", t*recordBytes+4*group, w, 8+t)
		}
	}
}

// upperBits loads what upper takes bits from, for the groups that begin with from.
func (k mul512) upperBits(from int) {
	switch k.bits {
	case 3:
		k.op("VMOVDQU32 128(SI), Z20")
	case 5:
		k.op("VMOVDQU32 256(SI), Z20")
	case 6:
		k.op("VMOVDQU32 %d(SI), Z20", 256+from/4*64)
	}
}

// unpack puts the codes of a group into the register that it names.
func (k mul512) unpack(group int) int {
	if k.bits == 8 {
		k.op("VMOVDQU32 %d(SI), Z%d", group*64, 16+group%2)
		return 16 + group%2
	}
	if k.bits < 4 {
		return k.unpackPair(group)
	}
	if group < 4 {
		k.op("VMOVDQU32 %d(SI), Z16", group*64)
		k.op("VPANDD Z31, Z16, Z17")
		return k.upper(group, 17)
	}
	if k.split() {
		k.op("VMOVDQU32 %d(SI), Z16", group%4*64)
	}
	k.op("VPSRLW $4, Z16, Z18")
	k.op("VPANDD Z31, Z18, Z18")
	return k.upper(group, 18)
}

// unpackPair is unpack for codes whose lower bits are pairs, four groups to a line.
func (k mul512) unpackPair(group int) int {
	if group%4 == 0 {
		k.op("VMOVDQU32 %d(SI), Z16", group/4*64)
		k.op("VPANDD Z31, Z16, Z17")
		return k.upper(group, 17)
	}
	k.op("VPSRLW $%d, Z16, Z18", group%4*2)
	k.op("VPANDD Z31, Z18, Z18")
	return k.upper(group, 18)
}

// upper adds the third, the fifth, or the fifth and sixth, bits of a group's codes, or looks them up.
func (k mul512) upper(group, register int) int {
	left := 0 // how far the bits lie below their place
	switch k.bits {
	case 4:
		if k.table != "" {
			k.op("VPSHUFB Z%d, Z29, Z%d", register, register)
		}
		return register
	case 2:
		return register
	case 3:
		left = 2 - group
	case 5:
		left = 4 - group
	case 6:
		left = 4 - group%4*2
	}
	bits := 20
	if left != 0 {
		shift := "VPSLLW"
		if left < 0 {
			shift, left = "VPSRLW", -left
		}
		bits = 21
		k.op("%s $%d, Z20, Z21", shift, left)
	}
	k.op("VPTERNLOGD $0xF8, Z30, Z%d, Z%d", bits, register) // register | bits & mask
	return register
}

// superScales loads what a super-block's blocks share, and points R10 at the scales of the blocks.
func (k mul512) superScales() {
	k.op("VCVTPH2PS (BX), Z26")
	fine := 32
	if k.scales == superMin || k.scales == halvesMin {
		k.op("VCVTPH2PS 32(BX), Z27")
		fine = 64
	}
	if k.scales == halvesMin {
		k.op("VMULPS thirtysecond<>(SB), Z27, Z27")
	}
	k.op("LEAQ %d(BX), R10", fine)
	k.op("ADDQ $%d, BX", k.superBytes())
}

// half sets Z24 to the scales of half n of a block, and Z25 to a 32nd of its minima.
func (k mul512) half(n int) {
	if k.scales == halvesMin {
		k.op("VPMOVZXBD %d(R10), Z24", 16*n)
		k.op("VPSRLD $4, Z24, Z25")
		k.op("VPANDD.BCST fifteen<>(SB), Z24, Z24")
		k.op("VCVTDQ2PS Z25, Z25")
		k.op("VMULPS Z27, Z25, Z25")
	} else {
		k.op("VPMOVSXBD %d(R10), Z24", 16*n)
	}
	k.op("VCVTDQ2PS Z24, Z24")
	k.op("VMULPS Z26, Z24, Z24")
	if n == 1 {
		k.op("ADDQ $32, R10")
	}
}

// blockScales sets Z24 to the scales of the block and Z25 to its minima.
func (k mul512) blockScales() {
	switch k.scales {
	case single:
		k.op("VCVTPH2PS (BX), Z24")
		k.op("ADDQ $32, BX")
	case bfloat:
		k.op("VPMOVZXWD (BX), Z24")
		k.op("VPSLLD $16, Z24, Z24")
		k.op("ADDQ $32, BX")
	case superOne:
		k.op("VPMOVSXBD (R10), Z24")
		k.op("VCVTDQ2PS Z24, Z24")
		k.op("VMULPS Z26, Z24, Z24")
		k.op("ADDQ $16, R10")
	case withMin:
		k.op("VCVTPH2PS (BX), Z24")
		k.op("VCVTPH2PS 32(BX), Z25")
		k.op("ADDQ $64, BX")
	case superMin:
		k.op("VPMOVZXBD (R10), Z24")
		k.op("VPMOVZXBD 16(R10), Z25")
		k.op("VCVTDQ2PS Z24, Z24")
		k.op("VCVTDQ2PS Z25, Z25")
		k.op("VMULPS Z26, Z24, Z24")
		k.op("VMULPS Z27, Z25, Z25")
		k.op("ADDQ $32, R10")
	default: // halves read theirs one by one
	}
}

// add adds the integer sums, of half n of a block whose halves have scales of their own, to the float sums.
func (k mul512) add(n int) {
	for t := range k.rows {
		k.op("VCVTDQ2PS Z%d, Z%d", 8+t, 8+t)
		k.op("VMULPS.BCST %d(DX), Z24, Z%d", t*recordBytes+recordScale, 16+t)
		k.op("VFMADD231PS Z%d, Z%d, Z%d", 16+t, 8+t, t)
		switch k.scales {
		case withMin:
			k.op("VFMADD231PS.BCST %d(DX), Z25, Z%d", t*recordBytes+recordSum, t)
		case superMin:
			k.op("VFNMADD231PS.BCST %d(DX), Z25, Z%d", t*recordBytes+recordSum, t)
		case halvesMin: // a 32nd of the minimum times -32 times the sum
			k.op("VCVTDQ2PS.BCST %d(DX), Z%d", t*recordBytes+recordZeroA+4*n, 8+t)
			k.op("VMULPS.BCST %d(DX), Z25, Z%d", t*recordBytes+recordScale, 16+t)
			k.op("VFMADD231PS Z%d, Z%d, Z%d", 16+t, 8+t, t)
		default: // no minima
		}
	}
}
