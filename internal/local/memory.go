// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/mem"
)

// FreeBytes returns the memory that this process can still take without swapping, and without being killed for it in a container.
func FreeBytes() (int64, error) {
	m, err := mem.VirtualMemory()
	if err != nil {
		return 0, fmt.Errorf("local: reading the free memory: %w", err)
	}
	return min(int64(m.Available), groupBytes(os.DirFS("/")), addressable), nil
}

// addressable is what a process of 32 bits can count on, whatever the machine has: a half of what it may have in one piece. With
// 64 bits it is more than any machine has.
const addressable = math.MaxInt / 2

// A groupLayout says where Linux tells of the memory of control groups: the limit, what is used, and what of that is cached files,
// which make room.
type groupLayout struct {
	root, limit, used string
	files             []string // fields of memory.stat
}

// The two versions of control groups. See cgroups(7).
var (
	groupsV1 = groupLayout{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", []string{"total_inactive_file", "total_active_file"}}
	groupsV2 = groupLayout{"sys/fs/cgroup", "memory.max", "memory.current", []string{"inactive_file", "active_file"}}
)

// groupBytes returns what the control groups that this process is in have left. Without limits, and on other systems, that is
// more than any machine has.
func groupBytes(system fs.FS) int64 {
	text, _ := fs.ReadFile(system, "proc/self/cgroup") // not there on other systems
	left := int64(math.MaxInt64)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[0] == "0":
			left = min(left, groupsV2.left(system, parts[2]))
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			left = min(left, groupsV1.left(system, parts[2]))
		}
	}
	return left
}

// left returns the least that a group and those around it have left. A container may see its own group as the root.
func (g groupLayout) left(system fs.FS, group string) int64 {
	least := int64(math.MaxInt64)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		dir := path.Join(g.root, at)
		if limit, ok := readNumber(system, path.Join(dir, g.limit)); ok { // "max" is none
			used, _ := readNumber(system, path.Join(dir, g.used))
			least = min(least, limit-max(0, used-g.cached(system, dir)))
		}
		if at == "/" {
			return least
		}
	}
}

// cached returns how much of what a group uses are files that the system keeps in memory as long as nobody wants it.
func (g groupLayout) cached(system fs.FS, dir string) (sum int64) {
	text, _ := fs.ReadFile(system, path.Join(dir, "memory.stat"))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil && slices.Contains(g.files, name) {
			sum += n
		}
	}
	return sum
}

func readNumber(system fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(system, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
