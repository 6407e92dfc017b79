// SPDX-License-Identifier: Apache-2.0

// Attention's two products for 1, 2, 3, 4, 6, 8 or 12 rows, for AVX-512.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 32 numbers of a block as floats (F16 converts exactly, bytes are small integers, of two BF16 numbers
// in 32 bits one is shifted and the other masked) and broadcasts one number of A for each row. With BF16 the lanes are thus the
// even columns and the odd ones until they go to memory.
// Keys: a tile of results for each block, over all components. Values: one tile of results over all positions of all blocks.
// Scales: of keys, after each group of components; of values, before each block, into a copy of A's numbers.
// Tails: none, there are 32 columns; any number of steps from 1.
// Bound: many rows by the fma ports: 24 fma and 4 conversions a step of 12 rows; few rows by memory, as the conversions of
// 64 bytes take 2 cycles and the fma of up to 3 rows as many. Each step prefetches a line twice: into the second cache a few
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

#define FMA1 FMA((R8), Z0, Z1)
#define FMA2 FMA1; FMA((R8)(R9*1), Z2, Z3)
#define FMA3 FMA2; FMA((R8)(R9*2), Z4, Z5)
#define FMA4 FMA3; FMA((R8)(R12*1), Z6, Z7)
#define FMA6 FMA4; FMA((R13), Z8, Z9); FMA((R13)(R9*1), Z10, Z11)
#define FMA8 FMA6; FMA((R13)(R9*2), Z12, Z13); FMA((R13)(R12*1), Z14, Z15)
#define FMA12 FMA8; FMA((BX), Z16, Z17); FMA((BX)(R9*1), Z18, Z19); FMA((BX)(R9*2), Z20, Z21); FMA((BX)(R12*1), Z22, Z23)

#define ROWS1(M) MOVQ DI, AX; M(AX, Z0, Z1)
#define ROWS2(M) ROWS1(M); ADDQ SI, AX; M(AX, Z2, Z3)
#define ROWS3(M) ROWS2(M); ADDQ SI, AX; M(AX, Z4, Z5)
#define ROWS4(M) ROWS3(M); ADDQ SI, AX; M(AX, Z6, Z7)
#define ROWS6(M) ROWS4(M); ADDQ SI, AX; M(AX, Z8, Z9); ADDQ SI, AX; M(AX, Z10, Z11)
#define ROWS8(M) ROWS6(M); ADDQ SI, AX; M(AX, Z12, Z13); ADDQ SI, AX; M(AX, Z14, Z15)
#define ROWS12(M) ROWS8(M); ADDQ SI, AX; M(AX, Z16, Z17); ADDQ SI, AX; M(AX, Z18, Z19); ADDQ SI, AX; M(AX, Z20, Z21); ADDQ SI, AX; M(AX, Z22, Z23)

// Sums of keys times their scales: those of the first group are the scores, those of others are added.
#define SCALED(at, c0, c1) VMULPS Z30, c0, c0; VMULPS Z31, c1, c1; SAVE(at, c0, c1)
#define ADDSCALED(at, c0, c1) VFMADD213PS (at), Z30, c0; VFMADD213PS 64(at), Z31, c1; SAVE(at, c0, c1)

#define LOADSCALES VMOVUPS (R10)(CX*1), Z30; VMOVUPS 64(R10)(CX*1), Z31

// Numbers of A for 32 values times the scales of these, for each row, to memory at SI.
#define SCALEA(low, high, at) VMULPS low, Z30, Z29; VMOVUPS Z29, at(SI); VMULPS high, Z31, Z29; VMOVUPS Z29, (at+64)(SI)
#define SCALEA1 SCALEA((R8), 64(R8), 0)
#define SCALEA2 SCALEA1; SCALEA((R8)(R9*1), 64(R8)(R9*1), 128)
#define SCALEA3 SCALEA2; SCALEA((R8)(R9*2), 64(R8)(R9*2), 256)
#define SCALEA4 SCALEA3; SCALEA((R8)(R12*1), 64(R8)(R12*1), 384)
#define SCALEA6 SCALEA4; SCALEA((R13), 64(R13), 512); SCALEA((R13)(R9*1), 64(R13)(R9*1), 640)
#define SCALEA8 SCALEA6; SCALEA((R13)(R9*2), 64(R13)(R9*2), 768); SCALEA((R13)(R12*1), 64(R13)(R12*1), 896)
#define SCALEA12 SCALEA8; SCALEA((BX), 64(BX), 1024); SCALEA((BX)(R9*1), 64(BX)(R9*1), 1152); SCALEA((BX)(R9*2), 64(BX)(R9*2), 1280); SCALEA((BX)(R12*1), 64(BX)(R12*1), 1408)

