// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"runtime"
)

// A NoMemoryError is what those panic with that the system gives no memory: NewMatrix and NewKVs, and what calls them. Address space
// is bounded by "ulimit -v" and where the system does not overcommit. Where the Go heap gets none, the process ends.
type NoMemoryError struct {
	Bytes int
	Err   error
}

func (e *NoMemoryError) Error() string {
	return fmt.Sprintf("tensor: %d bytes of memory: %v", e.Bytes, e.Err)
}

// offHeap is zeroed memory that the garbage collector neither counts nor scans. It is freed when nothing refers to the
// offHeap any more, or by free. Slices of it do not keep it: who uses them keeps the offHeap alive.
type offHeap struct {
	bytes   []byte
	cleanup runtime.Cleanup
}

// newOffHeap allocates n bytes, which start on a page. Pages that were never written are not backed by memory.
func newOffHeap(n int) *offHeap {
	m := &offHeap{bytes: mapMemory(n)}
	m.cleanup = runtime.AddCleanup(m, unmapMemory, m.bytes)
	return m
}

func (m *offHeap) free() {
	m.cleanup.Stop()
	unmapMemory(m.bytes)
	m.bytes = nil
}
