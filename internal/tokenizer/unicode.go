// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A class is the general category of a code point, as coarse as the pre-tokenizers' patterns need it. The classes are
// apart from each other. Their tables are generated, because a Unicode version newer or older than that of the
// reference would split words differently.
type class uint8

// The numbers are those of tools/tokenizers/unicode_tables.py.
const (
	classOther class = iota
	classUpper
	classTitle
	classLower
	classModifier
	classOtherLetter
	classMark
	classNumber
	classPunct
	classSymbol
	classSpace
	classLateNumber // a number to the Digits splitter, not assigned yet to \p{N}
)

// A classSet is a set of classes, one bit each.
type classSet uint16

const (
	letters   classSet = 1<<classUpper | 1<<classTitle | 1<<classLower | 1<<classModifier | 1<<classOtherLetter
	marks     classSet = 1 << classMark
	numbers   classSet = 1 << classNumber
	puncts    classSet = 1 << classPunct
	symbols   classSet = 1 << classSymbol
	digitsAny classSet = 1<<classNumber | 1<<classLateNumber
	spaces    classSet = 1 << classSpace
)

func (c class) in(set classSet) bool { return set>>c&1 != 0 }

// The class of r is classBlocks[classIndex[r/256]*256 + r%256]. Equal blocks are stored once.
var (
	classIndex  [0x1100]uint8
	classBlocks []class
	loadClasses = sync.OnceFunc(buildClasses)
)

// buildClasses unpacks classRuns. Every constructor of a Tokenizer calls loadClasses first.
func buildClasses() {
	seen := map[string]uint8{}
	var block [256]class
	key := make([]byte, 256)
	run, current := 0, classOther
	for b := range classIndex {
		for i := range block {
			r := uint32(b<<8 | i)
			for run < len(classRuns) && classRuns[run]>>4 == r {
				current = class(classRuns[run] & 15)
				run++
			}
			block[i], key[i] = current, byte(current)
		}
		n, ok := seen[string(key)]
		if !ok {
			n = uint8(len(seen))
			seen[string(key)] = n
			classBlocks = append(classBlocks, block[:]...)
		}
		classIndex[b] = n
	}
}

func classOf(r rune) class {
	return classBlocks[uint(classIndex[r>>8])<<8|uint(r&0xff)]
}

// firstClass returns the class and length of the first rune of s, which must be valid UTF-8; classOther and 0 if s is empty.
func firstClass(s string) (class, int) {
	if len(s) == 0 {
		return classOther, 0
	}
	if s[0] < utf8.RuneSelf {
		return classBlocks[uint(classIndex[0])<<8|uint(s[0])], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return classOf(r), n
}

// spanOf returns the length of the longest prefix of s whose runes are all in set.
func spanOf(s string, set classSet) int {
	n := 0
	for n < len(s) {
		c, size := firstClass(s[n:])
		if !c.in(set) {
			break
		}
		n += size
	}
	return n
}

// isWord reports whether r belongs to a word for the added-token flag single_word, as \w of Unicode regular expressions.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}

// repair replaces each maximal broken UTF-8 sequence by U+FFFD, as Python's errors="replace" does.
func repair(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r != utf8.RuneError || n > 1 {
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		b.WriteRune(utf8.RuneError)
		s = s[brokenLen(s):]
	}
	return b.String()
}

// brokenLen returns the length of the broken sequence that s begins with: the longest prefix that some valid encoding also
// begins with, at least one byte (Unicode standard, section 3.9, "maximal subpart").
func brokenLen[T string | []byte](s T) int {
	lead := s[0]
	lo, hi, need := byte(0x80), byte(0xBF), 0
	switch {
	case lead >= 0xC2 && lead <= 0xDF:
		need = 1
	case lead >= 0xE0 && lead <= 0xEF:
		need = 2
	case lead >= 0xF0 && lead <= 0xF4:
		need = 3
	}
	switch lead {
	case 0xE0:
		lo = 0xA0
	case 0xED:
		hi = 0x9F
	case 0xF0:
		lo = 0x90
	case 0xF4:
		hi = 0x8F
	}
	n := 1
	for n <= need && n < len(s) && s[n] >= lo && s[n] <= hi {
		lo, hi = 0x80, 0xBF
		n++
	}
	return n
}

// unfinished reports whether s, a broken sequence at the end of a stream, may still become a rune.
func unfinished(s []byte) bool {
	return len(s) > 0 && brokenLen(s) == len(s) && s[0] >= 0xC2 && s[0] <= 0xF4
}
