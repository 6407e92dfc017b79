// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// KVBlock is the number of positions in a block of a cache: P in shapes.
const KVBlock = 32

// A KVType is the type of the numbers in a cache of keys and values.
type KVType uint8

// The types of caches.
const (
	KVF16  KVType = iota
	KVF32         // for comparisons with float32 references
	KVBF16        // half the bits of a float32: its range, and 8 bits of precision
	KVQ8          // a signed byte each, with a scale for 32 components of a key or a value (Q8_0 in other engines)
)

const kvTypes = int(KVQ8) + 1

var kvTypeNames = [kvTypes]string{"f16", "f32", "bf16", "q8_0"}

func (t KVType) String() string { return kvTypeNames[t] }

// Known reports whether t is one of the types above.
func (t KVType) Known() bool { return int(t) < kvTypes }

// BlockBytes is the size of one block of one layer: keys and values.
func (t KVType) BlockBytes(kvHeads, headDim int) int64 {
	return int64(kvHeads) * int64(KeyLayout(t, headDim).Bytes+ValueLayout(t, headDim).Bytes)
}

// size is the bytes of a number, without scales.
func (t KVType) size() int { return [kvTypes]int{KVF16: 2, KVF32: 4, KVBF16: 2, KVQ8: 1}[t] }

// maxFloat is what larger numbers become before they get a scale: 127 times a rounded scale stays finite.
const maxFloat = 3e38

// A KVLayout says how the keys or the values of one head lie in a block: in groups of 32 components. A group is rows of 32
// numbers, and behind them 32 scales, one for each position, if the type has scales: floats of keys, valueScales of values.
//
// A row of a key group is one component of 32 keys, so that a vector holds one component of consecutive keys and a score
// needs no sum across it. A row of a value group is 32 components of one value, for the same reason. Either product reads a
// block from its first byte to its last. Bytes are multiplied in pairs, so two of their rows are one: the two components of a
// key, or of two values, lie side by side.
//
// Shapes: keys [D, P], the last group being shorter if D is no multiple of 32; values [W/32, P, 32], W being D rounded up to
// a multiple of 32; of bytes [D/2, P, 2] and [W/32, P/2, 32, 2]; scales [P] in each group, of 4 bytes a position.
type KVLayout struct {
	Type  KVType
	Keys  bool
	dim   int // D for keys, W for values
	pair  int // numbers of a column in a row: 2 of bytes, 1 of others
	row   int // bytes of a row
	group int // bytes of a whole group, with scales
	Bytes int // of a head
}

// KeyLayout is the layout of keys of dim components.
func KeyLayout(t KVType, dim int) KVLayout { return layoutOf(t, dim, true) }

// ValueLayout is the layout of values of dim components.
func ValueLayout(t KVType, dim int) KVLayout {
	return layoutOf(t, (dim+KVTileCols-1)/KVTileCols*KVTileCols, false)
}

func layoutOf(t KVType, dim int, keys bool) KVLayout {
	l := KVLayout{Type: t, Keys: keys, dim: dim, pair: 1}
	scales := 0
	if t == KVQ8 {
		l.pair, scales = 2, scalesBytes
	}
	l.row = KVBlock * l.pair * t.size()
	l.group = l.rows(BlockCols)*l.row + scales
	l.Bytes = l.rows(dim)*l.row + groupsOf(dim)*scales
	return l
}

// rows is how many rows so many components of a key take, or so many values.
func (l *KVLayout) rows(n int) int { return (n + l.pair - 1) / l.pair }

// at is where component c of position slot begins, in bytes of the block.
func (l *KVLayout) at(slot, c int) int {
	row, column := c%BlockCols, slot
	if !l.Keys {
		row, column = slot, row
	}
	return c/BlockCols*l.group + row/l.pair*l.row + (column*l.pair+row%l.pair)*l.Type.size()
}

// scalesAt is where the scales of the group of component c begin.
func (l *KVLayout) scalesAt(c int) int {
	first := c &^ (BlockCols - 1)
	rows := KVBlock
	if l.Keys {
		rows = min(BlockCols, l.dim-first)
	}
	return first/BlockCols*l.group + l.rows(rows)*l.row
}

// valueScales are the scales of 32 components of values: each that share of the value's unit, which is the same in all of its groups,
// as its ratio is of 32767. So what the weights are multiplied with before they become integers is the same for all groups.
//
// A unit is the upper half of a float, not less than any scale of the value, and less than a 128th above the largest.
type valueScales struct {
	ratios [KVBlock]int16
	units  [KVBlock]uint16
}

// scalesBytes is the size of a group's scales.
const scalesBytes = 4 * KVBlock

// valueScalesIn are those of the group of component c.
func (l *KVLayout) valueScalesIn(block []byte, c int) *valueScales {
	return (*valueScales)(unsafe.Pointer(unsafe.SliceData(block[l.scalesAt(c):][:scalesBytes])))
}

