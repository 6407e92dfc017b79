// SPDX-License-Identifier: Apache-2.0

//go:build unix

package weights

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps size bytes of f and gives the function that undoes it.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// releasePages drops whole pages of a mapping. It is advice: a system that does not take it has lost nothing.
func releasePages(pages []byte) {
	_ = unix.Madvise(pages, unix.MADV_DONTNEED)
}
