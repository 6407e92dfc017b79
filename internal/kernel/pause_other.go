// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package kernel

// Pause waits a moment in proportion to n.
func Pause(n int) {
	for range n {
		spin()
	}
}

//go:noinline
func spin() {}
