// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

const headerNeonAttention = `// Attention's two products for 1, 2, 3, 4 or 6 rows, for all arm64 tiers.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 16 numbers of a block as floats (F16 converts exactly, BF16 by a shift of 16, bytes with one
// rounding by their scale) and one number of A for each row.
// Keys: a tile of results for each block, over all components. Values: one tile of results over all positions of all blocks.
// Tails: none, a tile has 16 columns, half a block; any number of steps from 1.
// Bound: many rows by the fma units: 24 fma and 4 conversions a step of 6 rows; few rows by memory. Each step prefetches a line
// of what comes next.
//
// R0 arguments, R1 dst, R2 bytes between its rows, R3 to R8 the rows of A, R9 the block, R10 what to prefetch, R11 the block's
// scales, R12 bytes between rows of the block, R13 steps left, R14 to R17 scratch, R19 where A begins. V0 to V23 sums, V24 to V27
// a row of the block, V28 to V31 scratch.

#include "go_asm.h"
#include "textflag.h"
`

// attnNeonRows are the numbers of rows that have a kernel.
var attnNeonRows = []int{1, 2, 3, 4, 6}

// kvNeonTypes are the types of numbers in a cache, and their sizes.
var kvNeonTypes = []struct {
	name string
	size int
}{{"F16", 2}, {"F32", 4}, {"BF16", 2}, {"Q8", 1}}

// An attnNeon prints one kernel of attention.
type attnNeon struct {
	*printer
	product string // keys or values
	typ     string
	size    int // of a number
	rows    int
}

// allAttnNeon lists the kernels, without a printer.
func allAttnNeon() (all []attnNeon) {
	for _, product := range []string{"keys", "values"} {
		for _, typ := range kvNeonTypes {
			for _, rows := range attnNeonRows {
				all = append(all, attnNeon{nil, product, typ.name, typ.size, rows})
			}
		}
	}
	return all
}

func neonAttention() string {
	var p printer
	p.WriteString(generated + headerNeonAttention)
	for _, k := range allAttnNeon() {
		k.printer = &p
		k.begin(k.name(), "args *kvArgs", "")
		k.op("MOVD kvArgs_dst(R0), R1")
		k.op("MOVD kvArgs_ldd(R0), R2")
		if k.product == "keys" {
			k.keys()
		} else {
			k.values()
		}
		k.op("RET")
	}
	return p.String()
}

// name is the kernel's name in Go.
func (k attnNeon) name() string { return fmt.Sprintf("%s%sNEONX%d", k.product, k.typ, k.rows) }

func (k attnNeon) keys() {
	k.label("block")
	k.block()
	k.rowsOfA()
	k.op("MOVD R3, R19")
	k.op("MOVD kvArgs_depth(R0), R13")
	k.zero()
	k.label("step")
	k.step()
	k.op("ADD $%d, R9", 32*k.size)
	k.op("SUB $1, R13")
	k.op("CBNZ R13, step")
	k.eachRow("FSTPQ (F%d, F%d), %d(R14)")
	k.op("ADD $128, R1")
	k.op("MOVD kvArgs_count(R0), R14")
	k.op("SUB $1, R14")
	k.op("MOVD R14, kvArgs_count(R0)")
	k.op("CBNZ R14, block")
}

func (k attnNeon) values() {
	k.rowsOfA()
	k.op("MOVD kvArgs_ldb(R0), R12")
	k.op("MOVD kvArgs_fresh(R0), R14")
	k.op("CBZ R14, add")
	k.zero()
	k.op("B block")
	k.label("add")
	k.eachRow("FLDPQ %[3]d(R14), (F%[1]d, F%[2]d)")
	k.label("block")
	k.block()
	k.op("MOVD kvArgs_count(R0), R13")
	k.op("SUB $32, R13, R14")
	k.op("MOVD R14, kvArgs_count(R0)")
	k.op("CMP $32, R13")
	k.op("BLE step")
	k.op("MOVD $32, R13")
	k.label("step")
	k.step()
	k.op("ADD R12, R9")
	k.op("SUB $1, R13")
	k.op("CBNZ R13, step")
	k.op("MOVD kvArgs_count(R0), R14")
	k.op("CMP $0, R14")
	k.op("BGT block")
	k.eachRow("FSTPQ (F%d, F%d), %d(R14)")
}

// zero sets the sums to 0.
func (k attnNeon) zero() {
	for i := range 4 * k.rows {
		k.v("movi v%d.16b, #0", i)
	}
}

// rowsOfA points to the rows of A.
func (k attnNeon) rowsOfA() {
	k.op("MOVD kvArgs_a(R0), R3")
	k.op("MOVD kvArgs_lda(R0), R14")
	for row := 1; row < k.rows; row++ {
		k.op("ADD R14, R%d, R%d", 2+row, 3+row)
	}
}

