// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/weights"
	"github.com/sampo-ai/sampo/internal/weights/gguf"
	"github.com/sampo-ai/sampo/internal/weights/packed"
)

// pieceBytes is about how much of the result is in memory at a time.
const pieceBytes = 4 << 20

// quantizationVersion is the value of general.quantization_version that goes with the types as package quant knows them.
const quantizationVersion = 2

// Progress is told how many of all values are written, and the tensor that is next.
type Progress func(done, total int64, tensor string)

// A Report says what was written.
type Report struct {
	Values  int64
	Tensors map[quant.Type]int // how many tensors have each type
}

// A Job is a model to be written in the types of a scheme.
type Job struct {
	Model    *Model
	Scheme   Scheme
	Pool     *tensor.Pool
	Progress Progress
}

// Write writes the file. It stops when ctx ends.
func (j Job) Write(ctx context.Context, w io.Writer) (Report, error) {
	m, scheme := j.Model, j.Scheme
	report := Report{Tensors: map[quant.Type]int{}}
	targets := make([]weights.Tensor, len(m.Inputs))
	for i, in := range m.Inputs {
		targets[i] = weights.Tensor{Name: in.Name, Shape: in.Shape, Type: in.target(scheme, m.Traits)}
		if in.Type != targets[i].Type && !in.Type.Supported() {
			return report, fmt.Errorf("quantize: tensor %q: the values of type %v are not known", in.Name, in.Type)
		}
		report.Tensors[targets[i].Type]++
		report.Values += int64(in.Elems())
	}
	m.Meta.Set("general.file_type", scheme.fileType)
	m.Meta.Set("general.quantization_version", uint32(quantizationVersion))
	out, err := gguf.NewWriter(w, m.Meta, targets)
	if err != nil {
		return report, err
	}
	if p, ok := m.source.(*packed.Source); ok {
		p.Parallel(j.Pool.Do)
		defer p.Parallel(nil)
	}
	c := converter{pool: j.Pool, floats: make([][]float32, j.Pool.Threads())}
	done := int64(0)
	for i, in := range m.Inputs {
		in = in.fetched(m.source)
		read := 0 // bytes of the source
		err := c.convert(in, targets[i].Type, func(piece []byte, values int) error {
			j.Progress(done, report.Values, in.Name)
			if err := ctx.Err(); err != nil {
				return err
			}
			done += int64(values)
			first := read
			read += in.Type.RowBytes(values)
			if in.as.heads == 0 { // else rows are not read in order
				weights.Release(m.source, weights.Tensor{Data: in.Data[first:read]})
			}
			_, err := out.Write(piece)
			return err
		})
		if err != nil {
			return report, fmt.Errorf("quantize: tensor %q: %w", in.Name, err)
		}
		weights.Release(m.source, in.Tensor)
	}
	j.Progress(done, report.Values, "")
	return report, out.Close()
}

// A converter turns tensors into pieces of tensors of another type.
type converter struct {
	pool   *tensor.Pool
	floats [][]float32 // a row for each thread
	piece  []byte
	errs   []error // of each thread
}

// convert gives the rows of a tensor as type t to put, some at a time.
func (c *converter) convert(in Input, t quant.Type, put func(piece []byte, values int) error) error {
	n, cols := in.rows()
	if n == 0 || cols == 0 {
		return nil
	}
	rowBytes := t.RowBytes(cols)
	step := min(n, max(c.pool.Threads(), pieceBytes/rowBytes))
	if need := step * rowBytes; len(c.piece) < need {
		c.piece = make([]byte, need)
	}
	for i := range c.floats {
		if len(c.floats[i]) < cols {
			c.floats[i] = make([]float32, cols)
		}
	}
	c.errs = make([]error, len(c.floats))
	for first := 0; first < n; first += step {
		count := min(step, n-first)
		c.pool.Do(count, func(i, worker int) {
			err := in.row(c.piece[i*rowBytes:][:rowBytes], c.floats[worker][:cols], t, first+i)
			if err != nil {
				c.errs[worker] = err
			}
		})
		for _, err := range c.errs {
			if err != nil {
				return err
			}
		}
		if err := put(c.piece[:count*rowBytes], count*cols); err != nil {
			return err
		}
	}
	return nil
}

// row sets dst to row i of the result.
//
// Shapes: dst the bytes of [cols] values of type t; x [cols] is scratch.
func (in Input) row(dst []byte, x []float32, t quant.Type, i int) error {
	n, cols := in.rows()
	size := in.Type.RowBytes(cols)
	src := in.Data[in.as.source(i, n)*size:][:size]
	if t == in.Type && in.as.add == 0 {
		copy(dst, src)
		return nil
	}
	if err := quant.Dequantize(x, in.Type, src); err != nil {
		return err
	}
	large := false
	for i, v := range x {
		if v-v != 0 {
			return fmt.Errorf("value %d of a row is %v", i, v)
		}
		x[i] = v + in.as.add
		large = large || x[i] > largestHalf || x[i] < -largestHalf
	}
	if err := quant.Quantize(dst, t, x); err != nil || !large {
		return err
	}
	return checkHolds(t, dst, x)
}

// largestHalf is the largest half float: scales of blocks are such, too.
const largestHalf = 65504

// checkHolds reports a row of which values became infinite in type t, by its largest value.
//
// Shapes: row the bytes of [cols] values; x [cols].
func checkHolds(t quant.Type, row []byte, x []float32) error {
	back := make([]float32, len(x))
	if err := quant.Dequantize(back, t, row); err != nil {
		return err
	}
	if !slices.ContainsFunc(back, func(v float32) bool { return v-v != 0 }) {
		return nil
	}
	largest := slices.MaxFunc(x, func(a, b float32) int { return cmp.Compare(math.Abs(float64(a)), math.Abs(float64(b))) })
	return fmt.Errorf("a row goes up to %g, which %v cannot hold; F32 and BF16 can", largest, t)
}
