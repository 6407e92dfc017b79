// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/quant"
)

// A Product asks for Dst = activations times the transpose of W.
type Product struct {
	Dst []float32 // [T, W.Rows()]
	W   *Matrix
}

const (
	// chunkBytes is the most weights that a thread claims at once. It and the activations of a few tiles fit into the
	// second cache, so each weight comes from memory once, however many rows there are.
	chunkBytes = 256 << 10
	// expandedPanels is the same, in panels, where they are expanded: one after the other, while the activations of many rows
	// stay in that cache.
	expandedPanels = 16
	// chunksPerThread is how finely a product is divided at least, if it has that many panels: threads that were held
	// up leave the rest to others.
	chunksPerThread = 6
)

// A piece is a product with its division into chunks of panels.
type piece struct {
	Product
	first  int // number of its first chunk within the round
	chunks int
	panels int
}

// panel is the first one of a chunk.
func (p *piece) panel(chunk int) int { return chunk * p.panels / p.chunks }

// chunksOf says into how many chunks to divide a product with so many rows. They are of one size, and as many for each thread.
func (p *Pool) chunksOf(next *piece, rows int) int {
	w := next.W
	most := max(1, next.panels*chunkBytes/w.Bytes()) // panels of a chunk
	if w.packed != nil && kernel.Expands(w.packed.Format, rows) {
		most = expandedPanels
	}
	each := max((next.panels+most-1)/most, p.threads*chunksPerThread)
	return min(next.panels, (each+p.threads-1)/p.threads*p.threads)
}

// A productRun is the round of one Mul. The pool keeps it, so that Mul allocates nothing.
type productRun struct {
	a       *Activations
	pieces  []piece
	scratch []productScratch // of each thread
	shares  shares
	work    func(i, worker int)
}

// A productScratch is what one thread needs to multiply: memory for the kernels, and the outputs of a last panel that is
// not full.
type productScratch struct {
	kernel.Scratch
	last [tileRows * kernel.PanelRows]float32
	dots [kernel.DotRows]float32 // for the kernels of float weights
}

func (r *productRun) init(p *Pool) {
	r.scratch, r.shares = make([]productScratch, p.threads), make(shares, p.threads)
	r.work = r.share
}

// Mul computes all products of the same input in one round of the pool.
//
// Shapes: a [T, E]; for each product W [O, E], Dst [T, O].
// Quantised weights see the activations as signed bytes with a scale for every 32 of them; float weights see them as
// they are. Panics if the shapes do not match.
func (p *Pool) Mul(a *Activations, products ...Product) {
	r := &p.products
	r.a, r.pieces = a, r.pieces[:0]
	chunks := 0
	for _, product := range products {
		w := product.W
		if w.cols != a.cols || len(product.Dst) < a.rows*w.rows {
			panic(fmt.Sprintf("tensor: mul: matrix [%d, %d] with activations [%d, %d] into %d values", w.rows, w.cols, a.rows, a.cols, len(product.Dst)))
		}
		a.prepare(p, w)
		next := piece{product, chunks, 0, (w.rows + kernel.PanelRows - 1) / kernel.PanelRows}
		next.chunks = p.chunksOf(&next, a.rows)
		r.pieces = append(r.pieces, next)
		chunks += next.chunks
	}
	for i := range r.shares {
		r.shares[i].end = (i + 1) * chunks / p.threads
	}
	r.shares.begin(0)
	p.Do(min(p.threads, chunks), r.work)
}

// share computes the chunks of one share, and then what others have left of theirs.
func (r *productRun) share(i, worker int) {
	for n := range r.shares {
		share := &r.shares[(i+n)%len(r.shares)]
		for chunk := range share.left() {
			r.chunk(chunk, worker)
		}
	}
}

// chunk computes one chunk of one product.
func (r *productRun) chunk(i, worker int) {
	n := len(r.pieces) - 1
	for r.pieces[n].first > i {
		n--
	}
	piece := &r.pieces[n]
	w := piece.W
	first, end := piece.panel(i-piece.first), piece.panel(i-piece.first+1)
	if w.packed == nil {
		r.floatRows(piece, w.floatBound(first), w.floatBound(end), worker)
		return
	}
	w.mulPanels(piece.Dst, first, end, r.a, &r.scratch[worker])
}

// mulPanels multiplies panels from first to end with all activations.
//
// Shapes: dst [T, rows].
func (m *Matrix) mulPanels(dst []float32, first, end int, a *Activations, scratch *productScratch) {
	full := min(end, m.rows/kernel.PanelRows)
	if a.rows < tileRows && kernel.Pairs(m.packed.Format) {
		first = m.mulPairs(dst, first, end, a.tiles().Tile(0))
	}
	if first < full {
		kernel.MulTiles(dst[first*kernel.PanelRows:], m.rows, m.packed.Slice(first, full), a.tiles(), &scratch.Scratch)
	}
	if full == end {
		return
	}
	for i := range a.tiles().Count() {
		x := a.tiles().Tile(i)
		kernel.Mul(scratch.last[:], kernel.PanelRows, m.packed.Slice(full, end), x)
		for t := range x.Rows {
			copy(dst[(i*tileRows+t)*m.rows+full*kernel.PanelRows:][:m.rows-full*kernel.PanelRows], scratch.last[t*kernel.PanelRows:])
		}
	}
}

// mulPairs multiplies the pairs of panels from the halves of the matrix that are the share of a chunk. It returns the first panel
// that is left for the chunk to do: only the last chunk has any, where the matrix cannot be halved.
func (m *Matrix) mulPairs(dst []float32, first, end int, x kernel.Tile) (left int) {
	panels, half := (m.rows+kernel.PanelRows-1)/kernel.PanelRows, m.rows/kernel.PanelRows/2
	from, to := first*half/panels, end*half/panels
	pair := kernel.Pair{First: m.packed.Slice(from, to), Second: m.packed.Slice(half+from, half+to)}
	kernel.MulPairs(dst[from*kernel.PanelRows:], dst[(half+from)*kernel.PanelRows:], m.rows, pair, x)
	if end < panels {
		return end
	}
	return 2 * half
}

// floatBound is the row at which a chunk of panels of float weights begins and the one before it ends. The last chunk has
// as many rows as a kernel does at once, if the matrix has.
func (m *Matrix) floatBound(panel int) int {
	row := min(panel*kernel.PanelRows, m.rows)
	if row < m.rows && m.rows-row < kernel.DotRows {
		row = max(0, m.rows-kernel.DotRows)
	}
	return row
}

// floatRows multiplies weight rows from first to end with all activations.
func (r *productRun) floatRows(piece *piece, first, end, worker int) {
	w := piece.W
	rows, rowBytes := w.floats, len(w.floats.Bytes)/w.rows
	rows.Bytes, rows.Sums = rows.Bytes[first*rowBytes:end*rowBytes], &r.scratch[worker].dots
	if rows.TakesBF16() {
		kernel.DotBF16(piece.Dst[first:], w.rows, rows, r.a.bf16)
	} else {
		kernel.Dot(piece.Dst[first:], w.rows, rows, r.a.x)
	}
}

// floatTypes are the types whose rows stay as they are stored.
var floatTypes = map[quant.Type]kernel.Float{quant.F32: kernel.F32, quant.F16: kernel.F16, quant.BF16: kernel.BF16}
