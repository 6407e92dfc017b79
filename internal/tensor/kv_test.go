// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"runtime"
	"testing"
)

// newKV allocates blocks for one layer.
func newKV(t KVType, blocks, kvHeads, headDim int) *KV {
	return NewKVs(t, []int{blocks}, kvHeads, headDim)[0]
}

func TestCacheDoesNotCountAsGoHeap(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the cache is on the Go heap there")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	kv := newKV(KVF16, 4096, 2, 64) // 64 MiB
	kv.Store(4095, 31, make([]float32, 128), make([]float32, 128))
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 16<<20 {
		t.Errorf("the heap grew by %d bytes for a cache of 64 MiB", grown)
	}
	if got, want := int64(len(kv.keys.bytes)+len(kv.values.bytes)), 4096*KVF16.BlockBytes(2, 64); got < want || got > want+largePage {
		t.Errorf("the cache has %d bytes, want %d and at most a large page more", got, want)
	}
	kv.Close()
	kv.Close() // does nothing
}

func TestEmptyCacheHasNoMemory(t *testing.T) {
	kv := newKV(KVF32, 0, 2, 64)
	if n := len(kv.memory.bytes); n != 0 {
		t.Errorf("a cache of no blocks has %d bytes", n)
	}
	kv.Close()
}
