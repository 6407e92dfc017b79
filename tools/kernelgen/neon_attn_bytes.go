// SPDX-License-Identifier: Apache-2.0

package main

// Products with bytes: see headerNeonAttention. Registers of vectors: V0 to V3 numbers of A, as an index of 16 bits wants V0 to
// V15, V4 to V7 a row of the block or scales, V8 to V31 sums.

// Sizes of a group in bytes; see fixedGroup and KVLayout.
const (
	fixedPairs  = 64 // the numbers of A, before their scale
	fixedBytes  = fixedPairs + 4
	fixedMax    = 32767.0
	fixedRows   = 12  // KVTileRows: so many groups follow each other for the same columns
	scalesBytes = 128 // the scales of keys or values, behind their rows
)

// byteSum is the register of part i of a row's sums.
func byteSum(row, i int) int { return 8 + 4*row + i }

// keysOfBytes does a block of keys group by group. R19 rows are left behind a group, R20 bytes of A lie between a group's last
// pair and its scale.
func (k attnNeon) keysOfBytes() {
	k.op("MOVD kvArgs_depth(R0), R19")
	k.label("group")
	k.op("MOVD $16, R13")
	k.op("CMP R13, R19")
	k.op("CSEL LT, R19, R13, R13")
	k.op("SUB R13, R19")
	k.op("MOVD $16, R20")
	k.op("SUB R13, R20")
	k.op("LSL $2, R20")
	k.pairs()
	k.op("MOVD kvArgs_scales(R0), R14")
	k.op("ADD R9, R14")
	k.op("FLDPQ (R14), (F4, F5)")
	k.op("FLDPQ 32(R14), (F6, F7)")
	for row := range k.rows {
		k.op("ADD R20, R%d", 3+row)
	}
	k.addSums()
	k.nextGroup(fixedBytes - fixedPairs)
	k.op("CBNZ R19, group")
}

// valuesOfBytes does a block of values group by group, of which R19 are left.
func (k attnNeon) valuesOfBytes() {
	k.rowsOfA()
	k.block()
	k.op("MOVD kvArgs_count(R0), R19")
	k.label("group")
	k.op("MOVD $16, R13")
	k.pairs()
	k.addSums()
	k.nextGroup(fixedRows*fixedBytes - fixedPairs)
	k.op("ADD $128, R1")
	k.op("SUB $1, R19")
	k.op("CBNZ R19, group")
}

// pairs sums the products of as many rows of a group as R13 says, and asks for the scales behind them in later blocks.
func (k attnNeon) pairs() {
	for i := range 4 * k.rows {
		k.v("movi v%d.16b, #0", byteSum(0, i))
	}
	k.steps()
	for at := 0; at < scalesBytes; at += 64 {
		k.op("PRFM %d(R10), PLDL2KEEP", at)
		k.op("PRFM %d(R11), PLDL1KEEP", at)
	}
}

// pairStep adds the products of a pair of each row of A with 16 pairs of the block: V4 and V6 become the first numbers of these
// pairs, V5 and V7 the second ones.
func (k attnNeon) pairStep() {
	k.op("FLDPQ (R9), (F4, F5)")
	k.v("uzp1 v6.16b, v4.16b, v5.16b")
	k.v("uzp2 v7.16b, v4.16b, v5.16b")
	for second := range 2 {
		k.v("sxtl v%d.8h, v%d.8b", 4+second, 6+second)
		k.v("sxtl2 v%d.8h, v%d.16b", 6+second, 6+second)
	}
	for row := range k.rows {
		number := row % 4
		k.op("FMOVS.P 4(R%d), F%d", 3+row, number)
		for second := range 2 {
			for i := 0; i < 4; i += 2 {
				k.v("smlal v%d.4s, v%d.4h, v%d.h[%d]", byteSum(row, i), 4+second+i, number, second)
				k.v("smlal2 v%d.4s, v%d.8h, v%d.h[%d]", byteSum(row, i+1), 4+second+i, number, second)
			}
		}
	}
}

// addSums adds the sums times the scale of their row of A to dst, those of keys also times the keys' scales, in V4 to V7.
func (k attnNeon) addSums() {
	k.op("MOVD R1, R14")
	for row := range k.rows {
		for half := range 2 {
			k.op("FMOVS (R%d), F0", 3+row)
			k.op("FLDPQ %d(R14), (F2, F3)", 32*half)
			factors := []string{"v0.s[0]", "v0.s[0]"}
			if k.product == "keys" {
				k.v("fmul v1.4s, v%d.4s, v0.s[0]", 5+2*half)
				k.v("fmul v0.4s, v%d.4s, v0.s[0]", 4+2*half)
				factors = []string{"v0.4s", "v1.4s"}
			}
			for i, factor := range factors {
				sum := byteSum(row, 2*half+i)
				k.v("scvtf v%d.4s, v%d.4s", sum, sum)
				k.v("fmla v%d.4s, v%d.4s, %s", 2+i, sum, factor)
			}
			k.op("FSTPQ (F2, F3), %d(R14)", 32*half)
		}
		if row+1 < k.rows {
			k.op("ADD R2, R14")
		}
	}
}

// nextGroup goes on to the next group: so many bytes in A, behind the scales in the block.
func (k attnNeon) nextGroup(a int) {
	for row := range k.rows {
		k.op("ADD $%d, R%d", a, 3+row)
	}
	for register := 9; register <= 11; register++ {
		k.op("ADD $%d, R%d", scalesBytes, register)
	}
}

