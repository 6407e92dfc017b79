// SPDX-License-Identifier: Apache-2.0

package wholefile

import (
	"os"
	"time"
)

// hold takes no lock: the system keeps files that are open.
func hold(string) (*os.File, error) { return nil, errNoLocks }

// placing is much longer than a file stays between its closing and its last name.
const placing = time.Hour

func removeStale(path string) {
	if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > placing {
		_ = os.Remove(path)
	}
}
