// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

// virtualPages is how many pages the process has mapped.
func virtualPages(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var n int
	if _, err := fmt.Sscan(string(data), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCacheMemoryGoesBackToTheSystem(t *testing.T) {
	const blocks = 1 << 16 // 1 GiB, of which no page is ever written
	size := blocks * int(KVF16.BlockBytes(2, 64)) / os.Getpagesize()
	before := virtualPages(t)
	for what, release := range map[string]func(*KV){"closed": (*KV).Close, "forgotten": func(*KV) {}} {
		kv := NewKV(KVF16, blocks, 2, 64)
		// Caches of earlier tests may go at any time, but they are small.
		if got, want := virtualPages(t), before+size*9/10; got < want {
			t.Fatalf("%d pages are mapped with the cache, want at least %d", got, want)
		}
		release(kv)
		runtime.KeepAlive(kv)
		deadline := time.Now().Add(time.Minute) // for a machine that is busy with other things
		for virtualPages(t) >= before+size/2 {
			if time.Now().After(deadline) {
				t.Fatalf("a %s cache: %d pages are mapped, want about %d", what, virtualPages(t), before)
			}
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
}
