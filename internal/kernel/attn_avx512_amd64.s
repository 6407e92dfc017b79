// SPDX-License-Identifier: Apache-2.0

// Attention's two products for 1, 2, 3, 4, 6, 8 or 12 rows, for AVX-512.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 32 numbers of a block as floats (F16 converts exactly, of two BF16 numbers in 32 bits one is shifted
// and the other masked) and broadcasts one number of A for each row. With BF16 the lanes are thus the even columns and the odd
// ones until they go to memory.
// Bytes: each step widens pairs to 16 bits, and VPDPWSSD multiplies them with a pair of each row of A and adds both products to
// 32 bits. Sums are exact: see attn_avx2_amd64.s.
// Keys: a tile of results for each block, over all components. Values: one tile of results over all positions of all blocks; of
// bytes, each block is added to what is there.
// Tails: none, there are 32 columns; any number of steps from 1.
// Bound: many rows by the ports of fma and dot products: 24 of them and 4 conversions a step of 12 rows, or 2 of bytes, which
// are twice the products; few rows by memory, as the conversions of 64 bytes take 2 cycles and the fma of up to 3 rows as many.
// Each step prefetches a line twice: into the second cache a few
// blocks ahead, where what is asked for may be dropped, and into the first one block ahead, where it may not.
//
// Registers: AX scratch, CX steps left, DI dst, R8 A's rows 0 to 3, R13 4 to 7, BX 8 to 11, R9 bytes between A's rows,
// R12 3·R9, R10 the block, R11 and DX from there to what goes to the second and the first cache, SI bytes between rows of dst.
// Z0 to Z23 sums, Z24 to Z27 columns for BF16 (those of the lower and the upper half, the even and the odd ones), Z28 its mask,
// Z29 a number of A, Z30 and Z31 a row of the block.

#include "go_asm.h"
#include "textflag.h"
#include "attn_amd64.h"

// Where 32 columns lie in two vectors, first 16 of them and then the others; a byte each.
DATA columns<>+0(SB)/8, $0x1303120211011000 // from the even and the odd ones
DATA columns<>+8(SB)/8, $0x1707160615051404
DATA columns<>+16(SB)/8, $0x1b0b1a0a19091808
DATA columns<>+24(SB)/8, $0x1f0f1e0e1d0d1c0c
DATA columns<>+32(SB)/8, $0x0e0c0a0806040200 // to the even ones
DATA columns<>+40(SB)/8, $0x1e1c1a1816141210
DATA columns<>+48(SB)/8, $0x0f0d0b0907050301 // to the odd ones
DATA columns<>+56(SB)/8, $0x1f1d1b1917151311
GLOBL columns<>(SB), RODATA|NOPTR, $64

// One row: its sums are c0 and c1.
#define ZERO(c0, c1) VPXORQ c0, c0, c0; VPXORQ c1, c1, c1
#define LOAD(at, c0, c1) VMOVUPS (at), c0; VMOVUPS 64(at), c1
#define SAVE(at, c0, c1) VMOVUPS c0, (at); VMOVUPS c1, 64(at)
// The same for sums of even and odd columns.
#define LOADPAIRS(at, c0, c1) VMOVUPS (at), c0; VMOVUPS 64(at), Z29; VMOVAPS c0, c1; VPERMT2PS Z29, Z26, c0; VPERMT2PS Z29, Z27, c1
#define SAVEPAIRS(at, c0, c1) VMOVAPS c0, Z29; VPERMT2PS c1, Z24, Z29; VPERMT2PS c1, Z25, c0; VMOVUPS Z29, (at); VMOVUPS c0, 64(at)
#define FMA(at, c0, c1) VBROADCASTSS at, Z29; VFMADD231PS Z30, Z29, c0; VFMADD231PS Z31, Z29, c1

