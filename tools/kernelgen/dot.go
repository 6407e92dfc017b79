// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

const headerDot = `// Products of 4 rows of float weights with 1 to 6 rows of activations, for both amd64 tiers.
// Pairs: VDPBF16PS adds the products of two BF16 weights and two BF16 activations to a lane; lane i sums columns 2i, 2i+1,
// 2i+32, 2i+33 ... The assembler does not know it, so its bytes are written out.
//
// Identity: lane i of a row sums the products of columns i, i+16, i+32 ... with fma; the 16 lanes are added as a tree
// (8 and 8, 4 and 4, ...), so both tiers give the same bits. F16 converts exactly by F16C, BF16 by a shift of 16;
// on AVX2 a shuffle does that, for the shifts would take a port of the fma.
// Tails: none, columns come in multiples of 16, of pairs 32. Other numbers of weight rows pass a stride of 0.
// Bound: few rows by memory, so their kernels prefetch what lies further down in the memory of each of their weight rows; 6 rows by the fma ports, 24 fma and 8 operations of
// conversion for 10 loads (avx512). AVX2 has registers for 2 weight rows by 3: it takes the 4 in two passes.

#include "textflag.h"
`

// A dot prints the kernel for one type, tier and number of activation rows.
type dot struct {
	*printer
	typ      string // Pairs are BF16 weights with BF16 activations
	tier     string
	register string // Z, or pairs of Y
	parts    int    // registers that hold 16 lanes
	rows     int
	few      bool // asks for weights that come soon, though others with as many rows do not
}

const (
	weightRows = 4
	// dotNear and dotFar are how far ahead a single row asks for weights, in each of 4 rows that lie far from each other: see
	// mul512.prefetchCodes. On AVX2 one request is best, dotSoon ahead, and kernels of 2 and 3 rows ask too.
	dotNear = 2048
	dotFar  = 4 * dotNear
	dotSoon = 512
)

// weightAddresses are where the weight rows of a kernel are.
var weightAddresses = [weightRows]string{"(SI)", "(SI)(R9*1)", "(SI)(R9*2)", "(SI)(R10*1)"}

// dotRows are the numbers of activation rows that have a kernel.
var dotRows = map[string][]int{"AVX512": {1, 2, 3, 4, 6}, "AVX2": {1, 2, 3}}

// mostAsking is the most rows of an AVX2 kernel. Prompts have another one of as many, for they are slower where it asks.
const mostAsking = 3

func dots() string {
	var p printer
	p.WriteString(generated + headerDot)
	p.words("upperWords", [4]uint64{0x0302808001008080, 0x0706808005048080, 0x0B0A808009088080, 0x0F0E80800D0C8080})
	for _, d := range allDots() {
		d.printer = &p
		d.print()
	}
	return p.String()
}

// allDots lists the kernels, without a printer.
func allDots() (all []dot) {
	for _, typ := range []string{"F32", "F16", "BF16"} {
		for _, rows := range dotRows["AVX2"] {
			all = append(all, dot{typ: typ, tier: "AVX2", register: "Y", parts: 2, rows: rows})
		}
		all = append(all, dot{typ: typ, tier: "AVX2", register: "Y", parts: 2, rows: mostAsking, few: true})
		for _, rows := range dotRows["AVX512"] {
			all = append(all, dot{typ: typ, tier: "AVX512", register: "Z", parts: 1, rows: rows})
		}
	}
	for _, rows := range dotRows["AVX512"] {
		all = append(all, dot{typ: "Pairs", tier: "AVX512", register: "Z", parts: 1, rows: rows})
	}
	return all
}

// name is the kernel's name in Go.
func (d dot) name() string {
	kind := "X"
	if d.few {
		kind = "Few"
	}
	return fmt.Sprintf("dot%s%s%s%d", d.typ, d.tier, kind, d.rows)
}

// asks says whether the kernel asks for weights that come soon, as is best where rows are few.
func (d dot) asks() bool { return d.few || d.rows == 1 || d.tier == "AVX2" && d.rows < mostAsking }

const dotSignature = "(dst *float32, ldd uintptr, w *byte, wstride uintptr, x *float32, xstride uintptr, blocks int)"

// signature is the kernel's type in Go.
func (d dot) signature() string {
	if d.pairs() {
		return strings.Replace(dotSignature, "x *float32", "x *uint16", 1)
	}
	return dotSignature
}

// pairs says whether the activations are BF16 too.
func (d dot) pairs() bool { return d.typ == "Pairs" }

