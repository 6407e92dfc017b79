// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var allKVTypes = []KVType{KVF16, KVF32, KVBF16, KVQ8}

// randomBlocks returns blocks of two heads that hold random numbers; the second head's is the one to use.
func randomBlocks(r *rand.Rand, l KVLayout, dim, blocks int) KVBlocks {
	blocks = (blocks + KVRun - 1) / KVRun * KVRun
	data := make([]byte, 2*blocks*l.Bytes)
	for block := range 2 * blocks {
		for slot := range KVBlock {
			l.Store(data[block*l.Bytes:][:l.Bytes], slot, randomFloats(r, dim, 1))
		}
	}
	return KVBlocks{KVLayout: l, Data: data[KVRun*l.Bytes:], Heads: 2}
}

// onEachTier runs f on all tiers and compares the bits of what it returns with plain Go's.
func onEachTier(t *testing.T, what string, f func() []float32) {
	t.Helper()
	var want []float32
	onTier(generic, func() { want = f() })
	for _, tier := range vectorTiers() {
		onTier(tier, func() { checkBits(t, fmt.Sprintf("%v: %s", tier, what), f(), want) })
	}
}

func TestProductsWithKeysGiveTheBitsOfTheirTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, typ := range allKVTypes {
		for rows := 1; rows <= KVTileRows; rows++ {
			for _, dim := range []int{1, 20, 32, 40, 64} {
				p := KVProduct{Rows: rows, DstStride: 70, AStride: dim + 3, Table: []int32{2, 0}}
				p.A, p.B = randomFloats(r, rows*p.AStride, 1), randomBlocks(r, KeyLayout(typ, dim), dim, 3)
				onEachTier(t, fmt.Sprintf("%v, %d rows of %d", typ, rows, dim), func() []float32 {
					p.Dst = make([]float32, rows*p.DstStride)
					p.SetA()
					MulKeys(&p)
					return p.Dst
				})
			}
		}
	}
}

func TestProductsWithValuesGiveTheBitsOfTheirTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, typ := range allKVTypes {
		for rows := 1; rows <= KVTileRows; rows++ {
			for _, positions := range []int{1, 31, 32, 33, 96} {
				p := KVProduct{Rows: rows, DstStride: 72, AStride: 100, Table: []int32{2, 0, 1}}
				p.A, p.B = randomFloats(r, rows*p.AStride, 1), randomBlocks(r, ValueLayout(typ, 40), 40, 3)
				if typ == KVQ8 {
					clearBehind(p.A, p.AStride, positions)
				}
				start := randomFloats(r, rows*p.DstStride, 1)
				for _, fresh := range []bool{true, false} {
					onEachTier(t, fmt.Sprintf("%v, %d rows, %d positions, fresh %v", typ, rows, positions, fresh), func() []float32 {
						p.Dst = append([]float32(nil), start...)
						MulValues(&p, positions, fresh)
						return p.Dst
					})
				}
			}
		}
	}
}

// clearBehind makes the numbers of rows behind the first n 0.
func clearBehind(a []float32, stride, n int) {
	for i := range a {
		if i%stride >= n {
			a[i] = 0
		}
	}
}

func TestFixedNumbersAreNearTheOriginals(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for i := range 64 {
		x := randomFloats(r, 1+i%BlockCols, math.Exp2(float64(i-32)))
		var groups [1]fixedGroup
		fixRow(groups[:], x)
		largest := 0.0
		for _, v := range x {
			largest = max(largest, math.Abs(float64(v)))
		}
		for k, v := range x {
			if got := float64(groups[0].number(k)) * float64(groups[0].scale); math.Abs(got-float64(v)) > 0.5001/fixedMax*largest {
				t.Fatalf("number %d of %v is %v", k, x, got)
			}
		}
	}
}