// The rows of a tile, one after the other.
#define ZERO1 ZERO(Z0, Z1)
#define ZERO2 ZERO1; ZERO(Z2, Z3)
#define ZERO3 ZERO2; ZERO(Z4, Z5)
#define ZERO4 ZERO3; ZERO(Z6, Z7)
#define ZERO6 ZERO4; ZERO(Z8, Z9); ZERO(Z10, Z11)
#define ZERO8 ZERO6; ZERO(Z12, Z13); ZERO(Z14, Z15)
#define ZERO12 ZERO8; ZERO(Z16, Z17); ZERO(Z18, Z19); ZERO(Z20, Z21); ZERO(Z22, Z23)

#define EACH1(M) M((R8), Z0, Z1)
#define EACH2(M) EACH1(M); M((R8)(R9*1), Z2, Z3)
#define EACH3(M) EACH2(M); M((R8)(R9*2), Z4, Z5)
#define EACH4(M) EACH3(M); M((R8)(R12*1), Z6, Z7)
#define EACH6(M) EACH4(M); M((R13), Z8, Z9); M((R13)(R9*1), Z10, Z11)
#define EACH8(M) EACH6(M); M((R13)(R9*2), Z12, Z13); M((R13)(R12*1), Z14, Z15)
#define EACH12(M) EACH8(M); M((BX), Z16, Z17); M((BX)(R9*1), Z18, Z19); M((BX)(R9*2), Z20, Z21); M((BX)(R12*1), Z22, Z23)

#define ROWS1(M) MOVQ DI, AX; M(AX, Z0, Z1)
#define ROWS2(M) ROWS1(M); ADDQ SI, AX; M(AX, Z2, Z3)
#define ROWS3(M) ROWS2(M); ADDQ SI, AX; M(AX, Z4, Z5)
#define ROWS4(M) ROWS3(M); ADDQ SI, AX; M(AX, Z6, Z7)
#define ROWS6(M) ROWS4(M); ADDQ SI, AX; M(AX, Z8, Z9); ADDQ SI, AX; M(AX, Z10, Z11)
#define ROWS8(M) ROWS6(M); ADDQ SI, AX; M(AX, Z12, Z13); ADDQ SI, AX; M(AX, Z14, Z15)
#define ROWS12(M) ROWS8(M); ADDQ SI, AX; M(AX, Z16, Z17); ADDQ SI, AX; M(AX, Z18, Z19); ADDQ SI, AX; M(AX, Z20, Z21); ADDQ SI, AX; M(AX, Z22, Z23)

// A row of a block as floats.
#define F16 VCVTPH2PS (R10), Z30; VCVTPH2PS 32(R10), Z31
#define F32 VMOVUPS (R10), Z30; VMOVUPS 64(R10), Z31
#define BF16 VPSLLD $16, (R10), Z30; VPANDD (R10), Z28, Z31

// COLUMNS loads what BF16 needs.
#define COLUMNS \
	VPMOVZXBD columns<>+0(SB), Z24; \
	VPMOVZXBD columns<>+16(SB), Z25; \
	VPMOVZXBD columns<>+32(SB), Z26; \
	VPMOVZXBD columns<>+48(SB), Z27; \
	VPTERNLOGD $0xFF, Z28, Z28, Z28; \
	VPSLLD $16, Z28, Z28

// A row of pairs of bytes as pairs of 16 bits, and what multiplies them with a pair of A and adds 32 bits.
#define PAIRS VPMOVSXBW (R10), Z30; VPMOVSXBW 32(R10), Z31
#define MAC(at, c0, c1) VPDPWSSD.BCST at, Z30, c0; VPDPWSSD.BCST at, Z31, c1

// Sums of a group of keys times the scales of the keys, in Z30 and Z31, and of a row of A are added to the row of dst at AX.
#define SCORE(at, c0, c1) \
	VCVTDQ2PS c0, c0; \
	VCVTDQ2PS c1, c1; \
	VMULPS.BCST at, Z30, Z28; \
	VMULPS.BCST at, Z31, Z29; \
	VFMADD213PS (AX), Z28, c0; \
	VFMADD213PS 64(AX), Z29, c1; \
	SAVE(AX, c0, c1); \
	ADDQ SI, AX

