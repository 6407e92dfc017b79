// SPDX-License-Identifier: Apache-2.0

package kernel

//go:noescape
func peakSMLAL(sums *[16]int32, codes *[64]uint8, bytes *[64]int8, rounds int)

//go:noescape
func peakSDOT(sums *[16]int32, codes *[64]uint8, bytes *[64]int8, rounds int)

//go:noescape
func peakSMMLA(sums *[16]int32, codes *[64]uint8, bytes *[64]int8, rounds int)

//go:noescape
func peakFMLA(sums *[16]float32, x, y *[16]float32, rounds int)

//go:noescape
func readNEON(words *[8]uint64, p *byte, n int)

//go:noescape
func readStreamsNEON(words *[8]uint64, p *byte, n int)

var (
	peakWidenLoop = PeakLoop{Name: "8 SMLAL to a SADALP", MACs: 8 * 64, Rounds: 1024, run: func(rounds int) float64 {
		var sums [16]int32
		peakSMLAL(&sums, &peakCodes, &peakBytes, rounds)
		return peakLanes(sums[:])
	}}
	peakDotLoop = PeakLoop{Name: "SDOT", MACs: 16 * 16, Rounds: 4096, run: func(rounds int) float64 {
		var sums [16]int32
		peakSDOT(&sums, &peakCodes, &peakBytes, rounds)
		return peakLanes(sums[:])
	}}
	peakMatrixLoop = PeakLoop{Name: "SMMLA", MACs: 16 * 32, Rounds: 4096, run: func(rounds int) float64 {
		var sums [16]int32
		peakSMMLA(&sums, &peakCodes, &peakBytes, rounds)
		return peakLanes(sums[:])
	}}
	peakFMALoop = PeakLoop{Name: "FMLA", MACs: 16 * 4, Rounds: 4096, run: func(rounds int) float64 {
		var sums [16]float32
		peakFMLA(&sums, &peakFloats[0], &peakFloats[1], rounds)
		return peakLanes(sums[:])
	}}
)

func int8Peaks() []PeakLoop {
	switch active {
	case i8mm:
		return []PeakLoop{peakMatrixLoop, peakDotLoop}
	case dotprod:
		return []PeakLoop{peakDotLoop}
	case neon:
		return []PeakLoop{peakWidenLoop}
	default:
		return []PeakLoop{peakInt8Twin}
	}
}

func fp32Peaks() []PeakLoop {
	if active == generic {
		return []PeakLoop{peakFP32Twin}
	}
	return []PeakLoop{peakFMALoop}
}

func bf16Peaks() []PeakLoop { return nil }

func readLoops() []ReadLoop {
	if active == generic {
		return []ReadLoop{readTwin}
	}
	return []ReadLoop{
		{Name: "one stream", read: func(b []byte) uint64 {
			var words [8]uint64
			readNEON(&words, &b[0], len(b))
			return peakWords(&words)
		}},
		{Name: "four streams", read: func(b []byte) uint64 {
			var words [8]uint64
			readStreamsNEON(&words, &b[0], len(b))
			return peakWords(&words)
		}},
	}
}

// peakWords is the exclusive or of all lanes.
func peakWords(words *[8]uint64) uint64 {
	sum := uint64(0)
	for _, w := range words {
		sum ^= w
	}
	return sum
}
