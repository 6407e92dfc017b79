// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// An attentionCase is one sequence in a cache of its own.
type attentionCase struct {
	heads, kvHeads, headDim, window, length int
	softCap                                 float32
	typ                                     KVType
}

func (c attentionCase) String() string {
	return fmt.Sprintf("H=%d K=%d D=%d window=%d S=%d cap=%g type=%v", c.heads, c.kvHeads, c.headDim, c.window, c.length, c.softCap, c.typ)
}

// A filledCache is a case's keys and values, in the cache and as plain floats, with random queries.
type filledCache struct {
	kv      *KV
	table   []int32
	k, v, q []float32 // [S, K, D], [S, K, D], [S, H, D]
}

func (c attentionCase) fill(r *rand.Rand) *filledCache {
	blocks := (c.length + KVBlock - 1) / KVBlock
	f := &filledCache{kv: newKV(c.typ, blocks+3, c.kvHeads, c.headDim)}
	// What a block held before must not matter.
	for _, numbers := range []kvNumbers{f.kv.keys, f.kv.values} {
		for i := range numbers.bytes {
			numbers.bytes[i] = 0x7b
		}
	}
	for _, b := range r.Perm(blocks + 3)[:blocks] {
		f.table = append(f.table, int32(b))
	}
	random := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	size := c.kvHeads * c.headDim
	f.k, f.v, f.q = random(c.length*size), random(c.length*size), random(c.length*c.heads*c.headDim)
	for pos := range c.length {
		f.kv.Store(int(f.table[pos/KVBlock]), pos%KVBlock, f.k[pos*size:(pos+1)*size], f.v[pos*size:(pos+1)*size])
	}
	return f
}

// naive is attention of one query head as the papers define it, in float64.
func (c attentionCase) naive(f *filledCache, pos, head int) []float64 {
	first := 0
	if c.window > 0 {
		first = max(0, pos-c.window+1)
	}
	kvHead := head / (c.heads / c.kvHeads)
	q := f.q[(pos*c.heads+head)*c.headDim:][:c.headDim]
	weights, sum, out := make([]float64, pos+1), 0.0, make([]float64, c.headDim)
	for j := first; j <= pos; j++ {
		s := 0.0
		for d, x := range q {
			s += float64(x) * float64(f.k[(j*c.kvHeads+kvHead)*c.headDim+d])
		}
		s *= attentionScale
		if limit := float64(c.softCap); limit != 0 {
			s = limit * math.Tanh(s/limit)
		}
		weights[j] = math.Exp(s)
		sum += weights[j]
	}
	for j := first; j <= pos; j++ {
		for d := range out {
			out[d] += weights[j] / sum * float64(f.v[(j*c.kvHeads+kvHead)*c.headDim+d])
		}
	}
	return out
}

const attentionScale = 0.2

// attend runs attention of the rows at the positions, all of one sequence.
func (c attentionCase) attend(p *Pool, f *filledCache, positions []int32) []float32 {
	a := NewAttention(p, c.heads, c.kvHeads, c.headDim, c.window).WithSoftCap(c.softCap)
	width := c.heads * c.headDim
	q, out := make([]float32, 0, len(positions)*width), make([]float32, len(positions)*width)
	for _, pos := range positions {
		q = append(q, f.q[int(pos)*width:(int(pos)+1)*width]...)
	}
	a.Plan(positions, []Span{{First: 0, Rows: len(positions), Table: f.table}})
	a.Run(p, out, q, f.kv, attentionScale)
	return out
}

func countTo(n int) []int32 {
	positions := make([]int32, n)
	for i := range positions {
		positions[i] = int32(i)
	}
	return positions
}

var attentionCases = []attentionCase{
	{heads: 1, kvHeads: 1, headDim: 8, length: 1},
	{heads: 3, kvHeads: 3, headDim: 20, length: 40},
	{heads: 9, kvHeads: 3, headDim: 64, length: 100},
	{heads: 4, kvHeads: 1, headDim: 256, length: 70, window: 33},
	{heads: 14, kvHeads: 1, headDim: 32, length: 1100},
	{heads: 4, kvHeads: 2, headDim: 40, length: 1300, window: 515},
	{heads: 2, kvHeads: 1, headDim: 16, length: 600, window: 1},
	{heads: 4, kvHeads: 2, headDim: 20, length: 300, softCap: 1.5},
	{heads: 4, kvHeads: 1, headDim: 96, length: 1300}, // a row sees segments that are done together
	{heads: 2, kvHeads: 1, headDim: 32, length: 1700, window: 1000, softCap: 1.5},
}

// attentionTolerances are for keys and values of unit variance and heads of up to 256; measured 2.2e-3, 4.7e-6, 1.6e-2
// and 4.8e-2. The largest errors come from the scores of wide heads.
var attentionTolerances = map[KVType]float64{KVF16: 4e-3, KVF32: 2e-5, KVBF16: 3e-2, KVQ8: 8e-2}

func TestAttentionMatchesItsDefinition(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for _, c := range attentionCases {
		for typ, tolerance := range attentionTolerances {
			if c.typ = typ; c.length > 700 && typ > KVF32 {
				continue // long contexts are the same for all
			}
			f := c.fill(rand.New(rand.NewPCG(1, uint64(c.length))))
			got := c.attend(p, f, countTo(c.length))
			for pos := 0; pos < c.length; pos += 1 + c.length/50 {
				for head := range c.heads {
					for d, want := range c.naive(f, pos, head) {
						if x := float64(got[(pos*c.heads+head)*c.headDim+d]); !(math.Abs(x-want) < tolerance) {
							t.Fatalf("%v: position %d head %d component %d is %v, want %v", c, pos, head, d, x, want)
						}
					}
				}
			}
		}
	}
}

