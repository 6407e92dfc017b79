// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

const headerNeonAttention = `// Attention's two products for 1, 2, 3, 4 or 6 rows, for all arm64 tiers.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 16 numbers of a block as floats (F16 converts exactly, BF16 by a shift of 16) and one number of A for
// each row.
// Keys: a tile of results for each block, over all components. Values: one tile of results over all positions of all blocks.
// Bytes: each step loads 16 pairs, separates them, makes them integers of 16 bits, and adds the products with both numbers of a
// pair of A to sums of 32 bits, which a group cannot exceed: see fixedGroup. After a group its sums times scales are added to
// dst, of keys those of key and query, of values that of the weights.
// Tails: none, a tile has 16 columns, half a block; any number of steps from 1.
// Bound: many rows by the fma units: 24 fma and 4 conversions a step of 6 rows, or, of bytes, 48 products and 6 operations of
// unpacking for twice as much; few rows by memory. Each step prefetches a line into the second cache a few blocks ahead, and
// one into the first cache one block ahead.
//
// R0 arguments, R1 dst, R2 bytes between its rows, R3 to R8 the rows of A, R9 the block, R10 and R11 what goes to the second and
// the first cache, R13 steps left, R14 and R15 scratch, R19 rows or groups of bytes left, R20 what a group of A lacks. V0 to V23
// sums, V24 to V27 a row of the block, V28 to V31 scratch; of bytes, V0 to V3 scratch, V4 to V7 a row of the block, V8 to V31 sums.

#include "go_asm.h"
#include "textflag.h"
`

// attnNeonRows are the numbers of rows that have a kernel.
var attnNeonRows = []int{1, 2, 3, 4, 6}

// kvNeonTypes are the types of numbers in a cache, and the bytes of a column in a row of a block.
var kvNeonTypes = []struct {
	name string
	size int
}{{"F16", 2}, {"F32", 4}, {"BF16", 2}, {"Q8", 2}}

// An attnNeon prints one kernel of attention.
type attnNeon struct {
	*printer
	product string // keys or values
	typ     string
	size    int // of a column in a row
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
	p.fix()
	for _, k := range allAttnNeon() {
		k.printer = &p
		k.begin(k.name(), "args *kvArgs", "")
		k.op("MOVD kvArgs_dst(R0), R1")
		k.op("MOVD kvArgs_ldd(R0), R2")
		switch {
		case k.product == "keys":
			k.keys()
		case k.typ == "Q8":
			k.valuesOfBytes()
		default:
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
	if k.typ == "Q8" {
		k.keysOfBytes()
	} else {
		k.op("MOVD kvArgs_depth(R0), R13")
		k.zero()
		k.steps()
		k.eachRow("FSTPQ (F%d, F%d), %d(R14)")
	}
	k.op("ADD $128, R1")
	k.op("MOVD kvArgs_count(R0), R14")
	k.op("SUB $1, R14")
	k.op("MOVD R14, kvArgs_count(R0)")
	k.op("CBNZ R14, block")
}

// steps takes as many rows of the block as R13 says.
func (k attnNeon) steps() {
	k.label("step")
	k.step()
	k.op("SUB $1, R13")
	k.op("CBNZ R13, step")
}

func (k attnNeon) values() {
	k.rowsOfA()
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
	k.steps()
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

// block points to the next block, and to what is prefetched meanwhile.
func (k attnNeon) block() {
	k.op("MOVD kvArgs_order(R0), R15")
	k.op("MOVD kvArgs_at(R0), R14")
	k.op("ADD R14<<3, R15, R15")
	k.op("ADD $1, R14")
	k.op("MOVD R14, kvArgs_at(R0)")
	k.op("MOVD (R15), R9")
	k.op("MOVD 8(R15), R11")
	k.op("MOVD kvArgs_ahead(R0), R14")
	k.op("MOVD (R15)(R14<<3), R10")
	k.op("MOVD kvArgs_offset(R0), R14")
	for register := 9; register <= 11; register++ {
		k.op("ADD R14, R%d", register)
	}
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

// step adds one number of each row of A, or a pair, times a row of the block.
func (k attnNeon) step() {
	k.op("PRFM (R10), PLDL2KEEP")
	k.op("PRFM (R11), PLDL1KEEP")
	if k.typ == "Q8" {
		k.pairStep()
	} else {
		k.floatStep()
	}
	for register := 9; register <= 11; register++ {
		k.op("ADD $%d, R%d", 32*k.size, register)
	}
}

func (k attnNeon) floatStep() {
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
		fmt.Fprintf(&p, "\tKV%s: {\n", typ.name)
		for _, product := range []string{"keys", "values"} {
			var kernels []string
			for _, rows := range attnNeonRows {
				kernels = append(kernels, fmt.Sprintf("%d: %s", rows, attnNeon{nil, product, typ.name, 0, rows}.name()))
			}
			fmt.Fprintf(&p, "\t\t%-7s bySize(map[int]kvFunc{%s}),\n", product+":", strings.Join(kernels, ", "))
		}
		p.WriteString("\t},\n")
	}
	p.WriteString("}\n\nvar kvTiers = [tiers][kvTypes]kvKernels{neon: kvNeon, dotprod: kvNeon, i8mm: kvNeon}\n")
	return p.String()
}
