// SPDX-License-Identifier: Apache-2.0

package local

import (
	"math"
	"testing"
	"testing/fstest"
)

// A server in a container took its share of the whole machine's memory, and was killed when its cache grew.
func TestMemoryOfAContainerIsWhatItsGroupHasLeft(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"another system", nil, math.MaxInt64},
		{"no limit", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, math.MaxInt64},
		{"version 2, cached files make room", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "600\n",
			"sys/fs/cgroup/memory.stat": "anon 400\nfile 200\nactive_file 50\ninactive_file 150\n",
		}, 600},
		{"the group around has less", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n", "sys/fs/cgroup/a/memory.max": "500\n", "sys/fs/cgroup/a/memory.current": "100\n",
		}, 400},
		{"version 1, the path of the host", map[string]string{
			"proc/self/cgroup":                           "4:cpu,memory:/docker/x\n1:name=systemd:/\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "1000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "900\n",
			"sys/fs/cgroup/memory/memory.stat": "cache 300\ninactive_file 1\ntotal_inactive_file 200\ntotal_active_file 100\n",
		}, 400},
		{"version 1 without a limit", map[string]string{
			"proc/self/cgroup": "4:memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9223372036854771712\n",
		}, 9223372036854771712},
		{"more is used than the limit", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1000\n", "sys/fs/cgroup/memory.current": "1200\n",
		}, -200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			system := fstest.MapFS{}
			for name, text := range tt.files {
				system[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := groupBytes(system); got != tt.want {
				t.Errorf("groupBytes = %d, want %d", got, tt.want)
			}
		})
	}
}
