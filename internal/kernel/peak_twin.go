// SPDX-License-Identifier: Apache-2.0

package kernel

import "encoding/binary"

// The loops in plain Go: what they compute, and the limits where no assembly runs.
var (
	peakInt8Twin = PeakLoop{Name: "plain Go", MACs: 64, Rounds: 400, run: peakInt8Go}
	peakFP32Twin = PeakLoop{Name: "plain Go", MACs: 16, Rounds: 1600, run: peakFP32Go}
	readTwin     = ReadLoop{Name: "plain Go", read: readWordsGo}
)

func peakInt8Go(rounds int) float64 {
	var sums [16]int32
	codes, bytes := peakCodes, peakBytes
	for range rounds {
		for i := range sums {
			c, b := codes[4*i:4*i+4:64], bytes[4*i:4*i+4:64]
			sums[i] += int32(c[0])*int32(b[0]) + int32(c[1])*int32(b[1]) + int32(c[2])*int32(b[2]) + int32(c[3])*int32(b[3])
		}
	}
	return peakLanes(sums[:])
}

func peakFP32Go(rounds int) float64 {
	var sums [16]float32
	x, y := peakFloats[0], peakFloats[1]
	for range rounds {
		for i := range sums {
			sums[i] += x[i] * y[i]
		}
	}
	return peakLanes(sums[:])
}

func readWordsGo(b []byte) uint64 {
	var x, y uint64
	for ; len(b) >= 32; b = b[32:] {
		x ^= binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64(b[8:])
		y ^= binary.LittleEndian.Uint64(b[16:]) ^ binary.LittleEndian.Uint64(b[24:])
	}
	return x ^ y
}
