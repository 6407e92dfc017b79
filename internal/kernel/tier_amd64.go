// SPDX-License-Identifier: Apache-2.0

package kernel

import "golang.org/x/sys/cpu"

const (
	avx2   tier = 1 + iota // AVX2, FMA, F16C
	avx512                 // avx2 and AVX-512 F, BW, DQ, VL, VNNI
	tiers
)

var tierNames = [tiers]string{generic: "generic", avx2: "avx2", avx512: "avx512"}

// detectTier checks exactly the features that the kernels of each tier use. The flags of x/sys/cpu are set only if the
// operating system saves the registers too.
func detectTier() tier {
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA || !x.HasF16C {
		return generic
	}
	if !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VNNI {
		return avx2
	}
	return avx512
}

// hasPairs says whether the tier in use may multiply pairs of BF16 numbers (VDPBF16PS), which not all CPUs with AVX-512 can.
func hasPairs() bool { return active == avx512 && cpu.X86.HasAVX512BF16 }
