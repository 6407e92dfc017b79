// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/sampo-ai/sampo/internal/weights"
)

// A cursor reads the header of one file from front to back. The first failure stays: later reads give zeros, so that
// callers check err where it matters: before a loop or an allocation that depends on what was read.
type cursor struct {
	file   string
	data   []byte // the file, or its first maxHeaderBytes
	capped bool   // data is not the whole file
	pos    int
	what   string // the part being read, for errors
	err    *weights.FileError
}

// fail records what is wrong at the place at.
func (c *cursor) fail(at int, format string, args ...any) {
	if c.err == nil {
		c.err = &weights.FileError{Format: "gguf", File: c.file, What: c.what, Offset: int64(at), Reason: fmt.Sprintf(format, args...)}
	}
}

// left is the number of bytes not read yet.
func (c *cursor) left() uint64 { return uint64(len(c.data) - c.pos) }

// take gives the next n bytes, or nil.
func (c *cursor) take(n uint64) []byte {
	switch {
	case c.err != nil:
		return nil
	case n <= c.left():
		c.pos += int(n)
		return c.data[c.pos-int(n) : c.pos]
	case c.capped:
		c.fail(c.pos, "header exceeds %d bytes", maxHeaderBytes)
	default:
		c.fail(c.pos, "the file is cut short: %d bytes are needed here, and %d of its %d are left", n, c.left(), len(c.data))
	}
	return nil
}

func (c *cursor) uint8() uint8 {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (c *cursor) uint16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) bool() bool {
	b := c.uint8()
	if b > 1 {
		c.fail(c.pos-1, "truth value is %d, want 0 or 1", b)
	}
	return b == 1
}

// bytes gives the bytes of a string of at most limit bytes. They are in the mapping.
func (c *cursor) bytes(limit uint64) []byte {
	at := c.pos
	n := c.uint64()
	if n > limit {
		c.fail(at, "string of %d bytes, want at most %d", n, limit)
		return nil
	}
	return c.take(n)
}

// string gives a copy of a string of at most limit bytes.
func (c *cursor) string(limit uint64) string { return string(c.bytes(limit)) }

// count reads how many things follow that take at least size bytes each, and checks that they can.
func (c *cursor) count(limit, size uint64) int {
	at := c.pos
	n := c.uint64()
	switch {
	case c.err != nil:
		return 0
	case n > limit:
		c.fail(at, "count is %d, want at most %d", n, limit)
		return 0
	case n > c.left()/size:
		c.fail(at, "count is %d, but only %d of the file's %d bytes are left: it is cut short or damaged", n, c.left(), len(c.data))
		return 0
	}
	return int(n)
}

// value reads a metadata value of type t. Depth counts the arrays around it.
func (c *cursor) value(t valueType, depth int) any {
	switch t {
	case typeUint8:
		return c.uint8()
	case typeInt8:
		return int8(c.uint8())
	case typeUint16:
		return c.uint16()
	case typeInt16:
		return int16(c.uint16())
	case typeUint32:
		return c.uint32()
	case typeInt32:
		return int32(c.uint32())
	case typeFloat32:
		return math.Float32frombits(c.uint32())
	case typeBool:
		return c.bool()
	case typeString:
		return c.string(maxStringBytes)
	case typeArray:
		return c.array(depth + 1)
	case typeUint64:
		return c.uint64()
	case typeInt64:
		return int64(c.uint64())
	case typeFloat64:
		return math.Float64frombits(c.uint64())
	}
	c.fail(c.pos-4, "unknown value type %d", t)
	return nil
}

// array reads the type, the count and the elements of an array.
func (c *cursor) array(depth int) any {
	at := c.pos
	t := valueType(c.uint32())
	if t >= valueType(len(minBytes)) {
		c.fail(at, "unknown element type %d", t)
		return nil
	}
	if depth > maxArrayDepth {
		c.fail(at, "arrays nested deeper than %d", maxArrayDepth)
		return nil
	}
	n := c.count(maxArrayElems, minBytes[t])
	if c.err != nil {
		return nil
	}
	switch t {
	case typeBool:
		return elems(n, c.bool)
	case typeString:
		return c.strings(n)
	case typeArray:
		// An element is a slice: an array that failed is dropped with the whole file.
		return elems(n, func() any { return c.array(depth + 1) })
	case typeUint8:
		return append([]uint8{}, c.take(uint64(n))...)
	case typeInt8:
		return numbers[int8](c, n)
	case typeUint16:
		return numbers[uint16](c, n)
	case typeInt16:
		return numbers[int16](c, n)
	case typeUint32:
		return numbers[uint32](c, n)
	case typeInt32:
		return numbers[int32](c, n)
	case typeFloat32:
		return numbers[float32](c, n)
	case typeUint64:
		return numbers[uint64](c, n)
	case typeInt64:
		return numbers[int64](c, n)
	default: // typeFloat64
		return numbers[float64](c, n)
	}
}

// elems reads n elements one by one. After a failure they are empty.
func elems[T any](n int, read func() T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = read()
	}
	return out
}

// numbers reads n numbers at once.
func numbers[T int8 | uint16 | int16 | uint32 | int32 | float32 | uint64 | int64 | float64](c *cursor, n int) []T {
	out := make([]T, n)
	raw := c.take(uint64(n) * uint64(unsafe.Sizeof(*new(T))))
	if _, err := binary.Decode(raw, binary.LittleEndian, out); err != nil {
		c.fail(c.pos, "array: %v", err)
	}
	return out
}

// strings reads n strings. They share one copy of their part of the file: a vocabulary has hundreds of thousands.
func (c *cursor) strings(n int) []string {
	start := c.pos
	for range n {
		c.bytes(maxStringBytes)
		if c.err != nil {
			return nil
		}
	}
	all := string(c.data[start:c.pos])
	out, at := make([]string, n), 0
	for i := range out {
		size := int(binary.LittleEndian.Uint64(c.data[start+at:]))
		out[i] = all[at+8 : at+8+size]
		at += 8 + size
	}
	return out
}