// The same of a group of values and a row of A.
#define WEIGHED(at, c0, c1) \
	VBROADCASTSS at, Z29; \
	VCVTDQ2PS c0, c0; \
	VCVTDQ2PS c1, c1; \
	VFMADD213PS (AX), Z29, c0; \
	VFMADD213PS 64(AX), Z29, c1; \
	SAVE(AX, c0, c1); \
	ADDQ SI, AX

#define SCORES(each) VMOVUPS (R10)(CX*1), Z30; VMOVUPS 64(R10)(CX*1), Z31; MOVQ DI, AX; each(SCORE)
#define SUMS(each) MOVQ DI, AX; each(WEIGHED)

// func keysF16AVX512X1(args *kvArgs)
TEXT ·keysF16AVX512X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO1, ROWS1, STEPS(F16, 2, EACH1(FMA)), SAVE)

// func keysF16AVX512X2(args *kvArgs)
TEXT ·keysF16AVX512X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO2, ROWS2, STEPS(F16, 2, EACH2(FMA)), SAVE)

// func keysF16AVX512X3(args *kvArgs)
TEXT ·keysF16AVX512X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO3, ROWS3, STEPS(F16, 2, EACH3(FMA)), SAVE)

// func keysF16AVX512X4(args *kvArgs)
TEXT ·keysF16AVX512X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS(F16, 2, EACH4(FMA)), SAVE)

// func keysF16AVX512X6(args *kvArgs)
TEXT ·keysF16AVX512X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F16, 2, EACH6(FMA)), SAVE)

// func keysF16AVX512X8(args *kvArgs)
TEXT ·keysF16AVX512X8(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO8, ROWS8, STEPS(F16, 2, EACH8(FMA)), SAVE)

// func keysF16AVX512X12(args *kvArgs)
TEXT ·keysF16AVX512X12(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO12, ROWS12, STEPS(F16, 2, EACH12(FMA)), SAVE)

// func keysF32AVX512X1(args *kvArgs)
TEXT ·keysF32AVX512X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO1, ROWS1, STEPS(F32, 4, EACH1(FMA)), SAVE)

// func keysF32AVX512X2(args *kvArgs)
TEXT ·keysF32AVX512X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO2, ROWS2, STEPS(F32, 4, EACH2(FMA)), SAVE)

// func keysF32AVX512X3(args *kvArgs)
TEXT ·keysF32AVX512X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO3, ROWS3, STEPS(F32, 4, EACH3(FMA)), SAVE)

// func keysF32AVX512X4(args *kvArgs)
TEXT ·keysF32AVX512X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS(F32, 4, EACH4(FMA)), SAVE)

// func keysF32AVX512X6(args *kvArgs)
TEXT ·keysF32AVX512X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F32, 4, EACH6(FMA)), SAVE)

// func keysF32AVX512X8(args *kvArgs)
TEXT ·keysF32AVX512X8(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO8, ROWS8, STEPS(F32, 4, EACH8(FMA)), SAVE)

// func keysF32AVX512X12(args *kvArgs)
TEXT ·keysF32AVX512X12(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO12, ROWS12, STEPS(F32, 4, EACH12(FMA)), SAVE)

// func keysBF16AVX512X1(args *kvArgs)
TEXT ·keysBF16AVX512X1(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO1, ROWS1, STEPS(BF16, 2, EACH1(FMA)), SAVEPAIRS)

// func keysBF16AVX512X2(args *kvArgs)
TEXT ·keysBF16AVX512X2(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO2, ROWS2, STEPS(BF16, 2, EACH2(FMA)), SAVEPAIRS)

// func keysBF16AVX512X3(args *kvArgs)
TEXT ·keysBF16AVX512X3(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO3, ROWS3, STEPS(BF16, 2, EACH3(FMA)), SAVEPAIRS)

// func keysBF16AVX512X4(args *kvArgs)
TEXT ·keysBF16AVX512X4(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO4, ROWS4, STEPS(BF16, 2, EACH4(FMA)), SAVEPAIRS)

