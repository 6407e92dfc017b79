// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package tensor

// adviseLargePages does nothing: the system decides.
func adviseLargePages([]byte) {}

// toPhase is for systems that are asked for large pages.
func toPhase([]byte, int) int { return 0 }
