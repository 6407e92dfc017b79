// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
)

const header256 = `// Products of two panels of 16 weight rows with 1 to 4 rows of activations, for AVX2 with FMA and F16C.
//
// Identity: VPMADDUBSW multiplies unsigned codes with signed activations and adds pairs to 16 bits, VPMADDWD with ones
// adds pairs of those to 32 bits. A lane is a weight row, so there are no horizontal sums. Codes carry a zero point z:
// -z times the sum of the activations, from the activation record, is added. Q8_0 instead moves the sign of the weight
// to the activation: |w| * (sign(w)*a), exact also for w = -128; so do IQ4_NL and IQ4_XS, whose codes are looked up by
// VPSHUFB. MXFP4 looks up unsigned codes up to 28.
// Headroom in 16 bits, for pairs added up over several groups before they are widened: 4-bit codes 8 groups,
// 8*2*15*127 = 30480; 5-bit 4 groups, 31496; MXFP4 4 groups, 28448; 8-bit 1 group, 32512; 2-bit and 3-bit 4 groups, which is
// half a block; all below 32768. So would be 2 groups of 6-bit codes, but 4 may wrap around: once the zero point is off, in 16
// bits too, they are at most 4*2*32*127 = 32512.
// Float order: as in the avx512 kernels, operation for operation, so the bits are the same.
// Tails: none; see there.
// Bound: one and two rows by memory, which gives more to two streams than to one: the panels take turns, block by block.
// Four rows by the vector ports: for each row and group one multiply, one load and 1 to 2 adds for each half of a panel.
//
// A register holds 8 weight rows, half of a panel. The four halves of both panels are done at once, group by group, where their
// sums fit into registers, else two of them: activations are loaded once for all, and no sum waits for itself.
//
// Registers: R11 how far the second panel lies behind the first; R12 what codes are asked for; R13 the size of a panel; R14 temporary;
// R8 the frame: float sums, integer sums while others are made, or zero points of 6-bit codes, scales of super-blocks, what lies where.
// Vectors differ from kernel to kernel: mul256.assign in the generator hands them out.
// 8 rows have kernels of their own: mul_many_avx2_amd64.s.

#include "textflag.h"

`

// rows256 are the numbers of activation rows that have a kernel.
var rows256 = []int{1, 2, 3, 4}

// A lane is half of a panel: 8 weight rows.
type lane struct{ panel, half int }

// A mul256 prints the kernel for one format and number of rows.
type mul256 struct {
	mul
	panels int // that take turns
	registers256
}

// registers256 are the numbers of vector registers that a kernel uses for something.
type registers256 struct {
	lanes   int // how many are done at once
	sums    int // of products, of 16 bits and later 32 bits, for each of these lanes and each row
	floats  int // float sums of all lanes of one row; 0 if they are in the frame
	lower   int // mask of a code's lower bits, or the signs of 8-bit codes
	upper   int // mask of upper bits in place, or a table
	high    int // mask of the upper halves of bytes; 0 if there is none
	top     int // mask of the upper pairs of bytes; 0 if there is none
	pairs   int // tables of upper bits, for the first and the second pair of a byte; 0 if there are none
	index   int // what is looked up there
	code    int // codes of a group, later scales
	product int
	other   int // upper bits or magnitudes
	act     int // activations: of one or two groups for one row, else of each row, or of one if they are not shared
	shared  bool
	minima  int
	ones    int // 0 if they are in memory
}

const (
	pairSignature = "(dst *float32, apart, ldd uintptr, codes, scales, act *byte, size, distance, stride uintptr, blocks, panels int)"
	// aheadBytes is how far ahead codes are asked for, rounded up to whole blocks. Those that are asked for twice come to the second
	// cache first, from farther, and then to the first one.
	aheadBytes, twiceFar, twiceNear = 768, 2304, 384
	// The frame has float sums, then integer sums or zero points, then scales of super-blocks, then what leads to the next panel.
	wideSums    = 16 * 32
	superFloats = wideSums + 8*32
	codesEnd    = superFloats + 4*2*32 // where this panel's codes end,
	scalesSize  = codesEnd + 8         // and how much further the next one's begin
	panelsLeft  = scalesSize + 8
	frame256    = panelsLeft + 8
)

