// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package kernel

func hasStreams() bool { return false }

func streamKernel(*KVProduct) func(*kvStreamArgs) { return nil }

func sortColumns(*float32, int) {}
