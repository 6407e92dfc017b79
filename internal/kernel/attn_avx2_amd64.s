// SPDX-License-Identifier: Apache-2.0

// Attention's two products for 1, 2, 3, 4 or 6 rows, for AVX2, FMA and F16C. A tile of up to 3 rows has all 32 columns, so that
// each line of a block is read once; one of 4 or 6 has 16: two calls.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 16 numbers of a block as floats (F16 converts exactly, BF16 by a shift of 16) and broadcasts one number
// of A for each row.
// Bytes: each step widens pairs to 16 bits and multiplies them with a pair of each row of A (VPMADDWD). The sums of a group of
// components, or of the values of a block, are exact in 32 bits: 32 products of at most 127 · 32767 are less than 2^27. Each
// then gets into the result with one fma.
// Keys: a tile of results for each block, over all components. Values: one tile of results over all positions of all blocks; of
// bytes, each block is added to what is there.
// Tails: none, there are 16 or 32 columns; any number of steps from 1.
// Bound: 6 rows by the fma ports, 12 fma for 8 loads, or of bytes by all four vector ports, 12 multiplies, 12 adds and 2
// conversions for as many products twice; few rows by memory. Each step prefetches a line twice: into the second cache a few
// blocks ahead, where what is asked for may be dropped, and into the first one block or 2 KiB ahead, where it may not.
//
// Registers: AX scratch, CX steps left, DI dst, R8 A's rows 0 to 3, R13 4 and 5, R9 bytes between A's rows, R12 3·R9, R10
// the block, R11 and DX from there to what goes to the second and the first cache, SI bytes between rows of dst. BX has no use
// here. Y0 to Y11 sums, Y12 and Y13 a row of the block, Y14 a number or a pair of A, Y15 products of bytes.

#include "go_asm.h"
#include "textflag.h"
#include "attn_amd64.h"

// One row: its sums are c0 and c1.
#define ZERO(c0, c1) VXORPS c0, c0, c0; VXORPS c1, c1, c1
#define LOAD(at, c0, c1) VMOVUPS (at), c0; VMOVUPS 32(at), c1
#define SAVE(at, c0, c1) VMOVUPS c0, (at); VMOVUPS c1, 32(at)
#define FMA(at, c0, c1) VBROADCASTSS at, Y14; VFMADD231PS Y12, Y14, c0; VFMADD231PS Y13, Y14, c1

// The rows of a tile, one after the other.
#define ZERO4 ZERO(Y0, Y1); ZERO(Y2, Y3); ZERO(Y4, Y5); ZERO(Y6, Y7)
#define ZERO6 ZERO4; ZERO(Y8, Y9); ZERO(Y10, Y11)

#define EACH4(M) M((R8), Y0, Y1); M((R8)(R9*1), Y2, Y3); M((R8)(R9*2), Y4, Y5); M((R8)(R12*1), Y6, Y7)
#define EACH6(M) EACH4(M); M((R13), Y8, Y9); M((R13)(R9*1), Y10, Y11)

#define ROWS4(M) MOVQ DI, AX; M(AX, Y0, Y1); ADDQ SI, AX; M(AX, Y2, Y3); ADDQ SI, AX; M(AX, Y4, Y5); ADDQ SI, AX; M(AX, Y6, Y7)
#define ROWS6(M) ROWS4(M); ADDQ SI, AX; M(AX, Y8, Y9); ADDQ SI, AX; M(AX, Y10, Y11)

// The same of all 32 columns, for up to 3 rows: first 16 of each row, then the others.
#define ZEROALL1 ZERO(Y0, Y1); ZERO(Y2, Y3)
#define ZEROALL2 ZERO4
#define ZEROALL3 ZERO6

