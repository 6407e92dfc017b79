// SPDX-License-Identifier: Apache-2.0

package kernel

// A PeakLoop multiplies and adds numbers that stay in registers, as fast as one kind of unit can: a limit of the machine
// that products of matrices cannot pass. It is for measurements.
//
// All accumulators add the products of the same 64 bytes, 16 or 32 floats round after round, so that what a loop claims
// to compute can be checked.
type PeakLoop struct {
	Name   string // of the instructions
	MACs   int    // multiply-adds of a round
	Rounds int    // that take some 20 microseconds

	run func(rounds int) float64
}

// Run does so many rounds and returns the sum of all products.
func (l PeakLoop) Run(rounds int) float64 { return l.run(rounds) }

// Int8Peaks returns the ways in which the tier in use can multiply unsigned by signed bytes. The best is the limit.
func Int8Peaks() []PeakLoop { return int8Peaks() }

// FP32Peaks returns the ways in which the tier in use can multiply and add floats.
func FP32Peaks() []PeakLoop { return fp32Peaks() }

// BF16Peaks returns the ways in which the tier in use can multiply BF16 numbers without widening them first; none where
// the CPU has no such instruction.
func BF16Peaks() []PeakLoop { return bf16Peaks() }

// readUnit is what the lengths for ReadLoop must be a multiple of: 8 cache lines.
const readUnit = 512

// A ReadLoop reads memory, as fast as the tier in use can in one way. It is for measurements.
type ReadLoop struct {
	Name string

	read func(b []byte) uint64
}

// Read reads all of b once and returns the exclusive or of its 64-bit words. Panics if len(b) is not a multiple of 512.
func (l ReadLoop) Read(b []byte) uint64 {
	if len(b)%readUnit != 0 {
		panic("kernel: read: length is not a multiple of 512")
	}
	if len(b) == 0 {
		return 0
	}
	return l.read(b)
}

// ReadLoops returns the ways in which the tier in use can read memory. The best is the limit.
func ReadLoops() []ReadLoop { return readLoops() }

// What the loops multiply. The codes have 4 bits, so that 8 pairs of products fit into 16 bits; the floats are small
// integers, so that their sums are exact.
var (
	peakCodes  [64]uint8
	peakBytes  [64]int8
	peakFloats [2][16]float32
	peakHalves [2][32]uint16 // BF16
)

func init() {
	for i := range peakCodes {
		peakCodes[i], peakBytes[i] = uint8(i*7%16), int8(i*37%255-127)
	}
	for i := range 16 {
		peakFloats[0][i], peakFloats[1][i] = float32(i%4), float32(i%5-1)
	}
	for i := range 32 {
		peakHalves[0][i], peakHalves[1][i] = bf16(float32(i%4)), bf16(float32(i%5-1))
	}
}

// peakLanes adds up the lanes of the accumulators.
func peakLanes[T int32 | float32](lanes []T) float64 {
	sum := 0.0
	for _, v := range lanes {
		sum += float64(v)
	}
	return sum
}