// block points to the next block, its scales, and what to prefetch meanwhile.
func (k attnNeon) block() {
	k.op("MOVD kvArgs_at(R0), R14")
	for _, b := range [][]string{{"table", "stride", "base", "R9"}, {"nextTable", "nextStride", "next", "R10"}} {
		k.op("MOVD kvArgs_%s(R0), R15", b[0])
		k.op("MOVW (R15)(R14<<2), R15")
		k.op("MOVD kvArgs_%s(R0), R16", b[1])
		k.op("MOVD kvArgs_%s(R0), R17", b[2])
		k.op("MADD R15, R17, R16, %s", b[3])
	}
	k.op("ADD $1, R14")
	k.op("MOVD R14, kvArgs_at(R0)")
	k.op("MOVD kvArgs_scales(R0), R11")
	k.op("ADD R9, R11")
}

// eachRow loads or stores the sums of each row of dst.
func (k attnNeon) eachRow(format string) {
	k.op("MOVD R1, R14")
	for row := range k.rows {
		for pair := range 2 {
			k.op(format, 4*row+2*pair, 4*row+2*pair+1, 32*pair)
		}
		if row+1 < k.rows {
			k.op("ADD R2, R14")
		}
	}
}

// step adds one number of each row of A times a row of the block.
func (k attnNeon) step() {
	k.op("PRFM (R10), PLDL2KEEP")
	k.op("ADD $%d, R10", 32*k.size)
	k.load()
	for row := range k.rows {
		number := 28 + row%2
		k.op("FMOVS.P 4(R%d), F%d", 3+row, number)
		for i := range 4 {
			k.v("fmla v%d.4s, v%d.4s, v%d.s[0]", 4*row+i, 24+i, number)
		}
	}
}

// load sets V24 to V27 to 16 numbers of the block as floats.
func (k attnNeon) load() {
	switch k.typ {
	case "F32":
		k.op("FLDPQ (R9), (F24, F25)")
		k.op("FLDPQ 32(R9), (F26, F27)")
	case "F16":
		k.op("FLDPQ (R9), (F25, F27)")
		for i := 24; i < 28; i += 2 {
			k.v("fcvtl v%d.4s, v%d.4h", i, i+1)
			k.v("fcvtl2 v%d.4s, v%d.8h", i+1, i+1)
		}
	case "BF16":
		k.op("FLDPQ (R9), (F25, F27)")
		for i := 24; i < 28; i += 2 {
			k.v("shll v%d.4s, v%d.4h, #16", i, i+1)
			k.v("shll2 v%d.4s, v%d.8h, #16", i+1, i+1)
		}
	case "Q8":
		k.op("FMOVQ (R9), F27")
		k.v("sxtl v25.8h, v27.8b")
		k.v("sxtl2 v27.8h, v27.16b")
		for i := 24; i < 28; i += 2 {
			k.v("sxtl v%d.4s, v%d.4h", i, i+1)
			k.v("sxtl2 v%d.4s, v%d.8h", i+1, i+1)
		}
		for i := 24; i < 28; i++ {
			k.v("scvtf v%d.4s, v%d.4s", i, i)
		}
		k.scale()
	}
}

// scale multiplies bytes with their scales. A key has one for each position, a row of scales for 32 components; how far A has
// gone on, 4 bytes a component, tells the component. A value has one for all columns of the tile.
func (k attnNeon) scale() {
	if k.product == "values" {
		k.op("FMOVS.P 4(R11), F28")
		for i := 24; i < 28; i++ {
			k.v("fmul v%d.4s, v%d.4s, v28.s[0]", i, i)
		}
		return
	}
	k.op("SUB R19, R3, R14")
	k.op("AND $-128, R14")
	k.op("ADD R11, R14")
	k.op("FLDPQ (R14), (F28, F29)")
	k.op("FLDPQ 32(R14), (F30, F31)")
	for i := range 4 {
		k.v("fmul v%d.4s, v%d.4s, v%d.4s", 24+i, 24+i, 28+i)
	}
}

// neonAttentionStubs declares the kernels and the table of them.
func neonAttentionStubs() string {
	var p printer
	p.WriteString(generated + "package kernel\n\n// A kvFunc computes a product for a fixed number of rows.\ntype kvFunc func(args *kvArgs)\n\n")
	for _, k := range allAttnNeon() {
		fmt.Fprintf(&p, "//go:noescape\nfunc %s(args *kvArgs)\n\n", k.name())
	}
	p.WriteString("// kvNeon has the kernels of each type, the same for all tiers.\nvar kvNeon = [kvTypes]kvKernels{\n")
	for _, typ := range kvNeonTypes {
		fmt.Fprintf(&p, "\tKV%s: {\n\t\tcolumns: 16,\n", typ.name)
		for _, product := range []string{"keys", "values"} {
			var kernels []string
			for _, rows := range attnNeonRows {
				kernels = append(kernels, fmt.Sprintf("%d: %s", rows, attnNeon{nil, product, typ.name, 0, rows}.name()))
			}
			fmt.Fprintf(&p, "\t\t%-8s bySize(map[int]kvFunc{%s}),\n", product+":", strings.Join(kernels, ", "))
		}
		p.WriteString("\t},\n")
	}
	p.WriteString("}\n\nvar kvTiers = [tiers][kvTypes]kvKernels{neon: kvNeon, dotprod: kvNeon, i8mm: kvNeon}\n")
	return p.String()
}