// weightBytes is the size of the weights of a row that meet 64 bytes of activations.
func (d dot) weightBytes() int {
	return map[string]int{"F32": 64, "F16": 32, "BF16": 32, "Pairs": 64}[d.typ]
}

// reg names register n.
func (d dot) reg(n int) string { return fmt.Sprintf("%s%d", d.register, n) }

// passRows is how many weight rows have room in registers at once.
func (d dot) passRows() int {
	if d.rows*weightRows*d.parts > 24 || d.register == "Y" && d.rows > 1 {
		return weightRows / 2
	}
	return weightRows
}

// registers is how many there are for sums and operands.
func (d dot) registers() int {
	if d.shuffles() {
		return 15 // Y15 is the pattern
	}
	return map[string]int{"Z": 32, "Y": 16}[d.register]
}

// shuffles says whether one shuffle of 8 numbers, loaded twice, replaces widening and shifting them: half the operations
// for ports that the fma wants too.
func (d dot) shuffles() bool { return d.typ == "BF16" && d.tier == "AVX2" }

// kept is how many rows of activations have a register. The last of 3 has none where Y15 is taken.
func (d dot) kept() int { return min(d.rows, d.registers()-1-d.passRows()*d.rows*d.parts) }

// accumulator is the register number of the first part of a sum.
func (d dot) accumulator(w, t int) int { return (t*d.passRows() + w) * d.parts }

func (d dot) print() {
	fmt.Fprintf(d, "\n// func %s%s\n", d.name(), d.signature())
	fmt.Fprintf(d, "TEXT ·%s(SB), NOSPLIT, $0-56\n", d.name())
	d.op("MOVQ ldd+8(FP), R8")
	d.op("MOVQ wstride+24(FP), R9")
	d.op("MOVQ xstride+40(FP), R11")
	d.op("LEAQ (R9)(R9*2), R10")
	d.op("LEAQ (R11)(R11*2), R12")
	d.op("LEAQ (R11)(R11*4), R13")
	for first := 0; first < weightRows; first += d.passRows() {
		d.pass(first)
	}
	d.end()
}

// pass multiplies weight rows from first on, as many as there is room for.
func (d dot) pass(first int) {
	d.op("MOVQ dst+0(FP), DI")
	d.op("MOVQ w+16(FP), SI")
	d.op("MOVQ x+32(FP), DX")
	d.op("MOVQ blocks+48(FP), CX")
	if first > 0 {
		d.op("ADDQ $%d, DI", 4*first)
		d.op("LEAQ (SI)(R9*%d), SI", first)
	}
	free := d.passRows() * d.rows * d.parts // the first register that holds no sum
	for i := range free {
		if d.register == "Z" {
			d.op("VPXORD Z%d, Z%d, Z%d", i, i, i)
		} else {
			d.op("VXORPS Y%d, Y%d, Y%d", i, i, i)
		}
	}
	if d.shuffles() {
		d.op("VMOVDQU upperWords<>(SB), Y15")
	}
	label := fmt.Sprintf("block%d", first)
	d.label(label)
	for part := range d.parts {
		d.part(part, free)
	}
	d.op("ADDQ $%d, SI", d.weightBytes())
	d.op("ADDQ $64, DX")
	if d.asks() {
		d.prefetch()
	}
	d.op("DECQ CX")
	d.op("JNZ %s", label)
	for t := range d.rows {
		for w := range d.passRows() {
			d.reduce(w, t)
		}
		d.op("ADDQ R8, DI")
	}
}

// prefetch asks for weights of each row of a pass that come soon.
func (d dot) prefetch() {
	for _, row := range weightAddresses[:d.passRows()] {
		if d.tier == "AVX2" {
			d.op("PREFETCHT0 %d%s", dotSoon, row)
			continue
		}
		d.op("PREFETCHT0 %d%s", dotNear, row)
		d.op("PREFETCHT1 %d%s", dotFar, row)
	}
}

