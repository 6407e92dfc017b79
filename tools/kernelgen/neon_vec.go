// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
)

const headerNeonVec = `// Element-wise kernels for all arm64 tiers.
//
// Identity: each does to 16 lanes, in four registers, what its Go twin does to one number, with the same single roundings, so
// all tiers give the same bits. Sums are in 16 lanes, added as a tree here or by the caller.
// e^x = 2^n e^r: see vec_exp.go for its constants and limits. 2^n is made by adding n to the exponent of 1. FMIN and FMAX keep a
// NaN, FMAXNM passes over it, as the twins do.
// Tails: none, n is a multiple of 16; the callers do the rest with the twins.
// Bound: memory, or for e^x the vector units (22 operations for 4 numbers).
//
// Pointers and counts are in R0 and up, in the order of the parameters; floats in V31 and down. V16 to V19 are the constants
// of e^x by lane; V20 its lower limit, V21 its upper one, V22 1, in all lanes.

#include "textflag.h"
`

// expConstants are the floats of V16 to V19.
var expConstants = []float32{
	-87.33, 88.3, math.Log2E, 0.693359375,
	-2.12194440e-4, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
	4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1,
	0.07135481627159607, 1.5957691216057308, 0, 0, // of GELU: cubic, linear
}

// floats defines float constants.
func (p *printer) floats(name string, values ...float32) {
	fmt.Fprintln(p)
	for i, v := range values {
		fmt.Fprintf(p, "DATA %s<>+%d(SB)/4, $%#08x // %v\n", name, 4*i, math.Float32bits(v), v)
	}
	fmt.Fprintf(p, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, 4*len(values))
}

func neonVec() string {
	var p printer
	p.WriteString(generated + headerNeonVec)
	p.floats("exps", expConstants...)
	p.floats("halves", 65504, -65504)
	p.floats("bf16s", math.Float32frombits(0x7f7f0000), math.Float32frombits(0xff7f0000), math.Float32frombits(0x7fff), math.Float32frombits(1), math.Float32frombits(0x7fc00000))
	p.exps()
	p.gates()
	p.reductions()
	p.scalings()
	p.rotations()
	p.conversions()
	return p.String()
}

// loop prints a loop over 16 numbers a time; count is the register with how many there are.
func (p *printer) loop(label string, count int, body func()) {
	p.label(label)
	body()
	p.op("SUB $16, R%d", count)
	p.op("CBNZ R%d, %s", count, label)
}

// load and store move 16 floats to or from four registers; next also goes on to the next 16.
func (p *printer) load(pointer, first int)      { p.op("VLD1 (R%d), %s", pointer, list(first)) }
func (p *printer) loadNext(pointer, first int)  { p.op("VLD1.P 64(R%d), %s", pointer, list(first)) }
func (p *printer) storeNext(pointer, first int) { p.op("VST1.P %s, 64(R%d)", list(first), pointer) }

func list(first int) string {
	return fmt.Sprintf("[V%d.S4, V%d.S4, V%d.S4, V%d.S4]", first, first+1, first+2, first+3)
}

// expConstants loads what exp needs.
func (p *printer) expConstants() {
	p.op("MOVD $exps<>(SB), R9")
	p.load(9, 16)
	p.v("dup v20.4s, v16.s[0]")
	p.v("dup v21.4s, v16.s[1]")
	p.v("dup v22.4s, v18.s[3]")
}

