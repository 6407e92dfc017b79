// SPDX-License-Identifier: Apache-2.0

package main

// upperMask is the constant that upper holds, "" if none.
func (k mul256) upperMask() string {
	if k.table != "" {
		return k.table
	}
	return map[int]string{3: "third", 5: "fifth", 6: "upper"}[k.bits]
}

// masks sets the registers of masks, or of a table.
func (k mul256) masks() {
	lower := map[int]string{2: "pairs", 3: "pairs", 8: "signs"}[k.bits]
	if lower == "" {
		lower = "nibbles"
	}
	k.op("VMOVDQU %s<>(SB), Y%d", lower, k.lower)
	if k.upperMask() != "" {
		k.op("VMOVDQU %s<>(SB), Y%d", k.upperMask(), k.upper)
	}
	if k.high > 0 {
		k.op("VMOVDQU high<>(SB), Y%d", k.high)
	}
	if k.top > 0 {
		k.op("VMOVDQU top<>(SB), Y%d", k.top)
	}
	if k.pairs > 0 {
		k.op("VMOVDQU firstpair<>(SB), Y%d", k.pairs)
		k.op("VMOVDQU secondpair<>(SB), Y%d", k.pairs+1)
	}
}

// unpack sets the register code to the codes of a group, or to the weights if they are signed.
func (k mul256) unpack(l lane, group int) {
	line, right := group%4, group/4*4
	switch {
	case k.bits == 8:
		line, right = group, 0
	case k.bits < 4:
		line, right = group/4, group%4*2
	}
	k.lowerBits(l.in("SI", 64*line+32*l.half), right)
	if k.table != "" {
		k.op("VPSHUFB Y%d, Y%d, Y%d", k.code, k.upper, k.code)
	}
	switch k.bits {
	case 3:
		k.upperBits(l.in("SI", 128+32*l.half), 2-group)
	case 5:
		k.upperBits(l.in("SI", 256+32*l.half), 4-group)
	case 6:
		k.upperPairs(l.in("SI", 256+group/4*64+32*l.half), group%4)
	}
}

// upperPairs adds a pair of bits of each byte of a line to the codes. Where there are tables, one mask is enough for the first two.
func (k mul256) upperPairs(line string, pair int) {
	switch {
	case k.pairs > 0 && pair < 2:
		if pair == 0 { // the second one's index too
			k.op("VPAND %s, Y%d, Y%d", line, k.lower, k.index)
		}
		k.op("VPSHUFB Y%d, Y%d, Y%d", k.index, k.pairs+pair, k.other)
	case k.top > 0 && pair == 3:
		k.op("VPAND %s, Y%d, Y%d", line, k.top, k.other)
		k.op("VPSRLW $2, Y%d, Y%d", k.other, k.other)
	default:
		k.upperBits(line, 4-2*pair)
		return
	}
	k.op("VPOR Y%d, Y%d, Y%d", k.other, k.code, k.code)
}

// lowerBits sets the register code to bits of a line that lie right places above their own. They are masked where they lie, if
// there is a mask for them: what comes from memory is then no instruction of its own, as shifts take registers only.
func (k mul256) lowerBits(line string, right int) {
	switch {
	case k.bits == 8:
		k.op("VPXOR %s, Y%d, Y%d", line, k.lower, k.code)
	case right == 0:
		k.op("VPAND %s, Y%d, Y%d", line, k.lower, k.code)
	case right == 4 && k.high > 0:
		k.op("VPAND %s, Y%d, Y%d", line, k.high, k.code)
		k.op("VPSRLW $4, Y%d, Y%d", k.code, k.code)
	default:
		k.op("VMOVDQU %s, Y%d", line, k.code)
		k.op("VPSRLW $%d, Y%d, Y%d", right, k.code, k.code)
		k.op("VPAND Y%d, Y%d, Y%d", k.code, k.lower, k.code)
	}
}

// upperBits adds bits of a line that lie left places below their own to the codes.
func (k mul256) upperBits(line string, left int) {
	if left == 0 {
		k.op("VPAND %s, Y%d, Y%d", line, k.upper, k.other)
	} else {
		k.op("VMOVDQU %s, Y%d", line, k.other)
		if left > 0 {
			k.op("VPSLLW $%d, Y%d, Y%d", left, k.other, k.other)
		} else {
			k.op("VPSRLW $%d, Y%d, Y%d", -left, k.other, k.other)
		}
		k.op("VPAND Y%d, Y%d, Y%d", k.other, k.upper, k.other)
	}
	k.op("VPOR Y%d, Y%d, Y%d", k.other, k.code, k.code)
}