func avx2() string {
	var p printer
	p.WriteString(generated + header256)
	constants256(&p)
	p.constant("thirtytwo", 0x2020202020202020)
	for _, f := range formats {
		for _, rows := range rows256 {
			newMul256(&p, f, rows, 2).print()
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
	p.constant("high", 0xF0F0F0F0F0F0F0F0)
	p.constant("top", 0xC0C0C0C0C0C0C0C0)
	p.lookup("firstpair", 0)
	p.lookup("secondpair", 0)
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

// newMul256 hands out the registers of a kernel. As many lanes are done at once as there are registers for.
func newMul256(p *printer, f format, rows, panels int) mul256 {
	k := mul256{mul: mul{p, f, rows}, panels: panels}
	for k.lanes = 2 * panels; ; k.lanes /= 2 {
		for _, k.shared = range []bool{true, false} {
			if k.assign() <= 16 {
				return k
			}
		}
	}
}

// assign hands out registers and returns how many are needed.
func (k *mul256) assign() int {
	next := 0
	take := func(n int) int { next += n; return next - n }
	k.sums = take(k.lanes * k.rows)
	k.lower = take(1)
	if k.upperMask() != "" {
		k.upper = take(1)
	}
	k.code = take(1)
	if k.rows < 2 || k.signed() || k.bits != 4 {
		k.other = take(1)
	}
	switch {
	case k.rows < 2 && !k.signed():
		k.product = k.code // multiplied once
	case k.bits == 3 || k.bits == 5 || k.bits == 6:
		k.product = k.other // upper bits are in the codes by then
	default:
		k.product = take(1)
	}
	if k.shared && k.rows > 1 {
		k.act = take(k.rows)
	} else {
		k.act = take(2)
	}
	k.minima = k.act + 1
	if k.rows < 2 {
		k.minima = k.other
	}
	needed := next
	k.spare(take, needed)
	return needed
}

// spare hands out the registers that are left, next being the first, to what kernels can do without.
func (k *mul256) spare(take func(n int) int, next int) {
	some := func(n int, wanted bool) int {
		if !wanted || next+n > 16 {
			return 0
		}
		next += n
		return take(n)
	}
	k.high, k.top = some(1, k.bits >= 4 && !k.signed()), some(1, k.bits == 6)
	k.pairs, k.index = some(3, k.pairwise()), 0
	if k.pairs > 0 {
		k.index = k.pairs + 2
	}
	k.ones = some(1, true)
	k.floats = some(k.lanes, k.rows == 1 && k.lanes == 2*k.panels)
}

// all are the lanes of all panels.
func (k mul256) all() []lane {
	var lanes []lane
	for panel := range k.panels {
		lanes = append(lanes, lane{panel, 0}, lane{panel, 1})
	}
	return lanes
}

func (k mul256) name() string { return fmt.Sprintf("mul%sAVX2X%d", k.format.name, k.rows) }

func (k mul256) print() {
	k.frame(k.name(), pairSignature, "R8", frame256,
		"dst DI", "apart R14", "ldd R8", "codes SI", "scales BX", "act DX", "size R13", "distance R11", "stride R9", "blocks CX", "panels R10")
	k.begin()
	k.masks()
	if k.ones > 0 {
		k.op("VMOVDQU ones<>(SB), %s", k.onesIn())
	}
	k.label("panel")
	k.op("LEAQ %d(SI), R12", k.ahead())
	k.clear()
	if k.super() {
		k.label("super")
		k.superScales(k.all())
		k.op("MOVQ $8, AX")
	}
	k.label("block")
	k.prefetchScales()
	k.goAhead()
	if k.wraps() {
		k.zeroPoints()
	}
	for lanes := range slices.Chunk(k.all(), k.lanes) {
		k.parts(lanes)
	}
	k.nextScales()
	k.op("ADDQ $%d, SI", k.codeBytes())
	k.op("ADDQ $%d, R12", k.codeBytes())
	k.op("ADDQ R9, DX")
	k.repeat()
	k.store()
	k.nextPanels()
	k.label("done")
	k.end()
}

// in is an operand at an offset from where a register points, or as far behind as the lane's panel is.
func (l lane) in(register string, at int) string {
	behind := [...]string{"", "(R11*1)"}
	return fmt.Sprintf("%d(%s)%s", at, register, behind[l.panel])
}

// number counts lanes as all does.
func (l lane) number() int { return 2*l.panel + l.half }

// sumOf is where the frame has the float sums of a row.
func (k mul256) sumOf(l lane, row int) string {
	return fmt.Sprintf("%d(R8)", 32*(l.number()*k.rows+row))
}

// superOf is where the scales of a super-block are, or its minima.
func (l lane) superOf(minima int) string {
	return fmt.Sprintf("%d(R8)", superFloats+32*(2*l.number()+minima))
}

// clear sets the float sums to zero.
func (k mul256) clear() {
	if k.floats > 0 {
		for i := range k.all() {
			k.op("VXORPS Y%d, Y%d, Y%d", k.floats+i, k.floats+i, k.floats+i)
		}
		return
	}
	k.op("VXORPS Y0, Y0, Y0")
	for _, l := range k.all() {
		for row := range k.rows {
			k.op("VMOVUPS Y0, %s", k.sumOf(l, row))
		}
	}
}

// prefetchScales asks for the scales of this block in the panels behind, which no hardware expects.
func (k mul256) prefetchScales() {
	k.op("LEAQ (%s)(R13*1), R14", k.scalesAt())
	for panel := range k.panels {
		k.op("PREFETCHT0 %s", lane{panel, 0}.in("R14", 0))
	}
}

// ahead is how far ahead codes are asked for.
func (k mul256) ahead() int {
	if k.asksTwice() {
		return twiceFar
	}
	return (aheadBytes + k.codeBytes() - 1) / k.codeBytes() * k.codeBytes()
}

// asksTwice says whether codes are asked for twice, which pays where a block takes the core longest.
func (k mul256) asksTwice() bool { return k.bits == 6 }

// begin stores where the codes of the first panel end, how much further those of the next begin, and how many panels there are.
func (k mul256) begin() {
	k.op("MOVQ BX, %d(R8)", codesEnd)
	k.op("LEAQ (SI)(R13*1), R14")
	k.op("SUBQ BX, R14")
	k.op("MOVQ R14, %d(R8)", scalesSize)
	k.op("MOVQ R10, %d(R8)", panelsLeft)
}

// nextPanels goes on to the panels behind, if there are any left. R9 is ldd.
func (k mul256) nextPanels() {
	k.op("DECQ %d(R8)", panelsLeft)
	k.op("JZ done")
	for range k.rows - 1 {
		k.op("SUBQ R9, DI")
	}
	k.op("ADDQ $%d, DI", 4*16)
	k.op("ADDQ %d(R8), SI", scalesSize)
	k.op("MOVQ %d(R8), BX", codesEnd)
	k.op("ADDQ R13, BX")
	k.op("MOVQ BX, %d(R8)", codesEnd)
	k.op("MOVQ act+40(FP), DX")
	k.op("MOVQ distance+56(FP), R11")
	k.op("MOVQ stride+64(FP), R9")
	k.op("MOVQ blocks+72(FP), CX")
	k.op("JMP panel")
}

// goAhead leads R12 from the end of this panel's codes to the next one's: the scales between them are asked for by prefetchScales.
func (k mul256) goAhead() {
	k.op("CMPQ R12, %d(R8)", codesEnd)
	k.op("JNE ahead")
	k.op("ADDQ %d(R8), R12", scalesSize)
	k.label("ahead")
}

// prefetchCodes asks for one of so many parts of a block of codes that comes soon. More requests at once than are sent at once hold
// up what is loaded meanwhile.
func (k mul256) prefetchCodes(part, parts int) {
	lines := k.codeBytes() / 64
	for line := part * lines / parts; line < (part+1)*lines/parts; line++ {
		for panel := range k.panels {
			l := lane{panel, 0}
			if k.asksTwice() {
				k.op("PREFETCHT1 %s", l.in("R12", 64*line))
				k.op("PREFETCHT0 %s", l.in("SI", 64*line+twiceNear))
			} else {
				k.op("PREFETCHT0 %s", l.in("R12", 64*line))
			}
		}
	}
}

// parts adds a block, or one half after the other if they have scales of their own, to the float sums of some lanes.
func (k mul256) parts(lanes []lane) {
	parts := k.kind().parts()
	for part := range parts {
		k.sum(lanes, 8/parts*part, 8/parts*(part+1))
		switch {
		case k.wraps():
			k.correctWords(lanes, part)
		case k.zero != 0 && !k.signed():
			k.correct(lanes, k.zero+4*part)
		}
		k.add(lanes, part)
	}
}

// signed says whether weights are multiplied as magnitudes with activations that took over their signs.
func (f format) signed() bool { return f.bits == 8 || f.table == "nonlinear" }

// widen is how many groups are added up in 16 bits on AVX2.
func (f format) widen() int {
	switch {
	case f.signed():
		return 1
	case f.table != "":
		return 4 // codes up to 28
	}
	return map[int]int{2: 4, 3: 4, 4: 8, 5: 4, 6: 2}[f.bits]
}

// wraps says whether sums of half a block are made modulo 2^16, where they fit once the zero point is taken off.
func (k mul256) wraps() bool { return k.bits == 6 }

// widen is how many groups are added up in 16 bits.
func (k mul256) widen() int {
	if k.wraps() {
		return 4
	}
	return k.format.widen()
}

// pairwise says whether two groups follow each other that find their upper bits with one index. Only one row has registers left
// for the activations of both.
func (k mul256) pairwise() bool { return k.bits == 6 && k.rows < 2 }

// sum sets the integer sums of some lanes to those of groups from to end, of four inputs each.
func (k mul256) sum(lanes []lane, from, end int) {
	at := 1
	if k.pairwise() {
		at = 2
	}
	for i, groups := range slices.Collect(slices.Chunk(k.order(from, end), at)) {
		if lanes[0].number() == 0 {
			k.prefetchCodes(from/at+i, 8/at)
		}
		if k.shared {
			k.activations(groups)
		}
		for n, l := range lanes {
			for j, group := range groups {
				k.unpack(l, group)
				k.multiply(product256{n, group, j, at*i + j})
			}
		}
	}
}

// activations loads those of a group for each row, or those of some groups for one.
func (k mul256) activations(groups []int) {
	for row := range k.rows {
		for j, group := range groups {
			k.op("VPBROADCASTD %d(DX), Y%d", row*recordBytes+4*group, k.act+row+j)
		}
	}
}

// A product256 is that of one group of a lane with all rows.
type product256 struct {
	lane  int // number among those that are done at once
	group int
	among int // number among the groups whose activations are loaded
	done  int // groups that were done before
}

// multiply adds the products of the group in the register code to the integer sums of a lane.
func (k mul256) multiply(p product256) {
	if k.signed() {
		k.op("VPABSB Y%d, Y%d", k.code, k.other)
	}
	for row := range k.rows {
		act := k.act + row + p.among
		if !k.shared {
			act = k.act
			k.op("VPBROADCASTD %d(DX), Y%d", row*recordBytes+4*p.group, act)
		}
		sum := p.lane*k.rows + row
		if k.signed() {
			k.op("VPSIGNB Y%d, Y%d, Y%d", k.code, act, k.product)
			k.op("VPMADDUBSW Y%d, Y%d, Y%d", k.product, k.other, k.product)
			k.add32(sum, p.done == 0)
			continue
		}
		if p.done%k.widen() == 0 {
			k.op("VPMADDUBSW Y%d, Y%d, Y%d", act, k.code, k.sums+sum)
		} else {
			k.op("VPMADDUBSW Y%d, Y%d, Y%d", act, k.code, k.product)
			k.op("VPADDW Y%d, Y%d, Y%d", k.product, k.sums+sum, k.sums+sum)
		}
		if p.done%k.widen() == k.widen()-1 && !k.wraps() {
			k.widenSums(sum, p.done < k.widen())
		}
	}
}

// add32 adds products of 16 bits by pairs to a sum of 32 bits, or sets it.
func (k mul256) add32(sum int, first bool) {
	if first {
		k.op("VPMADDWD %s, Y%d, Y%d", k.onesIn(), k.product, k.sums+sum)
		return
	}
	k.op("VPMADDWD %s, Y%d, Y%d", k.onesIn(), k.product, k.product)
	k.op("VPADDD Y%d, Y%d, Y%d", k.product, k.sums+sum, k.sums+sum)
}

// widenSums makes sums of 32 bits of those of 16 bits. Where groups are left to add, they go to the frame meanwhile.
func (k mul256) widenSums(sum int, first bool) {
	frame, twice := fmt.Sprintf("%d(R8)", wideSums+32*sum), k.widen() < 8/k.kind().parts()
	if first && twice {
		k.op("VPMADDWD %s, Y%d, Y%d", k.onesIn(), k.sums+sum, k.product)
		k.op("VMOVDQU Y%d, %s", k.product, frame)
		return
	}
	k.op("VPMADDWD %s, Y%d, Y%d", k.onesIn(), k.sums+sum, k.sums+sum)
	if twice {
		k.op("VPADDD %s, Y%d, Y%d", frame, k.sums+sum, k.sums+sum)
	}
}

// onesIn is where ones of 16 bits are.
func (k mul256) onesIn() string {
	if k.ones > 0 {
		return fmt.Sprintf("Y%d", k.ones)
	}
	return "ones<>(SB)"
}
