// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// peakTiers are all tiers of this machine.
func peakTiers() []tier { return append([]tier{generic}, vectorTiers()...) }

func TestPeakLoopsComputeWhatTheyClaim(t *testing.T) {
	bytes, floats, halves := 0.0, 0.0, 0.0
	for i := range peakCodes {
		bytes += float64(peakCodes[i]) * float64(peakBytes[i])
	}
	for i := range peakFloats[0] {
		floats += float64(peakFloats[0][i]) * float64(peakFloats[1][i])
	}
	value := func(half uint16) float64 { return float64(math.Float32frombits(uint32(half) << 16)) }
	for i := range peakHalves[0] {
		halves += value(peakHalves[0][i]) * value(peakHalves[1][i])
	}
	for _, tier := range peakTiers() {
		onTier(tier, func() {
			for _, kind := range []struct {
				name    string
				loops   []PeakLoop
				perMACs float64 // sum of the products of one pass over the inputs, for each of its products
			}{
				{"int8", Int8Peaks(), bytes / 64}, {"fp32", FP32Peaks(), floats / 16}, {"bf16", BF16Peaks(), halves / 32},
			} {
				for _, l := range kind.loops {
					checkPeakLoop(t, fmt.Sprintf("%v: %s: %s", tier, kind.name, l.Name), l, kind.perMACs)
				}
			}
		})
	}
}

// checkPeakLoop compares the sums of a few rounds. A 256-bit loop takes the first half of 64 bytes or 16 floats only.
func checkPeakLoop(t *testing.T, what string, l PeakLoop, perMAC float64) {
	t.Helper()
	if l.Name != "plain Go" && active.String() == "avx2" {
		perMAC = 0
		if strings.Contains(l.Name, "VFMADD") {
			for i := range 8 {
				perMAC += float64(peakFloats[0][i]) * float64(peakFloats[1][i]) / 8
			}
		} else {
			for i := range 32 {
				perMAC += float64(peakCodes[i]) * float64(peakBytes[i]) / 32
			}
		}
	}
	for _, rounds := range []int{1, 2, 7} {
		if got, want := l.Run(rounds), float64(rounds*l.MACs)*perMAC; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: sum of %d rounds is %v, want %v", what, rounds, got, want)
		}
	}
}

func TestEveryTierHasLimits(t *testing.T) {
	for _, tier := range peakTiers() {
		onTier(tier, func() {
			if len(Int8Peaks()) == 0 || len(FP32Peaks()) == 0 || len(ReadLoops()) == 0 {
				t.Errorf("%v: no loop for bytes, floats or memory", tier)
			}
		})
	}
}

func TestReadLoopsReadEveryByteOnce(t *testing.T) {
	b := make([]byte, 3*readUnit)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	for _, n := range []int{0, readUnit, 3 * readUnit} {
		want := uint64(0)
		for i := 0; i < n; i += 8 {
			want ^= binary.LittleEndian.Uint64(b[i:])
		}
		for _, tier := range peakTiers() {
			onTier(tier, func() {
				for _, l := range ReadLoops() {
					if got := l.Read(b[:n]); got != want {
						t.Errorf("%v: %s: exclusive or of %d bytes is %#x, want %#x", tier, l.Name, n, got, want)
					}
				}
			})
		}
	}
}

// TestBytesOfVDPBF16PSAreWhatTheirCommentsSay decodes the EVEX prefix (Intel SDM volume 2, 2.7) of the instruction
// EVEX.512.F3.0F38.W0 52 /r.
func TestBytesOfVDPBF16PSAreWhatTheirCommentsSay(t *testing.T) {
	for file, want := range map[string]int{"peak_amd64.s": 16, "dot_amd64.s": 4 * (1 + 2 + 3 + 4 + 6)} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := regexp.MustCompile(`LONG \$0x(\w{8}); WORD \$0x(\w{4}) // (.*)`).FindAllStringSubmatch(string(source), -1)
		if len(lines) != want {
			t.Fatalf("%s: found %d encoded instructions, want %d", file, len(lines), want)
		}
		for _, line := range lines {
			low, errLow := strconv.ParseUint(line[1], 16, 32)
			high, errHigh := strconv.ParseUint(line[2], 16, 16)
			if errLow != nil || errHigh != nil {
				t.Fatalf("%s: %s: %v, %v", file, line[0], errLow, errHigh)
			}
			if got := decodeVDPBF16PS(low | high<<32); got != line[3] {
				t.Errorf("%s: %s: the bytes are %s", file, line[0], got)
			}
		}
	}
}

// decodeVDPBF16PS decodes 6 bytes, the first one lowest, if they are this instruction on 512-bit registers.
func decodeVDPBF16PS(code uint64) string {
	bit := func(at int) uint64 { return code >> at & 1 }
	inverted := func(at int) uint64 { return 1 - bit(at) }
	const (
		prefix, p0, p1, p2, opcode, modrm = 0, 8, 16, 24, 32, 40
	)
	if code&0xFF != 0x62 || code>>p0&0xF != 2 || code>>p1&7 != 0b110 || bit(p1+7) != 0 || code>>opcode&0xFF != 0x52 {
		return "another instruction"
	}
	if code>>p2&0xF7 != 0b01000000 || code>>(modrm+6) != 3 {
		return "masked, broadcast, of another length, or with memory"
	}
	dst := inverted(p0+4)<<4 | inverted(p0+7)<<3 | code>>(modrm+3)&7
	first := inverted(p2+3)<<4 | ^(code>>(p1+3))&15
	second := inverted(p0+6)<<4 | inverted(p0+5)<<3 | code>>modrm&7
	return fmt.Sprintf("VDPBF16PS Z%d, Z%d, Z%d", second, first, dst)
}
