// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

const headerTile256 = `// Products of panels of 16 weight rows with 8 rows of activations, for AVX2 with FMA and F16C.
//
// Identity, headroom and float order: as in mul_avx2_amd64.s, operation for operation.
// Tails: none; see there.
// Bound: the vector ports. The codes of 8 weight rows and 32 inputs are unpacked once, into Y0 to Y7, and stay there while
// the 8 rows of activations pass: for each group of one, a load, a multiply and an add of 16 bits, in two chains, so that
// few of them wait for each other. What ends a row is mixed into the products of the next, for the same reason. There are
// no registers left for the float sums, which live in 512 bytes of memory that the caller lends. Formats whose weights are
// multiplied with their signs keep 8 integer sums instead, in Y0 to Y7.
//
// Registers: R13 the float sums; R11 is 0 or 8, the first of the panel's rows that are being done; others as in
// mul_avx2_amd64.s. Y8 and Y9 scales and minima, Y10 to Y15 temporary.

#include "textflag.h"

`

// A tile256 prints the kernel for 8 rows of activations for one format.
type tile256 struct{ mul256 }

const (
	tileRows      = 8
	tileSignature = "(dst *float32, ldd uintptr, codes, scales, act *byte, stride uintptr, blocks int, sums *TileSums)"
)

func tiles256() string {
	var p printer
	p.WriteString(generated + headerTile256)
	constants256(&p)
	for _, f := range formats {
		tile256{mul256{mul{&p, f, tileRows}, nil}}.print()
	}
	return p.String()
}

// name is the kernel's name in Go.
func (k tile256) name() string { return fmt.Sprintf("mul%sAVX2X%d", k.mul256.name, tileRows) }

// sum is where the float sums of a row are.
func (k tile256) sum(row int) string { return fmt.Sprintf("%d(R13)(R11*4)", row*4*16) }

func (k tile256) print() {
	fmt.Fprintf(k, "\n// func %s%s\n", k.name(), tileSignature)
	fmt.Fprintf(k, "TEXT ·%s(SB), NOSPLIT, $0-64\n", k.name())
	k.arguments(mulArguments)
	k.op("MOVQ sums+56(FP), R13")
	k.op("XORQ R11, R11")
	k.op("VXORPS Y0, Y0, Y0")
	for row := range tileRows {
		k.op("VMOVUPS Y0, %d(R13)", 64*row)
		k.op("VMOVUPS Y0, %d(R13)", 64*row+32)
	}
	if k.super() {
		k.label("super")
		k.superScales()
		k.op("MOVQ $8, AX")
	}
	k.label("block")
	k.prefetchCodes()
	k.label("half")
	k.scales8()
	if k.signed() {
		k.signedRows()
	} else {
		k.unpackBlock()
		k.unsignedRows()
	}
	k.op("ADDQ $32, SI")
	k.op("XORQ $8, R11")
	k.op("JNZ half")
	k.op("ADDQ $%d, SI", k.codeBytes()-64)
	k.op("ADDQ R9, DX")
	k.nextScales()
	k.repeat()
	for row := range tileRows {
		for half := range 2 {
			k.op("VMOVUPS %d(R13), Y%d", 64*row+32*half, half)
			k.op("VMOVUPS Y%d, %d(DI)", half, 32*half)
		}
		k.op("ADDQ R8, DI")
	}
	k.end()
}

