// SPDX-License-Identifier: Apache-2.0

// Tiles of 1, 2, 3, 4, 6 or 12 rows and 32 columns of attention's two products, for AVX-512.
//
// Identity: element (r, c) is one chain of fma over k, as the twin defines it; lanes are columns, so nothing is summed
// across a vector. Each step of k loads 32 numbers of the block (F16 converts exactly) and broadcasts one number of A
// for each row.
// Tails: none, there are 32 columns; any k >= 1.
// Bound: 12 rows by the fma ports, 24 fma and 2 conversions for 14 loads; few rows by the latency of fma.
//
// Registers: AX scratch, BX A's rows 8 to 11, CX k, DX 3·SI, DI dst, SI bytes between its rows, R8 A's rows 0 to 3,
// R13 A's rows 4 to 7, R9 bytes between A's rows, R12 3·R9, R10 the block, R11 bytes between its rows. Z0 to Z23 sums,
// Z29 a number of A, Z30 and Z31 a row of the block.

#include "textflag.h"

#define ARGS \
	MOVQ dst+0(FP), DI; \
	MOVQ ldd+8(FP), SI; \
	MOVQ a+16(FP), R8; \
	MOVQ lda+24(FP), R9; \
	MOVQ b+32(FP), R10; \
	MOVQ ldb+40(FP), R11; \
	MOVQ k+48(FP), CX; \
	LEAQ (SI)(SI*2), DX; \
	LEAQ (R9)(R9*2), R12; \
	LEAQ (R8)(R9*4), R13; \
	LEAQ (R13)(R9*4), BX

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
#define ZERO12 ZERO6; ZERO(Z12, Z13); ZERO(Z14, Z15); ZERO(Z16, Z17); ZERO(Z18, Z19); ZERO(Z20, Z21); ZERO(Z22, Z23)

#define FMA1 FMA((R8), Z0, Z1)
#define FMA2 FMA1; FMA((R8)(R9*1), Z2, Z3)
#define FMA3 FMA2; FMA((R8)(R9*2), Z4, Z5)
#define FMA4 FMA3; FMA((R8)(R12*1), Z6, Z7)
#define FMA6 FMA4; FMA((R13), Z8, Z9); FMA((R13)(R9*1), Z10, Z11)
#define FMA12 FMA6; FMA((R13)(R9*2), Z12, Z13); FMA((R13)(R12*1), Z14, Z15); FMA((BX), Z16, Z17); FMA((BX)(R9*1), Z18, Z19); FMA((BX)(R9*2), Z20, Z21); FMA((BX)(R12*1), Z22, Z23)

#define ROWS1(M) MOVQ DI, AX; M(AX, Z0, Z1)
#define ROWS2(M) ROWS1(M); ADDQ SI, AX; M(AX, Z2, Z3)
#define ROWS3(M) ROWS2(M); ADDQ SI, AX; M(AX, Z4, Z5)
#define ROWS4(M) ROWS3(M); ADDQ SI, AX; M(AX, Z6, Z7)
#define ROWS6(M) ROWS4(M); ADDQ SI, AX; M(AX, Z8, Z9); ADDQ SI, AX; M(AX, Z10, Z11)
#define ROWS12(M) ROWS6(M); ADDQ SI, AX; M(AX, Z12, Z13); ADDQ SI, AX; M(AX, Z14, Z15); ADDQ SI, AX; M(AX, Z16, Z17); ADDQ SI, AX; M(AX, Z18, Z19); ADDQ SI, AX; M(AX, Z20, Z21); ADDQ SI, AX; M(AX, Z22, Z23)

#define BLOCK16 VCVTPH2PS (R10), Z30; VCVTPH2PS 32(R10), Z31
#define BLOCK32 VMOVUPS (R10), Z30; VMOVUPS 64(R10), Z31

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
	ADDQ $4, BX; \
	ADDQ R11, R10; \
	DECQ CX; \
	JNZ step; \
	rows(SAVE); \
	VZEROUPPER; \
	RET

// func mulKVF16AVX512X1(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX512X1(SB), NOSPLIT, $0-64
	TILE(ZERO1, ROWS1, BLOCK16, FMA1)

// func mulKVF16AVX512X2(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX512X2(SB), NOSPLIT, $0-64
	TILE(ZERO2, ROWS2, BLOCK16, FMA2)

// func mulKVF16AVX512X3(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX512X3(SB), NOSPLIT, $0-64
	TILE(ZERO3, ROWS3, BLOCK16, FMA3)

// func mulKVF16AVX512X4(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX512X4(SB), NOSPLIT, $0-64
	TILE(ZERO4, ROWS4, BLOCK16, FMA4)

// func mulKVF16AVX512X6(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX512X6(SB), NOSPLIT, $0-64
	TILE(ZERO6, ROWS6, BLOCK16, FMA6)

// func mulKVF16AVX512X12(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF16AVX512X12(SB), NOSPLIT, $0-64
	TILE(ZERO12, ROWS12, BLOCK16, FMA12)

// func mulKVF32AVX512X1(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX512X1(SB), NOSPLIT, $0-64
	TILE(ZERO1, ROWS1, BLOCK32, FMA1)

// func mulKVF32AVX512X2(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX512X2(SB), NOSPLIT, $0-64
	TILE(ZERO2, ROWS2, BLOCK32, FMA2)

// func mulKVF32AVX512X3(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX512X3(SB), NOSPLIT, $0-64
	TILE(ZERO3, ROWS3, BLOCK32, FMA3)

// func mulKVF32AVX512X4(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX512X4(SB), NOSPLIT, $0-64
	TILE(ZERO4, ROWS4, BLOCK32, FMA4)

// func mulKVF32AVX512X6(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX512X6(SB), NOSPLIT, $0-64
	TILE(ZERO6, ROWS6, BLOCK32, FMA6)

// func mulKVF32AVX512X12(dst *float32, ldd uintptr, a *float32, lda uintptr, b unsafe.Pointer, ldb uintptr, k, fresh int)
TEXT ·mulKVF32AVX512X12(SB), NOSPLIT, $0-64
	TILE(ZERO12, ROWS12, BLOCK32, FMA12)
