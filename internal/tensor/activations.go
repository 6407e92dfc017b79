// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"

	"github.com/sampo-ai/sampo/internal/kernel"
)

const (
	blockCols = kernel.BlockCols
	tileRows  = kernel.TileRows
)

// Activations are the input rows of matrix products, prepared once for all products that read them. The zero value is
// empty and ready for Set. Its memory grows to the largest input seen and is reused.
//
// For quantised weights the rows become records of signed bytes (package kernel), in tiles of 8 rows: all records of a
// tile's first 32 inputs, then all of the next 32, and so on. The last tile is as narrow as its rows.
//
// For BF16 weights they are rounded to BF16 where the CPU multiplies such numbers.
type Activations struct {
	x          []float32
	rows, cols int
	records    []byte
	quantised  bool
	quantise   func(tile, worker int)
	bf16       []uint16
	rounded    bool
	round      func(tile, worker int)
}

// Set makes x the input of the following products. The x must stay unchanged until they are done.
//
// Shapes: x [t, e].
func (a *Activations) Set(x []float32, t, e int) {
	if len(x) < t*e || t < 0 || e <= 0 {
		panic(fmt.Sprintf("tensor: activations: got %d values, want [%d, %d]", len(x), t, e))
	}
	a.x, a.rows, a.cols, a.quantised, a.rounded = x[:t*e], t, e, false, false
}

// tiles gives the records.
func (a *Activations) tiles() kernel.Tiles {
	return kernel.Tiles{Rows: a.rows, Blocks: a.cols / blockCols, Records: a.records}
}

// prepare makes of the rows what products with w read, unless that was done since Set.
func (a *Activations) prepare(p *Pool, w *Matrix) {
	switch {
	case w.packed != nil:
		a.prepareRecords(p)
	case w.floats.TakesBF16():
		a.prepareBF16(p)
	}
}

func (a *Activations) prepareBF16(p *Pool) {
	if a.rounded {
		return
	}
	a.rounded = true
	if a.round == nil {
		a.round = func(i, _ int) {
			first, end := i*tileRows*a.cols, min((i+1)*tileRows, a.rows)*a.cols
			kernel.ToBF16(a.bf16[first:end], a.x[first:end])
		}
	}
	if need := len(a.x); cap(a.bf16) < need {
		a.bf16 = make([]uint16, need)
	}
	a.bf16 = a.bf16[:len(a.x)]
	p.Do(a.tiles().Count(), a.round)
}

func (a *Activations) prepareRecords(p *Pool) {
	if a.quantised {
		return
	}
	a.quantised = true
	if a.quantise == nil {
		a.quantise = a.quantiseTile
	}
	if need := a.rows * a.cols / blockCols * kernel.RecordBytes; len(a.records) < need {
		a.records = alignedBytes(need)
	}
	p.Do(a.tiles().Count(), a.quantise)
}

func (a *Activations) quantiseTile(i, _ int) {
	tile := a.tiles().Tile(i)
	for row := range tile.Rows {
		x := a.x[(i*tileRows+row)*a.cols:][:a.cols]
		kernel.Quantize(tile.Records[row*kernel.RecordBytes:], tile.Rows*kernel.RecordBytes, x)
	}
}
