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
	for _, typ := range allKVTypes {
		for rows := 1; rows <= KVStreamRows+1; rows++ {
			for _, dim := range []int{32, 40, 64, 96} {
				checkTogether(t, randomSegments(r, typ, rows, dim))
			}
		}
	}
}

// segmentsTest are products with some segments.
type segmentsTest struct {
	keys, values KVProduct
	segments     [KVStreams]KVSegment
	garbage      [KVStreams][]float32 // what values have before
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
		s.segments[i], s.garbage[i] = segment, slices.Clone(segment.Values)
	}
	return s
}

// checkTogether compares on each tier, with those of each segment alone in plain Go, the keys of all segments and the values of
// all, and those of some with the values of the others.
func checkTogether(t *testing.T, s segmentsTest) {
	t.Helper()
	want := s.alone()
	for _, tier := range vectorTiers() {
		s.checkParts(t, tier, want, KVStreams, KVStreams)
		for _, n := range []int{KVStreams, KVStreams / 2} {
			for keys := range n {
				s.checkParts(t, tier, want, n, keys)
			}
		}
	}
}

// checkParts does so many segments at a time: the keys of the first and the values of the others. Scores of all are there.
func (s *segmentsTest) checkParts(t *testing.T, on tier, want [KVStreams]KVSegment, n, keys int) {
	t.Helper()
	onTier(on, func() {
		s.keys.SetA()
		for i := 0; i < KVStreams; i += n {
			part := s.segments[i : i+n]
			for k := range part[:keys] {
				for x := range part[k].Scores {
					part[k].Scores[x] = 7
				}
			}
			MulSegments(&s.keys, &s.values, part[:keys], part[keys:])
		}
	})
	what := fmt.Sprintf("%v: keys of %d among %d, %v, %d rows of %d", on, keys, n, s.keys.B.Type, s.keys.Rows, s.keys.B.dim)
	for i, segment := range s.segments {
		checkBits(t, fmt.Sprintf("scores of %d, %s", i, what), segment.Scores, want[i].Scores)
		if i%n >= keys {
			checkBits(t, fmt.Sprintf("values of %d, %s", i, what), segment.Values, want[i].Values)
			s.segments[i].Values = slices.Clone(s.garbage[i])
		}
	}
}

// alone does each segment by itself in plain Go. What lies between rows of values stays as it is.
func (s *segmentsTest) alone() (results [KVStreams]KVSegment) {
	onTier(generic, func() {
		s.keys.SetA()
		for i, segment := range s.segments {
			keys, values := s.keys, s.values
			keys.Dst, keys.Table = make([]float32, len(segment.Scores)), segment.Table
			MulKeys(&keys)
			values.A, values.Dst, values.Table = keys.Dst, slices.Clone(s.garbage[i]), segment.Table
			MulValues(&values, KVSegmentKeys, true)
			results[i] = KVSegment{keys.Dst, values.Dst, segment.Table, 0}
		}
	})
	return results
}
