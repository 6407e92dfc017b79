// SPDX-License-Identifier: Apache-2.0

package kernel

import "encoding/binary"

// packers move one stored row into a panel. Each gets the lines of the panel's codes from the row's first byte on.
var packers = [formats]func(codes, scales, row []byte, o int){
	Q40:   func(codes, scales, row []byte, o int) { packLegacy(codes, scales, row, o, legacy{bits: 4, head: 2}) },
	Q41:   func(codes, scales, row []byte, o int) { packLegacy(codes, scales, row, o, legacy{bits: 4, head: 4}) },
	Q50:   func(codes, scales, row []byte, o int) { packLegacy(codes, scales, row, o, legacy{bits: 5, head: 2}) },
	Q51:   func(codes, scales, row []byte, o int) { packLegacy(codes, scales, row, o, legacy{bits: 5, head: 4}) },
	Q80:   packQ80,
	Q2K:   packQ2K,
	Q3K:   packQ3K,
	Q4K:   func(codes, scales, row []byte, o int) { packSuper(codes, scales, row, o, 4) },
	Q5K:   func(codes, scales, row []byte, o int) { packSuper(codes, scales, row, o, 5) },
	Q6K:   packQ6K,
	IQ4NL: func(codes, scales, row []byte, o int) { packLegacy(codes, scales, row, o, legacy{bits: 4, head: 2}) },
	IQ4XS: packIQ4XS,
	MXFP4: packMXFP4,
}

// PackRow puts a row as stored in a GGUF file into row o of the panels.
//
// Shapes: w [O, E]; row holds E values of the type that the format is named after.
func PackRow(w Panels, row []byte, o int) {
	panel := o / PanelRows
	packers[w.Format](w.codesOf(panel), w.scalesOf(panel), row, o%PanelRows)
}

// A legacy format: blocks of a head (scale and perhaps minimum), perhaps fifth bits, and nibbles. Byte i of the nibbles
// holds values i and i+16, which is how panels pair groups too.
type legacy struct{ bits, head int }

func packLegacy(codes, scales, row []byte, o int, l legacy) {
	size := l.head + 16
	if l.bits == 5 {
		size += 4
	}
	lines := 32 * PanelRows * l.bits / 8
	for ; len(row) >= size; row = row[size:] {
		copy(scales[2*o:2*o+2], row)
		if l.head == 4 {
			copy(scales[32+2*o:32+2*o+2], row[2:])
		}
		nibbles := (*[16]byte)(row[size-16:])
		line := (*[256]byte)(codes)
		for k := range 4 {
			put(line[64*k+4*o:], word(nibbles[4*k:]))
		}
		if l.bits == 5 {
			put(codes[256+4*o:], spreadBits(word(row[l.head:])))
		}
		codes, scales = codes[lines:], scales[16*l.head:]
	}
}

// spreadBits moves bit 4k+j to bit 8j+k: from one bit for each input to one byte for each place within a group.
func spreadBits(bits uint32) uint32 {
	var spread uint32
	for j := range 4 {
		every := bits >> j & 0x11111111
		every = (every | every>>3) & 0x03030303
		every = (every | every>>6) & 0x000F000F
		every = (every | every>>12) & 0xFF
		spread |= every << (8 * j)
	}
	return spread
}

func packQ80(codes, scales, row []byte, o int) {
	for ; len(row) >= 34; row = row[34:] {
		copy(scales[2*o:2*o+2], row)
		values, line := (*[32]byte)(row[2:]), (*[512]byte)(codes)
		for k := range 8 {
			put(line[64*k+4*o:], word(values[4*k:])^0x80808080)
		}
		codes, scales = codes[512:], scales[32:]
	}
}

// packSuper packs Q4_K and Q5_K: scale, minimum, 12 bytes of fine scales, 32 bytes of fifth bits if any, nibbles.
func packSuper(codes, scales, row []byte, o, bits int) {
	size, lines := 144, 256
	if bits == 5 {
		size, lines = 176, 320
	}
	for ; len(row) >= size; row = row[size:] {
		group := (*[64 + 32*superBlocks]byte)(scales)
		copy(group[2*o:2*o+2], row)
		copy(group[32+2*o:32+2*o+2], row[2:])
		fine := (*[12]byte)(row[4:])
		for b := range superBlocks {
			group[64+32*b+o], group[64+32*b+16+o] = fineScales(fine, b)
		}
		nibbles := row[size-128:]
		for pair := range superBlocks / 2 {
			packNibblePair((*[256]byte)(codes), (*[256]byte)(codes[lines:]), (*[32]byte)(nibbles[32*pair:]), 4*o)
			if bits == 5 {
				high := (*[32]byte)(row[16:])
				put(codes[256+4*o:], bitPlane(high, 2*pair))
				put(codes[lines+256+4*o:], bitPlane(high, 2*pair+1))
			}
			codes = codes[2*lines:]
		}
		scales = scales[len(group):]
	}
}

// packNibblePair regroups bytes that hold one value each of two blocks to bytes that hold two values of one block.
func packNibblePair(first, second *[256]byte, nibbles *[32]byte, column int) {
	for k := range 4 {
		low, high := word(nibbles[4*k:]), word(nibbles[16+4*k:])
		put(first[64*k+column:], low&0x0F0F0F0F|high&0x0F0F0F0F<<4)
		put(second[64*k+column:], low>>4&0x0F0F0F0F|high&0xF0F0F0F0)
	}
}

// fineScales gives the six-bit scale and minimum of block b.
func fineScales(fine *[12]byte, b int) (scale, minimum byte) {
	if b < 4 {
		return fine[b] & 63, fine[b+4] & 63
	}
	return fine[b+4]&15 | fine[b-4]>>6<<4, fine[b+4]>>4 | fine[b]>>6<<4
}

// bitPlane gathers bit b of 32 bytes: that of byte 4k+j becomes bit 8j+k.
func bitPlane(high *[32]byte, b int) uint32 {
	var bits uint32
	for k := range 8 {
		bits |= word(high[4*k:]) >> b & 0x01010101 << k
	}
	return bits
}

// packQ6K packs a super-block of low nibbles, upper pairs of bits, signed scales and one half float. Halves of 128
// values have four blocks: a byte of upper bits serves the same place in each of them.
func packQ6K(codes, scales, row []byte, o int) {
	const size = 210
	for ; len(row) >= size; row = row[size:] {
		copy(scales[2*o:2*o+2], row[208:])
		for b := range superBlocks {
			scales[32+32*b+o], scales[32+32*b+16+o] = row[192+2*b], row[192+2*b+1]
			n, r := b/4, b%4
			low, high := row[64*n+32*(r&1):], row[128+32*n:]
			var upper [2]uint32
			for k := range 4 {
				first := word(low[4*k:]) >> (r / 2 * 4) & 0x0F0F0F0F
				last := word(low[16+4*k:]) >> (r / 2 * 4) & 0x0F0F0F0F
				put(codes[64*k+4*o:], first|last<<4)
				upper[0] |= word(high[4*k:]) >> (2 * r) & 0x03030303 << (2 * k)
				upper[1] |= word(high[16+4*k:]) >> (2 * r) & 0x03030303 << (2 * k)
			}
			put(codes[256+4*o:], upper[0])
			put(codes[320+4*o:], upper[1])
			codes = codes[384:]
		}
		scales = scales[32+32*superBlocks:]
	}
}

func word(b []byte) uint32   { return binary.LittleEndian.Uint32(b) }
func put(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
