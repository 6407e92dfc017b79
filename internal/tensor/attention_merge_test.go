// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// randomState fills a state with what a segment could leave.
func randomState(r *rand.Rand, s softmaxState) {
	for i := range s.maximum {
		s.maximum[i], s.sum[i] = float32(r.NormFloat64()*3), 1+r.Float32()
	}
	for i := range s.values {
		s.values[i] = float32(r.NormFloat64())
	}
}

// clearState makes a state that of a segment of which nothing is seen.
func clearState(s softmaxState) {
	clear(s.sum)
	clear(s.values)
	for i := range s.maximum {
		s.maximum[i] = noMaximum
	}
}

// stateBits are the bits of a state.
func stateBits(s softmaxState) (all []uint32) {
	for _, part := range [][]float32{s.maximum, s.sum, s.values} {
		for _, x := range part {
			all = append(all, math.Float32bits(x))
		}
	}
	return all
}

func TestMergedSegmentsDoNotDependOnHowTheyAreShared(t *testing.T) {
	const rows, stride = kernel.KVTileRows, 32
	r := rand.New(rand.NewPCG(3, 4))
	newTree := func(segments int, whole bool) *softmaxTree {
		tree := &softmaxTree{stride: stride}
		tree.reserve(segments)
		tree.begin(rows, whole)
		return tree
	}
	for range 300 {
		low := r.IntN(70)
		high := low + 1 + r.IntN(130)
		segments := make([]softmaxState, high)
		for i := range segments {
			segments[i] = softmaxStateIn(make([]float32, stateSize(stride)))
			randomState(r, segments[i])
		}
		whole := newTree(high, true)
		for i := low; i < high; i++ {
			whole.next().copyFrom(segments[i], rows, stride)
			whole.add(treeNode{int32(i), 1})
		}
		want := stateBits(whole.fold())

		merged := newTree(high, true)
		for at := low; at < high; {
			end := at + 1 + r.IntN(high-at)
			task := newTree(high, false)
			for i := at; i < end; i++ {
				task.next().copyFrom(segments[i], rows, stride)
				task.add(treeNode{int32(i), 1})
			}
			if n := treeNodes(at, end); n != len(task.nodes) {
				t.Fatalf("segments %d to %d leave %d nodes, %d were expected", at, end, len(task.nodes), n)
			}
			for i, node := range task.nodes {
				merged.next().copyFrom(task.states[i], rows, stride)
				merged.add(node)
			}
			at = end
		}
		for i, bits := range stateBits(merged.fold()) {
			if bits != want[i] {
				t.Fatalf("segments %d to %d: number %d differs", low, high, i)
			}
		}

		// Segments that a row does not see, on either side, change nothing.
		around := newTree(high+20, true)
		for i := max(0, low-r.IntN(20)); i < high+r.IntN(20); i++ {
			clearState(around.next())
			if i >= low && i < high {
				around.next().copyFrom(segments[i], rows, stride)
			}
			around.add(treeNode{int32(i), 1})
		}
		for i, bits := range stateBits(around.fold()) {
			if bits != want[i] {
				t.Fatalf("segments %d to %d among unseen ones: number %d differs", low, high, i)
			}
		}
	}
}

func TestAttentionOfLongContextsHasTheSameBitsOnAnyThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	for _, c := range []attentionCase{
		{heads: 4, kvHeads: 2, headDim: 32, length: 9000},
		{heads: 3, kvHeads: 1, headDim: 20, length: 7000, window: 5000},
	} {
		f := c.fill(r)
		var want []float32
		for _, threads := range []int{1, 2, 3, 7} {
			p := NewPool(threads)
			alone := c.attend(p, f, countTo(c.length)[c.length-1:])
			prompt := c.attend(p, f, countTo(c.length)[c.length-40:])
			p.Close()
			if want == nil {
				want = alone
			}
			for i, x := range append(alone, prompt[39*len(alone):]...) {
				if w := want[i%len(want)]; math.Float32bits(x) != math.Float32bits(w) {
					t.Fatalf("%v, %d threads: number %d is %v, want %v", c, threads, i, x, w)
				}
			}
		}
		for head := range c.heads {
			for d, w := range c.naive(f, c.length-1, head) {
				if x := float64(want[head*c.headDim+d]); math.Abs(x-w) > attentionTolerances[KVF16] {
					t.Fatalf("%v: head %d component %d is %v, want %v", c, head, d, x, w)
				}
			}
		}
	}
}

// A window's first segment moves along, and with it went the order in which segments were merged.
func TestWindowedRowHasTheSameBitsAloneAndInAPrompt(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	for _, window := range []int{1024, 1100, 2200} {
		c := attentionCase{heads: 1, kvHeads: 1, headDim: 32, length: window + 700, window: window}
		f := c.fill(rand.New(rand.NewPCG(1, 2)))
		all := c.attend(p, f, countTo(c.length))
		for pos := 0; pos < c.length; pos += 1 + pos%3 {
			for i, x := range c.attend(p, f, []int32{int32(pos)}) {
				if w := all[pos*c.headDim+i]; math.Float32bits(x) != math.Float32bits(w) {
					t.Fatalf("window %d, position %d component %d: alone %v, with the prompt %v", window, pos, i, x, w)
				}
			}
		}
	}
}

// The factors of all rows of a tile went through one softmax, where a NaN of one row reached others.
func TestQueryThatIsNotFiniteLeavesOtherRowsAsTheyAre(t *testing.T) {
	p := NewPool(1)
	defer p.Close()
	const bad, dim = 9, 32 // the head whose query it is
	c := attentionCase{heads: 12, kvHeads: 1, headDim: dim, length: 2000}
	f := c.fill(rand.New(rand.NewPCG(1, 2)))
	last := []int32{int32(c.length - 1)}
	want := c.attend(p, f, last)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		query := f.q[((c.length-1)*c.heads+bad)*dim:][:dim]
		for i := range query {
			query[i] = float32(x)
		}
		for i, y := range c.attend(p, f, last) {
			if head := i / dim; head != bad && math.Float32bits(y) != math.Float32bits(want[i]) {
				t.Fatalf("%v in head %d: component %d of head %d is %v, not %v", x, bad, i%dim, head, y, want[i])
			}
		}
	}
}
