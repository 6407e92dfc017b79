// SPDX-License-Identifier: Apache-2.0

package main

const headerMany = `// Products of panels with many rows of activations, for AVX-512 with VNNI: a run of blocks is expanded once, into bytes and
// floats that the first cache holds, and then multiplied with 8 rows after the other.
//
// Identity, headroom, tables, float order: as in mul_avx512_amd64.s, operation for operation. Minima are expanded with the
// sign with which they are added.
// Tails: none. Rows are 8, runs of blocks begin and end with a super-block; what is left goes to the other kernels.
// Bound: ports 0 and 5: for each row and block 8 dot products and 3 to 6 float operations, and nothing else, which is what
// expanding is for.
//
// An expanded block: 8 lines of 64 codes, then 16 floats each: scales; scales, minima; scales of both halves; or scales and
// minima of the first half, scales and minima of the second.
//
// Registers: Z0-Z7 float sums, Z8-Z23 integer sums of two blocks or halves, Z24-Z27 weights; then Z24 scales, Z25 minima,
// Z26-Z31 temporary. Those of expanding are as in mul_avx512_amd64.s.

#include "textflag.h"

`

// A kind is what the expanded blocks of some formats have in common.
type kind struct {
	name   string
	halves bool // scales for each half
	minima bool
}

var kinds = []kind{{"Single", false, false}, {"Min", false, true}, {"Halves", true, false}, {"HalvesMin", true, true}}

// kind is that of a format.
func (f format) kind() kind {
	minima := f.scales == withMin || f.scales == superMin || f.scales == halvesMin
	for _, k := range kinds {
		if k.halves == f.split() && k.minima == minima {
			return k
		}
	}
	panic("no kind for " + f.name)
}

// bytes is the size of an expanded block.
func (k kind) bytes() int {
	floats := 1
	if k.halves {
		floats *= 2
	}
	if k.minima {
		floats *= 2
	}
	return 512 + 64*floats
}

// parts is how many parts of a block have scales of their own.
func (k kind) parts() int {
	if k.halves {
		return 2
	}
	return 1
}

// scalesAt is where the scales of a part are in an expanded block. Minima follow.
func (k kind) scalesAt(part int) int { return 512 + part*(k.bytes()-512)/2 }

func many512() string {
	var p printer
	p.WriteString(generated + headerMany)
	p.constant("thirtysecond", 0x3D0000003D000000) // 1/32 twice
	p.constant("fifteen", 0x0000000F0000000F)
	p.constant("twentyeight", 0x1C1C1C1C1C1C1C1C) // makes the zero point of Q3_K, 4, that of Q6_K, 32
	p.constant("signs", 0x8000000080000000)
	p.lookup("nonlinear", 128)
	p.lookup("float4", 16)
	for _, f := range formats {
		expand512{mul512{mul{&p, f, 0}}}.print()
	}
	for _, k := range kinds {
		manyKernel{&p, k}.print()
	}
	return p.String()
}

// An expand512 prints what expands one panel of a format.
type expand512 struct{ mul512 }

const expandSignature = "(dst, codes, scales *byte, ahead uintptr, blocks int)"

func (k expand512) name() string { return "expand" + k.format.name + "AVX512" }

func (k expand512) print() {
	k.open(k.name(), expandSignature, "dst DI", "codes SI", "scales BX", "ahead R13", "blocks CX")
	k.masks()
	if k.super() {
		k.label("super")
		k.superScales()
		if k.scales == superMin {
			k.op("VPXORD signs<>(SB), Z27, Z27")
		}
		k.op("MOVQ $8, AX")
	}
	k.label("block")
	for at := 0; at < k.codeBytes(); at += 64 {
		k.op("PREFETCHT1 %d(SI)(R13*1)", at)
	}
	k.op("PREFETCHT1 (%s)(R13*1)", k.scalesAt())
	floats := 512
	store := func(register int) {
		k.op("VMOVDQU32 Z%d, %d(DI)", register, floats)
		floats += 64
	}
	if k.split() {
		for half := range 2 {
			k.codes(4*half, 4*half+4)
			k.half(half)
			store(24)
			if k.scales == halvesMin {
				store(25)
			}
		}
	} else {
		k.codes(0, 8)
		k.blockScales()
		store(24)
		if k.kind().minima {
			store(25)
		}
	}
	k.op("ADDQ $%d, SI", k.codeBytes())
	k.op("ADDQ $%d, DI", floats)
	k.repeat()
	k.end()
}