// exp sets V0 to V3 to their exponentials. It changes V4 to V15 and V24 to V27.
func (p *printer) exp() {
	p.four("fcmgt {24}.4s, v20.4s, {0}.4s")
	p.four("fmin {0}.4s, {0}.4s, v21.4s")
	p.four("fmul {4}.4s, {0}.4s, v16.s[2]")
	p.four("frintn {4}.4s, {4}.4s")
	p.four("fmls {0}.4s, {4}.4s, v16.s[3]")
	p.four("fmls {0}.4s, {4}.4s, v17.s[0]")
	p.four("dup {8}.4s, v17.s[1]")
	from, to := 8, 12
	for _, coefficient := range []string{"v17.s[2]", "v17.s[3]", "v18.s[0]", "v18.s[1]", "v18.s[2]"} {
		p.four(fmt.Sprintf("dup {%d}.4s, %s", to, coefficient))
		p.four(fmt.Sprintf("fmla {%d}.4s, {%d}.4s, {0}.4s", to, from))
		from, to = to, from
	}
	p.four(fmt.Sprintf("fmul {%d}.4s, {0}.4s, {0}.4s", to))
	p.four(fmt.Sprintf("fmla {0}.4s, {%d}.4s, {%d}.4s", from, to))
	p.four("fadd {0}.4s, {0}.4s, v22.4s")
	p.four("fcvtzs {4}.4s, {4}.4s")
	p.four("shl {4}.4s, {4}.4s, #23")
	p.four("add {4}.4s, {4}.4s, v22.4s")
	p.four("fmul {0}.4s, {0}.4s, {4}.4s")
	p.four("bic {0}.16b, {0}.16b, {24}.16b")
}

func (p *printer) exps() {
	p.begin("expNEON", "x float32", "float32")
	p.expConstants()
	p.v("orr v0.16b, v31.16b, v31.16b")
	p.exp()
	p.op("FMOVS F0, ret+8(FP)")
	p.op("RET")

	p.begin("softmaxNEON", "s *float32, stride uintptr, rows, n int, maxima, sums *float32, ahead unsafe.Pointer", "")
	p.op("MOVD R6, R14")
	p.expConstants()
	p.label("row")
	p.op("MOVD R0, R6")
	p.op("MOVD R3, R7")
	p.op("VLD1R (R4), [V23.S4]")
	p.loop("largest", 7, func() {
		p.loadNext(6, 0)
		p.v("fmaxnm v0.4s, v0.4s, v1.4s")
		p.v("fmaxnm v2.4s, v2.4s, v3.4s")
		p.v("fmaxnm v0.4s, v0.4s, v2.4s")
		p.v("fmaxnm v23.4s, v23.4s, v0.4s")
	})
	p.v("fmaxnmv s23, v23.4s")
	p.op("FMOVS.P F23, 4(R4)")
	p.v("dup v23.4s, v23.s[0]")
	p.four("movi {28}.16b, #0")
	p.op("MOVD R0, R6")
	p.op("MOVD R3, R7")
	p.loop("weights", 7, func() {
		p.op("PRFM (R14), PLDL2KEEP")
		p.op("PRFM 64(R14), PLDL2KEEP")
		p.op("ADD $128, R14")
		p.load(6, 0)
		p.four("fsub {0}.4s, {0}.4s, v23.4s")
		p.exp()
		p.storeNext(6, 0)
		p.four("fadd {28}.4s, {28}.4s, {0}.4s")
	})
	p.treeSum(28)
	p.op("FMOVS.P F28, 4(R5)")
	p.op("ADD R1, R0")
	p.op("SUB $1, R2")
	p.op("CBNZ R2, row")
	p.op("RET")
}

func (p *printer) gates() {
	for _, gate := range []string{"SiLU", "GELU"} {
		p.begin("gate"+gate+"NEON", "gate, up *float32, n int", "")
		p.expConstants()
		p.v("dup v28.4s, v19.s[1]")
		p.loop("step", 2, func() {
			p.load(0, 0)
			if gate == "GELU" {
				p.four("fmul {8}.4s, {0}.4s, {0}.4s")
				p.four("orr {4}.16b, v28.16b, v28.16b")
				p.four("fmla {4}.4s, {8}.4s, v19.s[0]")
				p.four("fmul {0}.4s, {0}.4s, {4}.4s")
			}
			p.four("fneg {0}.4s, {0}.4s")
			p.exp()
			p.four("fadd {0}.4s, {0}.4s, v22.4s")
			p.load(0, 4)
			p.four("fdiv {0}.4s, {4}.4s, {0}.4s")
			p.loadNext(1, 8)
			p.four("fmul {0}.4s, {0}.4s, {8}.4s")
			p.storeNext(0, 0)
		})
		p.op("RET")
	}

	p.begin("softCapNEON", "x *float32, n int, scale, twice, limit float32", "")
	p.expConstants()
	p.v("dup v30.4s, v30.s[0]")
	p.v("dup v29.4s, v29.s[0]")
	p.loop("step", 1, func() {
		p.load(0, 0)
		p.four("fmul {0}.4s, {0}.4s, v31.s[0]")
		p.exp()
		p.four("fadd {0}.4s, {0}.4s, v22.4s")
		p.four("fdiv {0}.4s, v30.4s, {0}.4s")
		p.four("fsub {0}.4s, v29.4s, {0}.4s")
		p.storeNext(0, 0)
	})
	p.op("RET")
}

