// SPDX-License-Identifier: Apache-2.0

package kernel

// A Format is a layout of packed weights. It is named after the stored type that it comes from and holds the same
// integers and scales.
type Format int

const (
	Q40 Format = iota
	Q41
	Q50
	Q51
	Q80
	Q2K
	Q3K
	Q4K
	Q5K
	Q6K
	IQ4NL
	IQ4XS
	MXFP4
	formats
)

var formatNames = [formats]string{
	"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4",
}

func (f Format) String() string { return formatNames[f] }

const (
	// PanelRows is the number of weight rows of a panel: one for each 32-bit lane of a 512-bit register.
	PanelRows = 16
	// BlockCols is the number of inputs of a block: those that share one activation scale.
	BlockCols = 32
	// RecordBytes is the size of one block of one activation row, a cache line.
	RecordBytes = 64
	// TileRows is the most activation rows that a kernel takes at once.
	TileRows = 8

	superBlocks = 8 // blocks of a super-block of the K formats and IQ4_XS
)

// A layout says how the panel of a format is built. See DESIGN.md for the drawing.
type layout struct {
	bits  int       // of a stored code: 2, 3, 4, 5, 6 or 8
	zero  int32     // what the codes are shifted by; taken off through the activations' sums
	group int       // blocks that share a group of scales: 1, or 8 in formats with super-blocks
	scale int       // bytes of the scales of a group
	table *[16]byte // what the stored codes stand for; nil: themselves
}

// nonlinear are the values of IQ4_NL and IQ4_XS, shifted by 128.
var nonlinear = [16]byte{1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241}

// float4 are the values of MXFP4 in halves, shifted by 16. There is no negative zero.
var float4 = [16]byte{16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4}

var layouts = [formats]layout{
	Q40:   {bits: 4, zero: 8, group: 1, scale: 32},
	Q41:   {bits: 4, zero: 0, group: 1, scale: 64},
	Q50:   {bits: 5, zero: 16, group: 1, scale: 32},
	Q51:   {bits: 5, zero: 0, group: 1, scale: 64},
	Q80:   {bits: 8, zero: 128, group: 1, scale: 32},
	Q2K:   {bits: 2, zero: 0, group: superBlocks, scale: 64 + superBlocks*32},
	Q3K:   {bits: 3, zero: 4, group: superBlocks, scale: 32 + superBlocks*32},
	Q4K:   {bits: 4, zero: 0, group: superBlocks, scale: 64 + superBlocks*32},
	Q5K:   {bits: 5, zero: 0, group: superBlocks, scale: 64 + superBlocks*32},
	Q6K:   {bits: 6, zero: 32, group: superBlocks, scale: 32 + superBlocks*32},
	IQ4NL: {bits: 4, zero: 128, group: 1, scale: 32, table: &nonlinear},
	IQ4XS: {bits: 4, zero: 128, group: superBlocks, scale: 32 + superBlocks*16, table: &nonlinear},
	MXFP4: {bits: 4, zero: 16, group: 1, scale: 32, table: &float4},
}

// CodeBytes is the size of the codes of one block of a panel.
func (f Format) CodeBytes() int { return PanelRows * BlockCols * layouts[f].bits / 8 }

// GroupBlocks is the number of blocks that share a group of scales.
func (f Format) GroupBlocks() int { return layouts[f].group }

// ScaleBytes is the size of the scales of one group of a panel.
func (f Format) ScaleBytes() int { return layouts[f].scale }

// PanelBytes is the size of a panel of the given number of blocks: its codes, then its scales, filled up to whole cache
// lines.
func (f Format) PanelBytes(blocks int) int {
	return (blocks*f.CodeBytes() + blocks/f.GroupBlocks()*f.ScaleBytes() + 63) &^ 63
}

// Panels are packed weight rows: one panel of 16 rows after the other.
//
// Shapes: [16*N, 32*Blocks] in N panels; Bytes holds N times Format.PanelBytes(Blocks), each the codes of all blocks, then
// their scales.
type Panels struct {
	Format Format
	Blocks int
	Bytes  []byte
}

// Count is the number of panels.
func (w Panels) Count() int { return len(w.Bytes) / w.Format.PanelBytes(w.Blocks) }

// Slice gives the panels from first to end.
func (w Panels) Slice(first, end int) Panels {
	size := w.Format.PanelBytes(w.Blocks)
	w.Bytes = w.Bytes[first*size : end*size]
	return w
}

// codesOf are the codes of all blocks of panel i, scalesOf the scales of all its groups.
func (w Panels) codesOf(i int) []byte {
	return w.Bytes[i*w.Format.PanelBytes(w.Blocks):][:w.Blocks*w.Format.CodeBytes()]
}

func (w Panels) scalesOf(i int) []byte {
	return w.Slice(i, i+1).Bytes[w.Blocks*w.Format.CodeBytes():]
}

// A Tile is up to TileRows activation rows as Quantize writes them.
//
// Shapes: Records is [blocks, Rows, RecordBytes]: the records of the first block of all rows, then of the next.
type Tile struct {
	Rows    int
	Records []byte
}

// Where the parts of an activation record are. The codes come first; the rest are float32 and int32 words.
const (
	recordScale = 32 // scale
	recordSum   = 36 // scale times the sum of the codes
	recordZero8 = 40 // minus 8 times the sum of the codes, for Q4_0
	recordZero4 = 44 // minus 16 times, for Q5_0 and MXFP4
	recordZero7 = 48 // minus 128 times, for Q8_0, IQ4_NL and IQ4_XS
	recordZeroA = 52 // minus 32 times the sum of the first 16 codes, for Q6_K, Q3_K and Q2_K
	recordZeroB = 56 // minus 32 times the sum of the last 16
)
