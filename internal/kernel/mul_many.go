// SPDX-License-Identifier: Apache-2.0

package kernel

const (
	// manyBlocks is how many blocks are expanded at once. With some activations they fit into the first cache.
	manyBlocks = 32
	// manyGroup is how many tiles pass a run of blocks of all panels before the next run is expanded. Their activations and
	// sums stay in the second cache meanwhile.
	manyGroup = 32
	// manyTiles is from how many full tiles on expanding pays.
	manyTiles = 3
	// manyBytes is the largest size of an expanded block: codes, and scales and minima of both halves.
	manyBytes = 512 + 4*64
)

// manyFuncs multiply panels with many rows, for one format.
type manyFuncs struct {
	// expand writes blocks of a panel as bytes and floats.
	expand func(dst *byte, codes, scales *byte, blocks int)
	// mul sets dst [8, 16], with ldd bytes from row to row, to sums [8, 16] plus the products of expanded blocks with the rows of
	// a tile. Zero is where a record has the correction of the zero point.
	mul func(dst *float32, ldd uintptr, sums *float32, w, act *byte, stride, zero uintptr, blocks int)
}

// manyTiers holds those of the tiers that have them.
var manyTiers [tiers][formats]manyFuncs

// manyZeros are the offsets of the zero points' corrections in a record. Q3_K is expanded with the zero point of Q6_K.
var manyZeros = [formats]uintptr{
	Q40: recordZero8, Q50: recordZero4, Q80: recordZero7, Q3K: recordZeroA, Q6K: recordZeroA,
	IQ4NL: recordZero7, IQ4XS: recordZero7, MXFP4: recordZero4,
}

// Tiles are activation rows in tiles, all of TileRows rows but the last.
//
// Shapes: Records holds one tile after the other, each as Tile has them.
type Tiles struct {
	Rows, Blocks int
	Records      []byte
}

// Count is the number of tiles.
func (x Tiles) Count() int { return (x.Rows + TileRows - 1) / TileRows }

// Tile gives tile i.
func (x Tiles) Tile(i int) Tile {
	rows := min(TileRows, x.Rows-i*TileRows)
	return Tile{rows, x.Records[i*TileRows*x.Blocks*RecordBytes:][:rows*x.Blocks*RecordBytes]}
}

// A Scratch is memory that one thread multiplies in. The zero value is ready; it should start on a cache line.
type Scratch struct {
	Sums     TileSums // for Mul
	expanded [manyBlocks * manyBytes]byte
	partial  []TileSums // of each panel and tile, between two runs of blocks
	_        [40]byte   // fills a cache line
}

// zeroSums are the sums to begin with.
var zeroSums TileSums

// MulTiles is Mul for any number of rows. Many of them let it expand the panels first; the bits are the same.
//
// Shapes: dst [T, O] with ldd floats from row to row; w [O, E]; x [T, E].
func MulTiles(dst []float32, ldd int, w Panels, x Tiles, scratch *Scratch) {
	first := 0
	if full := x.Rows / TileRows; full >= manyTiles && manyTiers[active][w.Format].mul != nil {
		for ; first < full; first += manyGroup {
			scratch.mulMany(dst[first*TileRows*ldd:], ldd, w, x, first, min(manyGroup, full-first))
		}
		first = full
	}
	for i := first; i < x.Count(); i++ {
		Mul(dst[i*TileRows*ldd:], ldd, w, x.Tile(i), &scratch.Sums)
	}
}

// mulMany multiplies panels with some full tiles of x.
func (s *Scratch) mulMany(dst []float32, ldd int, w Panels, x Tiles, first, tiles int) {
	panels := w.Count()
	if need := panels * tiles; len(s.partial) < need && w.Blocks > manyBlocks {
		s.partial = make([]TileSums, need)
	}
	_ = dst[(tiles*TileRows-1)*ldd+panels*PanelRows-1]
	run, codeBytes, scaleBytes := &manyTiers[active][w.Format], w.Format.CodeBytes(), w.Format.ScaleBytes()
	for from := 0; from < w.Blocks; from += manyBlocks {
		blocks := min(manyBlocks, w.Blocks-from)
		for panel := range panels {
			run.expand(&s.expanded[0], &w.codesOf(panel)[from*codeBytes], &w.scalesOf(panel)[from/w.Format.GroupBlocks()*scaleBytes], blocks)
			for tile := range tiles {
				sums, to, stride := &zeroSums[0], &dst[tile*TileRows*ldd+panel*PanelRows], ldd
				if from > 0 {
					sums = &s.partial[panel*tiles+tile][0]
				}
				if from+blocks < w.Blocks {
					to, stride = &s.partial[panel*tiles+tile][0], PanelRows
				}
				records := x.Records[((first+tile)*x.Blocks+from)*TileRows*RecordBytes:]
				run.mul(to, uintptr(stride)*4, sums, &s.expanded[0], &records[0], TileRows*RecordBytes, manyZeros[w.Format], blocks)
			}
		}
	}
}
