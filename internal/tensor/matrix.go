// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"runtime"

	"github.com/sampo-ai/sampo/internal/kernel"
	"github.com/sampo-ai/sampo/internal/quant"
)

// A Matrix is a weight tensor of shape [rows, cols]: rows outputs of cols inputs each. It does not change.
//
// Quantised weights are packed into panels (package kernel, DESIGN.md); rows of F32, F16 and BF16 stay as they are stored, but
// lie on large pages.
type Matrix struct {
	typ        quant.Type
	rows, cols int
	packed     *kernel.Panels   // of quantised weights
	floats     kernel.FloatRows // of the others
	memory     *offHeap         // where the bytes of either lie: the collector would let as much garbage gather as there are weights
}

// NewMatrix makes a matrix of a copy of data, weights of type t.
//
// Shapes: data holds [rows, cols] values of type t, row-major.
// It fails for a type without a kernel and when the lengths do not belong together.
func NewMatrix(p *Pool, t quant.Type, rows, cols int, data []byte) (*Matrix, error) {
	if !t.Supported() {
		return nil, fmt.Errorf("tensor: matrix of type %v: no kernel for it", t)
	}
	if rows <= 0 || cols <= 0 || cols%t.BlockElems() != 0 {
		return nil, fmt.Errorf("tensor: matrix of type %v: got shape [%d, %d], want positive sizes and columns in multiples of %d", t, rows, cols, t.BlockElems())
	}
	if want := rows * t.RowBytes(cols); len(data) != want {
		return nil, fmt.Errorf("tensor: matrix [%d, %d] of type %v: got %d bytes, want %d", rows, cols, t, len(data), want)
	}
	m := &Matrix{typ: t, rows: rows, cols: cols}
	if t == quant.Q81 {
		t, data = quant.Q80, withoutSums(p, rows, data)
	}
	if format, ok := packedFormats[t]; ok {
		m.packed, m.memory = packPanels(p, format, rows, cols/blockCols, data)
	} else {
		m.floats = kernel.FloatRows{Type: floatTypes[t], Cols: cols}
		m.floats.Bytes, m.memory = copyRows(p, data)
	}
	return m, nil
}

// Rows is the number of outputs.
func (m *Matrix) Rows() int { return m.rows }

// Cols is the number of inputs.
func (m *Matrix) Cols() int { return m.cols }

// Type is the type of the stored tensor.
func (m *Matrix) Type() quant.Type { return m.typ }

// Quantised says whether products see activations as signed bytes, since the weights are such codes too.
func (m *Matrix) Quantised() bool { return m.packed != nil }

// Bytes is the memory that a product reads.
func (m *Matrix) Bytes() int {
	if m.packed != nil {
		return len(m.packed.Bytes)
	}
	return len(m.floats.Bytes)
}

// Row sets dst to the values of row i of m, as quant.Dequantize gives them: an embedding.
//
// Shapes: dst [cols]. Panics if dst has another length or there is no row i.
func (m *Matrix) Row(dst []float32, i int) {
	if len(dst) != m.cols || i < 0 || i >= m.rows {
		panic(fmt.Sprintf("tensor: row %d of [%d, %d] into %d values", i, m.rows, m.cols, len(dst)))
	}
	defer runtime.KeepAlive(m)
	if m.packed != nil {
		kernel.UnpackRow(dst, *m.packed, i)
		return
	}
	bytes := m.typ.RowBytes(m.cols)
	if err := quant.Dequantize(dst, m.typ, m.floats.Bytes[i*bytes:][:bytes]); err != nil {
		panic(err)
	}
}
