// SPDX-License-Identifier: Apache-2.0

package kernel

import "encoding/binary"

// packPairs regroups the lower two bits of a block's codes into two lines. Halves of 128 values have four blocks b%4: a
// byte of the stored row serves the same place in each of them.
func packPairs(codes, pairs []byte, b, o int) {
	for half := range 2 {
		var line uint32
		for k := range 4 {
			line |= word(pairs[32*(b/4)+16*half+4*k:]) >> (b % 4 * 2) & 0x03030303 << (2 * k)
		}
		put(codes[64*half+4*o:], line)
	}
}

// packQ2K packs a super-block of 16 bytes of scales and minima, pairs of bits, and two half floats.
func packQ2K(codes, scales, row []byte, o int) {
	const size = 84
	for ; len(row) >= size; row = row[size:] {
		copy(scales[2*o:2*o+2], row[80:])
		copy(scales[32+2*o:32+2*o+2], row[82:])
		for b := range superBlocks {
			scales[64+32*b+o], scales[64+32*b+16+o] = row[2*b], row[2*b+1]
			packPairs(codes, row[16:80], b, o)
			codes = codes[128:]
		}
		scales = scales[64+32*superBlocks:]
	}
}

// packQ3K packs a super-block of 32 bytes of third bits, pairs of bits, 12 bytes of scales and one half float.
func packQ3K(codes, scales, row []byte, o int) {
	const size = 110
	for ; len(row) >= size; row = row[size:] {
		copy(scales[2*o:2*o+2], row[108:])
		third, fine := (*[32]byte)(row), (*[12]byte)(row[96:])
		for b := range superBlocks {
			scales[32+32*b+o], scales[32+32*b+16+o] = sixBitScale(fine, 2*b), sixBitScale(fine, 2*b+1)
			packPairs(codes, row[32:96], b, o)
			put(codes[128+4*o:], bitPlane(third, b))
			codes = codes[192:]
		}
		scales = scales[32+32*superBlocks:]
	}
}

// sixBitScale gives scale g of Q3_K as a signed byte.
func sixBitScale(fine *[12]byte, g int) byte {
	low := fine[g%8] >> (g / 8 * 4) & 15
	high := fine[8+g%4] >> (g / 4 * 2) & 3
	return (low | high<<4) - 32
}

// packIQ4XS packs a super-block of a half float, 2 bytes of upper and 4 bytes of lower bits of scales, and nibbles.
func packIQ4XS(codes, scales, row []byte, o int) {
	const size = 136
	for ; len(row) >= size; row = row[size:] {
		copy(scales[2*o:2*o+2], row)
		high := binary.LittleEndian.Uint16(row[2:])
		for b := range superBlocks {
			low := row[4+b/2] >> (b % 2 * 4) & 15
			scales[32+16*b+o] = (low | byte(high>>(2*b)&3)<<4) - 32
			for k := range 4 {
				put(codes[64*k+4*o:], word(row[8+16*b+4*k:]))
			}
			codes = codes[256:]
		}
		scales = scales[32+16*superBlocks:]
	}
}

// packMXFP4 packs blocks of an exponent and nibbles. The scale 2^(e-128) becomes a bfloat16, which it is exactly.
func packMXFP4(codes, scales, row []byte, o int) {
	const size = 17
	for ; len(row) >= size; row = row[size:] {
		scale := uint16(0x20) << row[0] // 2^-128 and 2^-127 are subnormal
		if row[0] >= 2 {
			scale = uint16(row[0]-1) << 7
		}
		binary.LittleEndian.PutUint16(scales[2*o:], scale)
		for k := range 4 {
			put(codes[64*k+4*o:], word(row[1+4*k:]))
		}
		codes, scales = codes[256:], scales[32:]
	}
}
