// SPDX-License-Identifier: Apache-2.0

package main

const headerNeonQuantize = `// Activations to records of signed bytes, for all arm64 tiers.
//
// The order of the operations is free where they are exact (largest magnitude, integer sums); the rest are the single
// operations of quantizeBlock in mul_activations.go. A code is at most 127, since x*(127/m) rounds to 127 for |x| = m.
// Tails: none, rows are whole blocks. Bound: two divisions and the reductions.
//
// R0 record, R1 bytes between records, R2 activations, R3 blocks left, R4 and R5 sums of the halves, R6 of all.

#include "textflag.h"
`

func neonQuantize() string {
	var p printer
	p.WriteString(generated + headerNeonQuantize)
	p.floats("limits", 127, 0x1p-100)
	p.begin("quantizeNEON", "dst *byte, stride uintptr, x *float32, blocks int", "")
	p.op("MOVD $limits<>(SB), R9")
	p.op("FMOVS (R9), F28")
	p.op("FMOVS 4(R9), F29")
	p.op("FMOVS ZR, F30")
	p.label("block")
	p.loadNext(2, 0)
	p.loadNext(2, 4)
	p.largest("fmaxnmv")
	// The scale and its inverse, both 0 if the largest magnitude is tiny.
	p.op("FDIVS F28, F8, F16")
	p.op("FDIVS F8, F28, F17")
	p.op("FCMPS F29, F8")
	p.op("FCSELS GT, F16, F30, F16")
	p.op("FCSELS GT, F17, F30, F17")
	for _, first := range []string{"{0}", "{4}"} {
		p.four("fmul " + first + ".4s, " + first + ".4s, v17.s[0]")
		p.four("fcvtns " + first + ".4s, " + first + ".4s")
	}
	p.narrow()
	p.v("uzp1 v0.16b, v0.16b, v2.16b")
	p.v("uzp1 v1.16b, v4.16b, v6.16b")
	p.op("FSTPQ (F0, F1), (R0)")
	for half := range 2 {
		p.v("saddlp v%d.8h, v%d.16b", 2+half, half)
		p.v("saddlv s%d, v%d.8h", 2+half, 2+half)
		p.op("FMOVS F%d, R%d", 2+half, 4+half)
	}
	p.op("ADDW R4, R5, R6")
	p.op("SCVTFWS R6, F2")
	p.op("FMULS F16, F2, F2")
	p.op("FMOVS F16, 32(R0)")
	p.op("FMOVS F2, 36(R0)")
	for i, product := range []string{"R6<<3", "R6<<4", "R6<<7", "R4<<5", "R5<<5"} {
		p.op("NEGW %s, R7", product)
		p.op("MOVW R7, %d(R0)", 40+4*i)
	}
	p.op("MOVW ZR, 60(R0)")
	p.op("ADD R1, R0")
	p.op("SUB $1, R3")
	p.op("CBNZ R3, block")
	p.op("RET")
	return p.String()
}

const headerNeonPeak = `// Loops that measure the limits of an arm64 machine: see peak.go for what they compute.
//
// The operands of a loop stay in registers. The products are spread over 16 (SMLAL: 8) accumulators, more than an operation's
// latency times what can start in a cycle, so that no product waits for another.
// SMLAL: 8 products are added up in 16 bits, which 4-bit codes allow (8*15*127 = 15240), and then in pairs to 32 bits.
// SMMLA multiplies 2 rows by 2: both rows of codes are the same 8, and so are those of bytes.
// Tails: none; rounds and whole 512 bytes.

#include "textflag.h"
`

func neonPeak() string {
	var p printer
	p.WriteString(generated + headerNeonPeak)
	p.peakWiden()
	p.peakProducts("peakSDOT", "sums *[16]int32, codes *[64]uint8, bytes *[64]int8, rounds int", "sdot v%d.4s, v%d.16b, v%d.16b")
	p.peakMatrix()
	p.peakProducts("peakFMLA", "sums *[16]float32, x, y *[16]float32, rounds int", "fmla v%d.4s, v%d.4s, v%d.4s")
	p.readOne()
	p.readFour()
	return p.String()
}

