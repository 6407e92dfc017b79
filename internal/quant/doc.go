// SPDX-License-Identifier: Apache-2.0

// Package quant knows the formats that tensors are stored in: their numbers, names and sizes, and what values
// their bytes stand for.
//
// A format stores a row of numbers in blocks: BlockElems values in BlockBytes bytes. The plain formats (F32,
// F16, BF16 ...) have blocks of one. The quantised ones keep small integers together with one or more scales.
// "Legacy" formats (Q4_0 to Q8_0) have blocks of 32 with half-precision scales. "K" formats (Q4_K, Q5_K, Q6_K)
// have super-blocks of 256 whose sub-blocks have integer scales of their own, scaled in turn by one half float.
//
// Always true: the numbers of the types are those of GGUF files, and Dequantize gives, bit for bit, the values
// of ggml's reference routines. Every layout is a struct of bytes only, so that it may lie at any address and
// means the same on every machine.
//
// What is not here: fast products of such blocks (package kernel) and files (package weights).
//
// The layouts are those of ggml (ggml-common.h), described in docs/formats/gguf.md.
package quant
