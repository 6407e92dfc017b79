// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

const headerNeonMul = `// Products of panels of 16 weight rows with 1, 2 or 4 rows of activations, for the arm64 tier %s.
//
// A lane is a weight row, so there are no horizontal sums; 4 registers hold the rows of a panel. Codes have a zero point z:
// -z times the sum of the activations, from the activation record, is added. The codes of Q8_0 become signed bytes by
// flipping their upper bit, and those of IQ4_NL, IQ4_XS and MXFP4 by a table, so they need no correction.
%s// Float order: as in the twin, operation for operation, so the bits are the same on all tiers.
// Tails: none. Panels have 16 rows, blocks 32 inputs; other numbers of activation rows are several calls.
// Bound: one row by memory, more rows by the vector ports.
//
// Registers: float sums from V0 on, then integer sums, a mask, a table, activations, upper bits, and temporaries. R0 dst, R1
// bytes between rows of dst, R2 codes, R3 scales, R4 activations, R5 bytes between blocks of activations, R6 blocks left, R7
// blocks left in the super-block, R8 scales of the block in a super-block, R9 scratch, R10 pass.

#include "textflag.h"
`

// neonIdentities say how the tiers multiply.
var neonIdentities = map[string]string{
	"NEON": `// Identity: SMULL and SMLAL multiply bytes with 4 activations, which are repeated, into 16 bits. Products are added up there
// while they fit and then in pairs to 32 bits.
// Headroom in 16 bits: a block of 4-bit codes, 8*15*127 = 15240; of 5-bit codes, 31496; of MXFP4, 8*12*127; half a block of
// 6-bit codes, 4*63*127 = 32004; 2 groups of 8-bit codes, IQ4_NL or IQ4_XS, 2*128*127 = 32512; all below 32768.
`,
	"DotProd": `// Identity: SDOT adds four products of signed bytes to a lane; its second factor is 4 activations by their index.
// Headroom: a block's sum is at most 32*128*127 = 520192, below the 2^24 that float32 holds exactly.
`,
	"I8MM": `// Identity: SMMLA adds the products of 2 rows of 8 activations with 2 rows of 8 weights to 4 lanes. Zips of the lanes of two
// groups of 4 inputs give the weights, zips of the halves of two records the activations, and zips of the sums a register
// for each activation row.
// Headroom: a block's sum is at most 32*128*127 = 520192, below the 2^24 that float32 holds exactly.
`,
}

// neonRows are the numbers of activation rows that have a kernel. A single row would waste half of each SMMLA.
var neonRows = map[string][]int{"NEON": {1, 2}, "DotProd": {1, 2, 4}, "I8MM": {2, 4}}

// A mulNeon prints the kernel for one tier, format and number of rows.
type mulNeon struct {
	*printer
	format
	tier  string
	rows  int
	parts int // registers of 4 weight rows done at once: all 4 of a panel or 2 in each of two passes

	// The first registers of their kind.
	sums int // floats, by row and part
	ints int // integers of the block, likewise; twice as many on tier NEON
	mask int // of the bits of a code; the upper bit of 8-bit codes
	look int // the table, if the format has one
	acts int // activations, free once they are multiplied
	high int // upper bits by part, if the format has some
	free int
}

func neonMul(tier string) string {
	var p printer
	fmt.Fprintf(&p, generated+headerNeonMul, strings.ToLower(tier), neonIdentities[tier])
	p.neonLookup("nonlinear")
	p.neonLookup("float4")
	for _, f := range formats {
		for _, rows := range neonRows[tier] {
			k := mulNeon{printer: &p, format: f, tier: tier, rows: rows}
			k.allocate()
			k.print()
		}
	}
	return p.String()
}

// neonLookup defines a table of 16 signed bytes.
func (p *printer) neonLookup(name string) {
	table := tables[name]
	for half := range 2 {
		var word uint64
		for i, v := range table[8*half:][:8] {
			word |= uint64(byte(v)) << (8 * i)
		}
		fmt.Fprintf(p, "\nDATA %s<>+%d(SB)/8, $%#016x", name, 8*half, word)
	}
	fmt.Fprintf(p, "\nGLOBL %s<>(SB), RODATA|NOPTR, $16\n", name)
}

