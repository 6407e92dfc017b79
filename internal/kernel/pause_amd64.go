// SPDX-License-Identifier: Apache-2.0

package kernel

// Pause executes n PAUSE instructions, so that a spinning thread leaves the core's resources to others. One takes
// between 10 and 140 cycles.
//
//go:noescape
func Pause(n int)
