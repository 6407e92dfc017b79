// SPDX-License-Identifier: Apache-2.0

//go:build unix

package tensor

import "golang.org/x/sys/unix"

// mapMemory asks the system for zeroed memory. It panics with a *NoMemoryError if there is none.
func mapMemory(n int) []byte {
	if n == 0 {
		return nil
	}
	memory, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		panic(&NoMemoryError{n, err})
	}
	return memory
}

// unmapMemory gives back what mapMemory got.
func unmapMemory(memory []byte) {
	if len(memory) > 0 {
		_ = unix.Munmap(memory) // it fails for memory that is not mapped only
	}
}