// fix prints what fixGo and weighGo do.
//
// R1 dst, R2 x, R9 scratch; of fix R3 groups left; of weigh R3 bytes between rows of x, R4 scales, R5 bytes between them, R6 groups
// left, R7 the group, R8 its scales, R10 rows left. V0, V2, V4 and V6 a row's integers, V9 their scale, V16 to V23 units. See round.
func (p *printer) fix() {
	p.floats("fixed", fixedMax, 1.0/fixedMax, 0x1p-100, (1<<15)/(fixedMax*fixedMax), -32768)
	p.begin("fixNEON", "args *fixArgs", "")
	for i, field := range []string{"dst", "x", "groups"} {
		p.op("MOVD fixArgs_%s(R0), R%d", field, 1+i)
	}
	p.roundConstants()
	p.label("group")
	p.loadNext(2, 0)
	p.loadNext(2, 4)
	p.round(29)
	p.op("FMOVS F9, %d(R1)", fixedPairs)
	p.op("FSTPQ (F0, F2), (R1)")
	p.op("FSTPQ (F4, F6), 32(R1)")
	p.op("ADD $%d, R1", fixedBytes)
	p.op("SUB $1, R3")
	p.op("CBNZ R3, group")
	p.op("RET")

	p.begin("weighNEON", "args *weighArgs", "")
	for i, field := range []string{"dst", "x", "ldx", "scales", "lds"} {
		p.op("MOVD weighArgs_%s(R0), R%d", field, 1+i)
	}
	p.op("MOVD weighArgs_rows(R0), R10")
	p.roundConstants()
	for i := range 4 {
		p.op("FMOVQ %d(R4), F%d", fixedPairs+16*i, 17+2*i)
		p.v("shll v%d.4s, v%d.4h, #16", 16+2*i, 17+2*i)
		p.v("shll2 v%d.4s, v%d.8h, #16", 17+2*i, 17+2*i)
	}
	p.label("row")
	p.op("MOVD R2, R9")
	p.loadNext(9, 0)
	p.load(9, 4)
	p.four("fmul {0}.4s, {0}.4s, {16}.4s")
	p.four("fmul {4}.4s, {4}.4s, {20}.4s")
	p.round(31)
	p.op("MOVD R1, R7")
	p.op("MOVD R4, R8")
	p.op("MOVD weighArgs_groups(R0), R6")
	p.label("groups")
	p.op("FMOVS F9, %d(R7)", fixedPairs)
	p.op("FLDPQ (R8), (F10, F11)")
	p.op("FLDPQ 32(R8), (F12, F13)")
	for i := range 4 {
		p.v("sqrdmulh v%d.8h, v%d.8h, v%d.8h", 10+i, 10+i, 2*i)
	}
	p.op("FSTPQ (F10, F11), (R7)")
	p.op("FSTPQ (F12, F13), 32(R7)")
	p.op("ADD $%d, R7", fixedRows*fixedBytes)
	p.op("ADD R5, R8")
	p.op("SUB $1, R6")
	p.op("CBNZ R6, groups")
	p.op("ADD R3, R2")
	p.op("ADD $%d, R1", fixedBytes)
	p.op("SUB $1, R10")
	p.op("CBNZ R10, row")
	p.op("RET")
}

// roundConstants loads what round needs: V28 32767 and V29 its inverse, V30 the least largest magnitude, V31 2^15/32767^2 and V27
// -32768.
func (p *printer) roundConstants() {
	p.op("MOVD $fixed<>(SB), R9")
	for i := range 4 {
		p.op("FMOVS %d(R9), F%d", 4*i, 28+i)
	}
	p.op("ADD $16, R9")
	p.op("VLD1R (R9), [V27.S4]")
}

// round makes 32 numbers, in V0 to V7, integers of 16 bits in V0, V2, V4 and V6, and their scale the largest magnitude times the
// number in a register, in V9. A NaN becomes the least number, and the scale NaN. None is larger than 32767, so that taking 16 of its
// 32 bits is enough. It changes V8 to V15.
func (p *printer) round(one int) {
	p.largest("fmaxv")
	p.op("FMAXS F30, F8, F8")
	p.op("FMULS F%d, F8, F9", one)
	p.op("FDIVS F8, F28, F8")
	for _, first := range []string{"{0}", "{4}"} {
		p.four("fmul " + first + ".4s, " + first + ".4s, v8.s[0]")
		p.four("fmaxnm " + first + ".4s, " + first + ".4s, v27.4s")
		p.four("fcvtns " + first + ".4s, " + first + ".4s")
	}
	p.narrow()
}

// largest sets V8 to the largest magnitude of V0 to V7, across a vector by fmaxv, of which a NaN stays, or by fmaxnmv. It changes V8
// to V15.
func (p *printer) largest(across string) {
	p.four("fabs {8}.4s, {0}.4s")
	p.four("fabs {12}.4s, {4}.4s")
	p.four("fmax {8}.4s, {8}.4s, {12}.4s")
	p.v("fmax v8.4s, v8.4s, v9.4s")
	p.v("fmax v10.4s, v10.4s, v11.4s")
	p.v("fmax v8.4s, v8.4s, v10.4s")
	p.v("%s s8, v8.4s", across)
}

// narrow sets V0, V2, V4 and V6 to the lower 16 bits of V0 to V7.
func (p *printer) narrow() {
	for i := 0; i < 8; i += 2 {
		p.v("uzp1 v%d.8h, v%d.8h, v%d.8h", i, i, i+1)
	}
}
