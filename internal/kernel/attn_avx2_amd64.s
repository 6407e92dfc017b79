// SPDX-License-Identifier: Apache-2.0

// Attention's two products for 1, 2, 3, 4 or 6 rows, for AVX2, FMA and F16C. A tile has 16 of the 32 columns: two calls.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 16 numbers of a block as floats (F16 converts exactly, BF16 by a shift of 16, bytes with one
// rounding by their scale) and broadcasts one number of A for each row.
// Keys: a tile of results for each block, over all components. Values: one tile of results over all positions of all blocks.
// Tails: none, there are 16 columns; any number of steps from 1.
// Bound: 6 rows by the fma ports, 12 fma for 8 loads; few rows by memory. Each step prefetches a line of what comes next.
//
// Registers: AX scratch, CX steps left, DI dst, R8 A's rows 0 to 3, R13 4 and 5, R9 bytes between A's rows, R12 3·R9, R10
// the block, R11 what to prefetch, DX the block's scales, SI bytes between rows of dst, and in the loops: for keys where A
// begins, for values bytes between rows of the block. BX has no use here. Y0 to Y11 sums, Y12 and Y13 a row of the block,
// Y14 a number of A.

#include "go_asm.h"
#include "textflag.h"

// One row: its sums are c0 and c1.
#define ZERO(c0, c1) VXORPS c0, c0, c0; VXORPS c1, c1, c1
#define LOAD(at, c0, c1) VMOVUPS (at), c0; VMOVUPS 32(at), c1
#define SAVE(at, c0, c1) VMOVUPS c0, (at); VMOVUPS c1, 32(at)
#define FMA(at, c0, c1) VBROADCASTSS at, Y14; VFMADD231PS Y12, Y14, c0; VFMADD231PS Y13, Y14, c1

// The rows of a tile, one after the other.
#define ZERO1 ZERO(Y0, Y1)
#define ZERO2 ZERO1; ZERO(Y2, Y3)
#define ZERO3 ZERO2; ZERO(Y4, Y5)
#define ZERO4 ZERO3; ZERO(Y6, Y7)
#define ZERO6 ZERO4; ZERO(Y8, Y9); ZERO(Y10, Y11)

#define FMA1 FMA((R8), Y0, Y1)
#define FMA2 FMA1; FMA((R8)(R9*1), Y2, Y3)
#define FMA3 FMA2; FMA((R8)(R9*2), Y4, Y5)
#define FMA4 FMA3; FMA((R8)(R12*1), Y6, Y7)
#define FMA6 FMA4; FMA((R13), Y8, Y9); FMA((R13)(R9*1), Y10, Y11)

#define ROWS1(M) MOVQ DI, AX; M(AX, Y0, Y1)
#define ROWS2(M) ROWS1(M); ADDQ SI, AX; M(AX, Y2, Y3)
#define ROWS3(M) ROWS2(M); ADDQ SI, AX; M(AX, Y4, Y5)
#define ROWS4(M) ROWS3(M); ADDQ SI, AX; M(AX, Y6, Y7)
#define ROWS6(M) ROWS4(M); ADDQ SI, AX; M(AX, Y8, Y9); ADDQ SI, AX; M(AX, Y10, Y11)

// A row of a block as floats. The bytes of a key have a scale for each position, a row of scales for 32 components, and A
// tells the component; those of a value have one scale for all columns of the tile.
#define F16 VCVTPH2PS (R10), Y12; VCVTPH2PS 16(R10), Y13
#define F32 VMOVUPS (R10), Y12; VMOVUPS 32(R10), Y13
#define BF16 VPMOVZXWD (R10), Y12; VPMOVZXWD 16(R10), Y13; VPSLLD $16, Y12, Y12; VPSLLD $16, Y13, Y13
#define BYTES VPMOVSXBD (R10), Y12; VPMOVSXBD 8(R10), Y13; VCVTDQ2PS Y12, Y12; VCVTDQ2PS Y13, Y13
#define Q8KEYS BYTES; MOVQ R8, AX; SUBQ SI, AX; ANDQ $-128, AX; VMULPS (DX)(AX*1), Y12, Y12; VMULPS 32(DX)(AX*1), Y13, Y13
#define Q8VALUES BYTES; VBROADCASTSS (DX), Y14; ADDQ $4, DX; VMULPS Y14, Y12, Y12; VMULPS Y14, Y13, Y13

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

