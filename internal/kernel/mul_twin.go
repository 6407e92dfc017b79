// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"encoding/binary"
	"math"
)

// mulTwin is the definition of the panel products, for one row of activations.
//
// Shapes: dst [16]; w one panel; the record of block b starts at act[b*stride].
func mulTwin(dst []float32, w Panels, act []byte, stride int) {
	f := w.Format
	group, codeBytes := f.GroupBlocks(), f.CodeBytes()
	codes, scales := w.codesOf(0), w.scalesOf(0)
	var sums [PanelRows]float32
	var s blockScales
	var unpacked [PanelRows * BlockCols]byte
	for b := range w.Blocks {
		record := (*[RecordBytes]byte)(act[b*stride:])
		s.decode(f, scales[b/group*f.ScaleBytes():], b%group)
		unpackBlock(f, &unpacked, codes[b*codeBytes:])
		for o := range PanelRows {
			lo, hi := dotBlock(&unpacked, o, layouts[f].zero, record)
			sums[o] = s.add(sums[o], o, lo, hi, record)
		}
	}
	copy(dst, sums[:])
}

// dotBlock gives the exact sums of (code-zero)*activation over the first and the last 16 inputs of a block for row o
// of the panel.
func dotBlock(codes *[PanelRows * BlockCols]byte, o int, zero int32, record *[RecordBytes]byte) (lo, hi int32) {
	for k := range 4 {
		first, last := (*[4]byte)(codes[k*64+o*4:]), (*[4]byte)(codes[(k+4)*64+o*4:])
		for j := range 4 {
			lo += (int32(first[j]) - zero) * int32(int8(record[4*k+j]))
			hi += (int32(last[j]) - zero) * int32(int8(record[4*k+16+j]))
		}
	}
	return lo, hi
}

// unpackBlock sets dst to the codes of a block as bytes, in eight lines as 8-bit codes have them. It is codeAt for all
// rows and inputs, eight codes at a time.
func unpackBlock(f Format, dst *[PanelRows * BlockCols]byte, codes []byte) {
	if layouts[f].bits == 8 {
		copy(dst[:], codes)
		return
	}
	if layouts[f].bits < 4 {
		unpackPairs(f, dst, codes)
		return
	}
	const nibbles, fifth, upper = 0x0F0F0F0F0F0F0F0F, 0x1010101010101010, 0x3030303030303030
	for at := 0; at < 512; at += 8 {
		k, column := at/64, at%64
		word := binary.LittleEndian.Uint64(codes[at%256:]) >> (k / 4 * 4) & nibbles
		switch layouts[f].bits {
		case 5:
			word |= binary.LittleEndian.Uint64(codes[256+column:]) >> k << 4 & fifth
		case 6:
			word |= binary.LittleEndian.Uint64(codes[256+k/4*64+column:]) >> (k % 4 * 2) << 4 & upper
		}
		binary.LittleEndian.PutUint64(dst[at:], word)
	}
	if table := layouts[f].table; table != nil {
		for i, code := range dst {
			dst[i] = table[code]
		}
	}
}

// unpackPairs is unpackBlock for codes whose lower bits are pairs.
func unpackPairs(f Format, dst *[PanelRows * BlockCols]byte, codes []byte) {
	const pairs, third = 0x0303030303030303, 0x0404040404040404
	for at := 0; at < 512; at += 8 {
		k, column := at/64, at%64
		word := binary.LittleEndian.Uint64(codes[k/4*64+column:]) >> (k % 4 * 2) & pairs
		if layouts[f].bits == 3 {
			word |= binary.LittleEndian.Uint64(codes[128+column:]) >> k << 2 & third
		}
		binary.LittleEndian.PutUint64(dst[at:], word)
	}
}

// codeAt gives the code of row o and input i of a block. DESIGN.md draws the layout.
func codeAt(f Format, codes []byte, o, i int) byte {
	column, k := o*4+i%4, i/4 // column: byte in the 64-byte line; k: group of 4 inputs, 0 to 7
	switch layouts[f].bits {
	case 8:
		return codes[k*64+column]
	case 2:
		return codes[k/4*64+column] >> (k % 4 * 2) & 3
	case 3:
		return codes[k/4*64+column]>>(k%4*2)&3 | codes[128+column]>>k&1<<2
	}
	code := codes[k%4*64+column] >> (k / 4 * 4) & 15
	if table := layouts[f].table; table != nil {
		return table[code]
	}
	switch layouts[f].bits {
	case 5:
		code |= codes[256+column] >> k & 1 << 4
	case 6:
		code |= codes[256+k/4*64+column] >> (k % 4 * 2) & 3 << 4
	}
	return code
}

