// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

const headerDot = `// Products of 4 rows of float weights with 1 or 4 rows of activations, for both amd64 tiers.
//
// Identity: lane i of a row sums the products of columns i, i+16, i+32 ... with fma; the 16 lanes are added as a tree
// (8 and 8, 4 and 4, ...), so both tiers give the same bits. F16 converts exactly by F16C, BF16 by a shift of 16.
// Tails: none, columns come in multiples of 16. Other numbers of weight rows pass a stride of 0.
// Bound: one row by memory; 4 rows by the fma ports, 16 fma for 8 loads (avx512).

#include "textflag.h"
`

// A dot prints the kernel for one type, tier and number of activation rows.
type dot struct {
	*printer
	typ      string
	tier     string
	register string // Z, or pairs of Y
	parts    int    // registers that hold 16 lanes
	rows     int
}

const weightRows = 4

// dotRows are the numbers of activation rows that have a kernel. Two times 16 accumulators do not fit AVX2.
var dotRows = map[string][]int{"AVX512": {1, 4}, "AVX2": {1}}

func dots() string {
	var p printer
	p.WriteString(generated + headerDot)
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
			all = append(all, dot{nil, typ, "AVX2", "Y", 2, rows})
		}
		for _, rows := range dotRows["AVX512"] {
			all = append(all, dot{nil, typ, "AVX512", "Z", 1, rows})
		}
	}
	return all
}

// name is the kernel's name in Go.
func (d dot) name() string { return fmt.Sprintf("dot%s%sX%d", d.typ, d.tier, d.rows) }

const dotSignature = "(dst *float32, ldd uintptr, w *byte, wstride uintptr, x *float32, xstride uintptr, blocks int)"

// reg names register n.
func (d dot) reg(n int) string { return fmt.Sprintf("%s%d", d.register, n) }

// sum names the accumulator of a weight row, an activation row and a part of the lanes.
func (d dot) sum(w, t, part int) string { return d.reg((t*weightRows+w)*d.parts + part) }

func (d dot) print() {
	fmt.Fprintf(d, "\n// func %s%s\n", d.name(), dotSignature)
	fmt.Fprintf(d, "TEXT ·%s(SB), NOSPLIT, $0-56\n", d.name())
	for i, argument := range []string{"dst+%d(FP), DI", "ldd+%d(FP), R8", "w+%d(FP), SI", "wstride+%d(FP), R9", "x+%d(FP), DX", "xstride+%d(FP), R11", "blocks+%d(FP), CX"} {
		d.op("MOVQ "+argument, 8*i)
	}
	d.op("LEAQ (R9)(R9*2), R10")
	d.op("LEAQ (R11)(R11*2), R12")
	for i := range weightRows * d.rows * d.parts {
		if d.register == "Z" {
			d.op("VPXORD Z%d, Z%d, Z%d", i, i, i)
		} else {
			d.op("VXORPS Y%d, Y%d, Y%d", i, i, i)
		}
	}
	d.label("block")
	width := map[string]int{"F32": 4, "F16": 2, "BF16": 2}[d.typ]
	for part := range d.parts {
		d.part(part, width)
	}
	d.op("ADDQ $%d, SI", 16*width)
	d.op("ADDQ $64, DX")
	d.op("DECQ CX")
	d.op("JNZ block")
	for t := range d.rows {
		for w := range weightRows {
			d.reduce(w, t)
		}
		d.op("ADDQ R8, DI")
	}
	d.end()
}

// part multiplies and adds one register of each row.
func (d dot) part(part, width int) {
	free := weightRows * d.rows * d.parts // the first register that holds no sum
	for t := range d.rows {
		row := []string{"(DX)", "(DX)(R11*1)", "(DX)(R11*2)", "(DX)(R12*1)"}[t]
		d.op("VMOVUPS %d%s, %s", 32*part, row, d.reg(free+t))
	}
	for w := range weightRows {
		row := fmt.Sprintf("%d%s", 8*width*part, []string{"(SI)", "(SI)(R9*1)", "(SI)(R9*2)", "(SI)(R10*1)"}[w])
		weight := d.reg(free + d.rows + w)
		switch d.typ {
		case "F32":
			d.op("VMOVUPS %s, %s", row, weight)
		case "F16":
			d.op("VCVTPH2PS %s, %s", row, weight)
		case "BF16":
			d.op("VPMOVZXWD %s, %s", row, weight)
			d.op("VPSLLD $16, %s, %s", weight, weight)
		}
		for t := range d.rows {
			d.op("VFMADD231PS %s, %s, %s", d.reg(free+t), weight, d.sum(w, t, part))
		}
	}
}

// reduce adds the lanes of one output and stores it.
func (d dot) reduce(w, t int) {
	n := (t*weightRows + w) * d.parts
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

// dotStubs declares the kernels and enters them into their table.
func dotStubs() string {
	var p, table printer
	p.WriteString(generated + "package kernel\n\n")
	for _, d := range allDots() {
		fmt.Fprintf(&p, "//go:noescape\nfunc %s%s\n\n", d.name(), dotSignature)
		slot := map[int]string{1: "one", 4: "four"}[d.rows]
		fmt.Fprintf(&table, "\tdotTiers[%s][%s].%s = %s\n", strings.ToLower(d.tier), d.typ, slot, d.name())
	}
	fmt.Fprintf(&p, "func addDotKernels() {\n%s}\n", table.String())
	return p.String()
}
