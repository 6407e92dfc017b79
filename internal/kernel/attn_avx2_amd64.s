// SPDX-License-Identifier: Apache-2.0

// Tiles of 1, 2, 4 or 6 rows and 16 columns of attention's two products, for AVX2, FMA and F16C.
//
// Identity: element (r, c) is one chain of fma over k, as the twin defines it; lanes are columns, so nothing is summed
// across a vector. Each step of k loads 16 numbers of the block (F16 converts exactly) and broadcasts one number of A
// for each row.
// Tails: none, there are 16 columns (a caller has 32: two calls); any k >= 1.
// Bound: 6 rows by the fma ports, 12 fma for 8 loads; few rows by the latency of fma.
//
// Registers: AX scratch, CX k, DI dst, SI bytes between its rows, R8 A's rows 0 to 3, R13 A's rows 4 and 5, R9 bytes
// between A's rows, R12 3·R9, R10 the block, R11 bytes between its rows. Y0 to Y11 sums, Y12 and Y13 a row of the block,
// Y14 a number of A.

#include "textflag.h"

#define ARGS \
	MOVQ dst+0(FP), DI; \
	MOVQ ldd+8(FP), SI; \
	MOVQ a+16(FP), R8; \
	MOVQ lda+24(FP), R9; \
	MOVQ b+32(FP), R10; \
	MOVQ ldb+40(FP), R11; \
	MOVQ k+48(FP), CX; \
	LEAQ (R9)(R9*2), R12; \
	LEAQ (R8)(R9*4), R13

// One row: its sums are c0 and c1.
#define ZERO(c0, c1) VXORPS c0, c0, c0; VXORPS c1, c1, c1
#define LOAD(at, c0, c1) VMOVUPS (at), c0; VMOVUPS 32(at), c1
#define SAVE(at, c0, c1) VMOVUPS c0, (at); VMOVUPS c1, 32(at)
#define FMA(at, c0, c1) VBROADCASTSS at, Y14; VFMADD231PS Y12, Y14, c0; VFMADD231PS Y13, Y14, c1

// The rows of a tile, one after the other.
#define ZERO1 ZERO(Y0, Y1)
#define ZERO2 ZERO1; ZERO(Y2, Y3)
#define ZERO4 ZERO2; ZERO(Y4, Y5); ZERO(Y6, Y7)
#define ZERO6 ZERO4; ZERO(Y8, Y9); ZERO(Y10, Y11)

#define FMA1 FMA((R8), Y0, Y1)
#define FMA2 FMA1; FMA((R8)(R9*1), Y2, Y3)
#define FMA4 FMA2; FMA((R8)(R9*2), Y4, Y5); FMA((R8)(R12*1), Y6, Y7)
#define FMA6 FMA4; FMA((R13), Y8, Y9); FMA((R13)(R9*1), Y10, Y11)

#define ROWS1(M) MOVQ DI, AX; M(AX, Y0, Y1)
#define ROWS2(M) ROWS1(M); ADDQ SI, AX; M(AX, Y2, Y3)
#define ROWS4(M) ROWS2(M); ADDQ SI, AX; M(AX, Y4, Y5); ADDQ SI, AX; M(AX, Y6, Y7)
#define ROWS6(M) ROWS4(M); ADDQ SI, AX; M(AX, Y8, Y9); ADDQ SI, AX; M(AX, Y10, Y11)

#define BLOCK16 VCVTPH2PS (R10), Y12; VCVTPH2PS 16(R10), Y13
#define BLOCK32 VMOVUPS (R10), Y12; VMOVUPS 32(R10), Y13

#define TILE(zeros, rows, block, fmas) \
	ARGS; \
	CMPQ fresh+56(FP), $0; \
	JEQ add; \
	zeros; \
	JMP step; \
add: \
	rows(LOAD); \
step: \
	block; \
	fmas; \
	ADDQ $4, R8; \
	ADDQ $4, R13; \
	ADDQ R11, R10; \
	DECQ CX; \
	JNZ step; \
	rows(SAVE); \
	VZEROUPPER; \
	RET

// func mulKVF16AVX2X1(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX2X1(SB), NOSPLIT, $0-64
	TILE(ZERO1, ROWS1, BLOCK16, FMA1)

// func mulKVF16AVX2X2(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX2X2(SB), NOSPLIT, $0-64
	TILE(ZERO2, ROWS2, BLOCK16, FMA2)

// func mulKVF16AVX2X4(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX2X4(SB), NOSPLIT, $0-64
	TILE(ZERO4, ROWS4, BLOCK16, FMA4)

// func mulKVF16AVX2X6(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX2X6(SB), NOSPLIT, $0-64
	TILE(ZERO6, ROWS6, BLOCK16, FMA6)

// func mulKVF32AVX2X1(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX2X1(SB), NOSPLIT, $0-64
	TILE(ZERO1, ROWS1, BLOCK32, FMA1)

// func mulKVF32AVX2X2(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX2X2(SB), NOSPLIT, $0-64
	TILE(ZERO2, ROWS2, BLOCK32, FMA2)

// func mulKVF32AVX2X4(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX2X4(SB), NOSPLIT, $0-64
	TILE(ZERO4, ROWS4, BLOCK32, FMA4)

// func mulKVF32AVX2X6(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX2X6(SB), NOSPLIT, $0-64
	TILE(ZERO6, ROWS6, BLOCK32, FMA6)
