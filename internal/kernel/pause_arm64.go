// SPDX-License-Identifier: Apache-2.0

package kernel

// Pause executes n ISB instructions, so that a spinning thread leaves the core's resources to others. One takes some tens of
// cycles; YIELD, which is meant for this, does nothing on most CPUs.
//
//go:noescape
func Pause(n int)
