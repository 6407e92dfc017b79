// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package tensor

// adviseLargePages does nothing: the system decides.
func adviseLargePages([]byte) {}