func TestAttentionBitsDoNotDependOnHowRowsAreCut(t *testing.T) {
	one, two := NewPool(1), NewPool(2)
	defer one.Close()
	defer two.Close()
	r := rand.New(rand.NewPCG(5, 6))
	for i, c := range attentionCases {
		if c.length <= 600 {
			c.typ = []KVType{KVF16, KVQ8, KVBF16}[i%3]
		}
		f := c.fill(r)
		want := c.attend(one, f, countTo(c.length))
		width := c.heads * c.headDim
		for range 40 {
			first := r.IntN(c.length)
			rows := countTo(c.length)[first : first+1+r.IntN(min(20, c.length-first))]
			if r.IntN(2) == 0 {
				rows = rows[:1]
			}
			got := c.attend(two, f, rows)
			for i, x := range got {
				if w := want[first*width+i]; math.Float32bits(x) != math.Float32bits(w) {
					t.Fatalf("%v: rows from %d, %d of them: value %d is %v, want %v", c, first, len(rows), i, x, w)
				}
			}
		}
	}
}

func TestCopiedBlockHoldsTheSame(t *testing.T) {
	for _, typ := range []KVType{KVF16, KVF32, KVBF16, KVQ8} {
		c := attentionCase{heads: 2, kvHeads: 2, headDim: 20, length: 32, typ: typ}
		f := c.fill(rand.New(rand.NewPCG(7, 8)))
		p := NewPool(1)
		want := c.attend(p, f, countTo(32))
		other := (f.table[0] + 1) % 4
		f.kv.CopyBlock(int(other), int(f.table[0]))
		f.table[0] = other
		for i, x := range c.attend(p, f, countTo(32)) {
			if x != want[i] {
				t.Fatalf("type %v: value %d is %v after the copy, want %v", typ, i, x, want[i])
			}
		}
		p.Close()
	}
}

func TestRMSNormAddsEpsilonToTheMeanSquare(t *testing.T) {
	x := []float32{3, 4, 0, 0}
	got := make([]float32, 4)
	RMSNorm(got, x, []float32{1, 2, 1, 1}, 0.25)
	want := []float32{3 / float32(math.Sqrt(6.5)), 8 / float32(math.Sqrt(6.5)), 0, 0}
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-6 {
			t.Errorf("RMSNorm(%v) is %v, want %v", x, got, want)
		}
	}
}

func TestLayerNormTakesTheMeanAway(t *testing.T) {
	x := []float32{1, 3, 5, 7, 2, 2, 2, 2}
	LayerNorm(x, x, []float32{1, 2, 1, 1}, []float32{0, 0, 0, 10}, 0.25)
	root := float32(math.Sqrt(5.25)) // the mean square of -3, -1, 1, 3, plus 0.25
	for i, want := range []float32{-3 / root, -2 / root, 1 / root, 10 + 3/root, 0, 0, 0, 10} {
		if math.Abs(float64(x[i]-want)) > 1e-6 {
			t.Errorf("value %d is %v, want %v", i, x[i], want)
		}
	}
}

func TestNonlinearitiesAreTheirDefinitions(t *testing.T) {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	for f, want := range map[Nonlinearity]func(x float64) float64{
		SiLU:     func(x float64) float64 { return x * sigmoid(x) },
		GELUTanh: func(x float64) float64 { return x * sigmoid(2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)) },
		ReLU2:    func(x float64) float64 { return max(x, 0) * max(x, 0) },
	} {
		const n = 600
		plain, gate, up := make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range n {
			plain[i], up[i] = float32(i-300)/50, float32(i%7)
		}
		copy(gate, plain)
		f.Apply(plain)
		f.Gate(gate, up)
		for i := range n {
			y := want(float64(float32(i-300) / 50))
			if math.Abs(float64(plain[i])-y) > 1e-5*(1+y) || math.Abs(float64(gate[i])-y*float64(i%7)) > 1e-4*(1+y) {
				t.Fatalf("function %d of %v is %v, gated %v; want %v, %v", f, float32(i-300)/50, plain[i], gate[i], y, y*float64(i%7))
			}
		}
	}
}

func TestRotationTurnsEachPairByItsAngle(t *testing.T) {
	freqs := []float32{1, 0.1}
	for _, interleaved := range []bool{false, true} {
		r := NewRotation(freqs, interleaved)
		r.Set([]int32{0, 7})
		x := []float32{1, 2, 3, 4, 5, 6} // the last two are beyond the width
		r.Turn(x, 6, 1)
		want := []float64{1, 2, 3, 4, 5, 6}
		for m, f := range freqs {
			a, b := m, m+2
			if interleaved {
				a, b = 2*m, 2*m+1
			}
			sin, cos := math.Sincos(7 * float64(f))
			u, v := want[a], want[b]
			want[a], want[b] = u*cos-v*sin, v*cos+u*sin
		}
		for i := range want {
			if math.Abs(float64(x[i])-want[i]) > 1e-5 {
				t.Errorf("interleaved %v: component %d is %v, want %v", interleaved, i, x[i], want[i])
			}
		}
	}
}