// func keysF16AVX2X1(args *kvArgs)
TEXT ·keysF16AVX2X1(SB), NOSPLIT, $0-8
	KEYS(ZERO1, ROWS1, F16, 2, FMA1)

// func keysF16AVX2X2(args *kvArgs)
TEXT ·keysF16AVX2X2(SB), NOSPLIT, $0-8
	KEYS(ZERO2, ROWS2, F16, 2, FMA2)

// func keysF16AVX2X3(args *kvArgs)
TEXT ·keysF16AVX2X3(SB), NOSPLIT, $0-8
	KEYS(ZERO3, ROWS3, F16, 2, FMA3)

// func keysF16AVX2X4(args *kvArgs)
TEXT ·keysF16AVX2X4(SB), NOSPLIT, $0-8
	KEYS(ZERO4, ROWS4, F16, 2, FMA4)

// func keysF16AVX2X6(args *kvArgs)
TEXT ·keysF16AVX2X6(SB), NOSPLIT, $0-8
	KEYS(ZERO6, ROWS6, F16, 2, FMA6)

// func keysF32AVX2X1(args *kvArgs)
TEXT ·keysF32AVX2X1(SB), NOSPLIT, $0-8
	KEYS(ZERO1, ROWS1, F32, 4, FMA1)

// func keysF32AVX2X2(args *kvArgs)
TEXT ·keysF32AVX2X2(SB), NOSPLIT, $0-8
	KEYS(ZERO2, ROWS2, F32, 4, FMA2)

// func keysF32AVX2X3(args *kvArgs)
TEXT ·keysF32AVX2X3(SB), NOSPLIT, $0-8
	KEYS(ZERO3, ROWS3, F32, 4, FMA3)

// func keysF32AVX2X4(args *kvArgs)
TEXT ·keysF32AVX2X4(SB), NOSPLIT, $0-8
	KEYS(ZERO4, ROWS4, F32, 4, FMA4)

// func keysF32AVX2X6(args *kvArgs)
TEXT ·keysF32AVX2X6(SB), NOSPLIT, $0-8
	KEYS(ZERO6, ROWS6, F32, 4, FMA6)

// func keysBF16AVX2X1(args *kvArgs)
TEXT ·keysBF16AVX2X1(SB), NOSPLIT, $0-8
	KEYS(ZERO1, ROWS1, BF16, 2, FMA1)

// func keysBF16AVX2X2(args *kvArgs)
TEXT ·keysBF16AVX2X2(SB), NOSPLIT, $0-8
	KEYS(ZERO2, ROWS2, BF16, 2, FMA2)

// func keysBF16AVX2X3(args *kvArgs)
TEXT ·keysBF16AVX2X3(SB), NOSPLIT, $0-8
	KEYS(ZERO3, ROWS3, BF16, 2, FMA3)

// func keysBF16AVX2X4(args *kvArgs)
TEXT ·keysBF16AVX2X4(SB), NOSPLIT, $0-8
	KEYS(ZERO4, ROWS4, BF16, 2, FMA4)

// func keysBF16AVX2X6(args *kvArgs)
TEXT ·keysBF16AVX2X6(SB), NOSPLIT, $0-8
	KEYS(ZERO6, ROWS6, BF16, 2, FMA6)

// func keysQ8AVX2X1(args *kvArgs)
TEXT ·keysQ8AVX2X1(SB), NOSPLIT, $0-8
	KEYS(ZERO1, ROWS1, Q8KEYS, 1, FMA1)

// func keysQ8AVX2X2(args *kvArgs)
TEXT ·keysQ8AVX2X2(SB), NOSPLIT, $0-8
	KEYS(ZERO2, ROWS2, Q8KEYS, 1, FMA2)

// func keysQ8AVX2X3(args *kvArgs)
TEXT ·keysQ8AVX2X3(SB), NOSPLIT, $0-8
	KEYS(ZERO3, ROWS3, Q8KEYS, 1, FMA3)

// func keysQ8AVX2X4(args *kvArgs)
TEXT ·keysQ8AVX2X4(SB), NOSPLIT, $0-8
	KEYS(ZERO4, ROWS4, Q8KEYS, 1, FMA4)

// func keysQ8AVX2X6(args *kvArgs)
TEXT ·keysQ8AVX2X6(SB), NOSPLIT, $0-8
	KEYS(ZERO6, ROWS6, Q8KEYS, 1, FMA6)

