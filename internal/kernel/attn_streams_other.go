// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package kernel

func hasStreams() bool { return false }

type streamFunc func(args *kvStreamArgs)

func streamKernel(*KVProduct) streamFunc { return nil }

func sortColumns(*float32, int) {}
