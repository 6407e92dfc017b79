// SPDX-License-Identifier: Apache-2.0

// Attention's two products for 1, 2, 3, 4, 6, 8 or 12 rows, for AVX-512.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 32 numbers of a block as floats (F16 converts exactly, BF16 by a shift of 16, bytes with one
// rounding by their scale) and broadcasts one number of A for each row.
// Keys: a tile of results for each block, over all components. Values: one tile of results over all positions of all blocks.
// Tails: none, there are 32 columns; any number of steps from 1.
// Bound: many rows by the fma ports: 24 fma and 4 conversions a step of 12 rows; few rows by memory, as the conversions of
// 64 bytes take 2 cycles and the fma of up to 3 rows as many. Each step prefetches a line of what comes next.
//
// Registers: AX scratch, CX steps left, DI dst, R8 A's rows 0 to 3, R13 4 to 7, BX 8 to 11, R9 bytes between A's rows,
// R12 3·R9, R10 the block, R11 what to prefetch, DX the block's scales, SI bytes between rows of dst, and in the loops:
// for keys where A begins, for values bytes between rows of the block. Z0 to Z23 sums, Z29 a number of A, Z30 and Z31 a
// row of the block.

#include "go_asm.h"
#include "textflag.h"

// One row: its sums are c0 and c1.
#define ZERO(c0, c1) VPXORQ c0, c0, c0; VPXORQ c1, c1, c1
#define LOAD(at, c0, c1) VMOVUPS (at), c0; VMOVUPS 64(at), c1
#define SAVE(at, c0, c1) VMOVUPS c0, (at); VMOVUPS c1, 64(at)
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

// A row of a block as floats. The bytes of a key have a scale for each position, a row of scales for 32 components, and A
// tells the component; those of a value have one scale for all columns of the tile.
#define F16 VCVTPH2PS (R10), Z30; VCVTPH2PS 32(R10), Z31
#define F32 VMOVUPS (R10), Z30; VMOVUPS 64(R10), Z31
#define BF16 VPMOVZXWD (R10), Z30; VPMOVZXWD 32(R10), Z31; VPSLLD $16, Z30, Z30; VPSLLD $16, Z31, Z31
#define BYTES VPMOVSXBD (R10), Z30; VPMOVSXBD 16(R10), Z31; VCVTDQ2PS Z30, Z30; VCVTDQ2PS Z31, Z31
#define Q8KEYS BYTES; MOVQ R8, AX; SUBQ SI, AX; ANDQ $-128, AX; VMULPS (DX)(AX*1), Z30, Z30; VMULPS 64(DX)(AX*1), Z31, Z31
#define Q8VALUES BYTES; VBROADCASTSS (DX), Z29; ADDQ $4, DX; VMULPS Z29, Z30, Z30; VMULPS Z29, Z31, Z31

// START loads what stays for all blocks, with the arguments in AX.
#define START \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_dst(AX), DI; \
	MOVQ kvArgs_lda(AX), R9; \
	LEAQ (R9)(R9*2), R12

// ROWSOFA points to the rows of A.
#define ROWSOFA \
	MOVQ kvArgs_a(AX), R8; \
	LEAQ (R8)(R9*4), R13; \
	LEAQ (R13)(R9*4), BX

// BLOCK points to the next block, its scales, and what to prefetch meanwhile.
#define BLOCK \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_at(AX), DX; \
	MOVQ kvArgs_table(AX), R10; \
	MOVLQSX (R10)(DX*4), R10; \
	IMULQ kvArgs_stride(AX), R10; \
	ADDQ kvArgs_base(AX), R10; \
	MOVQ kvArgs_nextTable(AX), R11; \
	MOVLQSX (R11)(DX*4), R11; \
	IMULQ kvArgs_nextStride(AX), R11; \
	ADDQ kvArgs_next(AX), R11; \
	INCQ DX; \
	MOVQ DX, kvArgs_at(AX); \
	MOVQ kvArgs_scales(AX), DX; \
	ADDQ R10, DX

#define KEYS(zeros, rows, row, size, fmas) \
	START; \
block: \
	BLOCK; \
	ROWSOFA; \
	MOVQ kvArgs_depth(AX), CX; \
	MOVQ R8, SI; \
	zeros; \
step: \
	PREFETCHT1 (R11); \
	row; \
	fmas; \
	ADDQ $4, R8; \
	ADDQ $4, R13; \
	ADDQ $4, BX; \
	ADDQ $(32*size), R10; \
	ADDQ $(32*size), R11; \
	DECQ CX; \
	JNZ step; \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_ldd(AX), SI; \
	rows(SAVE); \
	ADDQ $128, DI; \
	MOVQ args+0(FP), AX; \
	DECQ kvArgs_count(AX); \
	JNZ block; \
	VZEROUPPER; \
	RET

