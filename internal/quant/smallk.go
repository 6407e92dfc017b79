// SPDX-License-Identifier: Apache-2.0

package quant

import "unsafe"

// The small K formats: super-blocks of 256 values with sixteen sub-blocks g of 16. Bits 2j and 2j+1 of byte 32n+l of
// qs belong to value 128n + 32j + l.
type (
	// blockQ2K: value = (d lo(scales[g])) q - (dmin hi(scales[g])).
	blockQ2K struct {
		scales  [16]byte
		qs      [64]byte
		d, dmin half
	}
	// blockQ3K: value = (d scale) q, where q is the two bits less 4, or less 0 if bit 4n+j of hmask[l] is set.
	blockQ3K struct {
		hmask  [32]byte
		qs     [64]byte
		scales sixBitScales
		d      half
	}
)

// The sizes that files rely on.
var (
	_ [84]byte  = [unsafe.Sizeof(blockQ2K{})]byte{}
	_ [110]byte = [unsafe.Sizeof(blockQ3K{})]byte{}
)

// sixBitScales holds sixteen scales of six bits, shifted by 32. The low four bits of scale g are a nibble of byte g%8,
// the high one for g >= 8; the upper two are bits 2(g/4) and 2(g/4)+1 of byte 8 + g%4.
type sixBitScales [12]byte

// at gives scale g.
func (p *sixBitScales) at(g int) int {
	low := p[g%8] >> (g / 8 * 4) & 15
	high := p[8+g%4] >> (g / 4 * 2) & 3
	return int(low|high<<4) - 32
}

func dequantizeQ2K(dst []float32, src []byte) {
	for n, block := range blocks[blockQ2K](src) {
		d, dmin := block.d.value(), block.dmin.value()
		for g := range 16 {
			y, qs, shift := dst[256*n+16*g:][:16], block.qs[g/8*32+g%2*16:][:16], g%8/2*2
			scale := block.scales[g]
			ds, m := d*float32(scale&15), float32(dmin*float32(scale>>4))
			for i := range y {
				y[i] = float32(ds*float32(qs[i]>>shift&3)) - m
			}
		}
	}
}

func dequantizeQ3K(dst []float32, src []byte) {
	for n, block := range blocks[blockQ3K](src) {
		d := block.d.value()
		for g := range 16 {
			y, qs, shift := dst[256*n+16*g:][:16], block.qs[g/8*32+g%2*16:][:16], g%8/2*2
			ds := d * float32(block.scales.at(g))
			high := block.hmask[g%2*16:][:16]
			for i := range y {
				q := int(qs[i]>>shift&3 | high[i]>>(g/2)&1<<2)
				y[i] = ds * float32(q-4)
			}
		}
	}
}
