// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package kernel

const tiers tier = 1

var tierNames = [tiers]string{generic: "generic"}

func detectTier() tier { return generic }

// hasPairs says whether the tier in use has kernels for pairs of BF16 numbers.
func hasPairs() bool { return false }
