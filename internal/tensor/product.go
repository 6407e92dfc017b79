// SPDX-License-Identifier: Apache-2.0

package tensor

import "fmt"

// A Product asks for Dst = activations times the transpose of W.
type Product struct {
	Dst []float32 // [T, W.Rows()]
	W   *Matrix
}

// panelRows is the number of consecutive weight rows that are claimed at once.
const panelRows = 16

// A productRun is the round of one Mul. The pool keeps it, so that Mul allocates nothing.
type productRun struct {
	a        *Activations
	products []Product
	starts   []int // item number at which each product begins
	scratch  [][]float32
	work     func(i, worker int)
}

func (r *productRun) init(p *Pool) {
	r.scratch = make([][]float32, p.threads)
	r.work = r.item
}

// Mul computes all products of the same input in one round.
//
// Shapes: a [T, E]; for each product W [O, E], Dst [T, O].
// Panics if the shapes do not match.
func (p *Pool) Mul(a *Activations, products ...Product) {
	r := &p.products
	r.a, r.products, r.starts = a, append(r.products[:0], products...), r.starts[:0]
	items := 0
	for _, product := range products {
		w := product.W
		if w.cols != a.cols || len(product.Dst) < a.rows*w.rows {
			panic(fmt.Sprintf("tensor: mul: matrix [%d, %d] with activations [%d, %d] into %d values", w.rows, w.cols, a.rows, a.cols, len(product.Dst)))
		}
		r.starts = append(r.starts, items)
		items += (w.rows + panelRows - 1) / panelRows
	}
	p.Do(items, r.work)
}

// item computes one panel of one product.
func (r *productRun) item(i, worker int) {
	n := len(r.starts) - 1
	for r.starts[n] > i {
		n--
	}
	w, dst := r.products[n].W, r.products[n].Dst
	if len(r.scratch[worker]) < w.cols {
		r.scratch[worker] = make([]float32, w.cols)
	}
	row := r.scratch[worker][:w.cols]
	first := (i - r.starts[n]) * panelRows
	for o := first; o < min(first+panelRows, w.rows); o++ {
		Row(row, w, o)
		for t := range r.a.rows {
			dst[t*w.rows+o] = dot(row, r.a.x[t*w.cols:][:w.cols])
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
