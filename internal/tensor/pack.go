// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/quant"
)

// packedFormats are the types that are packed into panels at load.
var packedFormats = map[quant.Type]kernel.Format{
	quant.Q40:   kernel.Q40,
	quant.Q41:   kernel.Q41,
	quant.Q50:   kernel.Q50,
	quant.Q51:   kernel.Q51,
	quant.Q80:   kernel.Q80,
	quant.Q2K:   kernel.Q2K,
	quant.Q3K:   kernel.Q3K,
	quant.Q4K:   kernel.Q4K,
	quant.Q5K:   kernel.Q5K,
	quant.Q6K:   kernel.Q6K,
	quant.IQ4NL: kernel.IQ4NL,
	quant.IQ4XS: kernel.IQ4XS,
	quant.MXFP4: kernel.MXFP4,
}

// packPanels copies stored rows into panels, on all threads. Rows that the last panel lacks are zeros.
//
// Shapes: data holds rows of 32*blocks values of the format's type.
func packPanels(p *Pool, f kernel.Format, rows, blocks int, data []byte) (*kernel.Panels, *offHeap) {
	count := (rows + kernel.PanelRows - 1) / kernel.PanelRows
	bytes, memory := p.slab.take(count * f.PanelBytes(blocks))
	w := &kernel.Panels{Format: f, Blocks: blocks, Bytes: bytes}
	rowBytes := len(data) / rows
	p.Do(count, func(i, _ int) {
		for o := i * kernel.PanelRows; o < min((i+1)*kernel.PanelRows, rows); o++ {
			kernel.PackRow(*w, data[o*rowBytes:][:rowBytes], o)
		}
	})
	return w, memory
}

// copyChunk is how many bytes a thread copies at a time.
const copyChunk = 1 << 20

// copyRows copies stored rows to large pages, on all threads: a decode step that walks through a mapped file of 4 KiB pages
// misses the TLB all the time.
func copyRows(p *Pool, data []byte) (rows []byte, memory *offHeap) {
	to, memory := p.slab.take(len(data))
	to = to[:len(data)]
	p.Do((len(data)+copyChunk-1)/copyChunk, func(i, _ int) {
		copy(to[i*copyChunk:], data[i*copyChunk:min((i+1)*copyChunk, len(data))])
	})
	return to, memory
}

// withoutSums makes Q8_0 blocks of Q8_1 blocks: those have a second half float, the scaled sum of the codes, which says
// nothing new.
func withoutSums(p *Pool, rows int, data []byte) []byte {
	blocks := len(data) / rows / quant.Q81.BlockBytes()
	out := make([]byte, rows*blocks*quant.Q80.BlockBytes())
	p.Do(rows, func(row, _ int) {
		for b := row * blocks; b < (row+1)*blocks; b++ {
			from, to := data[b*quant.Q81.BlockBytes():], out[b*quant.Q80.BlockBytes():]
			copy(to[:2], from)
			copy(to[2:34], from[4:])
		}
	})
	return out
}
