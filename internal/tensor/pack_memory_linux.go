// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"os"
	"syscall"
)

// adviseLargePages asks for 2 MiB pages for the whole ones within b. Without them everything works, a little slower.
func adviseLargePages(b []byte) { advise(b, largePage, syscall.MADV_HUGEPAGE) }

// giveBack gives the system the pages of b, which must be zero, so that they come anew when they are written. Memory that the
// program used before has its small pages, which would stay.
func giveBack(b []byte) { advise(b, os.Getpagesize(), syscall.MADV_DONTNEED) }

// advise tells the system about the whole pages within b.
func advise(b []byte, page, advice int) {
	skip := toMultiple(b, page)
	if whole := (len(b) - skip) &^ (page - 1); whole > 0 {
		_ = syscall.Madvise(b[skip:skip+whole], advice)
	}
}
