// SPDX-License-Identifier: Apache-2.0

package quant

import "unsafe"

// The K formats: super-blocks of 256 values.
type (
	// blockQ4K: eight sub-blocks of 32; value = (d scale) q - (dmin min). Sub-blocks 2k and 2k+1 are the low and
	// high nibbles of bytes 32k to 32k+31.
	blockQ4K struct {
		d, dmin half
		scales  packedScales
		qs      [128]byte
	}
	// blockQ5K is blockQ4K with a fifth bit: bit b of qh[i] belongs to value i of sub-block b.
	blockQ5K struct {
		d, dmin half
		scales  packedScales
		qh      [32]byte
		qs      [128]byte
	}
	// blockQ6K: sixteen sub-blocks of 16; value = (d scale) (q - 32). Low nibbles in ql, upper two bits in qh.
	blockQ6K struct {
		ql     [128]byte
		qh     [64]byte
		scales [16]int8
		d      half
	}
)

// The sizes that files rely on.
var (
	_ [144]byte = [unsafe.Sizeof(blockQ4K{})]byte{}
	_ [176]byte = [unsafe.Sizeof(blockQ5K{})]byte{}
	_ [210]byte = [unsafe.Sizeof(blockQ6K{})]byte{}
)

// packedScales holds eight scales and eight minima of six bits each. Those of sub-blocks 0 to 3 are the low six
// bits of bytes 0 to 3 (scale) and 4 to 7 (minimum). Those of 4 to 7 have their low nibbles in bytes 8 to 11
// (scale low, minimum high) and their upper two bits on top of bytes 0 to 3 and 4 to 7.
type packedScales [12]byte

// at gives the scale and the minimum of sub-block b.
func (p *packedScales) at(b int) (scale, minimum uint8) {
	if b < 4 {
		return p[b] & 63, p[b+4] & 63
	}
	return p[b+4]&15 | p[b-4]>>6<<4, p[b+4]>>4 | p[b]>>6<<4
}

func dequantizeQ4K(dst []float32, src []byte) {
	for n, block := range blocks[blockQ4K](src) {
		d, dmin := block.d.value(), block.dmin.value()
		for b := range 8 {
			y, qs, shift := dst[256*n+32*b:][:32], block.qs[b/2*32:][:32], b%2*4
			scale, minimum := block.scales.at(b)
			ds, m := d*float32(scale), float32(dmin*float32(minimum))
			for i := range y {
				y[i] = float32(ds*float32(qs[i]>>shift&15)) - m
			}
		}
	}
}

func dequantizeQ5K(dst []float32, src []byte) {
	for n, block := range blocks[blockQ5K](src) {
		d, dmin := block.d.value(), block.dmin.value()
		for b := range 8 {
			y, qs, shift := dst[256*n+32*b:][:32], block.qs[b/2*32:][:32], b%2*4
			scale, minimum := block.scales.at(b)
			ds, m := d*float32(scale), float32(dmin*float32(minimum))
			for i := range y {
				q := qs[i]>>shift&15 | block.qh[i]>>b&1<<4
				y[i] = float32(ds*float32(q)) - m
			}
		}
	}
}

func dequantizeQ6K(dst []float32, src []byte) {
	for n, block := range blocks[blockQ6K](src) {
		d := block.d.value()
		// Row r of 32 values: half r/4 of the block, quarter r%4 of that half.
		for r := range 8 {
			y, ql, qh := dst[256*n+32*r:][:32], block.ql[r/4*64+r%2*32:][:32], block.qh[r/4*32:][:32]
			lowShift, highShift := r%4/2*4, r%4*2
			ds := [2]float32{d * float32(block.scales[2*r]), d * float32(block.scales[2*r+1])}
			for i := range y {
				q := ql[i]>>lowShift&15 | qh[i]>>highShift&3<<4
				y[i] = ds[i/16] * float32(int(q)-32)
			}
		}
	}
}
