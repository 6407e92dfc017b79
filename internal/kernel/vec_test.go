// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// vectorTiers are the tiers of this machine that have vector kernels.
func vectorTiers() []tier {
	var tiers []tier
	for t := generic + 1; t <= detected; t++ {
		tiers = append(tiers, t)
	}
	return tiers
}

// onTier runs f with a tier in use.
func onTier(t tier, f func()) {
	before := active
	active = t
	defer func() { active = before }()
	f()
}

// randomFloats returns normally distributed numbers, some of them special.
func randomFloats(r *rand.Rand, n int, size float64, special ...float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * size)
		if len(special) > 0 && r.IntN(20) == 0 {
			v[i] = special[r.IntN(len(special))]
		}
	}
	return v
}

// checkBits fails for the first number that differs in its bits. A NaN is like any other: which sign one gets from
// infinities is the processor's choice.
func checkBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != got[i] && want[i] != want[i] {
			continue
		}
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: number %d of %d is %v (%#x), want %v (%#x)", what, i, len(want), got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

func TestVectorKernelsGiveTheBitsOfTheirTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	inf := float32(math.Inf(1))
	for name, f := range map[string]func(a, b, c, d []float32){
		"ScaleMul":     func(a, b, c, _ []float32) { ScaleMul(a, b, c, 1.7) },
		"Scale":        func(a, b, _, _ []float32) { Scale(a, b, 0.3) },
		"Add":          func(a, b, _, _ []float32) { Add(a, b) },
		"AddScaled":    func(a, b, _, _ []float32) { AddScaled(a, b, 0.7) },
		"GateSiLU":     func(a, b, _, _ []float32) { GateSiLU(a, b) },
		"GateGELU":     func(a, b, _, _ []float32) { GateGELU(a, b) },
		"SoftCap":      func(a, _, _, _ []float32) { SoftCap(a, 30) },
		"RotatePairs":  func(a, b, c, _ []float32) { RotatePairs(a[:len(a)&^1], b[:len(a)&^1], c) },
		"SumSquares":   func(a, b, _, _ []float32) { a[0] = SumSquares(b) },
		"RotateHalves": func(a, b, c, _ []float32) { RotateHalves(a, b[:len(a)/2], c) },
		"SoftmaxChunk": func(a, b, _, _ []float32) {
			if len(a)%16 == 0 {
				b[0], b[1] = SoftmaxChunk(a, -1)
			}
		},
		"Softmax": func(a, b, c, _ []float32) {
			if n := len(a) / 32 * 16; n > 0 {
				b[0], b[1] = -1, 3
				p := KVProduct{Rows: 2, A: a, AStride: len(a) / 2}
				p.Softmax(n, b, c)
			}
		},
	} {
		for _, n := range []int{2, 16, 17, 32, 48, 63, 64, 100, 128, 640} {
			inputs := make([][]float32, 4)
			for i := range inputs {
				inputs[i] = randomFloats(r, n, 5, 0, 1e-30, -87.33, -87.34, 60, -200, 200, -inf)
			}
			run := func() [][]float32 {
				var args [4][]float32
				for i := range args {
					args[i] = append([]float32(nil), inputs[i]...)
				}
				f(args[0], args[1], args[2], args[3])
				return args[:]
			}
			var want [][]float32
			onTier(generic, func() { want = run() })
			for _, tier := range vectorTiers() {
				onTier(tier, func() {
					for i, got := range run() {
						checkBits(t, fmt.Sprintf("%s/%v/n=%d argument %d", name, tier, n, i), got, want[i])
					}
				})
			}
		}
	}
}

// 2^n is added to the exponent of a weight, which must be a normal number: its smallest are.
func TestSmallestWeightsAreThoseOfExp(t *testing.T) {
	const rows, n = 2, 48
	s := make([]float32, rows*n)
	for x := float32(-87.34); x < -87.32; {
		want := make([]float32, len(s))
		for i := range s {
			s[i], want[i] = x, exp32(x)
			x = math.Nextafter32(x, 0)
		}
		p := KVProduct{Rows: rows, A: s, AStride: n}
		p.Softmax(n, make([]float32, rows), make([]float32, rows))
		checkBits(t, "weights", s, want)
	}
	clear(s)
	s[1], s[47] = float32(math.NaN()), float32(math.NaN())
	if _, sum := SoftmaxChunk(s, 0); s[1] == s[1] || s[47] == s[47] || sum == sum {
		t.Errorf("weights of NaN are %v and %v, and their sum is %v", s[1], s[47], sum)
	}
}

func TestMergeGivesTheBitsOfItsTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	negativeZero := float32(math.Copysign(0, -1))
	for rows := 1; rows <= KVTileRows; rows++ {
		for _, width := range []int{16, 32, 64, 112} {
			state := func() []float32 {
				maxima := randomFloats(r, KVTileRows, 9, 0, negativeZero, -1e30, 150)
				return append(maxima, randomFloats(r, KVTileRows+KVTileRows*width, 5)...)
			}
			all, one := state(), state()
			want := slices.Clone(all)
			onTier(generic, func() { MergeSoftmax(want, one, rows, width) })
			for _, tier := range vectorTiers() {
				onTier(tier, func() {
					got := slices.Clone(all)
					MergeSoftmax(got, one, rows, width)
					checkBits(t, fmt.Sprintf("%v: %d rows of %d", tier, rows, width), got, want)
				})
			}
		}
	}
}