func TestFixedNumbersAreTheSameOnEachTier(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, n := range []int{1, 2, 12} {
		for _, special := range specialNumbers {
			x := randomFloats(r, n*BlockCols, math.Exp2(float64(r.IntN(200)-100)), special...)
			sameGroups(t, fmt.Sprintf("%d groups with %v", n, special), func() []fixedGroup {
				dst := make([]fixedGroup, n)
				fix(&fixArgs{&dst[0], &x[0], n})
				return dst
			})
		}
	}
}

func TestWeightsTimesScalesAreTheSameOnEachTier(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, rows := range []int{1, 2, 12} {
		for _, special := range specialNumbers {
			const groups, ldx = 3, 40
			x := randomFloats(r, rows*ldx, math.Exp2(float64(r.IntN(200)-100)), special...)
			l := ValueLayout(KVQ8, groups*BlockCols)
			block := make([]byte, l.Bytes)
			for slot := range KVBlock {
				l.Store(block, slot, randomFloats(r, groups*BlockCols, math.Exp2(float64(r.IntN(40)-20))))
			}
			sameGroups(t, fmt.Sprintf("%d rows with %v", rows, special), func() []fixedGroup {
				dst := make([]fixedGroup, groups*KVTileRows)
				weigh(&weighArgs{&dst[0], &x[0], 4 * ldx, l.valueScalesIn(block, 0), uintptr(l.group), rows, groups})
				return dst
			})
		}
	}
}

// specialNumbers are such as tiers may treat in different ways.
var specialNumbers = [][]float32{{0}, {float32(math.NaN())}, {float32(math.Inf(-1))}, {math.MaxFloat32, 1e-40}}

// sameGroups compares what f makes on each tier with plain Go's. One NaN is as good as another.
func sameGroups(t *testing.T, what string, f func() []fixedGroup) {
	t.Helper()
	var want []fixedGroup
	onTier(generic, func() { want = f() })
	same := func(a, b fixedGroup) bool {
		return a == b || a.pairs == b.pairs && a.scale != a.scale && b.scale != b.scale
	}
	for _, tier := range vectorTiers() {
		onTier(tier, func() {
			if got := f(); !slices.EqualFunc(got, want, same) {
				t.Fatalf("%v: %s: got %v, want %v", tier, what, got, want)
			}
		})
	}
}

func TestWeightsTimesScalesAreNearTheProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	const groups = 4
	l := ValueLayout(KVQ8, groups*BlockCols)
	block, dst := make([]byte, l.Bytes), make([]fixedGroup, groups*KVTileRows)
	for i := range 64 {
		for slot := range KVBlock {
			l.Store(block, slot, randomFloats(r, groups*BlockCols, math.Exp2(float64(i-32)+4*r.Float64())))
		}
		x, largest := randomFloats(r, BlockCols, 1), 0.0
		weigh(&weighArgs{&dst[0], &x[0], 0, l.valueScalesIn(block, 0), uintptr(l.group), 1, groups})
		for at := range groups * KVBlock {
			largest = max(largest, math.Abs(float64(x[at%KVBlock]*l.scale(block, at%KVBlock, at/KVBlock*BlockCols))))
		}
		for at := range groups * KVBlock {
			g, slot := at/KVBlock, at%KVBlock
			got, want := float64(dst[g*KVTileRows].number(slot))*float64(dst[g*KVTileRows].scale), float64(x[slot]*l.scale(block, slot, g*BlockCols))
			if math.Abs(got-want) > 1.02/fixedMax*largest {
				t.Fatalf("weight %d of group %d is %v, want %v, the largest being %v", slot, g, got, want, largest)
			}
		}
	}
}