#define FIRST1(M) M((R8), Y0, Y1)
#define FIRST2(M) FIRST1(M); M((R8)(R9*1), Y4, Y5)
#define FIRST3(M) FIRST2(M); M((R8)(R9*2), Y8, Y9)
#define SECOND1(M) M((R8), Y2, Y3)
#define SECOND2(M) SECOND1(M); M((R8)(R9*1), Y6, Y7)
#define SECOND3(M) SECOND2(M); M((R8)(R9*2), Y10, Y11)

#define ALLROWS1(M) MOVQ DI, AX; M(AX, Y0, Y1); ADDQ $64, AX; M(AX, Y2, Y3)
#define ALLROWS2(M) ALLROWS1(M); ADDQ SI, AX; M(AX, Y6, Y7); SUBQ $64, AX; M(AX, Y4, Y5)
#define ALLROWS3(M) ALLROWS2(M); ADDQ SI, AX; M(AX, Y8, Y9); ADDQ $64, AX; M(AX, Y10, Y11)

// SOON asks for a line for the second cache as PREFETCH does, and for the first one 2 KiB ahead: few rows pass a block of long rows
// faster than the next one comes.
#define SOON PREFETCHT1 (R10)(R11*1); PREFETCHT0 2048(R10)

// STEPS4 is STEPS for up to four rows, and ALLSTEPS that for all 32 columns.
#define STEPS4(row, size, fmas) \
step: \
	SOON; \
	row; \
	fmas; \
	ADDQ $4, R8; \
	ADDQ $(32*size), R10; \
	DECQ CX; \
	JNZ step
#define ALLSTEPS(row, size, first, second) STEPS4(row(0), size, first; row(16*size); second)

// A row of a block as floats.
#define F16AT(at) VCVTPH2PS at(R10), Y12; VCVTPH2PS at+16(R10), Y13
#define F32AT(at) VMOVUPS at(R10), Y12; VMOVUPS at+32(R10), Y13
#define BF16AT(at) VPMOVZXWD at(R10), Y12; VPMOVZXWD at+16(R10), Y13; VPSLLD $16, Y12, Y12; VPSLLD $16, Y13, Y13
#define F16 F16AT(0)
#define F32 F32AT(0)
#define BF16 BF16AT(0)

// A row of pairs of bytes as pairs of 16 bits, and what multiplies them with a pair of A and adds 32 bits.
#define PAIRSAT(at) VPMOVSXBW at(R10), Y12; VPMOVSXBW at+16(R10), Y13
#define PAIRS PAIRSAT(0)
#define MAC(at, c0, c1) VPBROADCASTD at, Y14; VPMADDWD Y12, Y14, Y15; VPADDD Y15, c0, c0; VPMADDWD Y13, Y14, Y15; VPADDD Y15, c1, c1

// Sums of a group of keys times the scales of the keys, in Y12 and Y13, and of a row of A are added to the row of dst at AX.
#define SCORE(at, c0, c1) \
	VBROADCASTSS at, Y14; \
	VCVTDQ2PS c0, c0; \
	VCVTDQ2PS c1, c1; \
	VMULPS Y12, Y14, Y15; \
	VMULPS Y13, Y14, Y14; \
	VFMADD213PS (AX), Y15, c0; \
	VFMADD213PS 32(AX), Y14, c1; \
	SAVE(AX, c0, c1); \
	ADDQ SI, AX

// The same of a group of values and a row of A.
#define WEIGHED(at, c0, c1) \
	VBROADCASTSS at, Y14; \
	VCVTDQ2PS c0, c0; \
	VCVTDQ2PS c1, c1; \
	VFMADD213PS (AX), Y14, c0; \
	VFMADD213PS 32(AX), Y14, c1; \
	SAVE(AX, c0, c1); \
	ADDQ SI, AX

#define LOADSCALES(at) VMOVUPS at(R10)(CX*1), Y12; VMOVUPS at+32(R10)(CX*1), Y13
#define SCORES(each) LOADSCALES(0); MOVQ DI, AX; each(SCORE)
#define ALLSCORES(first, second) SCORES(first); LOADSCALES(64); LEAQ 64(DI), AX; second(SCORE)
#define SUMS(each) MOVQ DI, AX; each(WEIGHED)
#define ALLSUMS(first, second) SUMS(first); LEAQ 64(DI), AX; second(WEIGHED)

