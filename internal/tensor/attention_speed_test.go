// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchmarkLayers is how many caches are read in turn, so that none is left in the processor's caches.
const benchmarkLayers = 16

// BenchmarkAttention measures one new token and 512 of them, after 4,096 and 3,584 others, on one thread.
func BenchmarkAttention(b *testing.B) {
	for _, c := range []attentionCase{
		{heads: 9, kvHeads: 3, headDim: 64},
		{heads: 4, kvHeads: 1, headDim: 256},
		{heads: 16, kvHeads: 8, headDim: 128},
		{heads: 8, kvHeads: 8, headDim: 64},
	} {
		for _, typ := range []KVType{KVF16, KVBF16, KVQ8} {
			c.length, c.typ = 4096, typ
			layers := c.layers()
			for _, rows := range []int{1, 512} {
				b.Run(fmt.Sprintf("H=%d/K=%d/D=%d/%v/rows=%d", c.heads, c.kvHeads, c.headDim, typ, rows), func(b *testing.B) {
					c.measure(b, layers, rows)
				})
			}
		}
	}
}

// layers fills some caches with the same numbers.
func (c attentionCase) layers() []*KV {
	blocks := c.length / KVBlock
	r, size := rand.New(rand.NewPCG(1, 2)), c.kvHeads*c.headDim
	x := make([]float32, size)
	layers := make([]*KV, benchmarkLayers)
	for i := range layers {
		layers[i] = NewKV(c.typ, blocks, c.kvHeads, c.headDim)
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

// measure runs attention of the last rows and reports what it read, or how much it computed.
func (c attentionCase) measure(b *testing.B, layers []*KV, rows int) {
	p := NewPool(1)
	defer p.Close()
	table, positions := countTo(c.length/KVBlock), countTo(c.length)[c.length-rows:]
	a := NewAttention(p, c.heads, c.kvHeads, c.headDim, 0)
	a.Plan(positions, []Span{{Rows: rows, Table: table}})
	q, out := make([]float32, rows*c.heads*c.headDim), make([]float32, rows*c.heads*c.headDim)
	for i := range q {
		q[i] = float32(i%7) / 7
	}
	products := 0
	for _, pos := range positions {
		products += 2 * c.heads * c.headDim * (int(pos) + 1)
	}
	i := 0
	for b.Loop() {
		a.Run(p, out, q, layers[i%len(layers)], 1/float32(c.headDim))
		i++
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	if rows == 1 {
		b.ReportMetric(float64(len(layers[0].memory.bytes))/seconds/1e9, "GB/s")
		return
	}
	b.ReportMetric(float64(products)/seconds/1e9, "GMAC/s")
}
