// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/kernel"
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
	// chunksPerThread is how finely a product is divided at least, if it has that many panels: threads that were held
	// up leave the rest to others.
	chunksPerThread = 6
)

// A piece is a product with its division into chunks of panels.
type piece struct {
	Product
	first int // number of its first chunk within the round
	step  int // panels in a chunk
}

// A productRun is the round of one Mul. The pool keeps it, so that Mul allocates nothing.
type productRun struct {
	a       *Activations
	pieces  []piece
	scratch [][]float32 // of each thread
	work    func(chunk, worker int)
}

func (r *productRun) init(p *Pool) {
	r.scratch = make([][]float32, p.threads)
	for i := range r.scratch {
		r.scratch[i] = make([]float32, tileRows*kernel.PanelRows)
	}
	r.work = r.chunk
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
		if w.packed != nil {
			a.prepare(p)
		}
		panels := (w.rows + kernel.PanelRows - 1) / kernel.PanelRows
		step := max(1, min(panels*chunkBytes/w.Bytes(), panels/(p.threads*chunksPerThread)))
		r.pieces = append(r.pieces, piece{product, chunks, step})
		chunks += (panels + step - 1) / step
	}
	p.Do(chunks, r.work)
}

// chunk computes one chunk of one product.
func (r *productRun) chunk(i, worker int) {
	n := len(r.pieces) - 1
	for r.pieces[n].first > i {
		n--
	}
	piece := &r.pieces[n]
	w := piece.W
	first := (i - piece.first) * piece.step
	if w.packed == nil {
		rows := first * kernel.PanelRows
		r.floatRows(piece, rows, min(rows+piece.step*kernel.PanelRows, w.rows), worker)
		return
	}
	end := min(first+piece.step, w.packed.count())
	for tile := range r.a.tiles() {
		records, rows := r.a.tile(tile)
		for panel := first; panel < end; panel++ {
			r.panel(piece, panel, tile*tileRows, records, rows, worker)
		}
	}
}

// panel multiplies one panel with one tile, whose first row is row.
func (r *productRun) panel(piece *piece, panel, row int, records []byte, rows, worker int) {
	w := piece.W.packed
	outputs, column := piece.W.rows, panel*kernel.PanelRows
	if column+kernel.PanelRows <= outputs {
		kernel.Mul(w.format, piece.Dst[row*outputs+column:], outputs, w.panel(panel), records, rows, 0, rows, w.blocks)
		return
	}
	scratch := r.scratch[worker]
	kernel.Mul(w.format, scratch, kernel.PanelRows, w.panel(panel), records, rows, 0, rows, w.blocks)
	for t := range rows {
		copy(piece.Dst[(row+t)*outputs+column:(row+t+1)*outputs], scratch[t*kernel.PanelRows:])
	}
}

// floatRows multiplies rows of float weights with all activations.
func (r *productRun) floatRows(piece *piece, first, end, worker int) {
	w := piece.W
	if len(r.scratch[worker]) < w.cols {
		r.scratch[worker] = make([]float32, w.cols)
	}
	row := r.scratch[worker][:w.cols]
	for o := first; o < end; o++ {
		Row(row, w, o)
		for t := range r.a.rows {
			piece.Dst[t*w.rows+o] = dot(row, r.a.x[t*w.cols:][:w.cols])
		}
	}
}

// dot adds up products in 16 partial sums and these as a tree.
func dot(w, x []float32) float32 {
	var sums [16]float32
	for len(w) >= 16 {
		for i := range sums {
			sums[i] += w[i] * x[i]
		}
		w, x = w[16:], x[16:]
	}
	for i := range w {
		sums[i] += w[i] * x[i]
	}
	for n := 8; n > 0; n /= 2 {
		for i := range n {
			sums[i] += sums[i+n]
		}
	}
	return sums[0]
}