func TestStoredNumbersAreNearTheOriginals(t *testing.T) {
	tolerances := map[KVType]float64{KVF16: 0x1p-11, KVF32: 0, KVBF16: 0x1p-8, KVQ8: 1.0/254 + 0.51/fixedMax} // of the largest component
	r := rand.New(rand.NewPCG(11, 12))
	const dim = 40
	for _, typ := range allKVTypes {
		for _, l := range []KVLayout{KeyLayout(typ, dim), ValueLayout(typ, dim)} {
			block, all := make([]byte, l.Bytes), make([][]float32, KVBlock)
			for slot := range all {
				all[slot] = randomFloats(r, dim, math.Exp2(float64(slot-16)/2))
				l.Store(block, slot, all[slot])
			}
			for slot, x := range all {
				largest := 0.0
				for _, v := range x {
					largest = max(largest, math.Abs(float64(v)))
				}
				for i, v := range x {
					got := l.number(block, slot, i) * l.scale(block, slot, i)
					if e := math.Abs(float64(got - v)); e > tolerances[typ]*largest*1.0001 {
						t.Fatalf("%v, keys %v: component %d of slot %d is %v, want %v", typ, l.Keys, i, slot, got, v)
					}
				}
			}
		}
	}
}

func TestANaNIsStoredAsAByteOfZero(t *testing.T) {
	for _, tier := range append(vectorTiers(), generic) {
		onTier(tier, func() {
			l := KeyLayout(KVQ8, 3)
			block := make([]byte, l.Bytes)
			l.Store(block, 7, []float32{1, float32(math.NaN()), -127})
			if got := l.number(block, 7, 1); got != 0 || l.scale(block, 7, 1) != 1 {
				t.Errorf("%v: %v times %v", tier, got, l.scale(block, 7, 1))
			}
		})
	}
}

func TestStoredNumbersStayFinite(t *testing.T) {
	x := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, 1}
	for _, typ := range []KVType{KVF16, KVBF16, KVQ8} {
		l := ValueLayout(typ, len(x))
		block := make([]byte, l.Bytes)
		l.Store(block, 5, x)
		for i, v := range x {
			if got := l.number(block, 5, i) * l.scale(block, 5, i); math.IsInf(float64(got), 0) || got != got {
				t.Errorf("%v: %v is stored as %v", typ, v, got)
			}
		}
	}
}

func TestBF16IsRoundedToEvenAndKeptFinite(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := append(randomFloats(r, 4096, 1e4, inf, -inf, nan, math.MaxFloat32, 1e-40, 0), math.Float32frombits(0x7fffffff))
	want := make([]uint16, len(x))
	onTier(generic, func() { ToBF16(want, x) })
	for i, h := range want {
		v := float64(math.Float32frombits(uint32(h) << 16))
		if x[i] != x[i] {
			if v == v {
				t.Fatalf("NaN became %v", v)
			}
			continue
		}
		exact := max(-maxBF16, min(maxBF16, float64(x[i])))
		for _, other := range []uint16{h - 1, h + 1} {
			if o := float64(math.Float32frombits(uint32(other) << 16)); math.Abs(o-exact) < math.Abs(v-exact) {
				t.Fatalf("BF16 of %v is %v, but %v is nearer", x[i], v, o)
			}
		}
	}
	for _, tier := range vectorTiers() {
		onTier(tier, func() {
			got := make([]uint16, len(x))
			ToBF16(got, x)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%v: BF16 of %v is %#x, want %#x", tier, x[i], got[i], want[i])
				}
			}
		})
	}
}

func BenchmarkMulKeys(b *testing.B) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, tier := range vectorTiers() {
		for _, typ := range allKVTypes {
			for _, rows := range []int{1, 3, 6, 12} {
				b.Run(fmt.Sprintf("%v/%v/rows=%d", tier, typ, rows), func(b *testing.B) {
					const dim = 64
					p := KVProduct{Rows: rows, DstStride: 128, AStride: dim, Table: []int32{0, 1, 2, 3}}
					p.A, p.B, p.Dst = randomFloats(r, rows*dim, 1), randomBlocks(r, KeyLayout(typ, dim), dim, 4), make([]float32, rows*128)
					onTier(tier, func() {
						p.SetA()
						for b.Loop() {
							MulKeys(&p)
						}
					})
					b.ReportMetric(float64(rows*dim*128)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFMA/s")
				})
			}
		}
	}
}
