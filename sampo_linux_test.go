// SPDX-License-Identifier: Apache-2.0

package sampo_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sampo-ai/sampo"
)

// mapped returns the memory that the process has mapped and the Go heap does not have, in MiB. Weights and caches are there.
func mapped(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmData:")
	var kib int
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	return kib/1024 - int(heap.Sys>>20)
}

// A program that kept its closed models kept their weights, too.
func TestCloseFreesTheWeightsAlsoOfAModelThatIsKept(t *testing.T) {
	const models, most = 12, 40 // MiB
	before := mapped(t)
	var kept []*sampo.Model
	for range models {
		m, err := sampo.Load("sampo/mini-chat", sampo.Options{CacheBytes: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, m)
	}
	var got int
	for range 100 { // the runtime unmaps a little later
		if got = mapped(t) - before; got <= most {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got > most {
		t.Errorf("%d closed models hold %d MiB, want at most %d", models, got, most)
	}
	runtime.KeepAlive(kept)
}