#define VALUES(zeros, rows, row, size, fmas) \
	START; \
	MOVQ kvArgs_ldd(AX), SI; \
	ROWSOFA; \
	CMPQ kvArgs_fresh(AX), $0; \
	JEQ add; \
	zeros; \
	JMP block; \
add: \
	rows(LOAD); \
block: \
	BLOCK; \
	MOVQ kvArgs_ldb(AX), SI; \
	MOVQ kvArgs_count(AX), CX; \
	SUBQ $32, kvArgs_count(AX); \
	CMPQ CX, $32; \
	JLE step; \
	MOVQ $32, CX; \
step: \
	PREFETCHT1 (R11); \
	row; \
	fmas; \
	ADDQ $4, R8; \
	ADDQ $4, R13; \
	ADDQ $4, BX; \
	ADDQ SI, R10; \
	ADDQ $(32*size), R11; \
	DECQ CX; \
	JNZ step; \
	MOVQ args+0(FP), AX; \
	CMPQ kvArgs_count(AX), $0; \
	JGT block; \
	MOVQ kvArgs_ldd(AX), SI; \
	rows(SAVE); \
	VZEROUPPER; \
	RET

// func keysF16AVX512X1(args *kvArgs)
TEXT ·keysF16AVX512X1(SB), NOSPLIT, $0-8
	KEYS(ZERO1, ROWS1, F16, 2, FMA1)

// func keysF16AVX512X2(args *kvArgs)
TEXT ·keysF16AVX512X2(SB), NOSPLIT, $0-8
	KEYS(ZERO2, ROWS2, F16, 2, FMA2)

// func keysF16AVX512X3(args *kvArgs)
TEXT ·keysF16AVX512X3(SB), NOSPLIT, $0-8
	KEYS(ZERO3, ROWS3, F16, 2, FMA3)

// func keysF16AVX512X4(args *kvArgs)
TEXT ·keysF16AVX512X4(SB), NOSPLIT, $0-8
	KEYS(ZERO4, ROWS4, F16, 2, FMA4)

// func keysF16AVX512X6(args *kvArgs)
TEXT ·keysF16AVX512X6(SB), NOSPLIT, $0-8
	KEYS(ZERO6, ROWS6, F16, 2, FMA6)

// func keysF16AVX512X8(args *kvArgs)
TEXT ·keysF16AVX512X8(SB), NOSPLIT, $0-8
	KEYS(ZERO8, ROWS8, F16, 2, FMA8)

// func keysF16AVX512X12(args *kvArgs)
TEXT ·keysF16AVX512X12(SB), NOSPLIT, $0-8
	KEYS(ZERO12, ROWS12, F16, 2, FMA12)

// func keysF32AVX512X1(args *kvArgs)
TEXT ·keysF32AVX512X1(SB), NOSPLIT, $0-8
	KEYS(ZERO1, ROWS1, F32, 4, FMA1)

// func keysF32AVX512X2(args *kvArgs)
TEXT ·keysF32AVX512X2(SB), NOSPLIT, $0-8
	KEYS(ZERO2, ROWS2, F32, 4, FMA2)

// func keysF32AVX512X3(args *kvArgs)
TEXT ·keysF32AVX512X3(SB), NOSPLIT, $0-8
	KEYS(ZERO3, ROWS3, F32, 4, FMA3)

// func keysF32AVX512X4(args *kvArgs)
TEXT ·keysF32AVX512X4(SB), NOSPLIT, $0-8
	KEYS(ZERO4, ROWS4, F32, 4, FMA4)

// func keysF32AVX512X6(args *kvArgs)
TEXT ·keysF32AVX512X6(SB), NOSPLIT, $0-8
	KEYS(ZERO6, ROWS6, F32, 4, FMA6)

// func keysF32AVX512X8(args *kvArgs)
TEXT ·keysF32AVX512X8(SB), NOSPLIT, $0-8
	KEYS(ZERO8, ROWS8, F32, 4, FMA8)

// func keysF32AVX512X12(args *kvArgs)
TEXT ·keysF32AVX512X12(SB), NOSPLIT, $0-8
	KEYS(ZERO12, ROWS12, F32, 4, FMA12)

// func keysBF16AVX512X1(args *kvArgs)
TEXT ·keysBF16AVX512X1(SB), NOSPLIT, $0-8
	KEYS(ZERO1, ROWS1, BF16, 2, FMA1)

