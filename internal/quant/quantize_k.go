// SPDX-License-Identifier: Apache-2.0

package quant

// Quantisers of the K formats. First each sub-block gets the scale (and minimum) that suits it, then these are rounded
// to the integers that the super-block keeps, and at last the values are rounded with what can be stored.

// The series of scales that are tried: the fewer codes there are, the more it matters.
var (
	ladder4 = ladder{top: 15, first: -1, steps: 21}
	ladder5 = ladder{top: 31, first: -0.5, steps: 16}
)

// set stores the six-bit scale and minimum of sub-block b.
func (p *packedScales) set(b int, scale, minimum uint8) {
	if b < 4 {
		p[b] |= scale
		p[b+4] |= minimum
		return
	}
	p[b+4] = scale&15 | minimum<<4
	p[b-4] |= scale >> 4 << 6
	p[b] |= minimum >> 4 << 6
}

// superScales are the scales of a super-block of Q4_K or Q5_K, as those store them.
type superScales struct {
	d, dmin half
	fine    packedScales
}

// fitSuper finds the scales of a super-block and rounds its values with them.
//
// Shapes: codes [256], x [256].
func (l ladder) fitSuper(codes *[256]uint8, x []float32) (s superScales) {
	var fine, minima [8]float32
	for b := range 8 {
		fine[b], minima[b] = l.fit(x[32*b : 32*b+32])
	}
	_, topScale := span(fine[:])
	_, topMinimum := span(minima[:])
	s.d.set(topScale / 63)
	s.dmin.set(topMinimum / 63)
	d, dmin := s.d.value(), s.dmin.value()
	toScale, toMinimum := inverse(d), inverse(dmin)
	for b := range 8 {
		scale, minimum := level(fine[b]*toScale+0.5, 63), level(minima[b]*toMinimum+0.5, 63)
		s.fine.set(b, scale, minimum)
		roundSub(codes[32*b:32*b+32], x[32*b:32*b+32], d*float32(scale), dmin*float32(minimum), l.top)
	}
	return s
}

// roundSub sets codes to the nearest of x, value being scale*code - minimum.
func roundSub(codes []uint8, x []float32, scale, minimum float32, top int32) {
	inv := inverse(scale)
	for i, v := range x {
		codes[i] = uint8(max(0, min(float32(top), float32((v+minimum)*inv)+0.5)))
	}
}

func quantizeQ4K(dst []byte, src []float32) {
	bs := blocks[blockQ4K](dst)
	var codes [256]uint8
	for n := range bs {
		b := &bs[n]
		s := ladder4.fitSuper(&codes, src[256*n:256*n+256])
		b.d, b.dmin, b.scales = s.d, s.dmin, s.fine
		for i := range b.qs {
			at := i/32*64 + i%32
			b.qs[i] = codes[at] | codes[at+32]<<4
		}
	}
}

func quantizeQ5K(dst []byte, src []float32) {
	bs := blocks[blockQ5K](dst)
	var codes [256]uint8
	for n := range bs {
		b := &bs[n]
		s := ladder5.fitSuper(&codes, src[256*n:256*n+256])
		b.d, b.dmin, b.scales = s.d, s.dmin, s.fine
		for i := range b.qs {
			at := i/32*64 + i%32
			b.qs[i] = codes[at]&15 | codes[at+32]<<4
		}
		for i := range b.qh {
			b.qh[i] = 0
			for sub := range 8 {
				b.qh[i] |= codes[32*sub+i] >> 4 << sub
			}
		}
	}
}

func quantizeQ6K(dst []byte, src []float32) {
	bs := blocks[blockQ6K](dst)
	var fine [16]float32
	var codes [256]uint8
	for n := range bs {
		b, x := &bs[n], src[256*n:256*n+256]
		for g := range fine {
			fine[g] = fitScale(x[16*g:16*g+16], 32)
		}
		// The scale of largest magnitude becomes -128, which signed bytes have one more of below zero.
		b.d.set(largest(fine[:]) / -128)
		d := b.d.value()
		toScale := inverse(d)
		for g := range fine {
			scale := max(-128, min(127, nearest(fine[g]*toScale)))
			b.scales[g] = int8(scale)
			inv := inverse(d * float32(scale))
			for i := 16 * g; i < 16*g+16; i++ {
				codes[i] = uint8(max(-32, min(31, nearest(max(-64, min(64, x[i]*inv))))) + 32)
			}
		}
		b.store(&codes)
	}
}

// store packs six-bit codes: see blockQ6K.
func (block *blockQ6K) store(codes *[256]uint8) {
	clear(block.ql[:])
	clear(block.qh[:])
	for r := range 8 {
		ql, qh := block.ql[r/4*64+r%2*32:][:32], block.qh[r/4*32:][:32]
		lowShift, highShift := r%4/2*4, r%4*2
		for i := range ql {
			q := codes[32*r+i]
			ql[i] |= q & 15 << lowShift
			qh[i] |= q >> 4 << highShift
		}
	}
}