// 1/32767, 2^-100 and 32767.
DATA fixed<>+0(SB)/4, $0x38000100
DATA fixed<>+4(SB)/4, $0x0d800000
DATA fixed<>+8(SB)/4, $0x46fffe00
GLOBL fixed<>(SB), RODATA|NOPTR, $12

// fixAVX2 compares magnitudes as integers, which have the same order, but of which that of a NaN is the largest.
//
// func fixAVX2(args *fixArgs)
TEXT ·fixAVX2(SB), NOSPLIT, $0-8
	MOVQ args+0(FP), BX
	MOVQ fixArgs_dst(BX), R10
	MOVQ fixArgs_ldx(BX), R8
	MOVQ fixArgs_scales(BX), AX
	MOVQ fixArgs_lds(BX), R9
	MOVQ fixArgs_groups(BX), DX
	VPCMPEQD Y15, Y15, Y15
	VPSRLD $1, Y15, Y15
	VBROADCASTSS fixed<>+8(SB), Y14
	VMOVSS fixed<>+4(SB), X13

group:
	MOVQ R10, DI
	MOVQ fixArgs_x(BX), SI
	MOVQ fixArgs_rows(BX), CX
	VMOVUPS (AX), Y8
	VMOVUPS 32(AX), Y9
	VMOVUPS 64(AX), Y10
	VMOVUPS 96(AX), Y11

row:
	VMULPS (SI), Y8, Y0
	VMULPS 32(SI), Y9, Y1
	VMULPS 64(SI), Y10, Y2
	VMULPS 96(SI), Y11, Y3
	VANDPS Y15, Y0, Y4
	VANDPS Y15, Y1, Y5
	VANDPS Y15, Y2, Y6
	VANDPS Y15, Y3, Y7
	VPMAXSD Y4, Y5, Y4
	VPMAXSD Y6, Y7, Y6
	VPMAXSD Y4, Y6, Y4
	VEXTRACTI128 $1, Y4, X5
	VPMAXSD X5, X4, X4
	VPSHUFD $0x4e, X4, X5
	VPMAXSD X5, X4, X4
	VPSHUFD $0xb1, X4, X5
	VPMAXSD X5, X4, X4
	VPMAXSD X13, X4, X4
	VMULSS fixed<>+0(SB), X4, X5
	VMOVSS X5, fixedGroup_scale(DI)
	VDIVSS X4, X14, X4
	VBROADCASTSS X4, Y4
	VMULPS Y4, Y0, Y0
	VMULPS Y4, Y1, Y1
	VMULPS Y4, Y2, Y2
	VMULPS Y4, Y3, Y3
	VCVTPS2DQ Y0, Y0
	VCVTPS2DQ Y1, Y1
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPERMQ $0xd8, Y0, Y0
	VPERMQ $0xd8, Y2, Y2
	VMOVDQU Y0, (DI)
	VMOVDQU Y2, 32(DI)
	ADDQ R8, SI
	ADDQ $fixedGroup__size, DI
	DECQ CX
	JNZ row
	ADDQ $(const_KVTileRows*fixedGroup__size), R10
	ADDQ R9, AX
	DECQ DX
	JNZ group
	VZEROUPPER
	RET

// func keysF16AVX2X1(args *kvArgs)
TEXT ·keysF16AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(F16AT, 2, FIRST1(FMA), SECOND1(FMA)), SAVE)

// func keysF16AVX2X2(args *kvArgs)
TEXT ·keysF16AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(F16AT, 2, FIRST2(FMA), SECOND2(FMA)), SAVE)

// func keysF16AVX2X3(args *kvArgs)
TEXT ·keysF16AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(F16AT, 2, FIRST3(FMA), SECOND3(FMA)), SAVE)

