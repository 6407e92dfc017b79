// SPDX-License-Identifier: Apache-2.0

package tensor

import "syscall"

// adviseLargePages asks for 2 MiB pages for the whole ones within b. Without them everything works, a little slower.
func adviseLargePages(b []byte) {
	const page = largePage
	skip := toPage(b)
	if skip >= len(b) {
		return
	}
	if whole := b[skip : skip+(len(b)-skip)&^(page-1)]; len(whole) > 0 {
		_ = syscall.Madvise(whole, syscall.MADV_HUGEPAGE)
	}
}
