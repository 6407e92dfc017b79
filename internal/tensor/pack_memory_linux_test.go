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
	"time"
	"unsafe"

	"github.com/sampo-ai/sampo/internal/quant"
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
	whole := onLargePages(fresh.bytes, slabBytes)
	write(whole)
	given := largePagesIn(t, whole)
	fresh.free()
	if given < slabBytes {
		t.Skip("the system has no large pages to give")
	}
	var s slab
	b, memory := s.take(slabBytes)
	if i := slices.IndexFunc(b, func(v byte) bool { return v != 0 }); i >= 0 {
		t.Fatalf("byte %d is %d, want 0", i, b[i])
	}
	write(b)
	if got := largePagesIn(t, b); got < slabBytes {
		t.Errorf("%d bytes are on large pages, want %d", got, slabBytes)
	}
	runtime.KeepAlive(memory)
}

// The collector waits until there is as much garbage as memory in use. Weights counted as such, so a server with a disk cache came
// to take twice the memory of its model.
func TestNoGarbageGathersForTheSakeOfWeights(t *testing.T) {
	const rows, cols, most = 4096, 4096, 8 << 20
	p := NewPool(1)
	defer p.Close()
	stored := make([]byte, rows*quant.Q80.RowBytes(cols))
	floats := make([]byte, rows*quant.BF16.RowBytes(cols))
	before := heapInUse()
	packed, err := NewMatrix(p, quant.Q80, rows, cols, stored)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := NewMatrix(p, quant.BF16, rows, cols, floats)
	if err != nil {
		t.Fatal(err)
	}
	if got := heapInUse() - before; got > most {
		t.Errorf("matrices of %d bytes take %d of the heap, want at most %d", packed.Bytes()+copied.Bytes(), got, most)
	}
	runtime.KeepAlive(stored)
	runtime.KeepAlive(floats)
}

// heapInUse is what the collector finds in use.
func heapInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A slab goes when the matrices in it are gone and the pool has begun another one.
func TestMemoryOfWeightsGoesBackToTheSystem(t *testing.T) {
	const rows, cols = 2048, 4096 // a quarter of a slab each
	p := NewPool(1)
	defer p.Close()
	stored := make([]byte, rows*quant.Q80.RowBytes(cols))
	before := virtualPages(t)
	var kept *Matrix
	for range 100 {
		m, err := NewMatrix(p, quant.Q80, rows, cols, stored)
		if err != nil {
			t.Fatal(err)
		}
		kept = m
	}
	size := 100 * kept.Bytes() / os.Getpagesize()
	if got, most := virtualPages(t), before+size*3/4; got > most { // nobody has collected garbage so far
		t.Errorf("%d pages are mapped, want at most %d: matrices that were forgotten pile up", got, most)
	}
	for deadline := time.Now().Add(time.Minute); virtualPages(t) >= before+size/10; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d pages are mapped, want about %d", virtualPages(t), before)
		}
		runtime.GC()
	}
	dst := make([]float32, cols)
	kept.Row(dst, rows-1) // its own are there
}
