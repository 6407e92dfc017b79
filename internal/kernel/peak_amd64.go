// SPDX-License-Identifier: Apache-2.0

package kernel

//go:noescape
func peakVNNI(sums *[16]int32, codes *[64]uint8, bytes *[64]int8, rounds int)

//go:noescape
func peakMaddWide(sums *[8]int32, codes *[64]uint8, bytes *[64]int8, rounds int)

//go:noescape
func peakMaddLate(sums *[8]int32, codes *[64]uint8, bytes *[64]int8, rounds int)

//go:noescape
func peakFMA512(sums *[16]float32, x, y *[16]float32, rounds int)

//go:noescape
func peakFMA256(sums *[8]float32, x, y *[16]float32, rounds int)

//go:noescape
func peakBF16(sums *[16]float32, x, y *[32]uint16, rounds int)

//go:noescape
func readAVX512(words *[8]uint64, p *byte, n int)

//go:noescape
func readAVX2(words *[8]uint64, p *byte, n int)

//go:noescape
func readStreamsAVX512(words *[8]uint64, p *byte, n int)

//go:noescape
func readStreamsAVX2(words *[8]uint64, p *byte, n int)

var (
	peakVNNILoop = PeakLoop{Name: "VPDPBUSD", MACs: 16 * 64, Rounds: 4096, run: func(rounds int) float64 {
		var sums [16]int32
		peakVNNI(&sums, &peakCodes, &peakBytes, rounds)
		return peakLanes(sums[:])
	}}
	peakWideLoop = PeakLoop{Name: "VPMADDUBSW, VPMADDWD, VPADDD", MACs: 6 * 32, Rounds: 8192, run: func(rounds int) float64 {
		var sums [8]int32
		peakMaddWide(&sums, &peakCodes, &peakBytes, rounds)
		return peakLanes(sums[:])
	}}
	peakLateLoop = PeakLoop{Name: "8 VPMADDUBSW to a VPMADDWD", MACs: 4 * 8 * 32, Rounds: 2048, run: func(rounds int) float64 {
		var sums [8]int32
		peakMaddLate(&sums, &peakCodes, &peakBytes, rounds)
		return peakLanes(sums[:])
	}}
	peakFMA512Loop = PeakLoop{Name: "VFMADD231PS, 512 bits", MACs: 16 * 16, Rounds: 4096, run: func(rounds int) float64 {
		var sums [16]float32
		peakFMA512(&sums, &peakFloats[0], &peakFloats[1], rounds)
		return peakLanes(sums[:])
	}}
	peakFMA256Loop = PeakLoop{Name: "VFMADD231PS", MACs: 12 * 8, Rounds: 8192, run: func(rounds int) float64 {
		var sums [8]float32
		peakFMA256(&sums, &peakFloats[0], &peakFloats[1], rounds)
		return peakLanes(sums[:])
	}}
	peakBF16Loop = PeakLoop{Name: "VDPBF16PS", MACs: 16 * 32, Rounds: 4096, run: func(rounds int) float64 {
		var sums [16]float32
		peakBF16(&sums, &peakHalves[0], &peakHalves[1], rounds)
		return peakLanes(sums[:])
	}}
)

func int8Peaks() []PeakLoop {
	switch active {
	case avx512:
		return []PeakLoop{peakVNNILoop}
	case avx2:
		return []PeakLoop{peakWideLoop, peakLateLoop}
	default:
		return []PeakLoop{peakInt8Twin}
	}
}

func fp32Peaks() []PeakLoop {
	switch active {
	case avx512:
		return []PeakLoop{peakFMA512Loop}
	case avx2:
		return []PeakLoop{peakFMA256Loop}
	default:
		return []PeakLoop{peakFP32Twin}
	}
}

func bf16Peaks() []PeakLoop {
	if hasPairs() {
		return []PeakLoop{peakBF16Loop}
	}
	return nil
}

func readLoops() []ReadLoop {
	switch active {
	case avx512:
		return []ReadLoop{
			{Name: "one stream", read: func(b []byte) uint64 {
				var words [8]uint64
				readAVX512(&words, &b[0], len(b))
				return peakWords(&words)
			}},
			{Name: "four streams", read: func(b []byte) uint64 {
				var words [8]uint64
				readStreamsAVX512(&words, &b[0], len(b))
				return peakWords(&words)
			}},
		}
	case avx2:
		return []ReadLoop{
			{Name: "one stream", read: func(b []byte) uint64 {
				var words [8]uint64
				readAVX2(&words, &b[0], len(b))
				return peakWords(&words)
			}},
			{Name: "four streams", read: func(b []byte) uint64 {
				var words [8]uint64
				readStreamsAVX2(&words, &b[0], len(b))
				return peakWords(&words)
			}},
		}
	default:
		return []ReadLoop{readTwin}
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
