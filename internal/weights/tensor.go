// SPDX-License-Identifier: Apache-2.0

package weights

import (
	"math"

	"github.com/sampo-ai/sampo/internal/quant"
)

// A Tensor is a named array whose bytes lie in a mapped file.
type Tensor struct {
	Name  string
	Type  quant.Type
	Shape []int  // row-major, the last index is the fastest: a matrix is [out, in]
	Data  []byte // read-only; exactly as long as Type and Shape say; at any address
}

// Elems is the number of values.
func (t Tensor) Elems() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// A Source is an open set of tensors.
type Source interface {
	// Tensor gives the tensor with a name.
	Tensor(name string) (Tensor, bool)
	// Names lists the names in the order of the file. The caller must not change it.
	Names() []string
	// Close releases the files. Tensors must not be used after it.
	Close() error
}

// A releaser is a Source that can let go of the memory that mirrors a part of its file.
type releaser interface {
	Release(data []byte)
}

// Release tells src that the bytes of t will not be needed for a while: the memory that holds a copy of that part of
// the file is given back. The tensor stays valid; reading it again reads the file again. A Source that cannot do
// this does nothing.
func Release(src Source, t Tensor) {
	if r, ok := src.(releaser); ok {
		r.Release(t.Data)
	}
}

// A describer is a Source that has to make the data of some tensors.
type describer interface {
	Describe(name string) (Tensor, bool)
}

// Describe gives a tensor of src. Its Data may be missing: who needs them asks for the Tensor.
func Describe(src Source, name string) (Tensor, bool) {
	if d, ok := src.(describer); ok {
		return d.Describe(name)
	}
	return src.Tensor(name)
}

// Size gives the number of bytes of a tensor of type t whose dimensions are dims, the fastest last. It says what is
// wrong with them, in words for the end of an error text.
//
// The last dimension must be a multiple of the type's block. Dimensions whose product does not fit an int64 are
// refused. A dimension of 0 makes an empty tensor.
func Size(t quant.Type, dims []int) (bytes int64, reason string) {
	if !t.Known() {
		return 0, "unknown tensor " + t.String()
	}
	if len(dims) == 0 {
		dims = []int{1}
	}
	blocks := int64(1)
	for i, d := range dims {
		n := int64(d)
		if i == len(dims)-1 {
			if n%int64(t.BlockElems()) != 0 {
				return 0, "row length is not a multiple of the block of " + t.String()
			}
			n /= int64(t.BlockElems())
		}
		// Room for the block's elements and bytes (at most 292) keeps every product below inside an int64.
		if n < 0 || blocks > 0 && n > math.MaxInt64/512/blocks {
			return 0, "size overflows"
		}
		blocks *= n
	}
	return blocks * int64(t.BlockBytes()), ""
}
