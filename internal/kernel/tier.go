// SPDX-License-Identifier: Apache-2.0

package kernel

import "os"

// A tier is a set of CPU features that a set of kernels needs. A higher tier includes the lower ones.
type tier int

// The other tiers are those of the architecture; tiers is their number, tierNames what they are called.
const generic tier = 0 // plain Go

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

// Tiers names the tiers, the lowest first: what SAMPO_CPU may be on this architecture.
func Tiers() []string { return tierNames[:] }

// Tier names the tier in use.
func Tier() string { return active.String() }

// DetectedTier names the highest tier of this CPU that has kernels, whatever SAMPO_CPU says.
func DetectedTier() string { return detected.String() }
