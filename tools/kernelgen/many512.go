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
// Registers: Z0-Z7 float sums, Z8-Z15 integer sums, Z16 and Z17 weights or scales, Z18 to Z23 temporary, Z24 minima. Those of
// expanding are as in mul_avx512_amd64.s.

#include "textflag.h"

`

// manyRows is how many rows a kernel takes at once.
const manyRows = 8

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

const expandSignature = "(dst *byte, codes, scales *byte, blocks int)"

func (k expand512) name() string { return "expand" + k.format.name + "AVX512" }

func (k expand512) print() {
	k.open(k.name(), expandSignature, "dst DI", "codes SI", "scales BX", "blocks CX")
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
		k.op("PREFETCHT0 %d(SI)", prefetchBytes+at)
	}
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
	if k.super() {
		k.op("DECQ AX")
		k.op("JNZ block")
		k.op("SUBQ $8, CX")
		k.op("JNZ super")
	} else {
		k.op("DECQ CX")
		k.op("JNZ block")
	}
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

const manySignature = "(dst *float32, ldd uintptr, sums *float32, w, act *byte, stride, zero uintptr, blocks int)"

func (k manyKernel) name() string { return "many" + k.kind.name + "AVX512" }

func (k manyKernel) print() {
	k.open(k.name(), manySignature, "dst DI", "ldd R8", "sums BX", "w SI", "act DX", "stride R9", "zero R11", "blocks CX")
	for t := range manyRows {
		k.op("VMOVUPS %d(BX), Z%d", 64*t, t)
	}
	k.label("block")
	if k.halves {
		k.products(0, 4, 0)
		k.add(0)
		k.products(4, 8, 4)
		k.add(1)
	} else {
		k.products(0, 8, 0)
		k.add(0)
	}
	k.op("ADDQ $%d, SI", k.bytes())
	k.op("ADDQ R9, DX")
	k.op("DECQ CX")
	k.op("JNZ block")
	for t := range manyRows {
		k.op("VMOVUPS Z%d, (DI)", t)
		if t+1 < manyRows {
			k.op("ADDQ R8, DI")
		}
	}
	k.end()
}

// products sets the integer sums of groups from to end of the block. Zero is where the zero point's correction lies, behind
// where the argument says.
func (k manyKernel) products(from, end, zero int) {
	for t := range manyRows {
		if k.minima {
			k.op("VPXORD Z%d, Z%d, Z%d", 8+t, 8+t, 8+t)
		} else {
			k.op("VPBROADCASTD %d(DX)(R11*1), Z%d", t*recordBytes+zero, 8+t)
		}
	}
	for group := from; group < end; group++ {
		w := 16 + group%2
		k.op("VMOVDQU32 %d(SI), Z%d", 64*group, w)
		for t := range manyRows {
			k.op("VPDPBUSD.BCST %d(DX), Z%d, Z%d", t*recordBytes+4*group, w, 8+t)
		}
	}
}

// add adds the integer sums of a block, or of half n of one, to the float sums.
func (k manyKernel) add(n int) {
	floats := 512 + n*(k.bytes()-512)/2
	k.op("VMOVUPS %d(SI), Z16", floats)
	if k.minima {
		k.op("VMOVUPS %d(SI), Z24", floats+64)
	}
	for t := range manyRows {
		scale := 18 + t%4
		k.op("VCVTDQ2PS Z%d, Z%d", 8+t, 8+t)
		k.op("VMULPS.BCST %d(DX), Z16, Z%d", t*recordBytes+recordScale, scale)
		k.op("VFMADD231PS Z%d, Z%d, Z%d", scale, 8+t, t)
		switch {
		case k.minima && k.halves: // a 32nd of the minimum times -32 times the sum
			k.op("VMULPS.BCST %d(DX), Z24, Z22", t*recordBytes+recordScale)
			k.op("VCVTDQ2PS.BCST %d(DX), Z23", t*recordBytes+recordZeroA+4*n)
			k.op("VFMADD231PS Z22, Z23, Z%d", t)
		case k.minima:
			k.op("VFMADD231PS.BCST %d(DX), Z24, Z%d", t*recordBytes+recordSum, t)
		}
	}
}
