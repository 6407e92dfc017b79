// SPDX-License-Identifier: Apache-2.0

package kernel

const (
	// manyBlocks is how many blocks are expanded at once. With some activations they fit into the first cache.
	manyBlocks = 32
	// manyGroup is how many tiles pass a run of blocks of all panels before the next run is expanded. Their activations and
	// sums stay in the second cache meanwhile.
	manyGroup = 32
	// manyBytes is the largest size of an expanded block: codes, and scales and minima of both halves.
	manyBytes = 512 + 4*64
)

// manyFuncs multiply panels with many rows, for one format.
type manyFuncs struct {
	// expand writes blocks of a panel as bytes and floats, and asks for scales that lie ahead bytes further (on AVX-512 for codes, too).
	expand func(dst, codes, scales *byte, ahead uintptr, blocks int)
	// mul sets dst [8, 16], with ldd bytes from row to row, to sums [8, 16] plus the products of expanded blocks with the rows of
	// a tile. With half of each block it goes step bytes on from codes, and asks for what lies ahead of there (not on AVX-512).
	mul func(dst *float32, ldd uintptr, sums *float32, w, act *byte, zero uintptr, blocks int, codes *byte, ahead, step uintptr)
	// zero is where a record has the correction of the zero point. Q3_K is expanded with the zero point of Q6_K.
	zero uintptr
	// tiles is from how many full tiles on expanding pays.
	tiles int
}

// tileSums are the sums of a tile with one panel.
type tileSums [TileRows * PanelRows]float32

// manyTiers holds those of the tiers that have them.
var manyTiers [tiers][formats]manyFuncs

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
	expanded [manyBlocks * manyBytes]byte
	partial  []tileSums // of each panel and tile, between two runs of blocks
	_        [40]byte   // fills a cache line
}

// zeroSums are the sums to begin with.
var zeroSums tileSums

// Expands reports whether MulTiles expands panels of a format for so many rows.
func Expands(f Format, rows int) bool {
	many := &manyTiers[active][f]
	return many.mul != nil && rows/TileRows >= many.tiles
}

// MulTiles is Mul for any number of rows. Many of them let it expand the panels first; the bits are the same.
//
// Shapes: dst [T, O] with ldd floats from row to row; w [O, E]; x [T, E].
func MulTiles(dst []float32, ldd int, w Panels, x Tiles, scratch *Scratch) {
	done := 0 // tiles
	if Expands(w.Format, x.Rows) {
		for full := x.Rows / TileRows; done < full; done += min(manyGroup, full-done) {
			scratch.mulMany(dst[done*TileRows*ldd:], ldd, w, x.slice(done, min(done+manyGroup, full)))
		}
	}
	for i := done; i < x.Count(); i++ {
		Mul(dst[i*TileRows*ldd:], ldd, w, x.Tile(i))
	}
}

// slice gives the tiles from first to end, which are full.
func (x Tiles) slice(first, end int) Tiles {
	tileBytes := TileRows * x.Blocks * RecordBytes
	return Tiles{(end - first) * TileRows, x.Blocks, x.Records[first*tileBytes : end*tileBytes]}
}

// mulMany multiplies panels with full tiles.
func (s *Scratch) mulMany(dst []float32, ldd int, w Panels, x Tiles) {
	panels, tiles := w.Count(), x.Count()
	if len(s.partial) < panels*tiles {
		s.partial = make([]tileSums, (panels+7)&^7*manyGroup) // chunks differ by a panel; tiles come and go
	}
	_ = dst[(x.Rows-1)*ldd+panels*PanelRows-1]
	for from := 0; from < w.Blocks; from += manyBlocks {
		end := min(from+manyBlocks, w.Blocks)
		for panel := range panels {
			s.expand(w, panel, from, end)
			s.mulRun(dst[panel*PanelRows:], ldd, run{w, panel, from, end, s.partial[panel*tiles:]}, x)
		}
	}
}

// expand expands the blocks from first to end of a panel.
func (s *Scratch) expand(w Panels, panel, first, end int) {
	codes := w.codesOf(panel)[first*w.Format.CodeBytes():]
	scales := w.scalesOf(panel)[first/w.Format.GroupBlocks()*w.Format.ScaleBytes():]
	manyTiers[active][w.Format].expand(&s.expanded[0], &codes[0], &scales[0], uintptr(w.Format.PanelBytes(w.Blocks)), end-first)
}

// A run is some expanded blocks of a panel, with the sums over those before them.
type run struct {
	w          Panels
	panel      int
	first, end int
	partial    []tileSums // of each tile
}

// mulRun multiplies a run with all tiles.
func (s *Scratch) mulRun(dst []float32, ldd int, r run, x Tiles) {
	many, codes := &manyTiers[active][r.w.Format], r.w.codesOf(r.panel)[r.first*r.w.Format.CodeBytes():]
	ahead, step := r.ahead(), uintptr(r.w.Format.CodeBytes()/2)
	for tile := range x.Count() {
		sums, to, stride := &zeroSums[0], &dst[tile*TileRows*ldd], ldd
		if r.first > 0 {
			sums = &r.partial[tile][0]
		}
		if r.end < x.Blocks {
			to, stride = &r.partial[tile][0], PanelRows
		}
		records := x.Records[(tile*x.Blocks+r.first)*TileRows*RecordBytes:]
		many.mul(to, uintptr(stride)*4, sums, &s.expanded[0], &records[0], many.zero, r.end-r.first, &codes[0], ahead, step)
		ahead, step = 0, 0 // the first tile has asked
	}
}

// ahead is how far behind the run's codes those lie that are expanded next: of the next panel, which may be that of the chunk
// behind this one, or of the first panel's next run.
func (r *run) ahead() uintptr {
	size := r.w.Format.PanelBytes(r.w.Blocks)
	if r.panel < r.w.Count()-1 {
		return uintptr(size)
	}
	if r.end < r.w.Blocks {
		return uintptr((r.end-r.first)*r.w.Format.CodeBytes() - r.panel*size)
	}
	return uintptr(size - r.first*r.w.Format.CodeBytes())
}
