// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// largePagesIn is how many bytes of the mappings that b has a part in are on large pages.
func largePagesIn(t *testing.T, b []byte) int {
	t.Helper()
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	first := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	sum, inside := 0, false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from < first+uintptr(len(b)) && first < to
		}
		var kib int
		if rest, found := strings.CutPrefix(lines.Text(), "AnonHugePages:"); found && inside {
			if _, err := fmt.Sscan(rest, &kib); err != nil {
				t.Fatal(err)
			}
			sum += kib << 10
		}
	}
	return sum
}

// write writes to all pages.
func write(b []byte) {
	for i := range b {
		b[i] = 1
	}
}

// A model's weights lay on small pages where the program had used the memory before, and their first and last megabyte always.
func TestWeightsLieOnLargePagesInUsedMemory(t *testing.T) {
	fresh := newOffHeap(slabBytes + largePage)
	defer fresh.free()
	whole := fresh.bytes[toPage(fresh.bytes):][:slabBytes]
	adviseLargePages(whole)
	if write(whole); largePagesIn(t, whole) < slabBytes {
		t.Skip("the system has no large pages to give")
	}
	for range 4 { // of which the collector frees some
		write(make([]byte, slabBytes+largePage))
	}
	runtime.GC()
	b := largePages(slabBytes)
	if i := slices.IndexFunc(b, func(v byte) bool { return v != 0 }); i >= 0 {
		t.Fatalf("byte %d is %d, want 0", i, b[i])
	}
	write(b)
	if got := largePagesIn(t, b); got < slabBytes {
		t.Errorf("%d bytes are on large pages, want %d", got, slabBytes)
	}
	runtime.KeepAlive(b)
}