// A row of a block as floats.
#define F16 VCVTPH2PS (R10), Z30; VCVTPH2PS 32(R10), Z31
#define F32 VMOVUPS (R10), Z30; VMOVUPS 64(R10), Z31
#define BF16 VPSLLD $16, (R10), Z30; VPANDD (R10), Z28, Z31
#define BYTES VPMOVSXBD (R10), Z30; VPMOVSXBD 16(R10), Z31; VCVTDQ2PS Z30, Z30; VCVTDQ2PS Z31, Z31

// COLUMNS loads what BF16 needs.
#define COLUMNS \
	VPMOVZXBD columns<>+0(SB), Z24; \
	VPMOVZXBD columns<>+16(SB), Z25; \
	VPMOVZXBD columns<>+32(SB), Z26; \
	VPMOVZXBD columns<>+48(SB), Z27; \
	VPTERNLOGD $0xFF, Z28, Z28, Z28; \
	VPSLLD $16, Z28, Z28

// PAIRS is STEPS for bytes, of which two rows are a line: asked for in every step, it would be twice as much as memory can take.
#define PAIRS(fmas) \
	SUBQ $2, CX; \
	JLT odd; \
step: \
	PREFETCH(0); \
	STEP(BYTES, 1, fmas); \
	STEP(BYTES, 1, fmas); \
	SUBQ $2, CX; \
	JGE step; \
odd: \
	ADDQ $2, CX; \
	JEQ even; \
	STEP(BYTES, 1, fmas); \
even:

// SCALES is what VALUES does before a block with scales: it takes A's numbers times them.
#define SCALES(scale) \
	ROWSOFA; \
	ADDQ $128, kvArgs_a(AX); \
	MOVQ kvArgs_scaled(AX), SI; \
	MOVQ kvArgs_scales(AX), CX; \
	LOADSCALES; \
	PREFETCH(1024); \
	PREFETCH(1088); \
	scale; \
	MOVQ $128, R9; \
	MOVQ $384, R12; \
	MOVQ SI, R8; \
	LEAQ 512(SI), R13; \
	LEAQ 1024(SI), BX

// func keysF16AVX512X1(args *kvArgs)
TEXT ·keysF16AVX512X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO1, ROWS1, STEPS(F16, 2, FMA1), SAVE)

// func keysF16AVX512X2(args *kvArgs)
TEXT ·keysF16AVX512X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO2, ROWS2, STEPS(F16, 2, FMA2), SAVE)

// func keysF16AVX512X3(args *kvArgs)
TEXT ·keysF16AVX512X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO3, ROWS3, STEPS(F16, 2, FMA3), SAVE)

// func keysF16AVX512X4(args *kvArgs)
TEXT ·keysF16AVX512X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS(F16, 2, FMA4), SAVE)

// func keysF16AVX512X6(args *kvArgs)
TEXT ·keysF16AVX512X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F16, 2, FMA6), SAVE)

// func keysF16AVX512X8(args *kvArgs)
TEXT ·keysF16AVX512X8(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO8, ROWS8, STEPS(F16, 2, FMA8), SAVE)

// func keysF16AVX512X12(args *kvArgs)
TEXT ·keysF16AVX512X12(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO12, ROWS12, STEPS(F16, 2, FMA12), SAVE)

// func keysF32AVX512X1(args *kvArgs)
TEXT ·keysF32AVX512X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO1, ROWS1, STEPS(F32, 4, FMA1), SAVE)

// func keysF32AVX512X2(args *kvArgs)
TEXT ·keysF32AVX512X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO2, ROWS2, STEPS(F32, 4, FMA2), SAVE)

// func keysF32AVX512X3(args *kvArgs)
TEXT ·keysF32AVX512X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO3, ROWS3, STEPS(F32, 4, FMA3), SAVE)

// func keysF32AVX512X4(args *kvArgs)
TEXT ·keysF32AVX512X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS(F32, 4, FMA4), SAVE)

// func keysF32AVX512X6(args *kvArgs)
TEXT ·keysF32AVX512X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F32, 4, FMA6), SAVE)

