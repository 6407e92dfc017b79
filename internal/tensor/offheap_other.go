// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package tensor

// mapMemory takes memory from the Go heap.
func mapMemory(n int) []byte { return make([]byte, n) }

// unmapMemory leaves it to the collector.
func unmapMemory([]byte) {}