// unit is the unit of position slot.
func (s *valueScales) unit(slot int) float32 {
	return math.Float32frombits(uint32(s.units[slot]) << 16)
}

// Store writes x as position slot of a head's block: its key or its value.
//
// Shapes: x [D]; block as KVLayout says. Floats beyond what F16 or BF16 can hold become the largest that they can, so that
// a stored number times 0 is 0.
func (l KVLayout) Store(block []byte, slot int, x []float32) {
	if len(x) > l.dim || slot < 0 || slot >= KVBlock || len(block) < l.Bytes {
		panic(fmt.Sprintf("kernel: %d components of %d at slot %d in %d bytes", len(x), l.dim, slot, len(block)))
	}
	if l.Type == KVQ8 {
		l.storeBytes(block, slot, x)
		return
	}
	for c := 0; c < len(x); c += BlockCols {
		l.storePart(block, slot, c, x[c:min(c+BlockCols, len(x))])
	}
}

// storeBytes is Store for KVQ8.
func (l *KVLayout) storeBytes(block []byte, slot int, x []float32) {
	scales, largest := make([]float32, 0, 16), float32(0) // more are allocated
	for c := 0; c < len(x); c += BlockCols {
		n := min(BlockCols, len(x)-c)
		record, at := recordOf(x[c:c+n]), l.at(slot, c)
		for i, code := range record[:n] {
			if l.Keys {
				block[at+i/2*l.row+i%2] = code
			} else {
				block[at+2*i] = code
			}
		}
		scale := math.Float32frombits(binary.NativeEndian.Uint32(record[recordScale:]))
		scales, largest = append(scales, scale), max(largest, scale)
	}
	unit := uint16((math.Float32bits(largest) + 0xffff) >> 16)
	for g, scale := range scales {
		if l.Keys {
			binary.NativeEndian.PutUint32(block[l.scalesAt(g*BlockCols)+4*slot:], math.Float32bits(scale))
			continue
		}
		s := l.valueScalesIn(block, g*BlockCols)
		s.units[slot], s.ratios[slot] = unit, 0
		if unit := s.unit(slot); unit > 0 {
			s.ratios[slot] = int16(math.RoundToEven(float64(scale) / float64(unit) * fixedMax))
		}
	}
}

// storePart writes the components from c on, which lie in one group.
func (l *KVLayout) storePart(block []byte, slot, c int, x []float32) {
	at, size := l.at(slot, c), l.Type.size()
	step := size // between components
	if l.Keys {
		step = l.row
	}
	switch l.Type {
	case KVF32:
		for i, v := range x {
			binary.NativeEndian.PutUint32(block[at+i*step:], math.Float32bits(v))
		}
	case KVQ8: // by storeBytes
	case KVF16, KVBF16:
		dst := halvesOf(block[at:])
		if !l.Keys {
			l.halves(dst[:len(x)], x)
			return
		}
		var buf [BlockCols]uint16
		l.halves(buf[:len(x)], x)
		for i, h := range buf[:len(x)] {
			dst[i*KVBlock] = h
		}
	}
}

// halves converts to the type's 16 bits.
func (l KVLayout) halves(dst []uint16, x []float32) {
	if l.Type == KVBF16 {
		ToBF16(dst, x)
		return
	}
	ToHalf(dst, x)
}

// recordOf quantises up to 32 components as the activations of products are.
func recordOf(x []float32) (record [RecordBytes]byte) {
	var part [BlockCols]float32
	for i, v := range x {
		if v == v { // a NaN becomes 0: tiers differ in what they make of it
			part[i] = max(-maxFloat, min(maxFloat, v))
		}
	}
	quantizePart(&record, &part)
	return record
}

// number is component c of position slot, without its scale.
func (l *KVLayout) number(block []byte, slot, c int) float32 {
	number := block[l.at(slot, c):]
	switch l.Type {
	case KVF32:
		return math.Float32frombits(binary.NativeEndian.Uint32(number))
	case KVF16:
		return halfValue(binary.NativeEndian.Uint16(number))
	case KVBF16:
		return math.Float32frombits(uint32(binary.NativeEndian.Uint16(number)) << 16)
	case KVQ8:
	}
	return float32(int8(number[0]))
}

// scale is what component c of position slot is multiplied by. Types without scales have 1.
func (l *KVLayout) scale(block []byte, slot, c int) float32 {
	switch {
	case l.Type != KVQ8:
		return 1
	case l.Keys:
		return math.Float32frombits(binary.NativeEndian.Uint32(block[l.scalesAt(c)+4*slot:]))
	}
	s := l.valueScalesIn(block, c)
	return float32(s.ratios[slot]) * (1.0 / fixedMax) * s.unit(slot)
}

// halvesOf gives bytes as 16-bit numbers; they start at an even address.
func halvesOf(b []byte) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2)
}