// func keysF32AVX512X8(args *kvArgs)
TEXT ·keysF32AVX512X8(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO8, ROWS8, STEPS(F32, 4, FMA8), SAVE)

// func keysF32AVX512X12(args *kvArgs)
TEXT ·keysF32AVX512X12(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO12, ROWS12, STEPS(F32, 4, FMA12), SAVE)

// func keysBF16AVX512X1(args *kvArgs)
TEXT ·keysBF16AVX512X1(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO1, ROWS1, STEPS(BF16, 2, FMA1), SAVEPAIRS)

// func keysBF16AVX512X2(args *kvArgs)
TEXT ·keysBF16AVX512X2(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO2, ROWS2, STEPS(BF16, 2, FMA2), SAVEPAIRS)

// func keysBF16AVX512X3(args *kvArgs)
TEXT ·keysBF16AVX512X3(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO3, ROWS3, STEPS(BF16, 2, FMA3), SAVEPAIRS)

// func keysBF16AVX512X4(args *kvArgs)
TEXT ·keysBF16AVX512X4(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO4, ROWS4, STEPS(BF16, 2, FMA4), SAVEPAIRS)

// func keysBF16AVX512X6(args *kvArgs)
TEXT ·keysBF16AVX512X6(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO6, ROWS6, STEPS(BF16, 2, FMA6), SAVEPAIRS)

// func keysBF16AVX512X8(args *kvArgs)
TEXT ·keysBF16AVX512X8(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO8, ROWS8, STEPS(BF16, 2, FMA8), SAVEPAIRS)

// func keysBF16AVX512X12(args *kvArgs)
TEXT ·keysBF16AVX512X12(SB), NOSPLIT, $0-8
	KEYS(COLUMNS, ZERO12, ROWS12, STEPS(BF16, 2, FMA12), SAVEPAIRS)

// func keysQ8AVX512X1(args *kvArgs)
TEXT ·keysQ8AVX512X1(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO1, ROWS1, PAIRS(FMA1))

// func keysQ8AVX512X2(args *kvArgs)
TEXT ·keysQ8AVX512X2(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO2, ROWS2, PAIRS(FMA2))

// func keysQ8AVX512X3(args *kvArgs)
TEXT ·keysQ8AVX512X3(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO3, ROWS3, PAIRS(FMA3))

// func keysQ8AVX512X4(args *kvArgs)
TEXT ·keysQ8AVX512X4(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO4, ROWS4, PAIRS(FMA4))

// func keysQ8AVX512X6(args *kvArgs)
TEXT ·keysQ8AVX512X6(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO6, ROWS6, PAIRS(FMA6))

// func keysQ8AVX512X8(args *kvArgs)
TEXT ·keysQ8AVX512X8(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO8, ROWS8, PAIRS(FMA8))

// func keysQ8AVX512X12(args *kvArgs)
TEXT ·keysQ8AVX512X12(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO12, ROWS12, PAIRS(FMA12))

// func valuesF16AVX512X1(args *kvArgs)
TEXT ·valuesF16AVX512X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO1, ROWS1, STEPS(F16, 2, FMA1), LOAD, SAVE, NOTHING)

// func valuesF16AVX512X2(args *kvArgs)
TEXT ·valuesF16AVX512X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO2, ROWS2, STEPS(F16, 2, FMA2), LOAD, SAVE, NOTHING)

// func valuesF16AVX512X3(args *kvArgs)
TEXT ·valuesF16AVX512X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO3, ROWS3, STEPS(F16, 2, FMA3), LOAD, SAVE, NOTHING)

// func valuesF16AVX512X4(args *kvArgs)
TEXT ·valuesF16AVX512X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS(F16, 2, FMA4), LOAD, SAVE, NOTHING)

// func valuesF16AVX512X6(args *kvArgs)
TEXT ·valuesF16AVX512X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F16, 2, FMA6), LOAD, SAVE, NOTHING)

// func valuesF16AVX512X8(args *kvArgs)
TEXT ·valuesF16AVX512X8(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO8, ROWS8, STEPS(F16, 2, FMA8), LOAD, SAVE, NOTHING)

// func valuesF16AVX512X12(args *kvArgs)
TEXT ·valuesF16AVX512X12(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO12, ROWS12, STEPS(F16, 2, FMA12), LOAD, SAVE, NOTHING)

// func valuesF32AVX512X1(args *kvArgs)
TEXT ·valuesF32AVX512X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO1, ROWS1, STEPS(F32, 4, FMA1), LOAD, SAVE, NOTHING)

