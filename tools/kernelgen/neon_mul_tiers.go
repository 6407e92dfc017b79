// SPDX-License-Identifier: Apache-2.0

package main

// This file multiplies and adds up: what differs from one arm64 tier to the next, then the float sums, which don't.

// loadActivations loads the activations of the groups from first to end.
//
// Tiers NEON and DotProd: rows of 16 activations, all first ones and then all second ones. Tier I8MM: for each pair of rows,
// 8 activations of one and 8 of the other.
func (k *mulNeon) loadActivations(first, end int) {
	for half := first / 4; half < (end+3)/4; half++ {
		for row := range k.rows {
			register := k.acts + half*k.rows + row
			if k.tier == "I8MM" {
				register = k.free + row%2
			}
			k.op("FMOVQ %d(R4), F%d", row*recordBytes+16*half, register)
			if k.tier == "I8MM" && row%2 == 1 {
				k.v("zip1 v%d.2d, v%d.2d, v%d.2d", k.pair(row/2, 4*half), k.free, k.free+1)
				k.v("zip2 v%d.2d, v%d.2d, v%d.2d", k.pair(row/2, 4*half+2), k.free, k.free+1)
			}
		}
	}
}

// pair is the register with the activations of a pair of rows for a group and the next.
func (k *mulNeon) pair(pair, group int) int { return k.acts + 4*pair + group/2 }

// start sets the integer sums to the zero point's correction. Tier NEON corrects at the end.
func (k *mulNeon) start(first int) {
	if k.tier == "NEON" && !k.narrow() {
		return
	}
	if k.tier == "NEON" || k.zero == 0 || k.signed() {
		count := k.rows * k.parts
		if k.tier == "NEON" {
			count *= 2
		}
		for i := range count {
			k.v("movi v%d.16b, #0", k.ints+i)
		}
		return
	}
	for row := range k.rows {
		k.correction(first, row, k.free+row%2)
		if k.tier == "DotProd" {
			for part := range k.parts {
				k.v("orr v%d.16b, v%d.16b, v%d.16b", k.ints+row*k.parts+part, k.free+row%2, k.free+row%2)
			}
			continue
		}
		if row%2 == 1 {
			for i := range 2 * k.parts {
				k.v("zip1 v%d.2d, v%d.2d, v%d.2d", k.ints+row/2*2*k.parts+i, k.free, k.free+1)
			}
		}
	}
}

// correction sets all lanes of a register to what takes off the zero point for a row, from a group on.
func (k *mulNeon) correction(first, row, register int) {
	zero := k.zero
	if k.split() {
		zero += first
	}
	k.op("ADD $%d, R4, R9", row*recordBytes+zero)
	k.op("VLD1R (R9), [V%d.S4]", register)
	if k.bits == 3 {
		k.v("sshr v%d.4s, v%d.4s, #3", register, register) // -32 times the sum to -4 times
	}
}

// multiplyNeon adds the products of a step on tier NEON. First says whether there is nothing in 16 bits yet.
func (k *mulNeon) multiplyNeon(s step, first bool) {
	repeated := k.free // the activations of group i for each row
	for i, group := range s.groups {
		for row := range k.rows {
			k.v("dup v%d.4s, v%d.s[%d]", repeated+i*k.rows+row, k.acts+group/4*k.rows+row, group%4)
		}
	}
	wide := repeated + len(s.groups)*k.rows // narrow: products of two groups, by row
	lines := wide
	if k.narrow() {
		lines += 2 * k.rows
	}
	for part := range k.parts {
		code := k.load(s, part, lines)
		for i, group := range s.groups {
			codes := k.unpack(s, group, part, lines+s.lineOf(group), code)
			if k.narrow() {
				k.widening(wide, codes, repeated+i*k.rows, i == 0)
			} else {
				k.widening(k.ints+2*part, codes, repeated+i*k.rows, first && i == 0)
			}
		}
		for i := range 2 * k.rows {
			if k.narrow() {
				k.v("sadalp v%d.4s, v%d.8h", k.ints+2*(i/2*k.parts+part)+i%2, wide+i)
			}
		}
	}
}

// widening multiplies codes with the activations of each row and adds the products to 16-bit sums, or sets those. The sums of a
// part are as far apart as parts are many, if they are not for two groups only.
func (k *mulNeon) widening(sums, codes, activations int, set bool) {
	multiply, apart := "smlal", 2*k.parts
	if set {
		multiply = "smull"
	}
	if k.narrow() {
		apart = 2
	}
	for row := range k.rows {
		k.v("%s v%d.8h, v%d.8b, v%d.8b", multiply, sums+row*apart, codes, activations+row)
		k.v("%s2 v%d.8h, v%d.16b, v%d.16b", multiply, sums+row*apart+1, codes, activations+row)
	}
}

// multiplyDot adds the products of a step on tier DotProd.
func (k *mulNeon) multiplyDot(s step) {
	for part := range k.parts {
		code := k.load(s, part, k.free)
		for _, group := range s.groups {
			codes := k.unpack(s, group, part, k.free+s.lineOf(group), code)
			for row := range k.rows {
				k.v("sdot v%d.4s, v%d.16b, v%d.4b[%d]", k.ints+row*k.parts+part, codes, k.acts+group/4*k.rows+row, group%4)
			}
		}
	}
}

// multiplyMatrix adds the products of a step on tier I8MM. Lines that hold nothing but codes are zipped before they are
// unpacked, which is half as often as after it.
func (k *mulNeon) multiplyMatrix(s step) {
	for part := range k.parts {
		first, second := k.free, k.free+1
		code := k.load(s, part, first)
		early := len(s.lines) == 2 && !k.upperBits()
		if early {
			k.v("zip1 v%d.4s, v%d.4s, v%d.4s", code, first, second)
			k.v("zip2 v%d.4s, v%d.4s, v%d.4s", second, first, second)
			first, code = code, first // the register in front of second becomes free
		}
		for i := 0; i < len(s.groups); i += 2 {
			group := min(s.groups[i], s.groups[i+1])
			var low, high int
			if early {
				low = k.unpack(s, group, part, first, code)
				high = k.unpack(s, group, part, second, k.free+3)
			} else {
				line := k.free + len(s.lines) - 1
				b := k.unpack(s, group+1, part, line, code)
				a := k.unpack(s, group, part, k.free, code+1)
				low, high = code+2, b
				k.v("zip1 v%d.4s, v%d.4s, v%d.4s", low, a, b)
				k.v("zip2 v%d.4s, v%d.4s, v%d.4s", high, a, b)
			}
			for pair := range k.rows / 2 {
				sum := k.ints + 2*(pair*k.parts+part)
				k.v("smmla v%d.4s, v%d.16b, v%d.16b", sum, k.pair(pair, group), low)
				k.v("smmla v%d.4s, v%d.16b, v%d.16b", sum+1, k.pair(pair, group), high)
			}
		}
	}
}
