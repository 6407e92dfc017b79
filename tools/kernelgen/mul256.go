// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

const header256 = `// Products of two panels of 16 weight rows with 1, 2 or 4 rows of activations, for AVX2 with FMA and F16C.
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
// Bound: one and two rows by memory, which gives more to two streams than to one: the panels take turns, block by block.
// Four rows by the vector ports: for each row and group one multiply, one load and 1 to 2 adds for each half of a panel.
//
// A register holds 8 weight rows, half of a panel; the halves of a panel are done one after the other. Registers: R11 how far
// the second panel lies behind the first, R8 the frame: float sums of panels, halves and rows, then scales of super-blocks.
// Y0-Y3 sums of 16 bits, Y4-Y7 of 32 bits, Y8 and Y9 masks or a table, Y10 a line of
// upper bits, Y11 a line of codes, Y12-Y15 temporary. One and two rows have ones in Y7 and, where halves of a block have scales of
// their own, lines of codes in Y2, Y3 and Y6 too.
// 8 rows have kernels of their own: mul_many_avx2_amd64.s.

#include "textflag.h"

`

// rows256 are the numbers of activation rows that have a kernel.
var rows256 = []int{1, 2, 4}

// A mul256 prints the kernel for one format and number of rows.
type mul256 struct {
	mul
	half, panel int // which 8 weight rows are being done
}

const (
	pairSignature = "(dst, second *float32, ldd uintptr, codes, scales, act *byte, distance, stride uintptr, blocks int)"
	// pairBytes is how far ahead codes are asked for.
	pairBytes = 768
	// superFloats is where the frame has scales of super-blocks, behind the float sums.
	superFloats = 2 * 2 * 4 * 32
	frame256    = superFloats + 2*2*2*32
)