// func keysBF16AVX512X2(args *kvArgs)
TEXT ·keysBF16AVX512X2(SB), NOSPLIT, $0-8
	KEYS(ZERO2, ROWS2, BF16, 2, FMA2)

// func keysBF16AVX512X3(args *kvArgs)
TEXT ·keysBF16AVX512X3(SB), NOSPLIT, $0-8
	KEYS(ZERO3, ROWS3, BF16, 2, FMA3)

// func keysBF16AVX512X4(args *kvArgs)
TEXT ·keysBF16AVX512X4(SB), NOSPLIT, $0-8
	KEYS(ZERO4, ROWS4, BF16, 2, FMA4)

// func keysBF16AVX512X6(args *kvArgs)
TEXT ·keysBF16AVX512X6(SB), NOSPLIT, $0-8
	KEYS(ZERO6, ROWS6, BF16, 2, FMA6)

// func keysBF16AVX512X8(args *kvArgs)
TEXT ·keysBF16AVX512X8(SB), NOSPLIT, $0-8
	KEYS(ZERO8, ROWS8, BF16, 2, FMA8)

// func keysBF16AVX512X12(args *kvArgs)
TEXT ·keysBF16AVX512X12(SB), NOSPLIT, $0-8
	KEYS(ZERO12, ROWS12, BF16, 2, FMA12)

// func keysQ8AVX512X1(args *kvArgs)
TEXT ·keysQ8AVX512X1(SB), NOSPLIT, $0-8
	KEYS(ZERO1, ROWS1, Q8KEYS, 1, FMA1)

// func keysQ8AVX512X2(args *kvArgs)
TEXT ·keysQ8AVX512X2(SB), NOSPLIT, $0-8
	KEYS(ZERO2, ROWS2, Q8KEYS, 1, FMA2)

// func keysQ8AVX512X3(args *kvArgs)
TEXT ·keysQ8AVX512X3(SB), NOSPLIT, $0-8
	KEYS(ZERO3, ROWS3, Q8KEYS, 1, FMA3)

// func keysQ8AVX512X4(args *kvArgs)
TEXT ·keysQ8AVX512X4(SB), NOSPLIT, $0-8
	KEYS(ZERO4, ROWS4, Q8KEYS, 1, FMA4)

// func keysQ8AVX512X6(args *kvArgs)
TEXT ·keysQ8AVX512X6(SB), NOSPLIT, $0-8
	KEYS(ZERO6, ROWS6, Q8KEYS, 1, FMA6)

// func keysQ8AVX512X8(args *kvArgs)
TEXT ·keysQ8AVX512X8(SB), NOSPLIT, $0-8
	KEYS(ZERO8, ROWS8, Q8KEYS, 1, FMA8)

// func keysQ8AVX512X12(args *kvArgs)
TEXT ·keysQ8AVX512X12(SB), NOSPLIT, $0-8
	KEYS(ZERO12, ROWS12, Q8KEYS, 1, FMA12)

// func valuesF16AVX512X1(args *kvArgs)
TEXT ·valuesF16AVX512X1(SB), NOSPLIT, $0-8
	VALUES(ZERO1, ROWS1, F16, 2, FMA1)

// func valuesF16AVX512X2(args *kvArgs)
TEXT ·valuesF16AVX512X2(SB), NOSPLIT, $0-8
	VALUES(ZERO2, ROWS2, F16, 2, FMA2)

// func valuesF16AVX512X3(args *kvArgs)
TEXT ·valuesF16AVX512X3(SB), NOSPLIT, $0-8
	VALUES(ZERO3, ROWS3, F16, 2, FMA3)

// func valuesF16AVX512X4(args *kvArgs)
TEXT ·valuesF16AVX512X4(SB), NOSPLIT, $0-8
	VALUES(ZERO4, ROWS4, F16, 2, FMA4)

// func valuesF16AVX512X6(args *kvArgs)
TEXT ·valuesF16AVX512X6(SB), NOSPLIT, $0-8
	VALUES(ZERO6, ROWS6, F16, 2, FMA6)

// func valuesF16AVX512X8(args *kvArgs)
TEXT ·valuesF16AVX512X8(SB), NOSPLIT, $0-8
	VALUES(ZERO8, ROWS8, F16, 2, FMA8)

// func valuesF16AVX512X12(args *kvArgs)
TEXT ·valuesF16AVX512X12(SB), NOSPLIT, $0-8
	VALUES(ZERO12, ROWS12, F16, 2, FMA12)

// func valuesF32AVX512X1(args *kvArgs)
TEXT ·valuesF32AVX512X1(SB), NOSPLIT, $0-8
	VALUES(ZERO1, ROWS1, F32, 4, FMA1)

