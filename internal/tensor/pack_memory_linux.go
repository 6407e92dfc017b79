// SPDX-License-Identifier: Apache-2.0

package tensor

import "syscall"

// adviseLargePages asks for 2 MiB pages for the whole ones within b. Without them everything works, a little slower.
func adviseLargePages(b []byte) {
	skip := toPage(b)
	if whole := (len(b) - skip) &^ (largePage - 1); whole > 0 {
		_ = syscall.Madvise(b[skip:skip+whole], syscall.MADV_HUGEPAGE)
	}
}