func avx2() string {
	var p printer
	p.WriteString(generated + header256)
	constants256(&p)
	for _, f := range formats {
		for _, rows := range rows256 {
			mul256{mul{&p, f, rows}, 0, 0}.print()
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
	p.constant("negative", 0x8000000080000000)     // the sign of a float twice
	p.constant("fifteen", 0x0000000F0000000F)
	p.lookup("nonlinear", 0)
	p.lookup("float4", 16)
}

// frame opens a function with a frame of some bytes, and sets a register to where a cache line begins in it.
func (p *printer) frame(function, signature, register string, bytes int, arguments ...string) {
	fmt.Fprintf(p, "\n// func %s%s\n", function, signature)
	fmt.Fprintf(p, "TEXT ·%s(SB), 0, $%d-%d\n", function, bytes+64, 8*len(arguments))
	p.arguments(arguments)
	p.op("LEAQ 63(SP), %s", register)
	p.op("ANDQ $-64, %s", register)
}

func (k mul256) name() string { return fmt.Sprintf("mul%sAVX2X%d", k.format.name, k.rows) }

func (k mul256) print() {
	k.frame(k.name(), pairSignature, "R8", frame256,
		"dst DI", "second R14", "ldd R8", "codes SI", "scales BX", "act DX", "distance R11", "stride R9", "blocks CX")
	k.panelSize()
	k.op("LEAQ 0(R13)(R11*1), R14")
	k.op("VXORPS Y0, Y0, Y0")
	for sum := range 4 * k.rows {
		k.op("VMOVUPS Y0, %d(R8)", 32*sum)
	}
	k.masks()
	if k.spare() {
		k.op("VMOVDQU ones<>(SB), %s", k.ones())
	}
	if k.super() {
		k.label("super")
		k.superScales(2)
		k.op("MOVQ $8, AX")
	}
	k.label("block")
	k.prefetchPair()
	for panel := range 2 {
		for half := range 2 {
			mul256{k.mul, half, panel}.parts()
		}
	}
	k.nextScales()
	k.op("ADDQ $%d, SI", k.codeBytes())
	k.op("ADDQ R9, DX")
	k.repeat()
	k.store()
	k.end()
}

// in is an operand at an offset from where a register points, or as far behind as the second panel is.
func (k mul256) in(register string, at int) string {
	if k.panel == 1 {
		return fmt.Sprintf("%d(%s)(R11*1)", at, register)
	}
	return fmt.Sprintf("%d(%s)", at, register)
}

// sumOf is where the float sums of a row are.
func (k mul256) sumOf(row int) string {
	return fmt.Sprintf("%d(R8)", 32*((2*k.panel+k.half)*k.rows+row))
}

// superOf is where the scales of a super-block are, or its minima.
func (k mul256) superOf(minima int) string {
	return fmt.Sprintf("%d(R8)", superFloats+32*(2*(2*k.panel+k.half)+minima))
}

// prefetchPair asks for codes of both panels that come soon, and for the scales of this block in the panels behind them, which
// no hardware expects.
func (k mul256) prefetchPair() {
	for panel := range 2 {
		for at := 0; at < k.codeBytes(); at += 64 {
			k.op("PREFETCHT0 %s", mul256{k.mul, 0, panel}.in("SI", pairBytes+at))
		}
	}
	scales := "BX"
	if k.super() {
		scales = "R10"
	}
	k.op("PREFETCHT0 (%s)(R13*1)", scales)
	k.op("PREFETCHT0 (%s)(R14*1)", scales)
}

// masks sets Y8 to the mask of a code's lower bits, or to the signs of 8-bit codes, and Y9 to the mask of upper bits in place or to
// a table.
func (k mul256) masks() {
	lower := map[int]string{2: "pairs", 3: "pairs", 8: "signs"}[k.bits]
	if lower == "" {
		lower = "nibbles"
	}
	k.op("VMOVDQU %s<>(SB), Y8", lower)
	upper := map[int]string{3: "third", 5: "fifth", 6: "upper"}[k.bits]
	if k.table != "" {
		upper = k.table
	}
	if upper != "" {
		k.op("VMOVDQU %s<>(SB), Y9", upper)
	}
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
		for part := range 2 {
			k.sum(4*part, 4*part+4)
			if k.zero != 0 {
				k.correct(k.zero + 4*part)
			}
			k.add(part)
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
	k.upperBits(from)
	for i, group := range k.order(from, end) {
		k.unpack(group)
		for row := range k.rows {
			k.multiply(group, row, i%widen == 0)
			if i%widen == widen-1 {
				k.widenRow(row, i < widen)
			}
		}
	}
}

// multiply adds a group's products to the 16-bit sums of a row, or sets them if they are the first.
func (k mul256) multiply(group, row int, first bool) {
	k.op("VPBROADCASTD %d(DX), Y13", row*recordBytes+4*group)
	codes := 12
	if k.signed() {
		k.op("VPSIGNB Y12, Y13, Y13")
		codes = 15
	}
	if first {
		k.op("VPMADDUBSW Y13, Y%d, Y%d", codes, row)
		return
	}
	k.op("VPMADDUBSW Y13, Y%d, Y14", codes)
	k.op("VPADDW Y14, Y%d, Y%d", row, row)
}

// widenRow adds a row's 16-bit sums to its 32-bit sums, or sets them.
func (k mul256) widenRow(row int, first bool) {
	if first {
		k.op("VPMADDWD %s, Y%d, Y%d", k.ones(), row, 4+row)
		return
	}
	k.op("VPMADDWD %s, Y%d, Y14", k.ones(), row)
	k.op("VPADDD Y14, Y%d, Y%d", 4+row, 4+row)
}

// spare says whether registers of sums are left for what would be loaded again and again.
func (k mul256) spare() bool { return k.rows < 4 }

// ones are in Y7 if no sums are.
func (k mul256) ones() string {
	if k.spare() {
		return "Y7"
	}
	return "ones<>(SB)"
}

// upperBits sets Y10 to the line that upper takes bits from, for the groups that begin with from.
func (k mul256) upperBits(from int) {
	at := 32 * k.half
	switch k.bits {
	case 3:
		k.op("VMOVDQU %s, Y10", k.in("SI", 128+at))
	case 5:
		k.op("VMOVDQU %s, Y10", k.in("SI", 256+at))
	case 6:
		k.op("VMOVDQU %s, Y10", k.in("SI", 256+from/4*64+at))
	}
}

// unpack sets Y12 to the codes of a group; if signed to the weights, and Y15 to their magnitudes. Groups that share a line
// follow each other.
func (k mul256) unpack(group int) {
	if k.bits == 8 {
		k.op("VMOVDQU %s, Y12", k.in("SI", group*64+32*k.half))
		k.op("VPXOR Y8, Y12, Y12")
		k.op("VPABSB Y12, Y15")
		return
	}
	line, right, load, register := group%4, group/4*4, group < 4, 11
	switch {
	case k.bits < 4:
		line, right, load = group/4, group%4*2, group%4 == 0
	case k.split() && k.spare(): // four lines stay for the other half of the block
		register = [...]int{2, 3, 6, 11}[line]
	case k.split():
		load = true
	}
	if load {
		k.op("VMOVDQU %s, Y%d", k.in("SI", 64*line+32*k.half), register)
	}
	if right > 0 {
		k.op("VPSRLW $%d, Y%d, Y12", right, register)
		k.op("VPAND Y8, Y12, Y12")
	} else {
		k.op("VPAND Y8, Y%d, Y12", register)
	}
	if k.table != "" {
		k.op("VPSHUFB Y12, Y9, Y12")
	}
	if k.signed() {
		k.op("VPABSB Y12, Y15")
	}
	switch k.bits {
	case 3:
		k.upper(2 - group)
	case 5:
		k.upper(4 - group)
	case 6:
		k.upper(4 - group%4*2)
	}
}

// upper adds bits that lie left places below their own to the codes in Y12.
func (k mul256) upper(left int) {
	bits := 15
	switch {
	case left > 0:
		k.op("VPSLLW $%d, Y10, Y15", left)
	case left < 0:
		k.op("VPSRLW $%d, Y10, Y15", -left)
	default:
		bits = 10
	}
	k.op("VPAND Y9, Y%d, Y15", bits)
	k.op("VPOR Y15, Y12, Y12")
}

// correct takes the zero point off the integer sums.
func (k mul256) correct(zero int) {
	for row := range k.rows {
		k.op("VPBROADCASTD %d(DX), Y13", row*recordBytes+zero)
		if k.bits == 3 {
			k.op("VPSRAD $3, Y13, Y13") // -32 times the sum to -4 times
		}
		k.op("VPADDD Y13, Y%d, Y%d", 4+row, 4+row)
	}
}

// superScales stores the scales of a super-block of so many panels as floats, and its minima with the sign with which they are
// added, a 32nd of them in Q2_K. R10 then points at the bytes of its blocks.
func (k mul256) superScales(panels int) {
	fine := 32
	for panel := range panels {
		for half := range 2 {
			k := mul256{k.mul, half, panel}
			k.op("VCVTPH2PS %s, Y12", k.in("BX", 16*half))
			k.op("VMOVUPS Y12, %s", k.superOf(0))
			if k.scales != superMin && k.scales != halvesMin {
				continue
			}
			fine = 64
			k.op("VCVTPH2PS %s, Y12", k.in("BX", 32+16*half))
			if k.scales == halvesMin {
				k.op("VMULPS thirtysecond<>(SB), Y12, Y12")
			} else {
				k.op("VXORPS negative<>(SB), Y12, Y12")
			}
			k.op("VMOVUPS Y12, %s", k.superOf(1))
		}
	}
	k.op("LEAQ %d(BX), R10", fine)
	k.op("ADDQ $%d, BX", k.superBytes())
}

// scale sets Y15 to the scales of eight rows and Y12 to their minima, which are as in superScales. Part is the half of a block whose
// halves have scales of their own.
func (k mul256) scale(part int) {
	switch k.scales {
	case single:
		k.op("VCVTPH2PS %s, Y15", k.in("BX", 16*k.half))
	case bfloat:
		k.op("VPMOVZXWD %s, Y15", k.in("BX", 16*k.half))
		k.op("VPSLLD $16, Y15, Y15")
	case withMin:
		k.op("VCVTPH2PS %s, Y15", k.in("BX", 16*k.half))
		k.op("VCVTPH2PS %s, Y12", k.in("BX", 32+16*k.half))
	case superOne, halves:
		k.op("VPMOVSXBD %s, Y15", k.in("R10", 16*part+8*k.half))
		k.times(15, 0)
	case superMin:
		k.op("VPMOVZXBD %s, Y15", k.in("R10", 8*k.half))
		k.times(15, 0)
		k.op("VPMOVZXBD %s, Y12", k.in("R10", 16+8*k.half))
		k.times(12, 1)
	case halvesMin:
		k.op("VPMOVZXBD %s, Y15", k.in("R10", 16*part+8*k.half))
		k.op("VPSRLD $4, Y15, Y12")
		k.op("VPAND fifteen<>(SB), Y15, Y15")
		k.times(15, 0)
		k.times(12, 1)
	}
}

// times multiplies integers with the scales of a super-block, or its minima.
func (k mul256) times(register, minima int) {
	k.op("VCVTDQ2PS Y%d, Y%d", register, register)
	k.op("VMULPS %s, Y%d, Y%d", k.superOf(minima), register, register)
}

// add adds the integer sums to the float sums.
func (k mul256) add(part int) {
	k.scale(part)
	for row := range k.rows {
		sum := 4 + row
		k.op("VCVTDQ2PS Y%d, Y%d", sum, sum)
		k.op("VBROADCASTSS %d(DX), Y13", row*recordBytes+recordScale)
		k.op("VMULPS Y15, Y13, Y14")
		k.op("VFMADD213PS %s, Y14, Y%d", k.sumOf(row), sum)
		switch k.scales {
		case withMin, superMin:
			k.op("VBROADCASTSS %d(DX), Y14", row*recordBytes+recordSum)
			k.op("VFMADD231PS Y14, Y12, Y%d", sum)
		case halvesMin: // a 32nd of the minimum times -32 times the sum
			k.op("VPBROADCASTD %d(DX), Y14", row*recordBytes+recordZeroA+4*part)
			k.op("VCVTDQ2PS Y14, Y14")
			k.op("VMULPS Y12, Y13, Y13")
			k.op("VFMADD231PS Y13, Y14, Y%d", sum)
		default: // no minima
		}
		k.op("VMOVUPS Y%d, %s", sum, k.sumOf(row))
	}
}

// store writes the float sums of both panels.
func (k mul256) store() {
	k.op("MOVQ second+8(FP), R14")
	k.op("MOVQ ldd+16(FP), R9")
	for row := range k.rows {
		for panel, to := range []string{"DI", "R14"} {
			for half := range 2 {
				k.op("VMOVUPS %s, Y%d", mul256{k.mul, half, panel}.sumOf(row), half)
				k.op("VMOVUPS Y%d, %d(%s)", half, 32*half, to)
			}
			if row+1 < k.rows {
				k.op("ADDQ R9, %s", to)
			}
		}
	}
}