// scales8 sets Y8 to the scales of 8 weight rows; Y9 to those of the second half of a block, if it has its own, or to the
// minima. Q2_K has both: its minima of the halves are in Y10 and Y11.
func (k tile256) scales8() {
	switch k.scales {
	case single:
		k.op("VCVTPH2PS (BX)(R11*2), Y8")
	case withMin:
		k.op("VCVTPH2PS (BX)(R11*2), Y8")
		k.op("VCVTPH2PS 32(BX)(R11*2), Y9")
	case bfloat:
		k.op("VPMOVZXWD (BX)(R11*2), Y8")
		k.op("VPSLLD $16, Y8, Y8")
	case superOne:
		k.times("VPMOVSXBD", 0, 0, 8)
	case superMin:
		k.times("VPMOVZXBD", 0, 0, 8)
		k.times("VPMOVZXBD", 16, 32, 9)
	case halves:
		k.times("VPMOVSXBD", 0, 0, 8)
		k.times("VPMOVSXBD", 16, 0, 9)
	case halvesMin:
		k.times("VPMOVZXBD", 0, 0, 8)
		k.times("VPMOVZXBD", 16, 0, 9)
		k.op("VCVTPH2PS 32(R12)(R11*2), Y13")
		k.op("VMULPS thirtysecond<>(SB), Y13, Y13")
		for part := range 2 {
			k.op("VPMOVZXBD %d(R10)(R11*1), Y%d", 16*part, 10+part)
			k.op("VPSRLD $4, Y%d, Y%d", 10+part, 10+part)
			k.op("VCVTDQ2PS Y%d, Y%d", 10+part, 10+part)
			k.op("VMULPS Y13, Y%d, Y%d", 10+part, 10+part)
		}
	}
}

// times sets a register to 8 bytes at one offset times the 8 half floats at another.
func (k tile256) times(widen string, bytes, floats, register int) {
	k.op("%s %d(R10)(R11*1), Y%d", widen, bytes, register)
	k.op("VCVTPH2PS %d(R12)(R11*2), Y13", floats)
	if k.scales == halvesMin {
		k.op("VPAND fifteen<>(SB), Y%d, Y%d", register, register)
	}
	k.op("VCVTDQ2PS Y%d, Y%d", register, register)
	k.op("VMULPS Y13, Y%d, Y%d", register, register)
}

// unpackBlock sets Y0 to Y7 to the codes of 8 rows.
func (k tile256) unpackBlock() {
	if k.bits < 4 {
		k.unpackPairs()
		return
	}
	k.op("VMOVDQU nibbles<>(SB), Y15")
	for line := range 4 {
		k.op("VMOVDQU %d(SI), Y%d", 64*line, line)
		k.op("VPSRLW $4, Y%d, Y%d", line, line+4)
		k.op("VPAND Y15, Y%d, Y%d", line, line)
		k.op("VPAND Y15, Y%d, Y%d", line+4, line+4)
	}
	if k.table != "" {
		k.op("VMOVDQU %s<>(SB), Y15", k.table)
		for group := range 8 {
			k.op("VPSHUFB Y%d, Y15, Y%d", group, group)
		}
	}
	switch k.bits {
	case 5:
		k.op("VMOVDQU fifth<>(SB), Y15")
		k.op("VMOVDQU 256(SI), Y14")
		for group := range 8 {
			k.orUpper(group, 4-group)
		}
	case 6:
		k.op("VMOVDQU upper<>(SB), Y15")
		for group := range 8 {
			if group%4 == 0 {
				k.op("VMOVDQU %d(SI), Y14", 256+16*group)
			}
			k.orUpper(group, 4-group%4*2)
		}
	}
}

// unpackPairs is unpackBlock for codes whose lower bits are pairs, four groups to a line.
func (k tile256) unpackPairs() {
	k.op("VMOVDQU pairs<>(SB), Y15")
	for line := range 2 {
		k.op("VMOVDQU %d(SI), Y%d", 64*line, 4*line)
		for pair := 1; pair < 4; pair++ {
			k.op("VPSRLW $%d, Y%d, Y%d", 2*pair, 4*line, 4*line+pair)
			k.op("VPAND Y15, Y%d, Y%d", 4*line+pair, 4*line+pair)
		}
		k.op("VPAND Y15, Y%d, Y%d", 4*line, 4*line)
	}
	if k.bits == 3 {
		k.op("VMOVDQU third<>(SB), Y15")
		k.op("VMOVDQU 128(SI), Y14")
		for group := range 8 {
			k.orUpper(group, 2-group)
		}
	}
}

