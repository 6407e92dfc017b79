// SPDX-License-Identifier: Apache-2.0

package kernel

import "golang.org/x/sys/cpu"

const (
	neon    tier = 1 + iota // what every arm64 CPU has
	dotprod                 // neon and the dot products of bytes of Armv8.2 (ASIMDDP)
	i8mm                    // dotprod and the matrix products of bytes of Armv8.6 (I8MM)
	tiers
)

var tierNames = [tiers]string{generic: "generic", neon: "neon", dotprod: "dotprod", i8mm: "i8mm"}

// detectTier checks exactly the features that the kernels of each tier use. x/sys/cpu asks the operating system; Windows
// tells of dot products only.
func detectTier() tier {
	switch a := &cpu.ARM64; {
	case !a.HasASIMDDP:
		return neon
	case !a.HasI8MM:
		return dotprod
	}
	return i8mm
}

// hasPairs says whether the tier in use has kernels for pairs of BF16 numbers.
func hasPairs() bool { return false }