// peakProducts prints a loop of 16 products of vectors: accumulator i adds those of quarter i%4 of the operands.
func (p *printer) peakProducts(name, parameters, product string) {
	p.begin(name, parameters, "")
	p.load(1, 24)
	p.load(2, 28)
	for i := 0; i < 16; i += 4 {
		p.zeros(i)
	}
	p.label("round")
	for i := range 16 {
		p.v(product, i, 24+i%4, 28+i%4)
	}
	p.op("SUB $1, R3")
	p.op("CBNZ R3, round")
	add := "add v%d.4s, v%d.4s, v%d.4s"
	if product[0] == 'f' {
		add = "fadd v%d.4s, v%d.4s, v%d.4s"
	}
	for i := 4; i < 16; i++ {
		p.v(add, i%4, i%4, i)
	}
	p.storeNext(0, 0)
	p.op("RET")
}

// zeros clears four registers.
func (p *printer) zeros(first int) {
	for i := range 4 {
		p.v("movi v%d.16b, #0", first+i)
	}
}

func (p *printer) peakWiden() {
	p.begin("peakSMLAL", "sums *[16]int32, codes *[64]uint8, bytes *[64]int8, rounds int", "")
	p.load(1, 24)
	p.load(2, 28)
	p.zeros(0)
	p.zeros(4)
	p.label("round")
	for product := range 8 {
		multiply := "smlal"
		if product == 0 {
			multiply = "smull"
		}
		for i := range 4 {
			p.v("%s v%d.8h, v%d.8b, v%d.8b", multiply, 8+2*i, 24+i, 28+i)
			p.v("%s2 v%d.8h, v%d.16b, v%d.16b", multiply, 9+2*i, 24+i, 28+i)
		}
	}
	for i := range 8 {
		p.v("sadalp v%d.4s, v%d.8h", i, 8+i)
	}
	p.op("SUB $1, R3")
	p.op("CBNZ R3, round")
	p.four("add {0}.4s, {0}.4s, {4}.4s")
	p.storeNext(0, 0)
	p.op("RET")
}

func (p *printer) peakMatrix() {
	p.begin("peakSMMLA", "sums *[16]int32, codes *[64]uint8, bytes *[64]int8, rounds int", "")
	for i := range 8 {
		p.op("VLD1R.P 8(R1), [V%d.D2]", 16+i)
		p.op("VLD1R.P 8(R2), [V%d.D2]", 24+i)
	}
	for i := 0; i < 16; i += 4 {
		p.zeros(i)
	}
	p.label("round")
	for i := range 16 {
		p.v("smmla v%d.4s, v%d.16b, v%d.16b", i, 16+i%8, 24+i%8)
	}
	p.op("SUB $1, R3")
	p.op("CBNZ R3, round")
	for i := 4; i < 16; i++ {
		p.v("add v%d.4s, v%d.4s, v%d.4s", i%4, i%4, i)
	}
	p.storeNext(0, 0)
	p.op("RET")
}

func (p *printer) readOne() {
	p.begin("readNEON", "words *[8]uint64, p *byte, n int", "")
	p.zeros(0)
	p.label("step")
	for at := 0; at < 512; at += 128 {
		p.read(1, at)
	}
	p.op("ADD $512, R1")
	p.op("SUB $512, R2")
	p.op("CBNZ R2, step")
	p.storeNext(0, 0)
	p.op("RET")
}

// read takes in 128 bytes.
func (p *printer) read(pointer, at int) {
	for i := range 4 {
		p.op("FLDPQ %d(R%d), (F%d, F%d)", at+32*i, pointer, 16+2*i, 17+2*i)
	}
	for i := range 8 {
		p.v("eor v%d.16b, v%d.16b, v%d.16b", i%4, i%4, 16+i)
	}
}

func (p *printer) readFour() {
	p.begin("readStreamsNEON", "words *[8]uint64, p *byte, n int", "")
	p.zeros(0)
	p.op("LSR $2, R2, R6")
	for i := 3; i < 6; i++ {
		p.op("ADD R6, R%d, R%d", []int{1, 3, 4}[i-3], i)
	}
	p.label("step")
	for _, pointer := range []int{1, 3, 4, 5} {
		p.read(pointer, 0)
		p.op("ADD $128, R%d", pointer)
	}
	p.op("SUB $512, R2")
	p.op("CBNZ R2, step")
	p.storeNext(0, 0)
	p.op("RET")
}