// func keysBF16AVX512X6(args *kvArgs)
TEXT ·keysBF16AVX512X6(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO6, ROWS6, STEPS(BF16, 2, EACH6(FMA)), SAVEPAIRS)

// func keysBF16AVX512X8(args *kvArgs)
TEXT ·keysBF16AVX512X8(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO8, ROWS8, STEPS(BF16, 2, EACH8(FMA)), SAVEPAIRS)

// func keysBF16AVX512X12(args *kvArgs)
TEXT ·keysBF16AVX512X12(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO12, ROWS12, STEPS(BF16, 2, EACH12(FMA)), SAVEPAIRS)

// func keysQ8AVX512X1(args *kvArgs)
TEXT ·keysQ8AVX512X1(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO1, STEPS(PAIRS, 2, EACH1(MAC)), SCORES(EACH1))

// func keysQ8AVX512X2(args *kvArgs)
TEXT ·keysQ8AVX512X2(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO2, STEPS(PAIRS, 2, EACH2(MAC)), SCORES(EACH2))

// func keysQ8AVX512X3(args *kvArgs)
TEXT ·keysQ8AVX512X3(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO3, STEPS(PAIRS, 2, EACH3(MAC)), SCORES(EACH3))

// func keysQ8AVX512X4(args *kvArgs)
TEXT ·keysQ8AVX512X4(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO4, STEPS(PAIRS, 2, EACH4(MAC)), SCORES(EACH4))

// func keysQ8AVX512X6(args *kvArgs)
TEXT ·keysQ8AVX512X6(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO6, STEPS(PAIRS, 2, EACH6(MAC)), SCORES(EACH6))

// func keysQ8AVX512X8(args *kvArgs)
TEXT ·keysQ8AVX512X8(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO8, STEPS(PAIRS, 2, EACH8(MAC)), SCORES(EACH8))

// func keysQ8AVX512X12(args *kvArgs)
TEXT ·keysQ8AVX512X12(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO12, STEPS(PAIRS, 2, EACH12(MAC)), SCORES(EACH12))

// func valuesF16AVX512X1(args *kvArgs)
TEXT ·valuesF16AVX512X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO1, ROWS1, STEPS(F16, 2, EACH1(FMA)), LOAD, SAVE)

// func valuesF16AVX512X2(args *kvArgs)
TEXT ·valuesF16AVX512X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO2, ROWS2, STEPS(F16, 2, EACH2(FMA)), LOAD, SAVE)

// func valuesF16AVX512X3(args *kvArgs)
TEXT ·valuesF16AVX512X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO3, ROWS3, STEPS(F16, 2, EACH3(FMA)), LOAD, SAVE)

// func valuesF16AVX512X4(args *kvArgs)
TEXT ·valuesF16AVX512X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS(F16, 2, EACH4(FMA)), LOAD, SAVE)

// func valuesF16AVX512X6(args *kvArgs)
TEXT ·valuesF16AVX512X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F16, 2, EACH6(FMA)), LOAD, SAVE)

// func valuesF16AVX512X8(args *kvArgs)
TEXT ·valuesF16AVX512X8(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO8, ROWS8, STEPS(F16, 2, EACH8(FMA)), LOAD, SAVE)

// func valuesF16AVX512X12(args *kvArgs)
TEXT ·valuesF16AVX512X12(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO12, ROWS12, STEPS(F16, 2, EACH12(FMA)), LOAD, SAVE)

// func valuesF32AVX512X1(args *kvArgs)
TEXT ·valuesF32AVX512X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO1, ROWS1, STEPS(F32, 4, EACH1(FMA)), LOAD, SAVE)

// func valuesF32AVX512X2(args *kvArgs)
TEXT ·valuesF32AVX512X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO2, ROWS2, STEPS(F32, 4, EACH2(FMA)), LOAD, SAVE)