// part multiplies and adds one register of each row; free is the first register to use for them.
func (d dot) part(part, free int) {
	operands := strings.Fields("(DX) (DX)(R11*1) (DX)(R11*2) (DX)(R12*1) (DX)(R11*4) (DX)(R13*1)")
	for t := range d.rows {
		operands[t] = fmt.Sprintf("%d%s", 32*part, operands[t])
		if t < d.kept() {
			d.op("VMOVUPS %s, %s", operands[t], d.reg(free+t))
			operands[t] = d.reg(free + t)
		}
	}
	spare := d.registers() - free - d.kept()
	for w := range d.passRows() {
		row := fmt.Sprintf("%d%s", d.weightBytes()/2*part, weightAddresses[w])
		weight := d.reg(free + d.kept() + w%spare)
		switch {
		case d.shuffles():
			d.op("VBROADCASTI128 %s, %s", row, weight)
			d.op("VPSHUFB Y15, %s, %s", weight, weight)
		case d.typ == "F32", d.pairs():
			d.op("VMOVUPS %s, %s", row, weight)
		case d.typ == "F16":
			d.op("VCVTPH2PS %s, %s", row, weight)
		case d.typ == "BF16":
			d.op("VPMOVZXWD %s, %s", row, weight)
			d.op("VPSLLD $16, %s, %s", weight, weight)
		}
		for t := range d.rows {
			if d.pairs() {
				d.dpbf16(free+t, free+d.kept()+w%spare, d.accumulator(w, t))
			} else {
				d.op("VFMADD231PS %s, %s, %s", operands[t], weight, d.reg(d.accumulator(w, t)+part))
			}
		}
	}
}

// dpbf16 prints VDPBF16PS on 512-bit registers: EVEX.512.F3.0F38.W0 52 /r (Intel SDM volume 2).
func (p *printer) dpbf16(second, first, dst int) {
	inverted := func(n, bit int) uint32 { return uint32(1 - n>>bit&1) }
	prefix := inverted(dst, 3)<<7 | inverted(second, 4)<<6 | inverted(second, 3)<<5 | inverted(dst, 4)<<4 | 2
	vector := uint32(^first&15)<<3 | 0b110
	length := 0b01000000 | inverted(first, 4)<<3
	modrm := uint32(0xC0 | dst&7<<3 | second&7)
	p.op("LONG $0x%08X; WORD $0x%04X // VDPBF16PS Z%d, Z%d, Z%d", length<<24|vector<<16|prefix<<8|0x62, modrm<<8|0x52, second, first, dst)
}

// reduce adds the lanes of one output and stores it.
func (d dot) reduce(w, t int) {
	n := d.accumulator(w, t)
	if d.register == "Z" {
		d.op("VEXTRACTF64X4 $1, Z%d, Y31", n)
		d.op("VADDPS Y31, Y%d, Y%d", n, n)
		d.op("VEXTRACTF32X4 $1, Y%d, X31", n)
		d.op("VADDPS X31, X%d, X%d", n, n)
		d.op("VPERMILPS $0x4E, X%d, X31", n)
		d.op("VADDPS X31, X%d, X%d", n, n)
		d.op("VPERMILPS $0xB1, X%d, X31", n)
		d.op("VADDSS X31, X%d, X%d", n, n)
	} else {
		d.op("VADDPS Y%d, Y%d, Y%d", n+1, n, n)
		d.op("VEXTRACTF128 $1, Y%d, X15", n)
		d.op("VADDPS X15, X%d, X%d", n, n)
		d.op("VPERMILPS $0x4E, X%d, X15", n)
		d.op("VADDPS X15, X%d, X%d", n, n)
		d.op("VPERMILPS $0xB1, X%d, X15", n)
		d.op("VADDSS X15, X%d, X%d", n, n)
	}
	d.op("VMOVSS X%d, %d(DI)", n, 4*w)
}

// words defines 32 bytes in memory.
func (p *printer) words(name string, words [4]uint64) {
	for i, word := range words {
		fmt.Fprintf(p, "DATA %s<>+%d(SB)/8, $%#016x\n", name, 8*i, word)
	}
	fmt.Fprintf(p, "GLOBL %s<>(SB), RODATA|NOPTR, $32\n", name)
}

// dotStubs declares the kernels and enters them into their table.
func dotStubs() string {
	var p, table printer
	p.WriteString(generated + "package kernel\n\n")
	for _, d := range allDots() {
		fmt.Fprintf(&p, "//go:noescape\nfunc %s%s\n\n", d.name(), d.signature())
		if d.pairs() {
			fmt.Fprintf(&table, "\tdotPairs[%d] = %s\n", d.rows, d.name())
		} else if !d.few {
			fmt.Fprintf(&table, "\tdotTiers[%s][%s][%d] = %s\n", strings.ToLower(d.tier), d.typ, d.rows, d.name())
		}
		if d.tier == "AVX2" && d.asks() {
			fmt.Fprintf(&table, "\tdotFew[avx2][%s][%d] = %s\n", d.typ, d.rows, d.name())
		}
	}
	fmt.Fprintf(&p, "func addDotKernels() {\n%s}\n", table.String())
	return p.String()
}