// orUpper adds to a group's codes the bits of Y14 that lie left places below their own and that the mask in Y15 has.
func (k tile256) orUpper(group, left int) {
	bits := 13
	switch {
	case left > 0:
		k.op("VPSLLW $%d, Y14, Y13", left)
	case left < 0:
		k.op("VPSRLW $%d, Y14, Y13", -left)
	default:
		bits = 14
	}
	k.op("VPAND Y15, Y%d, Y13", bits)
	k.op("VPOR Y13, Y%d, Y%d", group, group)
}

// unsignedRows multiplies the codes in Y0 to Y7 with each row.
func (k tile256) unsignedRows() {
	var ending string // of the row before
	for row := range tileRows {
		products, next := k.row(row)
		k.WriteString(mix(products, ending))
		ending = next
	}
	k.WriteString(ending)
}

// row gives the instructions of one row: its integer sums, and how they get into the float sums. Rows take turns with
// registers, so that one's end and the next's products can be mixed; where halves have their own scales there are too few.
func (k tile256) row(row int) (products, ending string) {
	if k.split() {
		products = mix(k.part(func(k tile256) { k.chain(row, 0, 12, 14, 10) }), k.part(func(k tile256) { k.chain(row, 4, 13, 15, 11) }))
		return products + k.part(func(k tile256) { k.finishHalves(row) }), ""
	}
	sum := 10 + row%2
	products = mix(k.part(func(k tile256) { k.chain(row, 0, sum, 13, 0) }), k.part(func(k tile256) { k.chain(row, 4, 12, 15, 0) }))
	products += k.part(func(k tile256) {
		if k.widen() == 8 {
			k.op("VPADDW Y12, Y%d, Y%d", sum, sum)
			k.op("VPMADDWD ones<>(SB), Y%d, Y%d", sum, sum)
		} else {
			k.op("VPADDD Y12, Y%d, Y%d", sum, sum)
		}
	})
	return products, k.part(func(k tile256) { k.finish(row, sum) })
}

// part returns what f prints.
func (k tile256) part(f func(k tile256)) string {
	var p printer
	k.printer = &p
	f(k)
	return p.String()
}

// mix spreads the lines of b evenly among those of a.
func mix(a, b string) string {
	long, short := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	var mixed strings.Builder
	for i, line := range long {
		mixed.WriteString(line)
		for _, other := range short[i*len(short)/len(long) : (i+1)*len(short)/len(long)] {
			mixed.WriteString(other)
		}
	}
	return mixed.String()
}

// chain adds up four groups of a row, in 32 bits unless all eight fit into 16 bits. Second is for codes of which only two
// groups fit.
func (k tile256) chain(row, from, sum, spare, second int) {
	widen := k.widen()
	k.product(row, from, sum)
	for group := from + 1; group < from+4; group++ {
		if group-from == widen {
			k.product(row, group, second)
			sum, second = second, sum
			continue
		}
		k.product(row, group, spare)
		k.op("VPADDW Y%d, Y%d, Y%d", spare, sum, sum)
	}
	if widen == 8 {
		return
	}
	k.op("VPMADDWD ones<>(SB), Y%d, Y%d", sum, sum)
	if widen == 2 {
		k.op("VPMADDWD ones<>(SB), Y%d, Y%d", second, second)
		k.op("VPADDD Y%d, Y%d, Y%d", sum, second, second)
	}
}

// product sets a register to the products of a row with a group.
func (k tile256) product(row, group, register int) {
	k.op("VPBROADCASTD %d(DX), Y%d", row*recordBytes+4*group, register)
	k.op("VPMADDUBSW Y%d, Y%d, Y%d", register, group, register)
}

