// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"

	"github.com/shirou/gopsutil/v4/mem"
)

// availableBytes returns the memory that programs can still take without swapping.
func availableBytes() (int64, error) {
	m, err := mem.VirtualMemory()
	if err != nil {
		return 0, fmt.Errorf("local: reading the free memory: %w", err)
	}
	return int64(m.Available), nil
}