// func keysF16AVX2X4(args *kvArgs)
TEXT ·keysF16AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS4(F16, 2, EACH4(FMA)), SAVE)

// func keysF16AVX2X6(args *kvArgs)
TEXT ·keysF16AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F16, 2, EACH6(FMA)), SAVE)

// func keysF32AVX2X1(args *kvArgs)
TEXT ·keysF32AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(F32AT, 4, FIRST1(FMA), SECOND1(FMA)), SAVE)

// func keysF32AVX2X2(args *kvArgs)
TEXT ·keysF32AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(F32AT, 4, FIRST2(FMA), SECOND2(FMA)), SAVE)

// func keysF32AVX2X3(args *kvArgs)
TEXT ·keysF32AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(F32AT, 4, FIRST3(FMA), SECOND3(FMA)), SAVE)

// func keysF32AVX2X4(args *kvArgs)
TEXT ·keysF32AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS4(F32, 4, EACH4(FMA)), SAVE)

// func keysF32AVX2X6(args *kvArgs)
TEXT ·keysF32AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F32, 4, EACH6(FMA)), SAVE)

// func keysBF16AVX2X1(args *kvArgs)
TEXT ·keysBF16AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(BF16AT, 2, FIRST1(FMA), SECOND1(FMA)), SAVE)

// func keysBF16AVX2X2(args *kvArgs)
TEXT ·keysBF16AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(BF16AT, 2, FIRST2(FMA), SECOND2(FMA)), SAVE)

// func keysBF16AVX2X3(args *kvArgs)
TEXT ·keysBF16AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(BF16AT, 2, FIRST3(FMA), SECOND3(FMA)), SAVE)

// func keysBF16AVX2X4(args *kvArgs)
TEXT ·keysBF16AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS4(BF16, 2, EACH4(FMA)), SAVE)

// func keysBF16AVX2X6(args *kvArgs)
TEXT ·keysBF16AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(BF16, 2, EACH6(FMA)), SAVE)

// func keysQ8AVX2X1(args *kvArgs)
TEXT ·keysQ8AVX2X1(SB), NOSPLIT, $0-8
	KEYSBYTES(ZEROALL1, ALLSTEPS(PAIRSAT, 2, FIRST1(MAC), SECOND1(MAC)), ALLSCORES(FIRST1, SECOND1))

// func keysQ8AVX2X2(args *kvArgs)
TEXT ·keysQ8AVX2X2(SB), NOSPLIT, $0-8
	KEYSBYTES(ZEROALL2, ALLSTEPS(PAIRSAT, 2, FIRST2(MAC), SECOND2(MAC)), ALLSCORES(FIRST2, SECOND2))

// func keysQ8AVX2X3(args *kvArgs)
TEXT ·keysQ8AVX2X3(SB), NOSPLIT, $0-8
	KEYSBYTES(ZEROALL3, ALLSTEPS(PAIRSAT, 2, FIRST3(MAC), SECOND3(MAC)), ALLSCORES(FIRST3, SECOND3))

// func keysQ8AVX2X4(args *kvArgs)
TEXT ·keysQ8AVX2X4(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO4, STEPS4(PAIRS, 2, EACH4(MAC)), SCORES(EACH4))

// func keysQ8AVX2X6(args *kvArgs)
TEXT ·keysQ8AVX2X6(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO6, STEPS(PAIRS, 2, EACH6(MAC)), SCORES(EACH6))

// func valuesF16AVX2X1(args *kvArgs)
TEXT ·valuesF16AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(F16AT, 2, FIRST1(FMA), SECOND1(FMA)), LOAD, SAVE)

// func valuesF16AVX2X2(args *kvArgs)
TEXT ·valuesF16AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(F16AT, 2, FIRST2(FMA), SECOND2(FMA)), LOAD, SAVE)

