// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// A Float is a type of float weights.
type Float int

const (
	F32 Float = iota
	F16
	BF16
)

const floats = int(BF16) + 1

// Bytes is the size of one value.
func (f Float) Bytes() int {
	if f == F32 {
		return 4
	}
	return 2
}

// decode sets dst to the first values of b.
func (f Float) decode(dst []float32, b []byte) {
	switch f {
	case F32:
		for i := range dst {
			dst[i] = floatAt(b[4*i:])
		}
	case F16:
		for i := range dst {
			dst[i] = halfAt(b, i)
		}
	case BF16:
		for i := range dst {
			dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b[2*i:])) << 16)
		}
	}
}

const (
	// DotRows is how many weight rows a kernel takes at once.
	DotRows = 4
	// dotCols is what the columns must be a multiple of, and the number of partial sums.
	dotCols = 16
	// pairCols is the same for kernels of pairs.
	pairCols = 2 * dotCols
	// lineBytes is how much of a row of activations a kernel takes in each step.
	lineBytes = 64
)

// A dotFunc multiplies DotRows rows of weights, wstride bytes apart, with some rows of activations, xstride bytes apart,
// over as many columns as fill blocks lines of 64 bytes of activations. Row t's outputs are the 4 floats at dst + t*ldd bytes.
// X is the type of activations: float32, or uint16 for BF16.
type dotFunc[X float32 | uint16] func(dst *float32, ldd uintptr, w *byte, wstride uintptr, x *X, xstride uintptr, blocks int)

// maxDotTokens is the most rows of activations that a kernel takes.
const maxDotTokens = 6

// dotKernels has at n the kernel for n rows of activations; nil where a tier has none. All tiers with kernels have one
// for 1 row.
type dotKernels[X float32 | uint16] [maxDotTokens + 1]dotFunc[X]

var (
	dotTiers [tiers][floats]dotKernels[float32]
	dotFew   [tiers][floats]dotKernels[float32] // the same for few rows of activations, where a tier has others for those
	dotPairs dotKernels[uint16]                 // where hasPairs
)

// FloatRows are rows of float weights as they are stored.
//
// Shapes: [O, Cols]; Bytes holds a whole number O of rows.
type FloatRows struct {
	Type  Float
	Cols  int
	Bytes []byte
	Sums  *DotSums // memory that one product works in; without it products of few rows allocate
}

// DotSums are the outputs of a kernel.
type DotSums [maxDotTokens * DotRows]float32

// rowBytes is the size of a row.
func (w *FloatRows) rowBytes() int { return w.Cols * w.Type.Bytes() }

// row gives the bytes of row o.
func (w *FloatRows) row(o int) []byte { return w.Bytes[o*w.rowBytes():][:w.rowBytes()] }

// Dot sets dst to the products of rows of float weights with rows of activations.
//
// Shapes: dst [T, O] with ldd floats from row to row; w [O, E]; x [T, E].
//
// A product is 16 partial sums, of the columns that are equal modulo 16, in ascending order, added as a tree. Tiers
// with kernels use fma and give equal bits. In plain Go a multiplication and an addition may round apart.
func Dot(dst []float32, ldd int, w FloatRows, x []float32) {
	rows, tokens := len(w.Bytes)/w.rowBytes(), len(x)/w.Cols
	if rows == 0 || tokens == 0 {
		return
	}
	_ = dst[(tokens-1)*ldd+rows-1]
	kernels := &dotTiers[active][w.Type]
	if kernels[1] == nil || w.Cols%dotCols != 0 {
		dotPlain(dst, ldd, w, x)
		return
	}
	kernels.mul(dst, ldd, w, x)
}

// DotQuarters is Dot of few rows of activations with rows from first to end of each quarter of the weight rows; other outputs stay
// as they are. Rows beyond four times a quarter belong to none. Memory is the limit, and it gives most to several streams that
// go on for long: calls that follow each other go on with the same four.
//
// Shapes: dst [T, O]; w [O, E]; x [T, E].
func DotQuarters(dst []float32, w FloatRows, first, end int, x []float32) {
	kernels := &dotFew[active][w.Type]
	if kernels[1] == nil {
		kernels = &dotTiers[active][w.Type]
	}
	if kernels[1] != nil && w.Cols%dotCols == 0 {
		kernels.quarters(dst, w, first, end, x)
		return
	}
	rows := len(w.Bytes) / w.rowBytes()
	for o := first; o < end; o++ {
		for i := range DotRows {
			row := i*(rows/DotRows) + o
			dotPlain(dst[row:], rows, FloatRows{Type: w.Type, Cols: w.Cols, Bytes: w.row(row)}, x)
		}
	}
}

// FewRows is for how many rows of activations quarters are the faster way.
func (w *FloatRows) FewRows() int {
	if dotFew[active][w.Type][1] != nil {
		return 16
	}
	return 1
}

// TakesBF16 says whether DotBF16 can multiply w: its weights are BF16, and the tier in use has a product of BF16 numbers.
func (w *FloatRows) TakesBF16() bool { return w.Type == BF16 && w.Cols%pairCols == 0 && hasPairs() }