// func valuesF32AVX512X2(args *kvArgs)
TEXT ·valuesF32AVX512X2(SB), NOSPLIT, $0-8
	VALUES(ZERO2, ROWS2, F32, 4, FMA2)

// func valuesF32AVX512X3(args *kvArgs)
TEXT ·valuesF32AVX512X3(SB), NOSPLIT, $0-8
	VALUES(ZERO3, ROWS3, F32, 4, FMA3)

// func valuesF32AVX512X4(args *kvArgs)
TEXT ·valuesF32AVX512X4(SB), NOSPLIT, $0-8
	VALUES(ZERO4, ROWS4, F32, 4, FMA4)

// func valuesF32AVX512X6(args *kvArgs)
TEXT ·valuesF32AVX512X6(SB), NOSPLIT, $0-8
	VALUES(ZERO6, ROWS6, F32, 4, FMA6)

// func valuesF32AVX512X8(args *kvArgs)
TEXT ·valuesF32AVX512X8(SB), NOSPLIT, $0-8
	VALUES(ZERO8, ROWS8, F32, 4, FMA8)

// func valuesF32AVX512X12(args *kvArgs)
TEXT ·valuesF32AVX512X12(SB), NOSPLIT, $0-8
	VALUES(ZERO12, ROWS12, F32, 4, FMA12)

// func valuesBF16AVX512X1(args *kvArgs)
TEXT ·valuesBF16AVX512X1(SB), NOSPLIT, $0-8
	VALUES(ZERO1, ROWS1, BF16, 2, FMA1)

// func valuesBF16AVX512X2(args *kvArgs)
TEXT ·valuesBF16AVX512X2(SB), NOSPLIT, $0-8
	VALUES(ZERO2, ROWS2, BF16, 2, FMA2)

// func valuesBF16AVX512X3(args *kvArgs)
TEXT ·valuesBF16AVX512X3(SB), NOSPLIT, $0-8
	VALUES(ZERO3, ROWS3, BF16, 2, FMA3)

// func valuesBF16AVX512X4(args *kvArgs)
TEXT ·valuesBF16AVX512X4(SB), NOSPLIT, $0-8
	VALUES(ZERO4, ROWS4, BF16, 2, FMA4)

// func valuesBF16AVX512X6(args *kvArgs)
TEXT ·valuesBF16AVX512X6(SB), NOSPLIT, $0-8
	VALUES(ZERO6, ROWS6, BF16, 2, FMA6)

// func valuesBF16AVX512X8(args *kvArgs)
TEXT ·valuesBF16AVX512X8(SB), NOSPLIT, $0-8
	VALUES(ZERO8, ROWS8, BF16, 2, FMA8)

// func valuesBF16AVX512X12(args *kvArgs)
TEXT ·valuesBF16AVX512X12(SB), NOSPLIT, $0-8
	VALUES(ZERO12, ROWS12, BF16, 2, FMA12)

// func valuesQ8AVX512X1(args *kvArgs)
TEXT ·valuesQ8AVX512X1(SB), NOSPLIT, $0-8
	VALUES(ZERO1, ROWS1, Q8VALUES, 1, FMA1)

// func valuesQ8AVX512X2(args *kvArgs)
TEXT ·valuesQ8AVX512X2(SB), NOSPLIT, $0-8
	VALUES(ZERO2, ROWS2, Q8VALUES, 1, FMA2)

// func valuesQ8AVX512X3(args *kvArgs)
TEXT ·valuesQ8AVX512X3(SB), NOSPLIT, $0-8
	VALUES(ZERO3, ROWS3, Q8VALUES, 1, FMA3)

// func valuesQ8AVX512X4(args *kvArgs)
TEXT ·valuesQ8AVX512X4(SB), NOSPLIT, $0-8
	VALUES(ZERO4, ROWS4, Q8VALUES, 1, FMA4)

// func valuesQ8AVX512X6(args *kvArgs)
TEXT ·valuesQ8AVX512X6(SB), NOSPLIT, $0-8
	VALUES(ZERO6, ROWS6, Q8VALUES, 1, FMA6)

// func valuesQ8AVX512X8(args *kvArgs)
TEXT ·valuesQ8AVX512X8(SB), NOSPLIT, $0-8
	VALUES(ZERO8, ROWS8, Q8VALUES, 1, FMA8)

// func valuesQ8AVX512X12(args *kvArgs)
TEXT ·valuesQ8AVX512X12(SB), NOSPLIT, $0-8
	VALUES(ZERO12, ROWS12, Q8VALUES, 1, FMA12)
