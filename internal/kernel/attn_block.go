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
	KVQ8          // a signed byte each, with a float scale for 32 components of a key or a value (Q8_0 in other engines)
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

// A KVLayout says how the keys or the values of one head lie in a block: numbers first, then scales, if the type has them.
//
// Keys stand with positions fastest, so that a vector holds one component of consecutive keys and a score needs no sum
// across it. Values stand with components fastest, for the same reason.
//
// Shapes: keys [D, P], their scales [D/32 rounded up, P]; values [P, W], their scales [W/32, P], W being D rounded up to a
// multiple of 32.
type KVLayout struct {
	Type     KVType
	Keys     bool
	dim      int // D for keys, W for values
	RowBytes int // between rows of numbers
	Scales   int // bytes in front of the scales
	Bytes    int // of a head
}

// KeyLayout is the layout of keys of dim components.
func KeyLayout(t KVType, dim int) KVLayout {
	l := KVLayout{Type: t, Keys: true, dim: dim, RowBytes: KVBlock * t.size()}
	l.Scales = dim * l.RowBytes
	return l.withScales()
}

// ValueLayout is the layout of values of dim components.
func ValueLayout(t KVType, dim int) KVLayout {
	dim = (dim + KVTileCols - 1) / KVTileCols * KVTileCols
	l := KVLayout{Type: t, dim: dim, RowBytes: dim * t.size()}
	l.Scales = KVBlock * l.RowBytes
	return l.withScales()
}

func (l KVLayout) withScales() KVLayout {
	l.Bytes = l.Scales
	if l.Type == KVQ8 {
		l.Bytes += (l.dim + BlockCols - 1) / BlockCols * KVBlock * 4
	}
	return l
}

// Store writes x as position slot of a head's block: its key or its value.
//
// Shapes: x [D]; block as KVLayout says. Floats beyond what F16 or BF16 can hold become the largest that they can, so that
// a stored number times 0 is 0.
func (l KVLayout) Store(block []byte, slot int, x []float32) {
	if len(x) > l.dim || slot < 0 || slot >= KVBlock || len(block) < l.Bytes {
		panic(fmt.Sprintf("kernel: %d components of %d at slot %d in %d bytes", len(x), l.dim, slot, len(block)))
	}
	switch {
	case l.Type == KVQ8:
		l.storeBytes(block, slot, x)
	case l.Type == KVF32:
		l.storeFloats(block, slot, x)
	case l.Keys:
		l.scatterHalves(halvesOf(block[slot*2:]), x)
	default:
		l.halves(halvesOf(block[slot*l.RowBytes:])[:len(x)], x)
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

// scatterHalves writes a key's components, which lie a row apart.
func (l KVLayout) scatterHalves(dst []uint16, x []float32) {
	var buf [64]uint16
	for at := 0; at < len(x); at += len(buf) {
		halves := buf[:min(len(buf), len(x)-at)]
		l.halves(halves, x[at:at+len(halves)])
		for i, h := range halves {
			dst[(at+i)*KVBlock] = h
		}
	}
}

func (l KVLayout) storeFloats(block []byte, slot int, x []float32) {
	at, step := slot*l.RowBytes, 4
	if l.Keys {
		at, step = slot*4, l.RowBytes
	}
	for i, v := range x {
		binary.NativeEndian.PutUint32(block[at+i*step:], math.Float32bits(v))
	}
}

// storeBytes quantises 32 components at a time, as the activations of products are.
func (l KVLayout) storeBytes(block []byte, slot int, x []float32) {
	at, step := slot*l.RowBytes, 1
	if l.Keys {
		at, step = slot, l.RowBytes
	}
	for i := 0; i < len(x); i += BlockCols {
		var record [RecordBytes]byte
		var part [BlockCols]float32
		n := copy(part[:], x[i:])
		for j, v := range part[:n] {
			part[j] = max(-maxFloat, min(maxFloat, v))
		}
		quantizePart(&record, &part)
		for j, code := range record[:n] {
			block[at+(i+j)*step] = code
		}
		copy(block[l.Scales+(i+slot)*4:][:4], record[recordScale:])
	}
}

// value is number (k, c) of a block: component k of key c, or component c of value k.
func (l *KVLayout) value(block []byte, k, c int) float32 {
	number := block[k*l.RowBytes+c*l.Type.size():]
	switch l.Type {
	case KVF32:
		return math.Float32frombits(binary.NativeEndian.Uint32(number))
	case KVF16:
		return halfValue(binary.NativeEndian.Uint16(number))
	case KVBF16:
		return math.Float32frombits(uint32(binary.NativeEndian.Uint16(number)) << 16)
	case KVQ8:
	}
	scale := k/BlockCols*KVBlock + c
	if !l.Keys {
		scale = c/BlockCols*KVBlock + k
	}
	return float32(int8(number[0])) * math.Float32frombits(binary.NativeEndian.Uint32(block[l.Scales+scale*4:]))
}

// row sets dst to the numbers (k, c) to (k, c+31) of a block.
func (l *KVLayout) row(dst *[KVTileCols]float32, block []byte, k, c int) {
	for i := range dst {
		dst[i] = l.value(block, k, c+i)
	}
}

// halvesOf gives bytes as 16-bit numbers; they start at an even address.
func halvesOf(b []byte) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2)
}
