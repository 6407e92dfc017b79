// SPDX-License-Identifier: Apache-2.0

package kernel

// UnpackRow sets dst to the values of row o: those that the stored row had, bit for bit.
//
// Shapes: dst [E]; w [O, E].
func UnpackRow(dst []float32, w Panels, o int) {
	f, panelCodes, scales := w.Format, w.codesOf(o/PanelRows), w.scalesOf(o/PanelRows)
	o %= PanelRows
	var s blockScales
	zero := layouts[f].zero
	for b := range w.Blocks {
		s.decode(f, scales[b/f.GroupBlocks()*f.ScaleBytes():], b%f.GroupBlocks())
		scale, minimum := s.lo[o], s.min[o]
		codes := panelCodes[b*f.CodeBytes():][:f.CodeBytes()]
		for i := range BlockCols {
			if s.halves && i == 16 {
				scale, minimum = s.hi[o], s.minHi[o]
			}
			value := float32(int32(codeAt(f, codes, o, i))-zero) * scale
			if s.minima {
				value = float32(value) + minimum
			}
			dst[b*BlockCols+i] = value
		}
	}
}
