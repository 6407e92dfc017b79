// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package bench

import "runtime/debug"

// takeMemory allocates n zeroed bytes. release gives them back.
func takeMemory(n int) (b []byte, release func(), err error) {
	return make([]byte, n), debug.FreeOSMemory, nil
}
