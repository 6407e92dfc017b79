// SPDX-License-Identifier: Apache-2.0

// Attention's two products for 1, 2, 3, 4 or 6 rows, for AVX2, FMA and F16C. A tile has 16 of the 32 columns: two calls.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 16 numbers of a block as floats (F16 converts exactly, BF16 by a shift of 16, bytes are small
// integers) and broadcasts one number of A for each row.
// Keys: a tile of results for each block, over all components. Values: one tile of results over all positions of all blocks.
// Scales: of keys, after each group of components; of values, before each block, into a copy of A's numbers.
// Tails: none, there are 16 columns; any number of steps from 1.
// Bound: 6 rows by the fma ports, 12 fma for 8 loads; few rows by memory. Each step prefetches a line twice: into the second
// cache a few blocks ahead, where what is asked for may be dropped, and into the first one block ahead, where it may not.
//
// Registers: AX scratch, CX steps left, DI dst, R8 A's rows 0 to 3, R13 4 and 5, R9 bytes between A's rows, R12 3·R9, R10
// the block, R11 and DX from there to what goes to the second and the first cache, SI bytes between rows of dst. BX has no use
// here. Y0 to Y11 sums, Y12 and Y13 a row of the block, Y14 a number of A.

#include "go_asm.h"
#include "textflag.h"
#include "attn_amd64.h"

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

// The same of all 32 columns, for up to 3 rows: first 16 of each row, then the others.
#define ZEROALL1 ZERO2
#define ZEROALL2 ZERO4
#define ZEROALL3 ZERO6

#define FIRST1 FMA((R8), Y0, Y1)
#define FIRST2 FIRST1; FMA((R8)(R9*1), Y4, Y5)
#define FIRST3 FIRST2; FMA((R8)(R9*2), Y8, Y9)
#define SECOND1 FMA((R8), Y2, Y3)
#define SECOND2 SECOND1; FMA((R8)(R9*1), Y6, Y7)
#define SECOND3 SECOND2; FMA((R8)(R9*2), Y10, Y11)

#define ALLROWS1(M) MOVQ DI, AX; M(AX, Y0, Y1); ADDQ $64, AX; M(AX, Y2, Y3)
#define ALLROWS2(M) ALLROWS1(M); ADDQ SI, AX; M(AX, Y6, Y7); SUBQ $64, AX; M(AX, Y4, Y5)
#define ALLROWS3(M) ALLROWS2(M); ADDQ SI, AX; M(AX, Y8, Y9); ADDQ $64, AX; M(AX, Y10, Y11)

// ALLSTEPS is STEPS for them.
#define ALLSTEPS(row, size, first, second) \
step: \
	PREFETCH(0); \
	row(0); \
	first; \
	row(16*size); \
	second; \
	ADDQ $4, R8; \
	ADDQ $(32*size), R10; \
	DECQ CX; \
	JNZ step

// Sums of keys times their scales: those of the first group are the scores, those of others are added.
#define SCALED(at, c0, c1) VMULPS Y12, c0, c0; VMULPS Y13, c1, c1; SAVE(at, c0, c1)
#define ADDSCALED(at, c0, c1) VFMADD213PS (at), Y12, c0; VFMADD213PS 32(at), Y13, c1; SAVE(at, c0, c1)

#define LOADSCALES VMOVUPS (R10)(CX*1), Y12; VMOVUPS 32(R10)(CX*1), Y13

// Numbers of A for 32 values times the scales of these at AX, for each row, to memory at SI: 8 of them, or all.
#define SCALEPART(from, to) VMULPS from, Y12, Y14; VMOVUPS Y14, to(SI)
#define PART1(at) VMOVUPS at(AX), Y12; SCALEPART(at(R8), at)
#define PART2(at) PART1(at); SCALEPART(at(R8)(R9*1), at+128)
#define PART3(at) PART2(at); SCALEPART(at(R8)(R9*2), at+256)
#define PART4(at) PART3(at); SCALEPART(at(R8)(R12*1), at+384)
#define PART6(at) PART4(at); SCALEPART(at(R13), at+512); SCALEPART(at(R13)(R9*1), at+640)
#define SCALEA(PART) PART(0); PART(32); PART(64); PART(96)

