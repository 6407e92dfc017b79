// SPDX-License-Identifier: Apache-2.0

package kernel

import "fmt"

// MergeSoftmax adds the unfinished softmax of the rows of a tile over some positions to that over others. A row has a maximum, a
// sum of weights e^(score-maximum), and values weighted by them; both rows' are lowered to the larger maximum.
//
// Shapes: all, one [(2+W)·KVTileRows]: maxima [KVTileRows], sums [KVTileRows], values [rows, W], W a multiple of 16 above 0.
// Maxima are below +Inf: where one is not, a sum is NaN already.
func MergeSoftmax(all, one []float32, rows, width int) {
	checkMultiple(width)
	if need := 2*KVTileRows + rows*width; rows < 1 || rows > KVTileRows || width < 1 || len(all) < need || len(one) < need {
		panic(fmt.Sprintf("kernel: merge of %d rows of %d: got %d and %d values", rows, width, len(all), len(one)))
	}
	merge(all, one, rows, width)
}

func mergeGo(all, one []float32, rows, width int) {
	for r := range rows {
		c, d := float32(1), float32(1)
		if all[r] < one[r] {
			c, all[r] = exp(all[r]-one[r]), one[r]
		} else {
			d = exp(one[r] - all[r])
		}
		sum := &all[KVTileRows+r]
		*sum = float32(*sum*c) + float32(one[KVTileRows+r]*d)
		values := all[2*KVTileRows+r*width:][:width]
		Scale(values, values, c)
		AddScaled(values, one[2*KVTileRows+r*width:][:width], d)
	}
}
