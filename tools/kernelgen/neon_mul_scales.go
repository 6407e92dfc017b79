// SPDX-License-Identifier: Apache-2.0

package main

// A floatStage names the registers that turn the integer sums of a block, or a half of it, into floats: those that the
// activations had.
type floatStage struct {
	records int // by row: scale of the activations, scale times their sum
	zeros   int // by row, tier NEON: the zero point's correction
	thirds  int // by row, Q2_K: -32 times the sums of the halves, as floats, in lanes 1 and 2
	scales  int // by part
	minima  int // by part
	free    int
}

func (k *mulNeon) floatStage() (f floatStage) {
	next := k.acts
	take := func(n int) int {
		next += n
		return next - n
	}
	f.records = take(k.rows)
	if k.correctsLate() {
		f.zeros = take(k.rows)
	}
	if k.scales == halvesMin {
		f.thirds = take(k.rows)
	}
	f.scales = take(k.parts)
	if k.scales == halvesMin || k.scales == superMin || k.scales == withMin {
		f.minima = take(k.parts)
	}
	f.free = take(0)
	return f
}

// correctsLate says whether the zero point is taken off after the products.
func (k *mulNeon) correctsLate() bool { return k.tier == "NEON" && k.zero != 0 && !k.signed() }

// add adds the integer sums, of half n of a block whose halves have scales of their own, to the float sums.
func (k *mulNeon) add(n int) {
	f := k.floatStage()
	for row := range k.rows {
		k.op("FMOVQ %d(R4), F%d", row*recordBytes+recordScale, f.records+row)
		if k.correctsLate() {
			k.correction(4*n, row, f.zeros+row)
		}
		if k.scales == halvesMin {
			k.op("FMOVQ %d(R4), F%d", row*recordBytes+recordZeroA-4, f.thirds+row)
			k.v("scvtf v%d.4s, v%d.4s", f.thirds+row, f.thirds+row)
		}
	}
	k.loadScales(f, n)
	for part := range k.parts {
		for row := range k.rows {
			sum, scale, minimum, record := k.sum(row, part), f.scales+part, f.minima+part, f.records+row
			integer := k.integer(f, row, part)
			k.v("scvtf v%d.4s, v%d.4s", integer, integer)
			k.v("fmul v%d.4s, v%d.4s, v%d.s[0]", f.free, scale, record)
			k.v("fmla v%d.4s, v%d.4s, v%d.4s", sum, integer, f.free)
			switch k.scales {
			case withMin:
				k.v("fmla v%d.4s, v%d.4s, v%d.s[1]", sum, minimum, record)
			case superMin:
				k.v("fmls v%d.4s, v%d.4s, v%d.s[1]", sum, minimum, record)
			case halvesMin: // a 32nd of the minimum times -32 times the sum
				k.v("fmul v%d.4s, v%d.4s, v%d.s[0]", f.free, minimum, record)
				k.v("fmla v%d.4s, v%d.4s, v%d.s[%d]", sum, f.free, f.thirds+row, 1+n)
			default: // no minima
			}
		}
	}
}

// integer returns the register of an integer sum, four weight rows side by side.
func (k *mulNeon) integer(f floatStage, row, part int) int {
	switch k.tier {
	case "NEON":
		sum := k.ints + 2*(row*k.parts+part)
		if !k.narrow() {
			k.v("saddlp v%d.4s, v%d.8h", sum, sum)
			k.v("saddlp v%d.4s, v%d.8h", sum+1, sum+1)
		}
		k.v("addp v%d.4s, v%d.4s, v%d.4s", sum, sum, sum+1)
		if k.correctsLate() {
			k.v("add v%d.4s, v%d.4s, v%d.4s", sum, sum, f.zeros+row)
		}
		return sum
	case "I8MM":
		sum := k.ints + 2*(row/2*k.parts+part)
		if row%2 == 0 {
			k.v("zip1 v%d.2d, v%d.2d, v%d.2d", f.free+1, sum, sum+1)
			return f.free + 1
		}
		k.v("zip2 v%d.2d, v%d.2d, v%d.2d", sum+1, sum, sum+1)
		return sum + 1
	}
	return k.ints + row*k.parts + part
}

