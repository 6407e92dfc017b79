// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
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
		kv := newKV(KVF16, blocks, 2, 64)
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

// A step that wrote the first block of a new large page in every layer took 80 ms instead of 8: the system clears each page
// when it is first written.
func TestLayersCrossIntoNewPagesAtDifferentBlocks(t *testing.T) {
	const layers, heads, dim = 30, 3, 64
	blocks := make([]int, layers)
	for i := range blocks {
		blocks[i] = 4096
	}
	kvs := NewKVs(KVF16, blocks, heads, dim)
	crossings := make([]int, blocks[0])
	for _, kv := range kvs {
		for _, n := range []kvNumbers{kv.keys, kv.values} {
			written := map[uintptr]bool{}
			for b := range crossings {
				for head := range heads {
					of := n.of(head)
					block := of.At(b)
					begin := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
					for _, page := range []uintptr{begin / largePage, (begin + uintptr(len(block)) - 1) / largePage} {
						if !written[page] {
							written[page] = true
							crossings[b]++
						}
					}
				}
			}
			last := n.of(heads - 1)
			last.At(0)[0], last.At(blocks[0] - 1)[last.Bytes-1] = 1, 1
		}
	}
	for b, n := range crossings[1:] {
		if n > 2 {
			t.Errorf("block %d is the first of a page in %d of %d arrays", b+1, n, 2*layers)
		}
	}
	for i, kv := range kvs {
		if kv.Close(); kv.keys.bytes != nil {
			t.Errorf("layer %d is not closed", i)
		}
	}
}

// residentBytes is the memory of the process that is backed by pages of its own.
func residentBytes(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, found := strings.Cut(string(status), "RssAnon:")
	var kib int
	if _, err := fmt.Sscan(rest, &kib); !found || err != nil {
		t.Skip("the system does not tell")
	}
	return kib << 10
}

// Large pages that were part empty made caches of some megabytes a layer take twice their size.
func TestFullCacheTakesLittleMoreMemoryThanItsBlocks(t *testing.T) {
	const layers, heads, dim = 30, 3, 64
	size := int(KVF16.BlockBytes(heads, dim))
	blocks := make([]int, layers)
	for i := range blocks {
		blocks[i] = largeCache/size + 20
	}
	runtime.GC()
	before := residentBytes(t)
	kvs := NewKVs(KVF16, blocks, heads, dim)
	data := make([]byte, size)
	for i, kv := range kvs {
		for b := range blocks[i] {
			kv.SetBlock(b, data)
		}
	}
	grown, want := residentBytes(t)-before, layers*blocks[0]*size
	if grown > want*11/10+16<<20 {
		t.Errorf("%d bytes of blocks take %d", want, grown)
	}
	for _, kv := range kvs {
		kv.Close()
	}
}
