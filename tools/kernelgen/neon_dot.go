// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

const headerNeonDot = `// Products of 4 rows of float weights with 1, 2 or 3 rows of activations, for all arm64 tiers.
//
// Identity: lane i of 4 registers sums the products of columns i, i+16, i+32 ... with fma; the 16 lanes are added as a tree (8
// and 8, 4 and 4, ...), so all tiers give the same bits. F16 converts exactly by FCVTL, BF16 by a shift of 16.
// Tails: none, columns come in multiples of 16. Other numbers of weight rows pass a stride of 0.
// Bound: one row by memory, so it prefetches the next 4 weight rows; 3 rows by the fma units, 24 fma and up to 8 operations of
// conversion for 20 loads. 2 and 3 rows take the 4 weight rows in two passes.
//
// R0 dst, R1 bytes between rows of dst, R2 weights, R3 bytes between them, R4 activations, R5 bytes between them, R6 blocks left,
// R8 and R9 what to prefetch, R10 to R12 the other weight rows, R13 and R14 the other activation rows.

#include "textflag.h"
`

// dotNeonRows are the numbers of activation rows that have a kernel.
var dotNeonRows = []int{1, 2, 3}

var floatTypes = []string{"F32", "F16", "BF16"}

// A dotNeon prints the kernel for one type and number of activation rows.
type dotNeon struct {
	*printer
	typ  string
	rows int
}

func neonDots() string {
	var p printer
	p.WriteString(generated + headerNeonDot)
	for _, typ := range floatTypes {
		for _, rows := range dotNeonRows {
			dotNeon{&p, typ, rows}.print()
		}
	}
	return p.String()
}

// name is the kernel's name in Go.
func (d dotNeon) name() string { return fmt.Sprintf("dot%sNEONX%d", d.typ, d.rows) }

// passRows is how many weight rows have room in registers at once.
func (d dotNeon) passRows() int {
	if d.rows > 1 {
		return weightRows / 2
	}
	return weightRows
}

// sum is the register of part 0 of a sum.
func (d dotNeon) sum(w, t int) int { return (t*d.passRows() + w) * 4 }

func (d dotNeon) print() {
	d.begin(d.name(), strings.Trim(dotSignature, "()"), "")
	for first := 0; first < weightRows; first += d.passRows() {
		d.pass(first)
	}
	d.op("RET")
}

// width is the size of a weight in bytes.
func (d dotNeon) width() int { return map[string]int{"F32": 4, "F16": 2, "BF16": 2}[d.typ] }

// pass multiplies weight rows from first on, as many as there is room for.
func (d dotNeon) pass(first int) {
	if first > 0 {
		for i, argument := range []string{"dst", "w", "x", "blocks"} {
			d.op("MOVD %s+%d(FP), R%d", argument, 16*i, 2*i)
		}
		d.op("ADD $%d, R0", 4*first)
		d.op("ADD R3<<1, R2")
	}
	for w := 1; w < d.passRows(); w++ {
		d.op("ADD R3, R%d, R%d", []int{2, 10, 11}[w-1], 9+w)
	}
	for t := 1; t < d.rows; t++ {
		d.op("ADD R5, R%d, R%d", []int{4, 13}[t-1], 12+t)
	}
	if d.rows == 1 {
		d.op("ADD R3<<2, R2, R8")
	}
	for i := range d.passRows() * d.rows * 4 {
		d.v("movi v%d.16b, #0", i)
	}
	label := fmt.Sprintf("block%d", first)
	d.label(label)
	if d.rows == 1 {
		d.op("MOVD R8, R9")
		for w := range weightRows {
			d.op("PRFM (R9), PLDL1KEEP")
			if w+1 < weightRows {
				d.op("ADD R3, R9")
			}
		}
		d.op("ADD $%d, R8", 16*d.width())
	}
	d.block()
	d.op("SUB $1, R6")
	d.op("CBNZ R6, %s", label)
	for t := range d.rows {
		for w := range d.passRows() {
			d.reduce(w, t)
		}
		d.op("ADD R1, R0")
	}
}

// block multiplies and adds 16 columns of each row, 4 at a time, and goes on by them.
func (d dotNeon) block() {
	sums := d.passRows() * d.rows * 4
	for quarter := range 4 {
		for t := range d.rows {
			d.op("FMOVQ.P 16(R%d), F%d", []int{4, 13, 14}[t], sums+t)
		}
		for w := range d.passRows() {
			weight := d.weight(w, quarter%2, sums+d.rows)
			for t := range d.rows {
				d.v("fmla v%d.4s, v%d.4s, v%d.4s", d.sum(w, t)+quarter, weight, sums+t)
			}
		}
	}
}

// weight returns the register with the next 4 weights of a row: part 1 of 8 that part 0 has loaded, if they are halves.
func (d dotNeon) weight(w, part, free int) int {
	row := []int{2, 10, 11, 12}[w]
	if d.typ == "F32" {
		d.op("FMOVQ.P 16(R%d), F%d", row, free+w%2)
		return free + w%2
	}
	loaded, weight := free+1+w, free
	if part == 0 {
		d.op("FMOVQ.P 16(R%d), F%d", row, loaded)
	} else {
		weight = loaded
	}
	convert := map[string][2]string{
		"F16":  {"fcvtl v%d.4s, v%d.4h", "fcvtl2 v%d.4s, v%d.8h"},
		"BF16": {"shll v%d.4s, v%d.4h, #16", "shll2 v%d.4s, v%d.8h, #16"},
	}
	d.v(convert[d.typ][part], weight, loaded)
	return weight
}

// reduce adds the lanes of one output and stores it.
func (d dotNeon) reduce(w, t int) {
	n := d.sum(w, t)
	d.treeSum(n)
	d.op("FMOVS F%d, %d(R0)", n, 4*w)
}

// treeSum adds the 16 lanes of four registers: 8 and 8, 4 and 4, 2 and 2, 1 and 1. The sum is in lane 0 of the first.
func (p *printer) treeSum(n int) {
	p.v("fadd v%d.4s, v%d.4s, v%d.4s", n, n, n+2)
	p.v("fadd v%d.4s, v%d.4s, v%d.4s", n+1, n+1, n+3)
	p.v("fadd v%d.4s, v%d.4s, v%d.4s", n, n, n+1)
	p.v("ext v%d.16b, v%d.16b, v%d.16b, #8", n+1, n, n)
	p.v("fadd v%d.4s, v%d.4s, v%d.4s", n, n, n+1)
	p.v("faddp s%d, v%d.2s", n, n)
}

// neonDotStubs declares the kernels and enters them into their table.
func neonDotStubs() string {
	var p, table printer
	p.WriteString(generated + "package kernel\n\n")
	for _, typ := range floatTypes {
		for _, rows := range dotNeonRows {
			d := dotNeon{nil, typ, rows}
			fmt.Fprintf(&p, "//go:noescape\nfunc %s%s\n\n", d.name(), dotSignature)
			fmt.Fprintf(&table, "\t\tdotTiers[t][%s][%d] = %s\n", typ, rows, d.name())
		}
	}
	fmt.Fprintf(&p, "func addDotKernels() {\n\tfor t := neon; t < tiers; t++ {\n%s\t}\n}\n", table.String())
	return p.String()
}