// func valuesF16AVX2X3(args *kvArgs)
TEXT ·valuesF16AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(F16AT, 2, FIRST3(FMA), SECOND3(FMA)), LOAD, SAVE)

// func valuesF16AVX2X4(args *kvArgs)
TEXT ·valuesF16AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS4(F16, 2, EACH4(FMA)), LOAD, SAVE)

// func valuesF16AVX2X6(args *kvArgs)
TEXT ·valuesF16AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F16, 2, EACH6(FMA)), LOAD, SAVE)

// func valuesF32AVX2X1(args *kvArgs)
TEXT ·valuesF32AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(F32AT, 4, FIRST1(FMA), SECOND1(FMA)), LOAD, SAVE)

// func valuesF32AVX2X2(args *kvArgs)
TEXT ·valuesF32AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(F32AT, 4, FIRST2(FMA), SECOND2(FMA)), LOAD, SAVE)

// func valuesF32AVX2X3(args *kvArgs)
TEXT ·valuesF32AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(F32AT, 4, FIRST3(FMA), SECOND3(FMA)), LOAD, SAVE)

// func valuesF32AVX2X4(args *kvArgs)
TEXT ·valuesF32AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS4(F32, 4, EACH4(FMA)), LOAD, SAVE)

// func valuesF32AVX2X6(args *kvArgs)
TEXT ·valuesF32AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F32, 4, EACH6(FMA)), LOAD, SAVE)

// func valuesBF16AVX2X1(args *kvArgs)
TEXT ·valuesBF16AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL1, ALLROWS1, ALLSTEPS(BF16AT, 2, FIRST1(FMA), SECOND1(FMA)), LOAD, SAVE)

// func valuesBF16AVX2X2(args *kvArgs)
TEXT ·valuesBF16AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL2, ALLROWS2, ALLSTEPS(BF16AT, 2, FIRST2(FMA), SECOND2(FMA)), LOAD, SAVE)

// func valuesBF16AVX2X3(args *kvArgs)
TEXT ·valuesBF16AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL3, ALLROWS3, ALLSTEPS(BF16AT, 2, FIRST3(FMA), SECOND3(FMA)), LOAD, SAVE)

// func valuesBF16AVX2X4(args *kvArgs)
TEXT ·valuesBF16AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS4(BF16, 2, EACH4(FMA)), LOAD, SAVE)

// func valuesBF16AVX2X6(args *kvArgs)
TEXT ·valuesBF16AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(BF16, 2, EACH6(FMA)), LOAD, SAVE)

// func valuesQ8AVX2X1(args *kvArgs)
TEXT ·valuesQ8AVX2X1(SB), NOSPLIT, $0-8
	VALUESBYTES(ZEROALL1, ALLSTEPS(PAIRSAT, 2, FIRST1(MAC), SECOND1(MAC)), ALLSUMS(FIRST1, SECOND1))

// func valuesQ8AVX2X2(args *kvArgs)
TEXT ·valuesQ8AVX2X2(SB), NOSPLIT, $0-8
	VALUESBYTES(ZEROALL2, ALLSTEPS(PAIRSAT, 2, FIRST2(MAC), SECOND2(MAC)), ALLSUMS(FIRST2, SECOND2))

// func valuesQ8AVX2X3(args *kvArgs)
TEXT ·valuesQ8AVX2X3(SB), NOSPLIT, $0-8
	VALUESBYTES(ZEROALL3, ALLSTEPS(PAIRSAT, 2, FIRST3(MAC), SECOND3(MAC)), ALLSUMS(FIRST3, SECOND3))

// func valuesQ8AVX2X4(args *kvArgs)
TEXT ·valuesQ8AVX2X4(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO4, STEPS4(PAIRS, 2, EACH4(MAC)), SUMS(EACH4))

// func valuesQ8AVX2X6(args *kvArgs)
TEXT ·valuesQ8AVX2X6(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO6, STEPS(PAIRS, 2, EACH6(MAC)), SUMS(EACH6))
