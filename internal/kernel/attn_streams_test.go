// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSegmentsTogetherGiveTheBitsOfEachAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, typ := range []KVType{KVF16, KVBF16, KVQ8} {
		for rows := 1; rows <= KVStreamRows; rows++ {
			for _, dim := range []int{32, 96} {
				checkTogether(t, randomSegments(r, typ, rows, dim))
			}
		}
	}
	for _, s := range []segmentsTest{randomSegments(r, KVF32, 1, 32), randomSegments(r, KVF16, 1, 40), randomSegments(r, KVQ8, KVStreamRows+1, 32)} {
		checkTogether(t, s) // these have no kernels
	}
}

// segmentsTest are products with some segments.
type segmentsTest struct {
	keys, values KVProduct
	segments     [KVStreams]KVSegment
}

// randomSegments makes the products of so many rows and components.
func randomSegments(r *rand.Rand, typ KVType, rows, dim int) segmentsTest {
	const blocks = KVStreams * KVTileBlocks
	s := segmentsTest{
		keys:   KVProduct{Rows: rows, AStride: dim + 3, DstStride: KVSegmentKeys, B: randomBlocks(r, KeyLayout(typ, dim), dim, blocks)},
		values: KVProduct{Rows: rows, AStride: KVSegmentKeys, B: randomBlocks(r, ValueLayout(typ, dim), dim, blocks)},
	}
	s.keys.A, s.values.DstStride = randomFloats(r, rows*s.keys.AStride, 1), s.values.B.dim+8
	order := r.Perm(blocks)
	for i := range s.segments {
		segment := KVSegment{
			Scores: make([]float32, rows*KVSegmentKeys), Values: randomFloats(r, rows*s.values.DstStride, 1), Table: make([]int32, KVTileBlocks),
		}
		for k := range segment.Table {
			segment.Table[k] = int32(order[i*KVTileBlocks+k])
		}
		s.segments[i] = segment
	}
	return s
}

// checkTogether compares both products on each tier with those of each segment alone in plain Go.
func checkTogether(t *testing.T, s segmentsTest) {
	t.Helper()
	what := fmt.Sprintf("%v, %d rows of %d", s.keys.B.Type, s.keys.Rows, s.keys.B.dim)
	want := s.alone()
	for _, way := range []func(){s.inTurn, s.overlapping} {
		for _, tier := range vectorTiers() {
			onTier(tier, func() {
				s.keys.SetA()
				way()
			})
			for i, segment := range s.segments {
				checkBits(t, fmt.Sprintf("%v: scores of %d, %s", tier, i, what), segment.Scores, want[i].Scores)
				checkBits(t, fmt.Sprintf("%v: values of %d, %s", tier, i, what), segment.Values, want[i].Values)
			}
		}
	}
}

// inTurn does the keys of all segments, and then their values.
func (s *segmentsTest) inTurn() {
	MulSegments(&s.keys, &s.values, s.segments[:], nil)
	MulSegments(&s.keys, &s.values, nil, s.segments[:])
}

// overlapping does the keys of two segments with the values of two others.
func (s *segmentsTest) overlapping() {
	MulSegments(&s.keys, &s.values, s.segments[:2], nil)
	MulSegments(&s.keys, &s.values, s.segments[2:], s.segments[:2])
	MulSegments(&s.keys, &s.values, nil, s.segments[2:])
}

// alone does each segment by itself in plain Go. What lies between rows of values stays as it is.
func (s *segmentsTest) alone() (results [KVStreams]KVSegment) {
	onTier(generic, func() {
		s.keys.SetA()
		for i, segment := range s.segments {
			keys, values := s.keys, s.values
			keys.Dst, keys.Table = make([]float32, len(segment.Scores)), segment.Table
			MulKeys(&keys)
			values.A, values.Dst, values.Table = keys.Dst, slices.Clone(segment.Values), segment.Table
			MulValues(&values, KVSegmentKeys, true)
			results[i] = KVSegment{keys.Dst, values.Dst, segment.Table, 0}
		}
	})
	return results
}
