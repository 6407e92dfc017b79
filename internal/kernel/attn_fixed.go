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
	fixedMax = 32767.0
	// fixedTiny is the least magnitude that a group has: its inverse is finite.
	fixedTiny = 0x1p-100
)

// number is number i.
func (g *fixedGroup) number(i int) int32 { return int32(g.pairs[i/2][i%2]) }

// fixArgs says which groups are set: to 32 numbers each, all of which follow each other.
//
// Shapes: dst [groups]; x [groups, 32].
type fixArgs struct {
	dst    *fixedGroup
	x      *float32
	groups int
}

func fixGo(a *fixArgs) {
	for i := range uintptr(a.groups) {
		group := (*fixedGroup)(unsafe.Add(unsafe.Pointer(a.dst), i*fixedBytes))
		group.set((*[BlockCols]float32)(unsafe.Add(unsafe.Pointer(a.x), i*4*BlockCols)), 1.0/fixedMax)
	}
}

// weighArgs says which groups are set to rows of weights times the scales of a block's values, one for each group of their columns.
// Strides are in bytes.
//
// Shapes: dst [groups, KVTileRows], of which rows are set; x [rows, 32]; scales [groups].
type weighArgs struct {
	dst          *fixedGroup
	x            *float32
	ldx          uintptr
	scales       *valueScales
	lds          uintptr
	rows, groups int
}

// weighGo makes integers of weights times units, and of these products with ratios.
func weighGo(a *weighArgs) {
	for r := range uintptr(a.rows) {
		var scaled [BlockCols]float32
		for i, w := range (*[BlockCols]float32)(unsafe.Add(unsafe.Pointer(a.x), r*a.ldx)) {
			scaled[i] = w * a.scales.unit(i)
		}
		var weights fixedGroup
		weights.set(&scaled, ratioScale)
		for g := range uintptr(a.groups) {
			group := (*fixedGroup)(unsafe.Add(unsafe.Pointer(a.dst), (g*KVTileRows+r)*fixedBytes))
			*group = weights
			group.multiply((*valueScales)(unsafe.Add(unsafe.Pointer(a.scales), g*a.lds)))
		}
	}
}

// ratioScale makes up for what the products of two integers of 32767 at most are divided by: 2^15.
const ratioScale = (1 << 15) / (fixedMax * fixedMax)

// multiply multiplies the numbers with ratios, rounded.
func (g *fixedGroup) multiply(s *valueScales) {
	for i, ratio := range s.ratios {
		n := &g.pairs[i/2][i%2]
		*n = int16((int32(*n)*int32(ratio) + 1<<14) >> 15)
	}
}

// set sets the group to some numbers, and its scale to the largest times one of them.
func (g *fixedGroup) set(x *[BlockCols]float32, scale float32) {
	largest := float32(fixedTiny)
	for _, v := range x {
		largest = max(largest, float32(math.Abs(float64(v))))
	}
	g.scale = largest * scale
	inverse := fixedMax / largest
	for i, v := range x {
		rounded := math.RoundToEven(float64(v * inverse))
		if rounded != rounded {
			rounded = math.MinInt16 // as on each tier
		}
		g.pairs[i/2][i%2] = int16(rounded)
	}
}

// fixRow sets groups to the numbers of one row.
//
// Shapes: groups [len(x)/32], rounded up.
func fixRow(groups []fixedGroup, x []float32) {
	a := fixArgs{groups: len(x) / BlockCols}
	if a.groups > 0 {
		a.dst, a.x = &groups[0], &x[0]
		fix(&a)
	}
	if a.groups < len(groups) {
		var rest [BlockCols]float32
		copy(rest[:], x[a.groups*BlockCols:])
		a.dst, a.x, a.groups = &groups[a.groups], &rest[0], 1
		fix(&a)
	}
}
