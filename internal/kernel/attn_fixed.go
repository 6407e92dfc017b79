// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"math"
	"unsafe"
)

// A fixedGroup is 32 numbers that are multiplied with bytes of a cache: integers of 16 bits and a scale for all of them, the
// largest magnitude / 32767. 32 products with bytes add up to less than 2^27, so sums are exact whatever their order.
//
// Pairs lie as the columns of a row of bytes do: see KVLayout. If there are fewer numbers, the others are 0. With a NaN among them
// the scale is NaN.
type fixedGroup struct {
	pairs [BlockCols / 2][2]int16
	scale float32
}

// fixedBytes is the size of a group.
const fixedBytes = unsafe.Sizeof(fixedGroup{})

const (
	fixedMax = 32767
	// fixedTiny is the least magnitude that a group has: its inverse is finite.
	fixedTiny = 0x1p-100
)

// number is number i.
func (g *fixedGroup) number(i int) int32 { return int32(g.pairs[i/2][i%2]) }

// fixArgs says which groups are set: to rows of 32 numbers times their scales. Each group of columns has scales for the same
// numbers. Strides are in bytes.
//
// Shapes: dst [groups, KVTileRows], of which rows are set (any number of rows, if there is one group); x [rows, 32]; scales
// [groups, 32].
type fixArgs struct {
	dst          *fixedGroup
	x            *float32
	ldx          uintptr
	scales       *float32
	lds          uintptr
	rows, groups int
}

func fixGo(a *fixArgs) {
	var scaled [BlockCols]float32
	for at := range a.groups * a.rows {
		g, r := uintptr(at/a.rows), uintptr(at%a.rows)
		x := (*[BlockCols]float32)(unsafe.Add(unsafe.Pointer(a.x), r*a.ldx))
		scales := (*[BlockCols]float32)(unsafe.Add(unsafe.Pointer(a.scales), g*a.lds))
		for i, v := range x {
			scaled[i] = v * scales[i]
		}
		group := (*fixedGroup)(unsafe.Add(unsafe.Pointer(a.dst), (g*KVTileRows+r)*fixedBytes))
		group.set(&scaled)
	}
}

// set sets the group to some numbers.
func (g *fixedGroup) set(x *[BlockCols]float32) {
	largest := float32(fixedTiny)
	for _, v := range x {
		largest = max(largest, float32(math.Abs(float64(v))))
	}
	g.scale = largest * (1.0 / fixedMax)
	inverse := fixedMax / largest
	for i, v := range x {
		rounded := math.RoundToEven(float64(v * inverse))
		if rounded != rounded {
			rounded = math.MinInt16 // as on each tier
		}
		g.pairs[i/2][i%2] = int16(rounded)
	}
}

// ones are the scales of numbers that have none.
var ones = func() (x [BlockCols]float32) {
	for i := range x {
		x[i] = 1
	}
	return x
}()

// fixRow sets groups to the numbers of one row.
//
// Shapes: groups [len(x)/32], rounded up.
func fixRow(groups []fixedGroup, x []float32) {
	a := fixArgs{ldx: 4 * BlockCols, scales: &ones[0], groups: 1, rows: len(x) / BlockCols}
	if a.rows > 0 {
		a.dst, a.x = &groups[0], &x[0]
		fix(&a)
	}
	if a.rows < len(groups) {
		var rest [BlockCols]float32
		copy(rest[:], x[a.rows*BlockCols:])
		a.dst, a.x, a.rows = &groups[a.rows], &rest[0], 1
		fix(&a)
	}
}
