// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math"
	"runtime"

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
)

// A piece is a product with its units of work. The first ones are joint where activations are few: a pair of panels, one of each
// half of the matrix, or four rows of float weights, one of each quarter. So a thread reads from several places at once, and
// goes on there from unit to unit. The other units are what is left of the matrix, a panel or a row each.
type piece struct {
	Product
	first, end int // its units within the round
	joint      int // how many are joint
}

// plan divides the piece, whose units begin at first within the round, for so many rows of activations. It returns how many units
// a thread claims at most.
func (p *piece) plan(first, rows int) (most int) {
	w := p.W
	units := (w.rows + kernel.PanelRows - 1) / kernel.PanelRows
	expands := w.packed != nil && kernel.Expands(w.packed.Format, rows)
	p.joint = 0
	switch {
	case w.packed == nil && rows <= w.floats.FewRows():
		p.joint = w.rows / kernel.DotRows
		units = p.joint + w.rows%kernel.DotRows
	case w.packed != nil && !expands && kernel.Pairs(w.packed.Format):
		p.joint = w.rows / kernel.PanelRows / 2
		units -= p.joint
	}
	p.first, p.end = first, first+units
	if expands {
		return expandedPanels
	}
	return max(1, int(int64(units)*chunkBytes/int64(w.Bytes())))
}

// A productRun is the round of one Mul. The pool keeps it, so that Mul allocates nothing.
type productRun struct {
	a       *Activations
	tiles   kernel.Tiles // of a
	pieces  []piece
	most    int              // units that a thread claims at once
	scratch []productScratch // of each thread
	shares  shares
	work    func(i, worker int)
}

// A productScratch is what one thread needs to multiply: memory for the kernels, and the outputs of a last panel that is
// not full.
type productScratch struct {
	kernel.Scratch
	last [tileRows * kernel.PanelRows]float32
	dots kernel.DotSums // of float weights
}

func (r *productRun) init(p *Pool) {
	r.scratch, r.shares = make([]productScratch, p.threads), make(shares, p.threads)
	r.work = r.share
}

// Mul computes all products of the same input in one round of the pool.
//
// Shapes: a [T, E]; for each product W [O, E], Dst [T, O].
// Quantised weights see the activations as signed bytes with a scale for every 32 of them, BF16 weights as BF16 where the
// CPU multiplies such numbers, other float weights as they are. Panics if the shapes do not match.
func (p *Pool) Mul(a *Activations, products ...Product) {
	if a.rows == 0 {
		return
	}
	r := &p.products
	r.a, r.pieces, r.most = a, r.pieces[:0], math.MaxInt
	units, bytes := 0, 0
	for _, product := range products {
		w := product.W
		if w.cols != a.cols || len(product.Dst) < a.rows*w.rows {
			panic(fmt.Sprintf("tensor: mul: matrix [%d, %d] with activations [%d, %d] into %d values", w.rows, w.cols, a.rows, a.cols, len(product.Dst)))
		}
		a.prepare(p, w)
		next := piece{Product: product}
		r.most = min(r.most, next.plan(units, a.rows))
		r.pieces = append(r.pieces, next)
		units, bytes = next.end, bytes+w.Bytes()
	}
	if a.quantised {
		r.tiles = a.tiles()
	}
	r.divide(bytes)
	p.Do(min(p.threads, units), r.work)
	runtime.KeepAlive(products) // whose weights lie outside the Go heap
}

// divide gives each thread a share of the units, of equal parts of all bytes of weights.
func (r *productRun) divide(bytes int) {
	before, thread := 0, 0 // bytes of the pieces before, and the threads that have their shares
	for i := range r.pieces {
		piece := &r.pieces[i]
		size, units := piece.W.Bytes(), piece.end-piece.first
		for ; thread < len(r.shares); thread++ {
			end := bytes*(thread+1)/len(r.shares) - before
			if end > size {
				break
			}
			r.shares[thread].end = piece.first + portion(units, end, size)
		}
		before += size
	}
	r.shares.begin(0)
}

// portion is how many of n units so many bytes of all are, rounded. Units times bytes don't fit in 32 bits.
func portion(n, bytes, all int) int { return int((int64(n)*int64(bytes) + int64(all)/2) / int64(all)) }

// share computes the units of one share, and then what others have left of theirs.
func (r *productRun) share(i, worker int) {
	for n := range r.shares {
		share := &r.shares[(i+n)%len(r.shares)]
		for first, end := share.take(r.most); first < end; first, end = share.take(r.most) {
			r.compute(first, end, worker)
		}
	}
}

// compute computes units of the round.
func (r *productRun) compute(first, end, worker int) {
	for i := range r.pieces {
		piece := &r.pieces[i]
		if from, to := max(first, piece.first), min(end, piece.end); from < to {
			r.part(piece, from-piece.first, to-piece.first, worker)
		}
	}
}

// part computes units of a piece.
func (r *productRun) part(p *piece, first, end, worker int) {
	w := p.W
	joint := min(end, p.joint)
	switch {
	case w.packed != nil:
		if first < joint {
			kernel.MulPairs(p.Dst, w.rows, w.packed, kernel.PairRun{First: first, End: joint, Distance: p.joint}, &r.tiles)
		}
		if end > joint {
			r.panels(p, max(first, joint)+p.joint, end+p.joint, worker)
		}
	case r.a.rows <= w.floats.FewRows():
		r.quarters(p, first, joint, worker)
		const others = kernel.DotRows - 1
		r.floatRows(p, max(first, joint)+others*p.joint, end+others*p.joint, worker)
	default:
		r.floatRows(p, w.floatBound(first), w.floatBound(end), worker)
	}
}

// panels multiplies panels from first to end of a piece with all activations.
func (r *productRun) panels(p *piece, first, end, worker int) {
	w, scratch := p.W, &r.scratch[worker]
	full := min(end, w.rows/kernel.PanelRows)
	if first < full {
		kernel.MulTiles(p.Dst[first*kernel.PanelRows:], w.rows, w.packed.Slice(first, full), r.tiles, &scratch.Scratch)
	}
	if full == end {
		return
	}
	for i := range r.tiles.Count() {
		x := r.tiles.Tile(i)
		kernel.Mul(scratch.last[:], kernel.PanelRows, w.packed.Slice(full, end), x)
		for t := range x.Rows {
			copy(p.Dst[(i*tileRows+t)*w.rows+full*kernel.PanelRows:][:w.rows-full*kernel.PanelRows], scratch.last[t*kernel.PanelRows:])
		}
	}
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

// quarters multiplies rows from first to end of each quarter of float weights with few rows of activations.
func (r *productRun) quarters(p *piece, first, end, worker int) {
	rows := p.W.floats
	rows.Sums = &r.scratch[worker].dots
	if rows.TakesBF16() {
		kernel.DotBF16Quarters(p.Dst, rows, first, end, r.a.bf16)
	} else {
		kernel.DotQuarters(p.Dst, rows, first, end, r.a.x)
	}
}

// floatTypes are the types whose rows stay as they are stored.
var floatTypes = map[quant.Type]kernel.Float{quant.F32: kernel.F32, quant.F16: kernel.F16, quant.BF16: kernel.BF16}