// func valuesF32AVX512X2(args *kvArgs)
TEXT ·valuesF32AVX512X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO2, ROWS2, STEPS(F32, 4, FMA2), LOAD, SAVE, NOTHING)

// func valuesF32AVX512X3(args *kvArgs)
TEXT ·valuesF32AVX512X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO3, ROWS3, STEPS(F32, 4, FMA3), LOAD, SAVE, NOTHING)

// func valuesF32AVX512X4(args *kvArgs)
TEXT ·valuesF32AVX512X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS(F32, 4, FMA4), LOAD, SAVE, NOTHING)

// func valuesF32AVX512X6(args *kvArgs)
TEXT ·valuesF32AVX512X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F32, 4, FMA6), LOAD, SAVE, NOTHING)

// func valuesF32AVX512X8(args *kvArgs)
TEXT ·valuesF32AVX512X8(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO8, ROWS8, STEPS(F32, 4, FMA8), LOAD, SAVE, NOTHING)

// func valuesF32AVX512X12(args *kvArgs)
TEXT ·valuesF32AVX512X12(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO12, ROWS12, STEPS(F32, 4, FMA12), LOAD, SAVE, NOTHING)

// func valuesBF16AVX512X1(args *kvArgs)
TEXT ·valuesBF16AVX512X1(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO1, ROWS1, STEPS(BF16, 2, FMA1), LOADPAIRS, SAVEPAIRS, NOTHING)

// func valuesBF16AVX512X2(args *kvArgs)
TEXT ·valuesBF16AVX512X2(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO2, ROWS2, STEPS(BF16, 2, FMA2), LOADPAIRS, SAVEPAIRS, NOTHING)

// func valuesBF16AVX512X3(args *kvArgs)
TEXT ·valuesBF16AVX512X3(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO3, ROWS3, STEPS(BF16, 2, FMA3), LOADPAIRS, SAVEPAIRS, NOTHING)

// func valuesBF16AVX512X4(args *kvArgs)
TEXT ·valuesBF16AVX512X4(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO4, ROWS4, STEPS(BF16, 2, FMA4), LOADPAIRS, SAVEPAIRS, NOTHING)

// func valuesBF16AVX512X6(args *kvArgs)
TEXT ·valuesBF16AVX512X6(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO6, ROWS6, STEPS(BF16, 2, FMA6), LOADPAIRS, SAVEPAIRS, NOTHING)

// func valuesBF16AVX512X8(args *kvArgs)
TEXT ·valuesBF16AVX512X8(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO8, ROWS8, STEPS(BF16, 2, FMA8), LOADPAIRS, SAVEPAIRS, NOTHING)

// func valuesBF16AVX512X12(args *kvArgs)
TEXT ·valuesBF16AVX512X12(SB), NOSPLIT, $0-8
	VALUES(COLUMNS, ZERO12, ROWS12, STEPS(BF16, 2, FMA12), LOADPAIRS, SAVEPAIRS, NOTHING)

// func valuesQ8AVX512X1(args *kvArgs)
TEXT ·valuesQ8AVX512X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO1, ROWS1, PAIRS(FMA1), LOAD, SAVE, SCALES(SCALEA1))

// func valuesQ8AVX512X2(args *kvArgs)
TEXT ·valuesQ8AVX512X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO2, ROWS2, PAIRS(FMA2), LOAD, SAVE, SCALES(SCALEA2))

// func valuesQ8AVX512X3(args *kvArgs)
TEXT ·valuesQ8AVX512X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO3, ROWS3, PAIRS(FMA3), LOAD, SAVE, SCALES(SCALEA3))

// func valuesQ8AVX512X4(args *kvArgs)
TEXT ·valuesQ8AVX512X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, PAIRS(FMA4), LOAD, SAVE, SCALES(SCALEA4))

// func valuesQ8AVX512X6(args *kvArgs)
TEXT ·valuesQ8AVX512X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, PAIRS(FMA6), LOAD, SAVE, SCALES(SCALEA6))

// func valuesQ8AVX512X8(args *kvArgs)
TEXT ·valuesQ8AVX512X8(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO8, ROWS8, PAIRS(FMA8), LOAD, SAVE, SCALES(SCALEA8))

// func valuesQ8AVX512X12(args *kvArgs)
TEXT ·valuesQ8AVX512X12(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO12, ROWS12, PAIRS(FMA12), LOAD, SAVE, SCALES(SCALEA12))