// A row of a block as floats.
#define F16AT(at) VCVTPH2PS at(R10), Y12; VCVTPH2PS at+16(R10), Y13
#define F32AT(at) VMOVUPS at(R10), Y12; VMOVUPS at+32(R10), Y13
#define BF16AT(at) VPMOVZXWD at(R10), Y12; VPMOVZXWD at+16(R10), Y13; VPSLLD $16, Y12, Y12; VPSLLD $16, Y13, Y13
#define F16 F16AT(0)
#define F32 F32AT(0)
#define BF16 BF16AT(0)
#define BYTES VPMOVSXBD (R10), Y12; VPMOVSXBD 8(R10), Y13; VCVTDQ2PS Y12, Y12; VCVTDQ2PS Y13, Y13

// SCALES is what VALUES does before a block with scales: it takes A's numbers times them.
#define SCALES(part) \
	ROWSOFA; \
	ADDQ $128, kvArgs_a(AX); \
	MOVQ kvArgs_scaled(AX), SI; \
	MOVQ kvArgs_scales(AX), AX; \
	ADDQ R10, AX; \
	PREFETCH(1024); \
	PREFETCH(1088); \
	SCALEA(part); \
	MOVQ args+0(FP), AX; \
	MOVQ $128, R9; \
	MOVQ $384, R12; \
	MOVQ SI, R8; \
	LEAQ 512(SI), R13

// func keysF16AVX2X1(args *kvArgs)
TEXT ·keysF16AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(F16AT, 2, FIRST1, SECOND1), SAVE)

// func keysF16AVX2X2(args *kvArgs)
TEXT ·keysF16AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(F16AT, 2, FIRST2, SECOND2), SAVE)

// func keysF16AVX2X3(args *kvArgs)
TEXT ·keysF16AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(F16AT, 2, FIRST3, SECOND3), SAVE)

// func keysF16AVX2X4(args *kvArgs)
TEXT ·keysF16AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS(F16, 2, FMA4), SAVE)

// func keysF16AVX2X6(args *kvArgs)
TEXT ·keysF16AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F16, 2, FMA6), SAVE)

// func keysF32AVX2X1(args *kvArgs)
TEXT ·keysF32AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(F32AT, 4, FIRST1, SECOND1), SAVE)

// func keysF32AVX2X2(args *kvArgs)
TEXT ·keysF32AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(F32AT, 4, FIRST2, SECOND2), SAVE)

// func keysF32AVX2X3(args *kvArgs)
TEXT ·keysF32AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(F32AT, 4, FIRST3, SECOND3), SAVE)

// func keysF32AVX2X4(args *kvArgs)
TEXT ·keysF32AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS(F32, 4, FMA4), SAVE)

// func keysF32AVX2X6(args *kvArgs)
TEXT ·keysF32AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F32, 4, FMA6), SAVE)

// func keysBF16AVX2X1(args *kvArgs)
TEXT ·keysBF16AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(BF16AT, 2, FIRST1, SECOND1), SAVE)

// func keysBF16AVX2X2(args *kvArgs)
TEXT ·keysBF16AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(BF16AT, 2, FIRST2, SECOND2), SAVE)

// func keysBF16AVX2X3(args *kvArgs)
TEXT ·keysBF16AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(BF16AT, 2, FIRST3, SECOND3), SAVE)

// func keysBF16AVX2X4(args *kvArgs)
TEXT ·keysBF16AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS(BF16, 2, FMA4), SAVE)

// func keysBF16AVX2X6(args *kvArgs)
TEXT ·keysBF16AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(BF16, 2, FMA6), SAVE)

// func keysQ8AVX2X1(args *kvArgs)
TEXT ·keysQ8AVX2X1(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO1, ROWS1, STEPS(BYTES, 1, FMA1))

// func keysQ8AVX2X2(args *kvArgs)
TEXT ·keysQ8AVX2X2(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO2, ROWS2, STEPS(BYTES, 1, FMA2))

// func keysQ8AVX2X3(args *kvArgs)
TEXT ·keysQ8AVX2X3(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO3, ROWS3, STEPS(BYTES, 1, FMA3))

