// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"unicode/utf8"
)

// A scoreRanks ranks merges by the score of the piece that they make, as Hugging Face's converter orders the merges of a
// SentencePiece vocabulary: higher score first, then the longer left part, then the longer right part. (SentencePiece
// itself takes the leftmost of equal ones; the two differ only inside runs such as "aaaa".)
//
// The rank of a merge is base[piece] plus the place of its two lengths among those possible, so that no list of merges
// has to be built.
type scoreRanks struct {
	base    []uint32 // of each piece; noRank: the piece is not made by merging
	longest []uint16 // runes of the longest piece of equal score
}

// maxPieceRunes bounds the length of a piece that merging makes.
const maxPieceRunes = 1 << 12

var errTooManyRanks = errors.New("pieces are too long or too many to be ranked")

// newScoreRanks ranks the pieces for which keep is true.
func newScoreRanks(text []string, scores []float32, keep func(id int) bool) (*scoreRanks, error) {
	r := &scoreRanks{base: make([]uint32, len(text)), longest: make([]uint16, len(text))}
	order := make([]uint64, 0, len(text)) // score, best first, then ID
	for id := range text {
		r.base[id] = noRank
		if keep(id) {
			order = append(order, uint64(descending(scores[id]))<<32|uint64(id))
		}
	}
	slices.Sort(order)
	next := uint64(0)
	for len(order) > 0 {
		n := 1
		for n < len(order) && order[n]>>32 == order[0]>>32 {
			n++
		}
		size := r.rankGroup(text, order[:n], next)
		if next += size; size == 0 || next >= uint64(noRank) {
			return nil, errTooManyRanks
		}
		order = order[n:]
	}
	return r, nil
}

// rankGroup ranks pieces of equal score and returns how many ranks they take, 0 if a piece is too long.
func (r *scoreRanks) rankGroup(text []string, group []uint64, base uint64) uint64 {
	longest := 0
	for _, g := range group {
		longest = max(longest, utf8.RuneCountInString(text[uint32(g)]))
	}
	if longest > maxPieceRunes {
		return 0
	}
	for _, g := range group {
		r.base[uint32(g)], r.longest[uint32(g)] = uint32(base), uint16(longest)
	}
	return uint64(longest+1) * uint64(longest+1)
}

// descending maps a score to a number that is smaller for better scores.
func descending(score float32) uint32 {
	bits := math.Float32bits(score + 0) // -0 becomes 0
	if cmp.Less(score, 0) {
		return bits // negative: the bits grow as the score falls
	}
	return math.MaxInt32 - bits
}

// rank returns the rank of making piece id of parts of left and right runes.
func (r *scoreRanks) rank(id uint32, left, right int) uint32 {
	base := r.base[id]
	if base == noRank {
		return noRank
	}
	longest := uint32(r.longest[id])
	return base + (longest-uint32(left))*(longest+1) + longest - uint32(right)
}

// forbid keeps pieces for which banned is true from being made.
func (r *scoreRanks) forbid(banned func(id uint32) bool) {
	for id := range r.base {
		if banned(uint32(id)) {
			r.base[id] = noRank
		}
	}
}
