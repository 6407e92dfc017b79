// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

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
	from := l.in("SI", 64*line+32*l.half)
	if k.linewise() {
		if right == 0 {
			k.op("VMOVDQU %s, Y%d", from, k.other)
		}
		from = fmt.Sprintf("Y%d", k.other)
	}
	mask := "VPAND"
	if k.bits == 8 {
		mask = "VPXOR"
	}
	if right == 4 && k.high > 0 {
		k.op("VPAND %s, Y%d, Y%d", from, k.high, k.code)
		k.op("VPSRLW $4, Y%d, Y%d", k.code, k.code)
	} else {
		if right > 0 {
			from = k.shifted(from, right)
		}
		k.op("%s %s, Y%d, Y%d", mask, from, k.lower, k.code)
	}
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

// upperPairs adds the bits of a pair of a line's bytes to the codes. Bits are masked where they lie, if there is a mask for them:
// what comes from memory is then no operation of its own.
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

// shifted sets the register code to a line, in memory or a register, shifted right, and returns the register.
func (k mul256) shifted(line string, right int) string {
	code := fmt.Sprintf("Y%d", k.code)
	if !strings.HasPrefix(line, "Y") { // shifts take registers only
		k.op("VMOVDQU %s, %s", line, code)
		line = code
	}
	k.op("VPSRLW $%d, %s, %s", right, line, code)
	return code
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
