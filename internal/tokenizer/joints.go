// SPDX-License-Identifier: Apache-2.0

package tokenizer

import "unicode/utf8"

// A joints is a set of pairs of runes that stand side by side inside some piece of the vocabulary. Between two runes
// that no piece joins no merge can reach, so a text without a pre-tokenizer (SentencePiece) may be cut there
// without changing its tokens; what is left are short words that fit the cache.
//
// Pairs are kept as bits of a hash: a collision only leaves a cut undone.
type joints struct {
	bits []uint64
}

const jointBits = 22 // 512 KiB; a vocabulary of 262,144 has about 400,000 distinct pairs

func newJoints() *joints { return &joints{bits: make([]uint64, 1<<jointBits/64)} }

func jointHash(a, b rune) uint64 {
	return (uint64(a)<<21 | uint64(b)) * 0x9E3779B97F4A7C15 >> (64 - jointBits)
}

// add enters the pairs of piece.
func (j *joints) add(piece string) {
	before := rune(-1)
	for _, r := range piece {
		if before >= 0 {
			h := jointHash(before, r)
			j.bits[h>>6] |= 1 << (h & 63)
		}
		before = r
	}
}

// next is the splitter: it ends a word at the first place where no piece reaches across.
func (j *joints) next(s string) int {
	before, n := utf8.DecodeRuneInString(s)
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		h := jointHash(before, r)
		if j.bits[h>>6]>>(h&63)&1 == 0 {
			break
		}
		before = r
		n += size
	}
	return n
}
