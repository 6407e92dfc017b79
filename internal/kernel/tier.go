// SPDX-License-Identifier: Apache-2.0

package kernel

import "os"

// A tier is a set of CPU features that a set of kernels needs. A higher tier includes the lower ones.
type tier int

const (
	generic tier = iota // plain Go
	avx2                // amd64: AVX2, FMA, F16C
	avx512              // amd64: avx2 and AVX-512 F, BW, DQ, VL, VNNI
)

var tierNames = [...]string{generic: "generic", avx2: "avx2", avx512: "avx512"}

func (t tier) String() string { return tierNames[t] }

// detected is the highest tier of this CPU, active the one in use.
var (
	detected = detectTier()
	active   = maskTier(detected, os.Getenv("SAMPO_CPU"))
)

// maskTier gives the tier that name asks for, but never one above t. An empty or unknown name leaves t as it is.
func maskTier(t tier, name string) tier {
	for asked, known := range tierNames {
		if known == name {
			return min(t, tier(asked))
		}
	}
	return t
}

// Tiers names the tiers, the lowest first: what SAMPO_CPU may be.
func Tiers() []string { return tierNames[:] }

// Tier names the tier in use: generic, avx2 or avx512.
func Tier() string { return active.String() }

// DetectedTier names the highest tier of this CPU that has kernels, whatever SAMPO_CPU says.
func DetectedTier() string { return detected.String() }
