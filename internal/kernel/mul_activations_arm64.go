// SPDX-License-Identifier: Apache-2.0

package kernel

//go:noescape
func quantizeNEON(dst *byte, stride uintptr, x *float32, blocks int)

func addQuantizeKernels() {
	for t := neon; t < tiers; t++ {
		quantizeTiers[t] = quantizeNEON
	}
}