func TestHalvesAreRoundedToEvenAndKeptFinite(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	inf := float32(math.Inf(1))
	x := append(randomFloats(r, 4096, 1e4, inf, -inf, 65504, 65520, 1e-5, 6e-8, 3e-8, 2.9e-8, 0, 6.1e-5), float32(math.Copysign(0, -1)))
	for i := range 2048 {
		x[i] *= float32(math.Exp2(-float64(i % 30)))
	}
	want := make([]uint16, len(x))
	onTier(generic, func() { ToHalf(want, x) })
	for i, h := range want {
		// The nearest of the half and its two neighbours.
		got := math.Abs(float64(halfValue(h)) - float64(x[i]))
		for _, other := range []uint16{h - 1, h + 1} {
			if v := halfValue(other); !math.IsInf(float64(v), 0) && v == v && math.Abs(float64(v)-float64(x[i])) < got {
				t.Fatalf("half of %v is %v, but %v is nearer", x[i], halfValue(h), v)
			}
		}
	}
	for _, tier := range vectorTiers() {
		onTier(tier, func() {
			got := make([]uint16, len(x))
			ToHalf(got, x)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%v: half of %v is %#x, want %#x", tier, x[i], got[i], want[i])
				}
			}
		})
	}
}

func TestExpGivesTheSameBitsOnEachTier(t *testing.T) {
	for _, tier := range vectorTiers() {
		onTier(tier, func() {
			for x := float32(-90); x < 90; x += 0.0173 {
				checkBits(t, fmt.Sprintf("%v: e^%v", tier, x), []float32{Exp(x)}, []float32{exp32(x)})
			}
		})
	}
}

func TestExpIsAccurate(t *testing.T) {
	const tolerance = 1.5e-7 // measured 1.1e-7
	for x := float32(-87.3); x < 88.3; x += 0.0137 {
		want := math.Exp(float64(x))
		if e := math.Abs(float64(Exp(x))-want) / want; e > tolerance {
			t.Errorf("e^%v is %v, want %v: relative error %.2g", x, Exp(x), want, e)
		}
	}
	if Exp(0) != 1 || Exp(-100) != 0 || Exp(float32(math.Inf(-1))) != 0 {
		t.Errorf("e^0, e^-100, e^-Inf are %v, %v, %v, want 1, 0, 0", Exp(0), Exp(-100), Exp(float32(math.Inf(-1))))
	}
	if x := Exp(float32(math.NaN())); x == x {
		t.Errorf("e^NaN is %v, want NaN", x)
	}
}

func TestGatesAreAccurate(t *testing.T) {
	const tolerance = 1e-6
	for x := float32(-20); x < 20; x += 0.0137 {
		gate := []float32{x}
		GateSiLU(gate, []float32{2})
		if want := 2 * float64(x) / (1 + math.Exp(-float64(x))); math.Abs(float64(gate[0])-want) > tolerance*max(1, math.Abs(want)) {
			t.Errorf("SiLU(%v)·2 is %v, want %v", x, gate[0], want)
		}
		gate[0] = x
		GateGELU(gate, []float32{2})
		u := math.Sqrt(2/math.Pi) * (float64(x) + 0.044715*math.Pow(float64(x), 3))
		if want := float64(x) * (1 + math.Tanh(u)); math.Abs(float64(gate[0])-want) > tolerance*max(1, math.Abs(want)) {
			t.Errorf("GELU(%v)·2 is %v, want %v", x, gate[0], want)
		}
	}
}

func BenchmarkGateSiLU(b *testing.B) {
	for _, tier := range append([]tier{generic}, vectorTiers()...) {
		b.Run(fmt.Sprintf("%v/n=2048", tier), func(b *testing.B) {
			x := randomFloats(rand.New(rand.NewPCG(9, 10)), 2048, 1)
			y := randomFloats(rand.New(rand.NewPCG(9, 11)), 2048, 1)
			b.SetBytes(int64(len(x)) * 2 * int64(unsafe.Sizeof(x[0])))
			onTier(tier, func() {
				gate := make([]float32, len(x))
				for b.Loop() {
					copy(gate, x)
					GateSiLU(gate, y)
				}
			})
		})
	}
}

func TestAboveFindsTheFirst(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tier := range append([]tier{generic}, vectorTiers()...) {
		for n := range 70 {
			for at := range n + 1 {
				for _, v := range []float32{1.5, inf, nan, -nan} {
					x := slices.Repeat([]float32{1, -1, -inf}, n/3+1)[:n]
					copy(x[at:], []float32{v, v})
					onTier(tier, func() {
						if got := Above(x, 1); got != at {
							t.Fatalf("%v: %d numbers, %v at %d: got %d", tier, n, v, at, got)
						}
					})
				}
			}
		}
	}
}

func TestWeightSumsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{1, 15, 16, 48, 1000} {
		e := make([]float32, n)
		for i := range e {
			e[i] = []float32{1, 0, 0x1p-45, 0x1.fffffep-46, 0x1p-126, 0x1p-23, Exp(-float32(r.ExpFloat64()) * 12)}[r.IntN(7)]
		}
		for _, tier := range append([]tier{generic}, vectorTiers()...) {
			onTier(tier, func() {
				if got, want := WeightSum(e), weightSumGo(e); got != want {
					t.Errorf("%v: sum of %d weights is %d, want %d", tier, n, got, want)
				}
			})
		}
	}
}