// func keysQ8AVX2X4(args *kvArgs)
TEXT ·keysQ8AVX2X4(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO4, ROWS4, STEPS(BYTES, 1, FMA4))

// func keysQ8AVX2X6(args *kvArgs)
TEXT ·keysQ8AVX2X6(SB), NOSPLIT, $0-8
	KEYSQ8(ZERO6, ROWS6, STEPS(BYTES, 1, FMA6))

// func valuesF16AVX2X1(args *kvArgs)
TEXT ·valuesF16AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(F16AT, 2, FIRST1, SECOND1), LOAD, SAVE, NOTHING)

// func valuesF16AVX2X2(args *kvArgs)
TEXT ·valuesF16AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(F16AT, 2, FIRST2, SECOND2), LOAD, SAVE, NOTHING)

// func valuesF16AVX2X3(args *kvArgs)
TEXT ·valuesF16AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(F16AT, 2, FIRST3, SECOND3), LOAD, SAVE, NOTHING)

// func valuesF16AVX2X4(args *kvArgs)
TEXT ·valuesF16AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS(F16, 2, FMA4), LOAD, SAVE, NOTHING)

// func valuesF16AVX2X6(args *kvArgs)
TEXT ·valuesF16AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F16, 2, FMA6), LOAD, SAVE, NOTHING)

// func valuesF32AVX2X1(args *kvArgs)
TEXT ·valuesF32AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(F32AT, 4, FIRST1, SECOND1), LOAD, SAVE, NOTHING)

// func valuesF32AVX2X2(args *kvArgs)
TEXT ·valuesF32AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(F32AT, 4, FIRST2, SECOND2), LOAD, SAVE, NOTHING)

// func valuesF32AVX2X3(args *kvArgs)
TEXT ·valuesF32AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(F32AT, 4, FIRST3, SECOND3), LOAD, SAVE, NOTHING)

// func valuesF32AVX2X4(args *kvArgs)
TEXT ·valuesF32AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS(F32, 4, FMA4), LOAD, SAVE, NOTHING)

// func valuesF32AVX2X6(args *kvArgs)
TEXT ·valuesF32AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F32, 4, FMA6), LOAD, SAVE, NOTHING)

// func valuesBF16AVX2X1(args *kvArgs)
TEXT ·valuesBF16AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(BF16AT, 2, FIRST1, SECOND1), LOAD, SAVE, NOTHING)

// func valuesBF16AVX2X2(args *kvArgs)
TEXT ·valuesBF16AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(BF16AT, 2, FIRST2, SECOND2), LOAD, SAVE, NOTHING)

// func valuesBF16AVX2X3(args *kvArgs)
TEXT ·valuesBF16AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(BF16AT, 2, FIRST3, SECOND3), LOAD, SAVE, NOTHING)

// func valuesBF16AVX2X4(args *kvArgs)
TEXT ·valuesBF16AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS(BF16, 2, FMA4), LOAD, SAVE, NOTHING)

// func valuesBF16AVX2X6(args *kvArgs)
TEXT ·valuesBF16AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(BF16, 2, FMA6), LOAD, SAVE, NOTHING)

// func valuesQ8AVX2X1(args *kvArgs)
TEXT ·valuesQ8AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO1, ROWS1, STEPS(BYTES, 1, FMA1), LOAD, SAVE, SCALES(PART1))

// func valuesQ8AVX2X2(args *kvArgs)
TEXT ·valuesQ8AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO2, ROWS2, STEPS(BYTES, 1, FMA2), LOAD, SAVE, SCALES(PART2))

// func valuesQ8AVX2X3(args *kvArgs)
TEXT ·valuesQ8AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO3, ROWS3, STEPS(BYTES, 1, FMA3), LOAD, SAVE, SCALES(PART3))

// func valuesQ8AVX2X4(args *kvArgs)
TEXT ·valuesQ8AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS(BYTES, 1, FMA4), LOAD, SAVE, SCALES(PART4))

// func valuesQ8AVX2X6(args *kvArgs)
TEXT ·valuesQ8AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(BYTES, 1, FMA6), LOAD, SAVE, SCALES(PART6))