// allocate gives out the registers.
func (k *mulNeon) allocate() {
	k.parts = 4
	if k.rows == 4 || k.tier == "NEON" && k.rows == 2 {
		k.parts = 2
	}
	next := 0
	take := func(n int) int {
		next += n
		return next - n
	}
	k.sums = take(k.rows * k.parts)
	k.ints = take(k.rows * k.parts)
	if k.tier == "NEON" {
		take(k.rows * k.parts)
	}
	k.mask = take(1)
	if k.table != "" {
		k.look = take(1)
	}
	k.acts = take(2 * k.rows)
	if k.upperBits() {
		k.high = take(k.parts)
	}
	k.free = take(0)
}

// upperBits says whether codes have bits in lines of their own.
func (k *mulNeon) upperBits() bool { return k.bits == 3 || k.bits == 5 || k.bits == 6 }

// signed says whether codes become signed bytes, without a zero point.
func (k *mulNeon) signed() bool { return k.bits == 8 || k.table != "" }

// narrow says whether only two groups of products fit into 16 bits.
func (k *mulNeon) narrow() bool {
	return k.tier == "NEON" && (k.bits == 8 || k.table == "nonlinear")
}

// sum is the register of a float sum.
func (k *mulNeon) sum(row, part int) int { return k.sums + row*k.parts + part }

func (k *mulNeon) print() {
	k.begin(k.name(), mulParameters, "")
	if k.parts == 2 {
		k.op("MOVD $0, R10")
		k.label("pass")
		k.op("ADD R10<<5, R2")
		k.op("ADD R10<<4, R3")
	}
	k.v("movi v%d.16b, #%d", k.mask, map[int]int{2: 3, 3: 7, 4: 15, 5: 31, 6: 63, 8: 128}[k.bits])
	if k.table != "" {
		k.op("MOVD $%s<>(SB), R9", k.table)
		k.op("FMOVQ (R9), F%d", k.look)
	}
	for i := range k.rows * k.parts {
		k.v("movi v%d.16b, #0", k.sums+i)
	}
	if k.super() {
		k.label("super")
		k.superScales()
		k.op("MOVD $8, R7")
	}
	k.label("block")
	k.block()
	k.op("ADD $%d, R2", k.codeBytes())
	k.op("ADD R5, R4")
	if k.super() {
		k.op("SUB $1, R7")
		k.op("CBNZ R7, block")
		k.op("ADD $%d, R3", k.superBytes())
		k.op("SUB $8, R6")
		k.op("CBNZ R6, super")
	} else {
		k.op("SUB $1, R6")
		k.op("CBNZ R6, block")
	}
	k.store()
}

const mulParameters = "dst *float32, ldd uintptr, codes, scales, act *byte, stride uintptr, blocks int"

// name is the kernel's name in Go.
func (k *mulNeon) name() string { return fmt.Sprintf("mul%s%sX%d", k.format.name, k.tier, k.rows) }

// store writes the float sums and goes back for the other half of the panel.
func (k *mulNeon) store() {
	if k.parts == 2 {
		k.op("ADD R10<<5, R0")
	}
	for row := range k.rows {
		for part := 0; part < k.parts; part += 2 {
			k.op("FSTPQ (F%d, F%d), %d(R0)", k.sum(row, part), k.sum(row, part+1), 16*part)
		}
		if row+1 < k.rows {
			k.op("ADD R1, R0")
		}
	}
	if k.parts == 2 {
		k.op("ADD $1, R10")
		for i, argument := range []string{"dst R0", "codes R2", "scales R3", "act R4", "blocks R6"} {
			name, register, _ := strings.Cut(argument, " ")
			k.op("MOVD %s+%d(FP), %s", name, []int{0, 16, 24, 32, 48}[i], register)
		}
		k.op("CMP $2, R10")
		k.op("BNE pass")
	}
	k.op("RET")
}

// block adds one block to the float sums.
func (k *mulNeon) block() {
	if k.rows == 1 {
		for at := 0; at < k.codeBytes(); at += 64 {
			k.op("PRFM %d(R2), PLDL1KEEP", nearBytes+at)
		}
	}
	if k.split() {
		for half := range 2 {
			k.products(4*half, 4*half+4)
			k.add(half)
		}
	} else {
		k.products(0, 8)
		k.add(0)
	}
	switch k.scales {
	case single, bfloat:
		k.op("ADD $32, R3")
	case withMin:
		k.op("ADD $64, R3")
	case superOne:
		k.op("ADD $16, R8")
	default:
		k.op("ADD $32, R8")
	}
}

// A step is what is unpacked together: lines of a block's codes, and the groups of four inputs in them, those that leave
// the lines as they are first.
type step struct{ lines, groups []int }

