// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/quant"
)

// packedFormats are the types that are packed into panels at load.
var packedFormats = map[quant.Type]kernel.Format{
	quant.Q40: kernel.Q40,
	quant.Q41: kernel.Q41,
	quant.Q50: kernel.Q50,
	quant.Q51: kernel.Q51,
	quant.Q80: kernel.Q80,
	quant.Q4K: kernel.Q4K,
	quant.Q5K: kernel.Q5K,
	quant.Q6K: kernel.Q6K,
}

// panels are packed weights: groups of 16 rows, the last one filled up with rows of zeros.
type panels struct {
	format kernel.Format
	blocks int    // blocks of 32 inputs in a row
	bytes  int    // of one panel
	data   []byte // [count, bytes], on a cache line
}

// packPanels copies stored rows into panels, on all threads.
//
// Shapes: data holds rows of 32*blocks values of the format's type.
func packPanels(p *Pool, f kernel.Format, rows, blocks int, data []byte) *panels {
	w := &panels{format: f, blocks: blocks, bytes: f.PanelBytes(blocks)}
	count := (rows + kernel.PanelRows - 1) / kernel.PanelRows
	w.data = p.slab.take(count * w.bytes)
	rowBytes := len(data) / rows
	p.Do(count, func(i, _ int) {
		for o := range min(kernel.PanelRows, rows-i*kernel.PanelRows) {
			row := data[(i*kernel.PanelRows+o)*rowBytes:][:rowBytes]
			kernel.PackRow(w.panel(i), row, o)
		}
	})
	return w
}

// count is the number of panels.
func (w *panels) count() int { return len(w.data) / w.bytes }

// panel gives panel i.
func (w *panels) panel(i int) kernel.Panel {
	return kernel.Panel{Format: w.format, Blocks: w.blocks, Bytes: w.data[i*w.bytes:][:w.bytes:w.bytes]}
}

// row sets dst to the values of row i.
func (w *panels) row(dst []float32, i int) {
	kernel.UnpackRow(dst, w.panel(i/kernel.PanelRows), i%kernel.PanelRows)
}
