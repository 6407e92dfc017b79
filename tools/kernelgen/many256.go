// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
)

const headerMany256 = `// Products of panels with tiles of 8 rows of activations, for AVX2 with FMA and F16C: a run of blocks is expanded once, into
// bytes and floats that the first cache holds, and then multiplied with one tile after the other.
//
// Identity, headroom, signs, tables, float order: as in mul_avx2_amd64.s, operation for operation. Minima are expanded with the
// sign with which they are added. Names of kernels end with how many groups are added up in 16 bits.
// Tails: none. Rows are 8, runs of blocks begin and end with a super-block; what is left goes to the other kernels.
// Bound: the vector ports. Four rows and both halves of the panel are done at once, so that 8 products of a group need 6 loads:
// codes of both halves, activations of four rows.
//
// An expanded block: 8 lines of 64 codes, then 16 floats each: scales; scales, minima; scales of both halves; or scales and
// minima of the first half, scales and minima of the second.
//
// Registers: Y0-Y7 integer sums, of each row those of both halves of the panel; Y8-Y11 codes, Y12-Y15 temporary. R12 float sums
// of the tile, in the frame, where a cache line begins; R11 is 0 for the first four rows and 256 for the others, which is how far
// their records, at R10, and their sums, at R13, lie behind. AX is where codes are asked for, R14 how far it goes on with half of a
// block. Those of expanding are as in mul_avx2_amd64.s.

#include "textflag.h"

`

func many256() string {
	var p printer
	p.WriteString(generated + headerMany256)
	constants256(&p)
	p.constant("twentyeight", 0x1C1C1C1C1C1C1C1C) // makes the zero point of Q3_K, 4, that of Q6_K, 32
	for _, f := range formats {
		expand256{newMul256(&p, f, 0, 1)}.print()
	}
	for _, k := range kinds256() {
		manyKernel256{&p, k}.print()
	}
	return p.String()
}

// A kind256 is what the expanded blocks of some formats have in common on AVX2: also how many groups are added up in 16 bits.
type kind256 struct {
	kind
	widen int
}

// kind256 is that of a format.
func (f format) kind256() kind256 {
	widen := f.widen()
	if f.bits == 3 {
		widen = 2 // it is expanded as Q6_K
	}
	return kind256{f.kind(), widen}
}

