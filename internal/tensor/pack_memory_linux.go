// SPDX-License-Identifier: Apache-2.0

package tensor

import "syscall"

// adviseLargePages asks for 2 MiB pages for the whole ones within b, which must be zero. Without them everything works, a little
// slower. Memory that the program used before has its small pages; they are given back, and zeroed large ones come instead.
func adviseLargePages(b []byte) {
	const page = largePage
	skip := toPage(b)
	if skip >= len(b) {
		return
	}
	if whole := b[skip : skip+(len(b)-skip)&^(page-1)]; len(whole) > 0 && syscall.Madvise(whole, syscall.MADV_HUGEPAGE) == nil {
		_ = syscall.Madvise(whole, syscall.MADV_DONTNEED)
	}
}