// DotBF16 is Dot of BF16 weights with activations rounded to BF16 (ToBF16). It needs weights that it takes (TakesBF16).
//
// Shapes: as in Dot.
//
// A product is 16 partial sums: sum i adds the columns 2i and 2i+1 of every 32, in the order and with the rounding that
// VDPBF16PS has, and all are added as a tree. Bits do not depend on the number of rows; a CPU may round otherwise than
// another one.
func DotBF16(dst []float32, ldd int, w FloatRows, x []uint16) {
	rows, tokens := len(w.Bytes)/w.rowBytes(), len(x)/w.Cols
	if rows == 0 || tokens == 0 {
		return
	}
	_ = dst[(tokens-1)*ldd+rows-1]
	dotPairs.mul(dst, ldd, w, x)
}

// DotBF16Quarters is to DotBF16 what DotQuarters is to Dot.
//
// Shapes: as in DotQuarters.
func DotBF16Quarters(dst []float32, w FloatRows, first, end int, x []uint16) {
	dotPairs.quarters(dst, w, first, end, x)
}

// mul multiplies all weight rows with all rows of activations.
func (k *dotKernels[X]) mul(dst []float32, ldd int, w FloatRows, x []X) {
	for t := 0; t < len(x)/w.Cols; {
		n := k.most(len(x)/w.Cols - t)
		k.rows(n, dst[t*ldd:], ldd, w, x[t*w.Cols:])
		t += n
	}
}

// most is the most rows of activations up to n that a kernel takes.
func (k *dotKernels[X]) most(n int) int {
	n = min(n, maxDotTokens)
	for k[n] == nil {
		n--
	}
	return n
}

// rows multiplies all weight rows with n rows of activations, which stay in the first cache meanwhile.
func (k *dotKernels[X]) rows(n int, dst []float32, ldd int, w FloatRows, x []X) {
	xstride := uintptr(w.Cols) * unsafe.Sizeof(x[0])
	rows, rowBytes := len(w.Bytes)/w.rowBytes(), w.rowBytes()
	if n == 1 {
		k.single(dst, w, x)
		return
	}
	if rows < DotRows {
		for t := range n {
			k.single(dst[t*ldd:], w, x[t*w.Cols:])
		}
		return
	}
	for o := 0; o < rows; o += DotRows {
		// The last DotRows rows again, if they are not whole: those done already get the same bits.
		first := min(o, rows-DotRows)
		k[n](&dst[first], uintptr(ldd)*4, &w.Bytes[first*rowBytes], uintptr(rowBytes), &x[0], xstride, int(xstride/lineBytes))
	}
}

// single multiplies all weight rows with one row of activations.
func (k *dotKernels[X]) single(dst []float32, w FloatRows, x []X) {
	rows, blocks := len(w.Bytes)/w.rowBytes(), linesOf(x[:w.Cols])
	w.Sums = w.sums()
	k.quarters(dst, w, 0, rows/DotRows, x)
	for o := rows / DotRows * DotRows; o < rows; o++ {
		k[1](&w.Sums[0], 0, &w.row(o)[0], 0, &x[0], 0, blocks)
		dst[o] = w.Sums[0]
	}
}

// quarters multiplies rows from first to end of each quarter of the weight rows with all rows of activations: four weight rows with
// all of those before the next four, so that they come from memory once.
func (k *dotKernels[X]) quarters(dst []float32, w FloatRows, first, end int, x []X) {
	rowBytes, sums := w.rowBytes(), w.sums()
	rows, xstride, blocks := len(w.Bytes)/rowBytes, uintptr(w.Cols)*unsafe.Sizeof(x[0]), linesOf(x[:w.Cols])
	quarter := rows / DotRows
	if first < end {
		_ = w.Bytes[((DotRows-1)*quarter+end)*rowBytes-1]
	}
	for o := first; o < end; o++ {
		for t := 0; t < len(x)/w.Cols; {
			n := k.most(len(x)/w.Cols - t)
			k[n](&sums[0], 4*DotRows, &w.Bytes[o*rowBytes], uintptr(quarter*rowBytes), &x[t*w.Cols], xstride, blocks)
			for i, sum := range sums[:n*DotRows] {
				dst[(t+i/DotRows)*rows+i%DotRows*quarter+o] = sum
			}
			t += n
		}
	}
}

// sums is memory for what a kernel sets.
func (w *FloatRows) sums() *DotSums {
	if w.Sums == nil {
		return new(DotSums)
	}
	return w.Sums
}

// linesOf is how many lines a row of activations fills.
func linesOf[X float32 | uint16](x []X) int { return len(x) * int(unsafe.Sizeof(x[0])) / lineBytes }

// dotPlain is Dot in plain Go, for any number of columns.
func dotPlain(dst []float32, ldd int, w FloatRows, x []float32) {
	for o := range len(w.Bytes) / w.rowBytes() {
		for t := range len(x) / w.Cols {
			dst[t*ldd+o] = dotRow(w.Type, w.row(o), x[t*w.Cols:][:w.Cols])
		}
	}
}

func dotRow(f Float, w []byte, x []float32) float32 {
	var sums, values [dotCols]float32
	for at := 0; at < len(x); at += dotCols {
		n := min(dotCols, len(x)-at)
		f.decode(values[:n], w[at*f.Bytes():])
		for i, v := range x[at : at+n] {
			sums[i] += values[i] * v
		}
	}
	return tree(&sums)
}