// steps gives those for the groups from first to end. Tier I8MM wants pairs of neighbouring groups.
func (k *mulNeon) steps(first, end int) (all []step) {
	each := 1
	if k.tier == "I8MM" || k.tier == "NEON" && k.bits == 8 {
		each = 2
	}
	if k.bits < 4 {
		return []step{{[]int{first / 4}, []int{first + 3, first + 2, first + 1, first}}}
	}
	for line := first; line < end; line += each {
		if k.bits < 8 && line == first+4 {
			break
		}
		var s step
		for i := range each {
			s.lines = append(s.lines, (line+i)%map[bool]int{true: 8, false: 4}[k.bits == 8])
		}
		for group := line; group < end; group += 4 {
			for i := range each {
				s.groups = append(s.groups, group+i)
			}
			if k.bits == 8 {
				break
			}
		}
		if k.bits < 8 {
			slices.Reverse(s.groups)
		}
		all = append(all, s)
	}
	return all
}

// products sets the integer sums of the groups from first to end.
func (k *mulNeon) products(first, end int) {
	k.loadActivations(first, end)
	k.start(first)
	for part := range k.parts {
		switch k.bits {
		case 3:
			k.op("FMOVQ %d(R2), F%d", 128+16*part, k.high+part)
		case 5:
			k.op("FMOVQ %d(R2), F%d", 256+16*part, k.high+part)
		case 6:
			k.op("FMOVQ %d(R2), F%d", 256+first/4*64+16*part, k.high+part)
		}
	}
	for i, s := range k.steps(first, end) {
		switch k.tier {
		case "NEON":
			k.multiplyNeon(s, i == 0)
		case "DotProd":
			k.multiplyDot(s)
		case "I8MM":
			k.multiplyMatrix(s)
		}
	}
}

// load loads the lines of a step for a part, into registers from the first on, and returns the next register.
func (k *mulNeon) load(s step, part, first int) int {
	for i, line := range s.lines {
		k.op("FMOVQ %d(R2), F%d", 64*line+16*part, first+i)
	}
	return first + len(s.lines)
}

// lineOf is the index in a step of the line that holds a group.
func (s step) lineOf(group int) int {
	if len(s.lines) == 1 {
		return 0
	}
	return group % 2
}

// last says whether a group is the last to use its line.
func (s step) last(group int) bool {
	for i, g := range slices.Backward(s.groups) {
		if s.lineOf(g) == s.lineOf(group) {
			return s.groups[i] == group
		}
	}
	return false
}

// unpack puts the codes of a group into the register that it returns: code, or the line's own if the group is its last.
// The register after code is changed, too.
func (k *mulNeon) unpack(s step, group, part, line, code int) int {
	temporary := code + 1
	if s.last(group) {
		code = line
	}
	shift := 0 // of the code in its line
	switch {
	case k.bits == 8:
		k.v("eor v%d.16b, v%d.16b, v%d.16b", code, line, k.mask)
		return code
	case k.bits < 4:
		shift = group % 4 * 2
	case group >= 4:
		shift = 4
	}
	from := line
	if shift > 0 {
		k.v("ushr v%d.16b, v%d.16b, #%d", code, line, shift)
		from = code
	}
	if k.upperBits() {
		k.insert(group, code, k.high+part, temporary)
		from = code
	}
	// Shifts to the right end of a byte leave nothing to mask.
	if bits := k.lowerBits(); k.upperBits() || shift+bits < 8 {
		k.v("and v%d.16b, v%d.16b, v%d.16b", code, from, k.mask)
	}
	if k.table != "" {
		k.v("tbl v%d.16b, v%d.16b, v%d.16b", code, k.look, code)
	}
	return code
}

// lowerBits is how many bits of a code lie together with those of other groups.
func (k *mulNeon) lowerBits() int {
	if k.bits < 4 {
		return 2
	}
	return min(k.bits, 4)
}

// insert puts the upper bits of a group's codes above their lower ones. What lies above those is masked later.
func (k *mulNeon) insert(group, code, high, temporary int) {
	shift := group
	if k.bits == 6 {
		shift = group % 4 * 2
	}
	if shift > 0 {
		k.v("ushr v%d.16b, v%d.16b, #%d", temporary, high, shift)
		high = temporary
	}
	k.v("sli v%d.16b, v%d.16b, #%d", code, high, k.lowerBits())
}
