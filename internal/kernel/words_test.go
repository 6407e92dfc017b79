// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// arm64Encodings are the encodings of the instructions that Go's assembler lacks, bit for bit and divided into fields as the
// Arm Architecture Reference Manual (DDI 0487, C7.2) draws them. Letters are registers d, n and m, an index HL, and a shift s,
// of which 32 - s counts. Of lanes of 16 bits only the first two are used: the index is L alone.
var arm64Encodings = [][2]string{
	{"0 1 0 11110 11 11000 11011 10 nnnnn ddddd", "addp dD, vN.2d"},
	{"0 1 0 01110 01 1 mmmmm 00011 1 nnnnn ddddd", "bic vD.16b, vN.16b, vM.16b"},
	{"0 1 0 01110 10 10000 01111 10 nnnnn ddddd", "fabs vD.4s, vN.4s"},
	{"0 1 0 01110 01 1 mmmmm 11010 1 nnnnn ddddd", "fadd vD.2d, vN.2d, vM.2d"},
	{"0 1 0 01110 00 1 mmmmm 11010 1 nnnnn ddddd", "fadd vD.4s, vN.4s, vM.4s"},
	{"0 1 1 11110 00 11000 01101 10 nnnnn ddddd", "faddp sD, vN.2s"},
	{"0 1 0 01110 00 1 mmmmm 11100 1 nnnnn ddddd", "fcmeq vD.4s, vN.4s, vM.4s"},
	{"0 1 1 01110 10 1 mmmmm 11100 1 nnnnn ddddd", "fcmgt vD.4s, vN.4s, vM.4s"},
	{"0 0 0 01110 01 10000 10111 10 nnnnn ddddd", "fcvtl vD.2d, vN.2s"},
	{"0 0 0 01110 00 10000 10111 10 nnnnn ddddd", "fcvtl vD.4s, vN.4h"},
	{"0 1 0 01110 01 10000 10111 10 nnnnn ddddd", "fcvtl2 vD.2d, vN.4s"},
	{"0 1 0 01110 00 10000 10111 10 nnnnn ddddd", "fcvtl2 vD.4s, vN.8h"},
	{"0 0 0 01110 00 10000 10110 10 nnnnn ddddd", "fcvtn vD.4h, vN.4s"},
	{"0 1 0 01110 00 10000 10110 10 nnnnn ddddd", "fcvtn2 vD.8h, vN.4s"},
	{"0 1 0 01110 00 10000 11010 10 nnnnn ddddd", "fcvtns vD.4s, vN.4s"},
	{"0 1 0 01110 10 10000 11011 10 nnnnn ddddd", "fcvtzs vD.4s, vN.4s"},
	{"0 1 1 01110 11 10000 11011 10 nnnnn ddddd", "fcvtzu vD.2d, vN.2d"},
	{"0 1 1 01110 00 1 mmmmm 11111 1 nnnnn ddddd", "fdiv vD.4s, vN.4s, vM.4s"},
	{"0 1 0 01110 00 1 mmmmm 11110 1 nnnnn ddddd", "fmax vD.4s, vN.4s, vM.4s"},
	{"0 1 0 01110 00 1 mmmmm 11000 1 nnnnn ddddd", "fmaxnm vD.4s, vN.4s, vM.4s"},
	{"0 1 1 01110 00 11000 01100 10 nnnnn ddddd", "fmaxnmv sD, vN.4s"},
	{"0 1 1 01110 00 11000 01111 10 nnnnn ddddd", "fmaxv sD, vN.4s"},
	{"0 1 0 01110 10 1 mmmmm 11110 1 nnnnn ddddd", "fmin vD.4s, vN.4s, vM.4s"},
	{"0 1 0 01111 10 L mmmmm 0001 H 0 nnnnn ddddd", "fmla vD.4s, vN.4s, vM.s[I]"},
	{"0 1 0 01111 10 L mmmmm 0101 H 0 nnnnn ddddd", "fmls vD.4s, vN.4s, vM.s[I]"},
	{"0 1 1 01110 01 1 mmmmm 11011 1 nnnnn ddddd", "fmul vD.2d, vN.2d, vM.2d"},
	{"0 1 1 01110 00 1 mmmmm 11011 1 nnnnn ddddd", "fmul vD.4s, vN.4s, vM.4s"},
	{"0 1 0 01111 10 L mmmmm 1001 H 0 nnnnn ddddd", "fmul vD.4s, vN.4s, vM.s[I]"},
	{"0 1 1 01110 10 10000 01111 10 nnnnn ddddd", "fneg vD.4s, vN.4s"},
	{"0 1 0 01110 00 10000 11000 10 nnnnn ddddd", "frintn vD.4s, vN.4s"},
	{"0 1 0 01110 10 1 mmmmm 11010 1 nnnnn ddddd", "fsub vD.4s, vN.4s, vM.4s"},
	{"0 1 0 01110 01 10000 00110 10 nnnnn ddddd", "sadalp vD.4s, vN.8h"},
	{"0 1 0 01110 01 10000 00010 10 nnnnn ddddd", "saddlp vD.4s, vN.8h"},
	{"0 1 0 01110 00 10000 00010 10 nnnnn ddddd", "saddlp vD.8h, vN.16b"},
	{"0 1 0 01110 01 11000 00011 10 nnnnn ddddd", "saddlv sD, vN.8h"},
	{"0 1 0 01110 00 10000 11101 10 nnnnn ddddd", "scvtf vD.4s, vN.4s"},
	{"0 1 0 01110 10 0 mmmmm 10010 1 nnnnn ddddd", "sdot vD.4s, vN.16b, vM.16b"},
	{"0 1 0 01111 10 L mmmmm 1110 H 0 nnnnn ddddd", "sdot vD.4s, vN.16b, vM.4b[I]"},
	{"0 0 1 01110 01 10000 10011 10 nnnnn ddddd", "shll vD.4s, vN.4h, #16"},
	{"0 1 1 01110 01 10000 10011 10 nnnnn ddddd", "shll2 vD.4s, vN.8h, #16"},
	{"0 0 0 01111 01 0 L mmmm 0010 0 0 nnnnn ddddd", "smlal vD.4s, vN.4h, vM.h[I]"},
	{"0 0 0 01110 00 1 mmmmm 1000 00 nnnnn ddddd", "smlal vD.8h, vN.8b, vM.8b"},
	{"0 1 0 01111 01 0 L mmmm 0010 0 0 nnnnn ddddd", "smlal2 vD.4s, vN.8h, vM.h[I]"},
	{"0 1 0 01110 00 1 mmmmm 1000 00 nnnnn ddddd", "smlal2 vD.8h, vN.16b, vM.16b"},
	{"0 1 0 01110 10 0 mmmmm 10100 1 nnnnn ddddd", "smmla vD.4s, vN.16b, vM.16b"},
	{"0 0 0 01110 00 1 mmmmm 1100 00 nnnnn ddddd", "smull vD.8h, vN.8b, vM.8b"},
	{"0 1 0 01110 00 1 mmmmm 1100 00 nnnnn ddddd", "smull2 vD.8h, vN.16b, vM.16b"},
	{"0 1 1 01110 01 1 mmmmm 10110 1 nnnnn ddddd", "sqrdmulh vD.8h, vN.8h, vM.8h"},
	{"0 1 0 011110 01sssss 00000 1 nnnnn ddddd", "sshr vD.4s, vN.4s, #R"},
	{"0 0 0 011110 0010000 10100 1 nnnnn ddddd", "sxtl vD.4s, vN.4h"},
	{"0 0 0 011110 0001000 10100 1 nnnnn ddddd", "sxtl vD.8h, vN.8b"},
	{"0 1 0 011110 0010000 10100 1 nnnnn ddddd", "sxtl2 vD.4s, vN.8h"},
	{"0 1 0 011110 0001000 10100 1 nnnnn ddddd", "sxtl2 vD.8h, vN.16b"},
	{"0 1 1 01110 00 10000 11101 10 nnnnn ddddd", "ucvtf vD.4s, vN.4s"},
	{"0 1 1 011110 01sssss 11100 1 nnnnn ddddd", "ucvtf vD.4s, vN.4s, #R"},
}