// superScales points R8 at the bytes of the first block of a super-block. In pass 1 R3 is 16 bytes ahead, for 8 half floats,
// but the bytes of 8 rows are 8.
func (k *mulNeon) superScales() {
	k.op("ADD $%d, R3, R8", k.fineOffset())
	if k.parts == 2 {
		k.op("SUB R10<<3, R8")
	}
}

// fineOffset is where the bytes of the blocks begin in the scales of a super-block: behind one or two rows of half floats.
func (k *mulNeon) fineOffset() int {
	if k.scales == superMin || k.scales == halvesMin {
		return 64
	}
	return 32
}

// loadScales loads the scales and the minima of the block or of half n of it.
func (k *mulNeon) loadScales(f floatStage, n int) {
	for pair := 0; pair < k.parts; pair += 2 {
		scale, minimum, free := f.scales+pair, f.minima+pair, f.free
		switch k.scales {
		case single:
			k.halfFloats(8*pair, scale)
		case bfloat:
			k.op("FMOVQ %d(R3), F%d", 8*pair, free)
			k.v("shll v%d.4s, v%d.4h, #16", scale, free)
			k.v("shll2 v%d.4s, v%d.8h, #16", scale+1, free)
		case withMin:
			k.halfFloats(8*pair, scale)
			k.halfFloats(32+8*pair, minimum)
		case superMin:
			k.bytes("uxtl", 4*pair, scale, free)
			k.bytes("uxtl", 16+4*pair, minimum, free)
			k.times(8*pair, scale, free)
			k.times(32+8*pair, minimum, free)
		case superOne:
			k.bytes("sxtl", 4*pair, scale, free)
			k.times(8*pair, scale, free)
		case halves:
			k.bytes("sxtl", 16*n+4*pair, scale, free)
			k.times(8*pair, scale, free)
		case halvesMin:
			k.nibbles(16*n+4*pair, scale, minimum, free)
			k.times(8*pair, scale, free)
			k.times(32+8*pair, minimum, free)
		}
	}
}

// halfFloats sets two registers to 8 half floats.
func (k *mulNeon) halfFloats(at, register int) {
	k.op("FMOVQ %d(R3), F%d", at, register+1)
	k.v("fcvtl v%d.4s, v%d.4h", register, register+1)
	k.v("fcvtl2 v%d.4s, v%d.8h", register+1, register+1)
}

// bytes sets two registers to 8 bytes as floats.
func (k *mulNeon) bytes(widen string, at, register, free int) {
	k.op("FMOVD %d(R8), F%d", at, free)
	k.widen(widen, register, free)
	convert := map[string]string{"uxtl": "ucvtf", "sxtl": "scvtf"}[widen]
	k.v("%s v%d.4s, v%d.4s", convert, register, register)
	k.v("%s v%d.4s, v%d.4s", convert, register+1, register+1)
}

// widen sets two registers to 8 bytes as integers.
func (k *mulNeon) widen(widen string, register, bytes int) {
	k.v("%s v%d.8h, v%d.8b", widen, bytes, bytes)
	k.v("%s v%d.4s, v%d.4h", widen, register, bytes)
	k.v("%s2 v%d.4s, v%d.8h", widen, register+1, bytes)
}

// nibbles sets two registers each to the lower halves of 8 bytes and to 32nds of their upper halves.
func (k *mulNeon) nibbles(at, low, high, free int) {
	k.op("FMOVD %d(R8), F%d", at, free)
	k.v("ushr v%d.16b, v%d.16b, #4", free+1, free)
	k.v("shl v%d.16b, v%d.16b, #4", free, free)
	k.v("ushr v%d.16b, v%d.16b, #4", free, free)
	k.widen("uxtl", low, free)
	k.widen("uxtl", high, free+1)
	for i := range 2 {
		k.v("ucvtf v%d.4s, v%d.4s", low+i, low+i)
		k.v("ucvtf v%d.4s, v%d.4s, #5", high+i, high+i)
	}
}

// times multiplies two registers with 8 half floats.
func (k *mulNeon) times(at, register, free int) {
	k.op("FMOVQ %d(R3), F%d", at, free)
	k.v("fcvtl v%d.4s, v%d.4h", free+1, free)
	k.v("fcvtl2 v%d.4s, v%d.8h", free, free)
	k.v("fmul v%d.4s, v%d.4s, v%d.4s", register, register, free+1)
	k.v("fmul v%d.4s, v%d.4s, v%d.4s", register+1, register+1, free)
}