func (p *printer) reductions() {
	p.begin("sumSquaresNEON", "x *float32, n int, sums *[16]float32", "")
	p.four("movi {0}.16b, #0")
	p.loop("step", 1, func() {
		p.loadNext(0, 4)
		p.four("fmla {0}.4s, {4}.4s, {4}.4s")
	})
	p.storeNext(2, 0)
	p.op("RET")

	// FMAX keeps a NaN, which HI takes for larger.
	p.begin("notAboveNEON", "x *float32, n int, bound float32", "int")
	p.op("MOVD R1, R2")
	p.loop("step", 2, func() {
		p.loadNext(0, 0)
		p.v("fmax v0.4s, v0.4s, v1.4s")
		p.v("fmax v2.4s, v2.4s, v3.4s")
		p.v("fmax v0.4s, v0.4s, v2.4s")
		p.v("fmaxv s0, v0.4s")
		p.op("FCMPS F31, F0")
		p.op("BHI above")
	})
	p.label("above")
	p.op("SUB R2, R1, R1")
	p.op("MOVD R1, ret+24(FP)")
	p.op("RET")

	// A weight is e·2^44 + 0.5 without its fraction.
	p.begin("weightSumNEON", "e *float32, n int", "uint64")
	p.op("FMOVD $0x1p44, F24")
	p.op("FMOVD $0.5, F25")
	p.v("dup v24.2d, v24.d[0]")
	p.v("dup v25.2d, v25.d[0]")
	p.four("movi {16}.16b, #0")
	p.loop("step", 1, func() {
		p.loadNext(0, 0)
		p.four("fcvtl {4}.2d, {0}.2s")
		p.four("fcvtl2 {8}.2d, {0}.4s")
		for _, part := range []string{"{4}", "{8}"} {
			p.four("fmul " + part + ".2d, " + part + ".2d, v24.2d")
			p.four("fadd " + part + ".2d, " + part + ".2d, v25.2d")
			p.four("fcvtzu " + part + ".2d, " + part + ".2d")
			p.four("add {16}.2d, {16}.2d, " + part + ".2d")
		}
	})
	p.v("add v16.2d, v16.2d, v17.2d")
	p.v("add v18.2d, v18.2d, v19.2d")
	p.v("add v16.2d, v16.2d, v18.2d")
	p.v("addp d16, v16.2d")
	p.op("FMOVD F16, ret+16(FP)")
	p.op("RET")
}

func (p *printer) scalings() {
	p.begin("scaleMulNEON", "dst, x, w *float32, c float32, n int", "")
	p.loop("step", 3, func() {
		p.loadNext(1, 0)
		p.loadNext(2, 4)
		p.four("fmul {0}.4s, {0}.4s, v31.s[0]")
		p.four("fmul {0}.4s, {0}.4s, {4}.4s")
		p.storeNext(0, 0)
	})
	p.op("RET")

	p.begin("scaleNEON", "dst, x *float32, c float32, n int", "")
	p.loop("step", 2, func() {
		p.loadNext(1, 0)
		p.four("fmul {0}.4s, {0}.4s, v31.s[0]")
		p.storeNext(0, 0)
	})
	p.op("RET")

	p.begin("addNEON", "dst, x *float32, n int", "")
	p.loop("step", 2, func() {
		p.load(0, 0)
		p.loadNext(1, 4)
		p.four("fadd {0}.4s, {0}.4s, {4}.4s")
		p.storeNext(0, 0)
	})
	p.op("RET")

	p.begin("addScaledNEON", "dst, x *float32, c float32, n int", "")
	p.loop("step", 2, func() {
		p.load(0, 0)
		p.loadNext(1, 4)
		p.four("fmla {0}.4s, {4}.4s, v31.s[0]")
		p.storeNext(0, 0)
	})
	p.op("RET")
}

