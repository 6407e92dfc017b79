// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/bits"
	"slices"

	"github.com/sampo-ai/sampo/internal/token"
)

// lookupLengths are how many latest tokens are looked for, in this order.
var lookupLengths = [...]int{3, 2}

// A lookup finds where the latest tokens of a list stood before, to guess that what followed then follows again: code
// that is edited, text that is quoted, a form that is filled in. It keeps for each hash of a few tokens where they
// ended last; what a collision hides is not found.
//
// Saxena 2023, prompt lookup decoding; Leviathan et al. 2022 (arXiv:2211.17192) for the use of guesses.
type lookup struct {
	ends [len(lookupLengths)][]int32 // by hash: how many tokens the list had; 0: none
	seen int                         // tokens of the list that are in ends, but for the latest
}

// newLookup returns an empty lookup for lists of about tokens tokens.
func newLookup(tokens int) *lookup {
	const least, most = 8, 16 // bits: up to 256 KiB for each length
	l := &lookup{}
	for i := range l.ends {
		l.ends[i] = make([]int32, 1<<min(most, max(least, bits.Len(uint(2*tokens)))))
	}
	return l
}

// guess appends to dst up to n tokens that may follow list, which has only grown since the last call, and returns which of
// lookupLengths was found.
func (l *lookup) guess(dst, list []token.ID, n int) (guesses []token.ID, length int) {
	for ; l.seen < len(list); l.seen++ {
		for i, length := range lookupLengths {
			if end := l.seen; end >= length { // the latest tokens are not to find themselves
				*l.slot(i, list[end-length:end]) = int32(end)
			}
		}
	}
	for i, length := range lookupLengths {
		if len(list) < length {
			continue
		}
		latest := list[len(list)-length:]
		end := int(*l.slot(i, latest))
		if end == 0 || !slices.Equal(list[end-length:end], latest) {
			continue
		}
		return follow(dst, list, end, n), i
	}
	return dst, 0
}

// slot returns where tokens of the length with index i are kept.
func (l *lookup) slot(i int, tokens []token.ID) *int32 {
	sum := uint64(0)
	for _, id := range tokens {
		sum = (sum ^ uint64(uint32(id))) * 0x9E3779B97F4A7C15
		sum ^= sum >> 29
	}
	return &l.ends[i][sum%uint64(len(l.ends[i]))]
}

// follow appends the n tokens of list from at on. Where the list ends, it goes on with what was appended: a loop.
func follow(dst, list []token.ID, at, n int) []token.ID {
	first := len(dst)
	for i := range n {
		if at+i < len(list) {
			dst = append(dst, list[at+i])
		} else {
			dst = append(dst, dst[first+at+i-len(list)])
		}
	}
	return dst
}
