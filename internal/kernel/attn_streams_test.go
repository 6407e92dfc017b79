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
	var before [KVStreams][]float32
	for i := range s.segments {
		before[i] = slices.Clone(s.segments[i].Values)
	}
	for _, tier := range append(vectorTiers(), generic) {
		onTier(tier, func() {
			s.keys.SetA()
			MulKeysOf(&s.keys, &s.segments)
			MulValuesOf(&s.values, &s.segments)
		})
		onTier(generic, func() {
			for i, segment := range s.segments {
				keys, values := s.keys, s.values
				keys.Dst, keys.Table = make([]float32, len(segment.Scores)), segment.Table
				MulKeys(&keys)
				checkBits(t, fmt.Sprintf("%v: scores of %d, %s", tier, i, what), segment.Scores, keys.Dst)
				values.A, values.Dst, values.Table = segment.Scores, slices.Clone(before[i]), segment.Table
				MulValues(&values, KVSegmentKeys, true)
				checkBits(t, fmt.Sprintf("%v: values of %d, %s", tier, i, what), segment.Values, values.Dst)
			}
		})
	}
}
