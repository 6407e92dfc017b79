// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/kernel"
)

// benchmarkBytes is the size of the caches that are read in turn, so that none is left in the processor's caches.
const benchmarkBytes = 1 << 30

// benchmarkShapes are those of the 0.6B and 1.7B shapes, SmolLM2 and Gemma 3 270M.
var benchmarkShapes = []attentionCase{
	{heads: 16, kvHeads: 8, headDim: 128},
	{heads: 9, kvHeads: 3, headDim: 64},
	{heads: 4, kvHeads: 1, headDim: 256},
}

// decodeShapes are those and one with a query for each KV head.
var decodeShapes = append(slices.Clone(benchmarkShapes), attentionCase{heads: 8, kvHeads: 8, headDim: 64})

// BenchmarkAttention measures one new token and 512 of them, after 4,096 and 3,584 others, on one thread.
func BenchmarkAttention(b *testing.B) {
	p := NewPool(1)
	defer p.Close()
	for _, c := range decodeShapes {
		for _, typ := range []KVType{KVF16, KVBF16, KVQ8} {
			c.length, c.typ = 4096, typ
			layers := c.layers(benchmarkBytes / c.bytes())
			for _, rows := range []int{1, 512} {
				b.Run(fmt.Sprintf("H=%d/K=%d/D=%d/%v/rows=%d", c.heads, c.kvHeads, c.headDim, typ, rows), func(b *testing.B) {
					c.measure(b, p, layers, rows)
				})
			}
			closeAll(layers)
		}
	}
}

// BenchmarkLongContexts measures one new token after 16,384 others, on all threads, beside reading as much.
func BenchmarkLongContexts(b *testing.B) {
	p := NewPool(0)
	defer p.Close()
	timer := newQuietTimer(p)
	for _, c := range decodeShapes {
		for _, typ := range []KVType{KVF16, KVBF16, KVQ8} {
			c.length, c.typ = 16384, typ
			layers := c.layers(benchmarkBytes / c.bytes())
			b.Run(fmt.Sprintf("H=%d/K=%d/D=%d/%v", c.heads, c.kvHeads, c.headDim, typ), func(b *testing.B) {
				run, at := c.runner(p, 1), 0
				next := func() []byte { at++; return layers[at%len(layers)].memory.bytes[:c.bytes()] }
				timer.ofReading(b, next, func() { run(layers[at%len(layers)]) })
			})
			closeAll(layers)
		}
	}
}

func closeAll(layers []*KV) {
	for _, l := range layers {
		l.Close()
	}
}

// bytes is the size of the case's keys and values.
func (c attentionCase) bytes() int {
	return c.length / KVBlock * int(c.typ.BlockBytes(c.kvHeads, c.headDim))
}

// layers fills some caches with the same numbers.
func (c attentionCase) layers(n int) []*KV {
	blocks := c.length / KVBlock
	r, size := rand.New(rand.NewPCG(1, 2)), c.kvHeads*c.headDim
	x := make([]float32, size)
	layers := make([]*KV, n)
	for i := range layers {
		layers[i] = newKV(c.typ, blocks, c.kvHeads, c.headDim)
	}
	for pos := range c.length {
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		layers[0].Store(pos/KVBlock, pos%KVBlock, x, x)
	}
	for _, l := range layers[1:] {
		copy(l.memory.bytes, layers[0].memory.bytes)
	}
	return layers
}

// runner prepares attention of the last rows.
func (c attentionCase) runner(p *Pool, rows int) func(*KV) {
	table, positions := countTo(c.length/KVBlock), countTo(c.length)[c.length-rows:]
	a := NewAttention(p, c.heads, c.kvHeads, c.headDim, 0)
	a.Plan(positions, []Span{{Rows: rows, Table: table}})
	q, out := make([]float32, rows*c.heads*c.headDim), make([]float32, rows*c.heads*c.headDim)
	for i := range q {
		q[i] = float32(i%7) / 7
	}
	return func(kv *KV) { a.Run(p, out, q, kv, 1/float32(c.headDim)) }
}

// measure runs attention of the last rows and reports what it read, or how much it computed.
func (c attentionCase) measure(b *testing.B, p *Pool, layers []*KV, rows int) {
	run, products := c.runner(p, rows), 0
	for pos := c.length - rows; pos < c.length; pos++ {
		products += 2 * c.heads * c.headDim * (pos + 1)
	}
	i := 0
	for b.Loop() {
		run(layers[i%len(layers)])
		i++
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	if rows == 1 {
		b.ReportMetric(float64(c.bytes())/seconds/1e9, "GB/s")
		return
	}
	b.ReportMetric(float64(products)/seconds/1e9, "GMAC/s")
}

// BenchmarkLongPrompts measures the attention of whole prompts in chunks of 512 on all threads, and its share of the
// multiply-adds that they can do, measured just before.
func BenchmarkLongPrompts(b *testing.B) {
	p := NewPool(0)
	defer p.Close()
	for _, c := range benchmarkShapes {
		for _, typ := range []KVType{KVF16, KVBF16, KVQ8} {
			c.length, c.typ = 8192, typ
			kv := c.layers(1)[0]
			for _, tokens := range []int{512, 2048, 4096, 8192} {
				b.Run(fmt.Sprintf("H=%d/K=%d/D=%d/%v/tokens=%d", c.heads, c.kvHeads, c.headDim, typ, tokens), func(b *testing.B) {
					c.measurePrompt(b, p, kv, tokens)
				})
			}
		}
	}
}

func (c attentionCase) measurePrompt(b *testing.B, p *Pool, kv *KV, tokens int) {
	const rows = 512
	peak := multiplyAdds(p)
	table, positions := countTo(c.length/KVBlock), countTo(tokens)
	a := NewAttention(p, c.heads, c.kvHeads, c.headDim, 0)
	q, out := make([]float32, rows*c.heads*c.headDim), make([]float32, rows*c.heads*c.headDim)
	for i := range q {
		q[i] = float32(i%7) / 7
	}
	for b.Loop() {
		for at := 0; at < tokens; at += rows {
			a.Plan(positions[at:at+rows], []Span{{Rows: rows, Table: table}})
			a.Run(p, out, q, kv, 1/float32(c.headDim))
		}
	}
	products := float64(c.heads*c.headDim) * float64(tokens) * float64(tokens+1) // a query by a key, and a weight by a value
	speed := products * float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(speed/1e9, "GMAC/s")
	b.ReportMetric(speed/peak, "of-peak")
}

// multiplyAdds returns how many multiply-adds of floats the threads of a pool do in a second, at best.
func multiplyAdds(p *Pool) float64 {
	best := 0.0
	for _, way := range kernel.FP32Peaks() {
		calls := 512 * p.Threads()
		for range 8 {
			start := time.Now()
			p.Do(calls, func(int, int) { way.Run(way.Rounds) })
			best = max(best, float64(calls)*float64(way.MACs)*float64(way.Rounds)/time.Since(start).Seconds())
		}
	}
	return best
}