func (p *printer) rotations() {
	p.begin("rotateHalvesNEON", "a, b, cos, sin *float32, n int", "")
	p.loop("step", 4, func() {
		p.load(0, 0)
		p.load(1, 4)
		p.loadNext(2, 8)
		p.loadNext(3, 12)
		p.four("fmul {16}.4s, {4}.4s, {12}.4s")
		p.four("fmul {20}.4s, {0}.4s, {12}.4s")
		p.four("fneg {16}.4s, {16}.4s")
		p.four("fmla {16}.4s, {0}.4s, {8}.4s")
		p.four("fmla {20}.4s, {4}.4s, {8}.4s")
		p.storeNext(0, 16)
		p.storeNext(1, 20)
	})
	p.op("RET")

	p.begin("rotatePairsNEON", "x, cos, sin *float32, n int", "")
	p.loop("step", 3, func() {
		p.load(0, 0)
		p.loadNext(1, 4)
		p.loadNext(2, 8)
		p.four("rev64 {12}.4s, {0}.4s")
		p.four("fmul {12}.4s, {12}.4s, {8}.4s")
		p.four("fmla {12}.4s, {0}.4s, {4}.4s")
		p.storeNext(0, 12)
	})
	p.op("RET")
}

func (p *printer) conversions() {
	p.begin("toHalfNEON", "dst *uint16, x *float32, n int", "")
	p.op("MOVD $halves<>(SB), R9")
	p.op("VLD1R.P 4(R9), [V16.S4]")
	p.op("VLD1R (R9), [V17.S4]")
	p.loop("step", 2, func() {
		p.loadNext(1, 0)
		p.four("fmin {0}.4s, {0}.4s, v16.4s")
		p.four("fmax {0}.4s, {0}.4s, v17.4s")
		p.v("fcvtn v0.4h, v0.4s")
		p.v("fcvtn2 v0.8h, v1.4s")
		p.v("fcvtn v2.4h, v2.4s")
		p.v("fcvtn2 v2.8h, v3.4s")
		p.op("FSTPQ.P (F0, F2), 32(R0)")
	})
	p.op("RET")

	// The upper 16 bits of x + 0x7fff + bit 16 of x, as integers: rounding to even. A carry into the exponent is right.
	p.begin("toBF16NEON", "dst *uint16, x *float32, n int", "")
	p.op("MOVD $bf16s<>(SB), R9")
	for i := range 5 {
		p.op("VLD1R.P 4(R9), [V%d.S4]", 16+i)
	}
	p.loop("step", 2, func() {
		p.loadNext(1, 0)
		p.four("fcmeq {4}.4s, {0}.4s, {0}.4s")
		p.four("fmin {0}.4s, {0}.4s, v16.4s")
		p.four("fmax {0}.4s, {0}.4s, v17.4s")
		p.four("ushr {8}.4s, {0}.4s, #16")
		p.four("and {8}.16b, {8}.16b, v19.16b")
		p.four("add {0}.4s, {0}.4s, v18.4s")
		p.four("add {0}.4s, {0}.4s, {8}.4s")
		p.four("bif {0}.16b, v20.16b, {4}.16b")
		p.v("uzp2 v0.8h, v0.8h, v1.8h")
		p.v("uzp2 v2.8h, v2.8h, v3.8h")
		p.op("FSTPQ.P (F0, F2), 32(R0)")
	})
	p.op("RET")
}