// TestWordsOfArm64AreWhatTheirCommentsSay decodes each word in the assembly of arm64.
func TestWordsOfArm64AreWhatTheirCommentsSay(t *testing.T) {
	files, err := filepath.Glob("*_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range regexp.MustCompile(`WORD.*`).FindAllString(string(source), -1) {
			word, comment, _ := strings.Cut(line, " // ")
			found[word] = comment
		}
	}
	used := map[string]bool{}
	for word, comment := range found {
		code, err := strconv.ParseUint(strings.TrimPrefix(word, "WORD $0x"), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		pattern, got := decodeArm64(uint32(code))
		used[pattern] = true
		if got != comment {
			t.Errorf("%s // %s: the word is %s", word, comment, got)
		}
	}
	for _, e := range arm64Encodings {
		if !used[e[0]] {
			t.Errorf("no kernel has %s", e[1])
		}
	}
}

// decodeArm64 gives the encoding that a word has, and its instruction.
func decodeArm64(code uint32) (pattern, text string) {
	for _, e := range arm64Encodings {
		fields, ok := fieldsOf(code, strings.ReplaceAll(e[0], " ", ""))
		if !ok {
			continue
		}
		number := func(letters string) string {
			n := uint32(0)
			for _, letter := range letters {
				n = n<<1 | fields[letter]
			}
			return strconv.Itoa(int(n))
		}
		shift := strconv.Itoa(32 - int(fields['s']))
		return e[0], strings.NewReplacer("D", number("d"), "N", number("n"), "M", number("m"), "I", number("HL"), "R", shift).Replace(e[1])
	}
	return "", "none of the known ones"
}

// fieldsOf gives the fields of a word, if its other bits are those of the pattern.
func fieldsOf(code uint32, pattern string) (map[rune]uint32, bool) {
	fields := map[rune]uint32{}
	for i, letter := range pattern {
		bit := code >> (31 - i) & 1
		switch {
		case letter != '0' && letter != '1':
			fields[letter] = fields[letter]<<1 | bit
		case bit != uint32(letter-'0'):
			return nil, false
		}
	}
	return fields, true
}