// func valuesF32AVX512X3(args *kvArgs)
TEXT ·valuesF32AVX512X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO3, ROWS3, STEPS(F32, 4, EACH3(FMA)), LOAD, SAVE)

// func valuesF32AVX512X4(args *kvArgs)
TEXT ·valuesF32AVX512X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS(F32, 4, EACH4(FMA)), LOAD, SAVE)

// func valuesF32AVX512X6(args *kvArgs)
TEXT ·valuesF32AVX512X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F32, 4, EACH6(FMA)), LOAD, SAVE)

// func valuesF32AVX512X8(args *kvArgs)
TEXT ·valuesF32AVX512X8(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO8, ROWS8, STEPS(F32, 4, EACH8(FMA)), LOAD, SAVE)

// func valuesF32AVX512X12(args *kvArgs)
TEXT ·valuesF32AVX512X12(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO12, ROWS12, STEPS(F32, 4, EACH12(FMA)), LOAD, SAVE)

// func valuesBF16AVX512X1(args *kvArgs)
TEXT ·valuesBF16AVX512X1(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO1, ROWS1, STEPS(BF16, 2, EACH1(FMA)), LOADPAIRS, SAVEPAIRS)

// func valuesBF16AVX512X2(args *kvArgs)
TEXT ·valuesBF16AVX512X2(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO2, ROWS2, STEPS(BF16, 2, EACH2(FMA)), LOADPAIRS, SAVEPAIRS)

// func valuesBF16AVX512X3(args *kvArgs)
TEXT ·valuesBF16AVX512X3(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO3, ROWS3, STEPS(BF16, 2, EACH3(FMA)), LOADPAIRS, SAVEPAIRS)

// func valuesBF16AVX512X4(args *kvArgs)
TEXT ·valuesBF16AVX512X4(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO4, ROWS4, STEPS(BF16, 2, EACH4(FMA)), LOADPAIRS, SAVEPAIRS)

// func valuesBF16AVX512X6(args *kvArgs)
TEXT ·valuesBF16AVX512X6(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO6, ROWS6, STEPS(BF16, 2, EACH6(FMA)), LOADPAIRS, SAVEPAIRS)

// func valuesBF16AVX512X8(args *kvArgs)
TEXT ·valuesBF16AVX512X8(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO8, ROWS8, STEPS(BF16, 2, EACH8(FMA)), LOADPAIRS, SAVEPAIRS)

// func valuesBF16AVX512X12(args *kvArgs)
TEXT ·valuesBF16AVX512X12(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO12, ROWS12, STEPS(BF16, 2, EACH12(FMA)), LOADPAIRS, SAVEPAIRS)

// func valuesQ8AVX512X1(args *kvArgs)
TEXT ·valuesQ8AVX512X1(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO1, STEPS(PAIRS, 2, EACH1(MAC)), SUMS(EACH1))

// func valuesQ8AVX512X2(args *kvArgs)
TEXT ·valuesQ8AVX512X2(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO2, STEPS(PAIRS, 2, EACH2(MAC)), SUMS(EACH2))

// func valuesQ8AVX512X3(args *kvArgs)
TEXT ·valuesQ8AVX512X3(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO3, STEPS(PAIRS, 2, EACH3(MAC)), SUMS(EACH3))

// func valuesQ8AVX512X4(args *kvArgs)
TEXT ·valuesQ8AVX512X4(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO4, STEPS(PAIRS, 2, EACH4(MAC)), SUMS(EACH4))

// func valuesQ8AVX512X6(args *kvArgs)
TEXT ·valuesQ8AVX512X6(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO6, STEPS(PAIRS, 2, EACH6(MAC)), SUMS(EACH6))

// func valuesQ8AVX512X8(args *kvArgs)
TEXT ·valuesQ8AVX512X8(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO8, STEPS(PAIRS, 2, EACH8(MAC)), SUMS(EACH8))

// func valuesQ8AVX512X12(args *kvArgs)
TEXT ·valuesQ8AVX512X12(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO12, STEPS(PAIRS, 2, EACH12(MAC)), SUMS(EACH12))
