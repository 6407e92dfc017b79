// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"syscall"
)

// takeMemory maps n zeroed bytes, on large pages if the system has them to give, as weights are. release gives them back.
func takeMemory(n int) (b []byte, release func(), err error) {
	b, err = syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("bench: %d bytes of memory to read: %w", n, err)
	}
	_ = syscall.Madvise(b, syscall.MADV_HUGEPAGE)
	return b, func() { _ = syscall.Munmap(b) }, nil
}
