// SPDX-License-Identifier: Apache-2.0

package sampler

import "math/bits"

// Uniform returns the 64 random bits of one output position under a seed.
//
// It is the first half of a block of Philox-4x32 with ten rounds, whose key is the seed and whose counter is the
// position: positions can be visited in any order, again, or on another machine.
//
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
func Uniform(seed, position uint64) uint64 {
	block := philox([4]uint32{uint32(position), uint32(position >> 32)}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	return uint64(block[1])<<32 | uint64(block[0])
}

func philox(c [4]uint32, key [2]uint32) [4]uint32 {
	for range 10 {
		hi0, lo0 := bits.Mul32(0xD2511F53, c[0])
		hi1, lo1 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{hi1 ^ c[1] ^ key[0], lo1, hi0 ^ c[3] ^ key[1], lo0}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return c
}