// codes stores the codes of groups from to end.
func (k expand512) codes(from, end int) {
	k.upperBits(from)
	for _, group := range k.order(from, end) {
		w := k.unpack(group)
		if k.bits == 3 {
			k.op("VPADDD twentyeight<>(SB), Z%d, Z%d", w, w)
		}
		k.op("VMOVDQU32 Z%d, %d(DI)", w, 64*group)
	}
}

// A manyKernel prints the product of expanded blocks with eight rows of activations.
type manyKernel struct {
	*printer
	kind
}

const manySignature = "(dst *float32, ldd uintptr, sums *float32, w, act *byte, zero uintptr, blocks int, codes *byte, ahead, step uintptr)"

func (k manyKernel) name() string { return "many" + k.kind.name + "AVX512" }

func (k manyKernel) print() {
	k.open(k.name(), manySignature, "dst DI", "ldd R8", "sums BX", "w SI", "act DX", "zero R11", "blocks CX", "codes", "ahead", "step")
	for t := range tileRows {
		k.op("VMOVUPS %d(BX), Z%d", 64*t, t)
	}
	if k.halves {
		k.label("block")
		k.products(part{0, 4, 0, 0}, part{4, 8, 4, 0})
		k.add(0, 8, 0)
		k.add(0, 16, 1)
		k.next(1)
		k.op("DECQ CX")
		k.op("JNZ block")
	} else {
		k.op("DECQ CX")
		k.op("JZ last")
		k.label("block")
		k.products(part{0, 8, 0, 0}, part{0, 8, 0, 1})
		k.add(0, 8, 0)
		k.add(1, 16, 0)
		k.next(2)
		k.op("SUBQ $2, CX")
		k.op("JG block")
		k.op("JL end")
		k.label("last")
		k.products(part{0, 8, 0, 0})
		k.add(0, 8, 0)
		k.label("end")
	}
	k.outputs(tileRows)
	k.end()
}

// next moves on by some blocks.
func (k manyKernel) next(blocks int) {
	k.op("ADDQ $%d, SI", blocks*k.bytes())
	k.op("ADDQ $%d, DX", blocks*tileRows*recordBytes)
}

// A part is some groups of a block, whose integer sums are kept apart. Zero is where the zero point's correction lies, behind
// where the argument says.
type part struct{ from, end, zero, block int }

// record is where a byte of a row's record is, in this block or the next.
func record(block, row, at int) int { return (block*tileRows+row)*recordBytes + at }

// products sets the integer sums of parts, those of the first from Z8 on, those of the second from Z16 on. Two at a time do not
// wait for each other.
func (k manyKernel) products(parts ...part) {
	for i, p := range parts {
		for t := range tileRows {
			sum := 8 + 8*i + t
			if k.minima {
				k.op("VPXORD Z%d, Z%d, Z%d", sum, sum, sum)
			} else {
				k.op("VPBROADCASTD %d(DX)(R11*1), Z%d", record(p.block, t, p.zero), sum)
			}
		}
	}
	for group := range parts[0].end - parts[0].from {
		for i, p := range parts {
			w := 24 + 2*i + group%2
			k.op("VMOVDQU32 %d(SI), Z%d", p.block*k.bytes()+64*(p.from+group), w)
			for t := range tileRows {
				k.op("VPDPBUSD.BCST %d(DX), Z%d, Z%d", record(p.block, t, 4*(p.from+group)), w, 8+8*i+t)
			}
		}
	}
}

// add adds integer sums of a block, or of half n of one, to the float sums.
func (k manyKernel) add(block, sums, n int) {
	floats := block*k.bytes() + k.scalesAt(n)
	k.op("VMOVUPS %d(SI), Z24", floats)
	if k.minima {
		k.op("VMOVUPS %d(SI), Z25", floats+64)
	}
	for t := range tileRows {
		scale := 26 + t%4
		k.op("VCVTDQ2PS Z%d, Z%d", sums+t, sums+t)
		k.op("VMULPS.BCST %d(DX), Z24, Z%d", record(block, t, recordScale), scale)
		k.op("VFMADD231PS Z%d, Z%d, Z%d", scale, sums+t, t)
		switch {
		case k.minima && k.halves: // a 32nd of the minimum times -32 times the sum
			k.op("VMULPS.BCST %d(DX), Z25, Z30", record(block, t, recordScale))
			k.op("VCVTDQ2PS.BCST %d(DX), Z31", record(block, t, recordZeroA+4*n))
			k.op("VFMADD231PS Z30, Z31, Z%d", t)
		case k.minima:
			k.op("VFMADD231PS.BCST %d(DX), Z25, Z%d", record(block, t, recordSum), t)
		}
	}
}