// kinds256 are those of all formats.
func kinds256() []kind256 {
	var all []kind256
	for _, f := range formats {
		if k := f.kind256(); !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

// An expand256 prints what expands one panel of a format.
type expand256 struct{ mul256 }

func (k expand256) name() string { return "expand" + k.format.name + "AVX2" }

func (k expand256) print() {
	k.frame(k.name(), expandSignature, "R8", frame256, "dst DI", "codes SI", "scales BX", "ahead R13", "blocks CX")
	k.masks()
	lanes := k.all()
	if k.super() {
		k.label("super")
		k.superScales(lanes)
		k.op("MOVQ $8, AX")
	}
	k.label("block")
	k.op("PREFETCHT1 (%s)(R13*1)", k.scalesAt())
	groups := 8 / k.kind().parts()
	for _, l := range lanes {
		for part := range k.kind().parts() {
			k.codes(l, part*groups, part*groups+groups)
			k.floats(l, part)
		}
	}
	k.nextScales()
	k.op("ADDQ $%d, SI", k.codeBytes())
	k.op("ADDQ $%d, DI", k.kind().bytes())
	k.repeat()
	k.end()
}

// codes stores the codes of groups from to end of 8 weight rows.
func (k expand256) codes(l lane, from, end int) {
	for _, group := range k.order(from, end) {
		k.unpack(l, group)
		if k.bits == 3 {
			k.op("VPADDB twentyeight<>(SB), Y%d, Y%d", k.code, k.code)
		}
		k.op("VMOVDQU Y%d, %d(DI)", k.code, 64*group+32*l.half)
	}
}

// floats stores scales, and minima, of 8 weight rows.
func (k expand256) floats(l lane, part int) {
	k.scale(l, part)
	at := k.kind().scalesAt(part) + 32*l.half
	k.op("VMOVUPS Y%d, %d(DI)", k.code, at)
	if k.kind().minima {
		k.op("VMOVUPS Y%d, %d(DI)", k.minima, at+64)
	}
}

// A manyKernel256 prints the product of expanded blocks with eight rows of activations.
type manyKernel256 struct {
	*printer
	kind256
}

func (k manyKernel256) name() string { return fmt.Sprintf("many%s%dAVX2", k.kind.name, k.widen) }

// tileCodes is the size of the codes of an expanded block.
const tileCodes = 512

// groupRows is how many activation rows are done at once.
const groupRows = tileRows / 2

func (k manyKernel256) print() {
	k.frame(k.name(), manySignature, "R12", 64*tileRows, "dst DI", "ldd R8", "sums BX", "w SI", "act DX", "zero R9", "blocks CX", "codes AX", "ahead R13", "step R14")
	k.op("LEAQ 0(AX)(R13*1), AX")
	for i := range 2 * tileRows {
		k.op("VMOVUPS %d(BX), Y%d", 32*i, i%8)
		k.op("VMOVUPS Y%d, %d(R12)", i%8, 32*i)
	}
	k.op("XORQ R11, R11")
	k.label("block")
	k.op("LEAQ 0(DX)(R11*1), R10")
	k.op("LEAQ 0(R12)(R11*1), R13")
	k.ask()
	groups := 8 / k.parts()
	for part := range k.parts() {
		k.products(part*groups, part*groups+groups)
		k.add(part)
	}
	k.op("XORQ $%d, R11", groupRows*recordBytes)
	k.op("JNZ block")
	k.op("ADDQ $%d, SI", k.bytes())
	k.op("ADDQ $%d, DX", tileRows*recordBytes)
	k.op("DECQ CX")
	k.op("JNZ block")
	for row := range tileRows {
		for half := range 2 {
			k.op("VMOVUPS %d(R12), Y%d", 64*row+32*half, half)
			k.op("VMOVUPS Y%d, %d(DI)", half, 32*half)
		}
		k.op("ADDQ R8, DI")
	}
	k.end()
}

// ask asks for half of what a block of codes takes at most. Where they take less, some lines are asked for twice.
func (k manyKernel256) ask() {
	for at := 0; at < tileCodes/2; at += 64 {
		k.op("PREFETCHT1 %d(AX)", at)
	}
	k.op("ADDQ R14, AX")
}

// products sets the integer sums of groups from to end. What does not fit into 16 bits with the groups before is done by twos.
func (k manyKernel256) products(from, end int) {
	if k.widen == 1 {
		for group := from; group < end; group++ {
			k.signed(group, group == from)
		}
		return
	}
	next := from
	if k.widen > 2 {
		next = min(from+k.widen, end)
		k.chain(from, next)
	}
	for ; next < end; next += 2 {
		k.pair(next, next == from)
	}
}

// codes loads a group's codes of both halves of the panel.
func (k manyKernel256) codes(group, register int) {
	for half := range 2 {
		k.op("VMOVDQU %d(SI), Y%d", 64*group+32*half, register+half)
	}
}

// activations loads four activations of a row.
func (k manyKernel256) activations(row, group, register int) {
	k.op("VPBROADCASTD %d(R10), Y%d", row*recordBytes+4*group, register)
}

// chain sets the integer sums to those of groups that fit into 16 bits.
func (k manyKernel256) chain(from, end int) {
	for group := from; group < end; group++ {
		k.codes(group, 8)
		for row := range groupRows {
			k.activations(row, group, 12)
			if group == from {
				k.op("VPMADDUBSW Y12, Y8, Y%d", 2*row)
				k.op("VPMADDUBSW Y12, Y9, Y%d", 2*row+1)
				continue
			}
			k.op("VPMADDUBSW Y12, Y8, Y13")
			k.op("VPMADDUBSW Y12, Y9, Y14")
			k.op("VPADDW Y13, Y%d, Y%d", 2*row, 2*row)
			k.op("VPADDW Y14, Y%d, Y%d", 2*row+1, 2*row+1)
		}
	}
	k.op("VMOVDQU ones<>(SB), Y15")
	for sum := range 2 * groupRows {
		k.op("VPMADDWD Y15, Y%d, Y%d", sum, sum)
	}
}

// pair adds the products of two groups to the integer sums, or sets them.
func (k manyKernel256) pair(group int, first bool) {
	k.codes(group, 8)
	k.codes(group+1, 10)
	for row := range groupRows {
		k.activations(row, group, 12)
		k.activations(row, group+1, 13)
		k.op("VPMADDUBSW Y12, Y8, Y14")
		k.op("VPMADDUBSW Y13, Y10, Y15")
		k.op("VPMADDUBSW Y12, Y9, Y12")
		k.op("VPMADDUBSW Y13, Y11, Y13")
		k.op("VPADDW Y15, Y14, Y14")
		k.op("VPADDW Y13, Y12, Y12")
		k.widenTo(14, 2*row, first)
		k.widenTo(12, 2*row+1, first)
	}
}

// widenTo adds products of 16 bits to integer sums, or sets them.
func (k manyKernel256) widenTo(products, sum int, first bool) {
	if first {
		k.op("VPMADDWD ones<>(SB), Y%d, Y%d", products, sum)
		return
	}
	k.op("VPMADDWD ones<>(SB), Y%d, Y%d", products, products)
	k.op("VPADDD Y%d, Y%d, Y%d", products, sum, sum)
}

// signed adds the products of a group of weights that are multiplied as magnitudes with activations that took over their
// signs.
func (k manyKernel256) signed(group int, first bool) {
	k.codes(group, 8)
	k.op("VPABSB Y8, Y10")
	k.op("VPABSB Y9, Y11")
	for row := range groupRows {
		k.activations(row, group, 12)
		k.op("VPSIGNB Y8, Y12, Y14")
		k.op("VPSIGNB Y9, Y12, Y12")
		k.op("VPMADDUBSW Y14, Y10, Y14")
		k.op("VPMADDUBSW Y12, Y11, Y12")
		k.widenTo(14, 2*row, first)
		k.widenTo(12, 2*row+1, first)
	}
}

// add adds the integer sums of a block, or of a part of one, to the float sums.
func (k manyKernel256) add(part int) {
	floats := k.scalesAt(part)
	for half := range 2 {
		k.op("VMOVUPS %d(SI), Y%d", floats+32*half, 8+half)
		if k.minima {
			k.op("VMOVUPS %d(SI), Y%d", floats+64+32*half, 10+half)
		}
	}
	for row := range groupRows {
		if !k.minima && k.widen > 1 {
			k.op("VPBROADCASTD %d(R10)(R9*1), Y12", row*recordBytes+4*part)
			k.op("VPADDD Y12, Y%d, Y%d", 2*row, 2*row)
			k.op("VPADDD Y12, Y%d, Y%d", 2*row+1, 2*row+1)
		}
		k.op("VBROADCASTSS %d(R10), Y12", row*recordBytes+recordScale)
		switch {
		case k.minima && k.halves:
			k.op("VPBROADCASTD %d(R10), Y15", row*recordBytes+recordZeroA+4*part)
			k.op("VCVTDQ2PS Y15, Y15")
		case k.minima:
			k.op("VBROADCASTSS %d(R10), Y15", row*recordBytes+recordSum)
		}
		for half := range 2 {
			k.addLane(row, half)
		}
	}
}

// addLane adds the integer sums of a row and a half of the panel to their float sums. Y8 and Y9 are scales, Y10 and Y11 minima,
// Y12 is the scale of the activations, Y15 their sum.
func (k manyKernel256) addLane(row, half int) {
	sum, floats := 2*row+half, 64*row+32*half
	k.op("VCVTDQ2PS Y%d, Y%d", sum, sum)
	k.op("VMULPS Y%d, Y12, Y%d", 8+half, 13)
	k.op("VFMADD213PS %d(R13), Y13, Y%d", floats, sum)
	switch {
	case k.minima && k.halves: // a 32nd of the minimum times -32 times the sum
		k.op("VMULPS Y%d, Y12, Y14", 10+half)
		k.op("VFMADD231PS Y14, Y15, Y%d", sum)
	case k.minima:
		k.op("VFMADD231PS Y15, Y%d, Y%d", 10+half, sum)
	}
	k.op("VMOVUPS Y%d, %d(R13)", sum, floats)
}