// func valuesF16AVX2X1(args *kvArgs)
TEXT ·valuesF16AVX2X1(SB), NOSPLIT, $0-8
	VALUES(ZERO1, ROWS1, F16, 2, FMA1)

// func valuesF16AVX2X2(args *kvArgs)
TEXT ·valuesF16AVX2X2(SB), NOSPLIT, $0-8
	VALUES(ZERO2, ROWS2, F16, 2, FMA2)

// func valuesF16AVX2X3(args *kvArgs)
TEXT ·valuesF16AVX2X3(SB), NOSPLIT, $0-8
	VALUES(ZERO3, ROWS3, F16, 2, FMA3)

// func valuesF16AVX2X4(args *kvArgs)
TEXT ·valuesF16AVX2X4(SB), NOSPLIT, $0-8
	VALUES(ZERO4, ROWS4, F16, 2, FMA4)

// func valuesF16AVX2X6(args *kvArgs)
TEXT ·valuesF16AVX2X6(SB), NOSPLIT, $0-8
	VALUES(ZERO6, ROWS6, F16, 2, FMA6)

// func valuesF32AVX2X1(args *kvArgs)
TEXT ·valuesF32AVX2X1(SB), NOSPLIT, $0-8
	VALUES(ZERO1, ROWS1, F32, 4, FMA1)

// func valuesF32AVX2X2(args *kvArgs)
TEXT ·valuesF32AVX2X2(SB), NOSPLIT, $0-8
	VALUES(ZERO2, ROWS2, F32, 4, FMA2)

// func valuesF32AVX2X3(args *kvArgs)
TEXT ·valuesF32AVX2X3(SB), NOSPLIT, $0-8
	VALUES(ZERO3, ROWS3, F32, 4, FMA3)

// func valuesF32AVX2X4(args *kvArgs)
TEXT ·valuesF32AVX2X4(SB), NOSPLIT, $0-8
	VALUES(ZERO4, ROWS4, F32, 4, FMA4)

// func valuesF32AVX2X6(args *kvArgs)
TEXT ·valuesF32AVX2X6(SB), NOSPLIT, $0-8
	VALUES(ZERO6, ROWS6, F32, 4, FMA6)

// func valuesBF16AVX2X1(args *kvArgs)
TEXT ·valuesBF16AVX2X1(SB), NOSPLIT, $0-8
	VALUES(ZERO1, ROWS1, BF16, 2, FMA1)

// func valuesBF16AVX2X2(args *kvArgs)
TEXT ·valuesBF16AVX2X2(SB), NOSPLIT, $0-8
	VALUES(ZERO2, ROWS2, BF16, 2, FMA2)

// func valuesBF16AVX2X3(args *kvArgs)
TEXT ·valuesBF16AVX2X3(SB), NOSPLIT, $0-8
	VALUES(ZERO3, ROWS3, BF16, 2, FMA3)

// func valuesBF16AVX2X4(args *kvArgs)
TEXT ·valuesBF16AVX2X4(SB), NOSPLIT, $0-8
	VALUES(ZERO4, ROWS4, BF16, 2, FMA4)

// func valuesBF16AVX2X6(args *kvArgs)
TEXT ·valuesBF16AVX2X6(SB), NOSPLIT, $0-8
	VALUES(ZERO6, ROWS6, BF16, 2, FMA6)

// func valuesQ8AVX2X1(args *kvArgs)
TEXT ·valuesQ8AVX2X1(SB), NOSPLIT, $0-8
	VALUES(ZERO1, ROWS1, Q8VALUES, 1, FMA1)

// func valuesQ8AVX2X2(args *kvArgs)
TEXT ·valuesQ8AVX2X2(SB), NOSPLIT, $0-8
	VALUES(ZERO2, ROWS2, Q8VALUES, 1, FMA2)

// func valuesQ8AVX2X3(args *kvArgs)
TEXT ·valuesQ8AVX2X3(SB), NOSPLIT, $0-8
	VALUES(ZERO3, ROWS3, Q8VALUES, 1, FMA3)

// func valuesQ8AVX2X4(args *kvArgs)
TEXT ·valuesQ8AVX2X4(SB), NOSPLIT, $0-8
	VALUES(ZERO4, ROWS4, Q8VALUES, 1, FMA4)

// func valuesQ8AVX2X6(args *kvArgs)
TEXT ·valuesQ8AVX2X6(SB), NOSPLIT, $0-8
	VALUES(ZERO6, ROWS6, Q8VALUES, 1, FMA6)