// blockScales are what turns the integers of one block into floats, by panel row.
type blockScales struct {
	lo, hi     [PanelRows]float32 // scales of the two halves; hi only if those differ
	min, minHi [PanelRows]float32
	halves     bool // the halves have scales of their own
	minima     bool
}

// decode reads the scales of block b of a group.
func (s *blockScales) decode(f Format, group []byte, b int) {
	for o := range PanelRows {
		d := halfAt(group, o)
		switch f {
		case Q41, Q51:
			s.lo[o], s.min[o], s.minima = d, halfAt(group, PanelRows+o), true
		case Q4K, Q5K:
			fine := group[64+b*32:]
			s.lo[o], s.minima = d*float32(fine[o]), true
			s.min[o] = -(halfAt(group, PanelRows+o) * float32(fine[16+o]))
		case Q2K:
			first, last := group[64+b*32+o], group[64+b*32+16+o]
			dmin := halfAt(group, PanelRows+o)
			s.lo[o], s.hi[o], s.halves = d*float32(first&15), d*float32(last&15), true
			s.min[o], s.minHi[o], s.minima = -(dmin * float32(first>>4)), -(dmin * float32(last>>4)), true
		case IQ4XS:
			s.lo[o] = d * float32(int8(group[32+b*16+o]))
		case MXFP4:
			s.lo[o] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(group[2*o:])) << 16)
		case Q3K, Q6K:
			fine := group[32+b*32:]
			s.lo[o], s.hi[o], s.halves = d*float32(int8(fine[o])), d*float32(int8(fine[16+o])), true
		default:
			s.lo[o] = d
		}
	}
}

// add adds a block's integers to the sum of row o.
func (s *blockScales) add(sum float32, o int, lo, hi int32, record *[RecordBytes]byte) float32 {
	scale := floatAt(record[recordScale:])
	if s.halves {
		sum = fma(float32(lo), s.lo[o]*scale, sum)
		sum = s.addMinimum(sum, s.min[o]/-32*scale, record[recordZeroA:])
		sum = fma(float32(hi), s.hi[o]*scale, sum)
		return s.addMinimum(sum, s.minHi[o]/-32*scale, record[recordZeroB:])
	}
	sum = fma(float32(lo+hi), s.lo[o]*scale, sum)
	if s.minima {
		sum = fma(s.min[o], floatAt(record[recordSum:]), sum)
	}
	return sum
}

// addMinimum adds the minimum of a half of a block, given times -scale/32, and -32 times the sum of the activations.
func (s *blockScales) addMinimum(sum, minimum float32, zero []byte) float32 {
	if !s.minima {
		return sum
	}
	return fma(minimum, float32(int32(binary.LittleEndian.Uint32(zero))), sum)
}

func floatAt(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

// halfAt gives the i-th half float of b as a float32, exactly.
func halfAt(b []byte, i int) float32 { return halfValue(binary.LittleEndian.Uint16(b[2*i:])) }

// halfValue gives the value of an IEEE half float.
func halfValue(h uint16) float32 {
	sign, exponent, mantissa := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 0: // zero and subnormals: mantissa * 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(mantissa)*0x1p-24))
	case 31: // infinities and NaN
		return math.Float32frombits(sign | 0x7F800000 | mantissa<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | mantissa<<13)
}

// fma is a*b + c rounded once to float32, on every machine.
//
// The product is exact in float64. The sum is rounded to odd there: if it is inexact its last bit is set to 1, so that
// the second rounding, to the 29 bits shorter float32, can't take it for a tie (Boldo and Melquiond 2008, "Emulation of
// FMA and correctly rounded sums").
func fma(a, b, c float32) float32 {
	product, addend := float64(a)*float64(b), float64(c)
	sum := product + addend
	back := sum - product
	rest := (product - (sum - back)) + (addend - back) // sum + rest is the exact result
	bits := math.Float64bits(sum)
	if rest != 0 && bits&1 == 0 && bits>>52&0x7FF != 0x7FF {
		if (rest > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}
