// SPDX-License-Identifier: Apache-2.0

// Package kernel holds the inner loops: what a CPU's vector units do with whole rows and tiles of numbers.
//
// Each kernel has a twin in plain Go, which is its definition and runs where no assembly does. A tier is a set of CPU
// features that a set of kernels needs (generic; avx2 and avx512 on amd64; neon, dotprod and i8mm on arm64); the best one
// that the CPU has is chosen at start, and the environment variable SAMPO_CPU masks those above the tier it names.
//
// Always true: a kernel allocates nothing, calls nothing, starts nothing, and returns within about 50 microseconds.
// Kernels of integer weights give the same bits on every tier.
//
// See DESIGN.md for the layout of packed weights and the identities in use.
package kernel