// correct takes the zero point off a row's integer sums.
func (k tile256) correct(row, zero, sum, spare int) {
	if k.zero == 0 || k.signed() {
		return
	}
	k.op("VPBROADCASTD %d(DX), Y%d", row*recordBytes+zero, spare)
	if k.bits == 3 {
		k.op("VPSRAD $3, Y%d, Y%d", spare, spare) // -32 times the sum to -4 times
	}
	k.op("VPADDD Y%d, Y%d, Y%d", spare, sum, sum)
}

// finish adds a row's integer sums to its float sums.
func (k tile256) finish(row, sum int) {
	record := row * recordBytes
	k.correct(row, k.zero, sum, 14)
	k.op("VBROADCASTSS %d(DX), Y14", record+recordScale)
	k.op("VMULPS Y8, Y14, Y14")
	k.op("VCVTDQ2PS Y%d, Y%d", sum, sum)
	k.op("VFMADD213PS %s, Y14, Y%d", k.sum(row), sum)
	switch k.scales {
	case withMin:
		k.op("VBROADCASTSS %d(DX), Y14", record+recordSum)
		k.op("VFMADD231PS Y14, Y9, Y%d", sum)
	case superMin:
		k.op("VBROADCASTSS %d(DX), Y14", record+recordSum)
		k.op("VFNMADD231PS Y14, Y9, Y%d", sum)
	default: // no minima
	}
	k.op("VMOVUPS Y%d, %s", sum, k.sum(row))
}

// finishHalves adds the integer sums of both halves of a block, in Y12 and Y13, to a row's float sums.
func (k tile256) finishHalves(row int) {
	record := row * recordBytes
	k.correct(row, k.zero, 12, 14)
	k.correct(row, k.zero+4, 13, 15)
	for half := range 2 {
		k.op("VBROADCASTSS %d(DX), Y14", record+recordScale)
		k.op("VMULPS Y%d, Y14, Y15", 8+half)
		k.op("VCVTDQ2PS Y%d, Y%d", 12+half, 12+half)
		if half == 0 {
			k.op("VFMADD213PS %s, Y15, Y12", k.sum(row))
		} else {
			k.op("VFMADD231PS Y15, Y13, Y12")
		}
		if k.scales == halvesMin { // a 32nd of the minimum times -32 times the sum
			k.op("VMULPS Y%d, Y14, Y14", 10+half)
			k.op("VPBROADCASTD %d(DX), Y15", record+recordZeroA+4*half)
			k.op("VCVTDQ2PS Y15, Y15")
			k.op("VFMADD231PS Y14, Y15, Y12")
		}
	}
	k.op("VMOVUPS Y12, %s", k.sum(row))
}

// signedRows does a block whose weights are multiplied as magnitudes with activations that took over their signs.
func (k tile256) signedRows() {
	for group := range 8 {
		switch {
		case k.bits == 8:
			k.op("VMOVDQU %d(SI), Y12", 64*group)
			k.op("VPXOR signs<>(SB), Y12, Y12")
		case group%4 == group:
			k.op("VMOVDQU %d(SI), Y12", 64*group)
			k.op("VPAND nibbles<>(SB), Y12, Y12")
		default:
			k.op("VMOVDQU %d(SI), Y12", 64*(group-4))
			k.op("VPSRLW $4, Y12, Y12")
			k.op("VPAND nibbles<>(SB), Y12, Y12")
		}
		if k.table != "" {
			k.op("VMOVDQU %s<>(SB), Y15", k.table)
			k.op("VPSHUFB Y12, Y15, Y12")
		}
		k.op("VPABSB Y12, Y15")
		for row := range tileRows {
			sum := 13
			if group == 0 {
				sum = row
			}
			k.op("VPBROADCASTD %d(DX), Y13", row*recordBytes+4*group)
			k.op("VPSIGNB Y12, Y13, Y13")
			k.op("VPMADDUBSW Y13, Y15, Y13")
			k.op("VPMADDWD ones<>(SB), Y13, Y%d", sum)
			if group > 0 {
				k.op("VPADDD Y13, Y%d, Y%d", row, row)
			}
		}
	}
	for row := range tileRows {
		k.finish(row, row)
	}
}
