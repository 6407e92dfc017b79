// SPDX-License-Identifier: Apache-2.0

// Attention's two products for 1, 2, 3, 4 or 6 rows, for AVX2, FMA and F16C. A tile of up to 3 rows has all 32 columns, so that
// each line of a block is read once; one of 4 or 6 has 16: two calls.
//
// Identity: element (r, c) is one chain of fma, as the twin defines it; lanes are columns, so nothing is summed across a
// vector. Each step loads 16 numbers of a block as floats (F16 converts exactly, BF16 gets 16 bits of 0) and broadcasts one number
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
// here. Y0 to Y11 sums, Y12 and Y13 a row of the block, Y14 a number or a pair of A (Y10
// and Y11, too, where up to 2 rows have all columns), Y15 products of bytes, or no bits for BF16.

#include "go_asm.h"
#include "textflag.h"
#include "attn_amd64.h"
#include "attn_avx2_amd64.h"

// SOON asks for a line for the second cache as PREFETCH does, and for the first one 2 KiB ahead: few rows pass a block of long rows
// faster than the next one comes.
#define SOON PREFETCHT1 (R10)(R11*1); PREFETCHT0 2048(R10)

// STEPS4 is STEPS for up to four rows.
#define STEPS4(size, fmas) \
step: \
	SOON; \
	fmas; \
	ADDQ $4, R8; \
	ADDQ $(32*size), R10; \
	DECQ CX; \
	JNZ step

// func fixAVX2(args *fixArgs)
TEXT ·fixAVX2(SB), NOSPLIT, $0-8
	MOVQ args+0(FP), BX
	MOVQ fixArgs_dst(BX), DI
	MOVQ fixArgs_x(BX), SI
	MOVQ fixArgs_groups(BX), CX
	ROUNDCONSTANTS

group:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS 96(SI), Y3
	ROUND(fixed<>+0(SB))
	VMOVDQU Y0, (DI)
	VMOVDQU Y2, 32(DI)
	VMOVSS X5, fixedGroup_scale(DI)
	ADDQ $128, SI
	ADDQ $fixedGroup__size, DI
	DECQ CX
	JNZ group
	VZEROUPPER
	RET

// func weighAVX2(args *weighArgs)
TEXT ·weighAVX2(SB), NOSPLIT, $0-8
	MOVQ args+0(FP), BX
	MOVQ weighArgs_dst(BX), R10
	MOVQ weighArgs_x(BX), SI
	MOVQ weighArgs_scales(BX), AX
	MOVQ weighArgs_lds(BX), R9
	MOVQ weighArgs_rows(BX), CX
	ROUNDCONSTANTS
	UNITS(0, AX)

row:
	TIMESUNITS(SI)
	ROUND(fixed<>+12(SB))
	MOVQ weighArgs_scales(BX), AX
	MOVQ R10, DI
	MOVQ weighArgs_groups(BX), DX

group:
	VPMULHRSW (AX), Y0, Y6
	VPMULHRSW 32(AX), Y2, Y7
	VMOVDQU Y6, (DI)
	VMOVDQU Y7, 32(DI)
	VMOVSS X5, fixedGroup_scale(DI)
	ADDQ R9, AX
	ADDQ $(const_KVTileRows*fixedGroup__size), DI
	DECQ DX
	JNZ group
	ADDQ weighArgs_ldx(BX), SI
	ADDQ $fixedGroup__size, R10
	DECQ CX
	JNZ row
	VZEROUPPER
	RET

// func keysF16AVX2X1(args *kvArgs)
TEXT ·keysF16AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL1, ALLROWS1, STEPS4(2, ALLSTEP1(F16, 32, BYFLOAT, 0, 0)), SAVE)

// func keysF16AVX2X2(args *kvArgs)
TEXT ·keysF16AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL2, ALLROWS2, STEPS4(2, ALLSTEP2(F16, 32, BYFLOAT, 0, 0)), SAVE)

// func keysF16AVX2X3(args *kvArgs)
TEXT ·keysF16AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL3, ALLROWS3, STEPS4(2, ALLSTEP3(F16, 32, FMA, 0, 0)), SAVE)

// func keysF16AVX2X4(args *kvArgs)
TEXT ·keysF16AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS4(2, STEP4(F16, FMA, 0, 0)), SAVE)

// func keysF16AVX2X6(args *kvArgs)
TEXT ·keysF16AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F16(0), 2, EACH6(FMA, 0)), SAVE)

// func keysF32AVX2X1(args *kvArgs)
TEXT ·keysF32AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL1, ALLROWS1, STEPS4(4, ALLSTEP1(F32, 64, BYFLOAT, 0, 0)), SAVE)

// func keysF32AVX2X2(args *kvArgs)
TEXT ·keysF32AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL2, ALLROWS2, STEPS4(4, ALLSTEP2(F32, 64, BYFLOAT, 0, 0)), SAVE)

// func keysF32AVX2X3(args *kvArgs)
TEXT ·keysF32AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZEROALL3, ALLROWS3, STEPS4(4, ALLSTEP3(F32, 64, FMA, 0, 0)), SAVE)

// func keysF32AVX2X4(args *kvArgs)
TEXT ·keysF32AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO4, ROWS4, STEPS4(4, STEP4(F32, FMA, 0, 0)), SAVE)

// func keysF32AVX2X6(args *kvArgs)
TEXT ·keysF32AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOTHING, ZERO6, ROWS6, STEPS(F32(0), 4, EACH6(FMA, 0)), SAVE)

// func keysBF16AVX2X1(args *kvArgs)
TEXT ·keysBF16AVX2X1(SB), NOSPLIT, $0-8
	KEYS(NOBITS, ZEROALL1, ALLROWS1, STEPS4(2, ALLSTEP1(BF16, 32, BYFLOAT, 0, 0)), SAVESWAPPED)

// func keysBF16AVX2X2(args *kvArgs)
TEXT ·keysBF16AVX2X2(SB), NOSPLIT, $0-8
	KEYS(NOBITS, ZEROALL2, ALLROWS2, STEPS4(2, ALLSTEP2(BF16, 32, BYFLOAT, 0, 0)), SAVESWAPPED)

// func keysBF16AVX2X3(args *kvArgs)
TEXT ·keysBF16AVX2X3(SB), NOSPLIT, $0-8
	KEYS(NOBITS, ZEROALL3, ALLROWS3, STEPS4(2, ALLSTEP3(BF16, 32, FMA, 0, 0)), SAVESWAPPED)

// func keysBF16AVX2X4(args *kvArgs)
TEXT ·keysBF16AVX2X4(SB), NOSPLIT, $0-8
	KEYS(NOBITS, ZERO4, ROWS4, STEPS4(2, STEP4(BF16, FMA, 0, 0)), SAVESWAPPED)

// func keysBF16AVX2X6(args *kvArgs)
TEXT ·keysBF16AVX2X6(SB), NOSPLIT, $0-8
	KEYS(NOBITS, ZERO6, ROWS6, STEPS(BF16(0), 2, EACH6(FMA, 0)), SAVESWAPPED)

// func keysQ8AVX2X1(args *kvArgs)
TEXT ·keysQ8AVX2X1(SB), NOSPLIT, $0-8
	KEYSBYTES(ZEROALL1, STEPS4(2, ALLSTEP1(PAIRS, 32, BYPAIR, 0, 0)), ALLSCORES(SCORE, FIRST1, SECOND1))

// func keysQ8AVX2X2(args *kvArgs)
TEXT ·keysQ8AVX2X2(SB), NOSPLIT, $0-8
	KEYSBYTES(ZEROALL2, STEPS4(2, ALLSTEP2(PAIRS, 32, BYPAIR, 0, 0)), ALLSCORES(SCORE, FIRST2, SECOND2))

// func keysQ8AVX2X3(args *kvArgs)
TEXT ·keysQ8AVX2X3(SB), NOSPLIT, $0-8
	KEYSBYTES(ZEROALL3, STEPS4(2, ALLSTEP3(PAIRS, 32, MAC, 0, 0)), ALLSCORES(SCORE, FIRST3, SECOND3))

// func keysQ8AVX2X4(args *kvArgs)
TEXT ·keysQ8AVX2X4(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO4, STEPS4(2, STEP4(PAIRS, MAC, 0, 0)), SCORES(SCORE, EACH4))

// func keysQ8AVX2X6(args *kvArgs)
TEXT ·keysQ8AVX2X6(SB), NOSPLIT, $0-8
	KEYSBYTES(ZERO6, STEPS(PAIRS(0), 2, EACH6(MAC, 0)), SCORES(SCORE, EACH6))

// func valuesF16AVX2X1(args *kvArgs)
TEXT ·valuesF16AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL1, ALLROWS1, STEPS4(2, ALLSTEP1(F16, 32, BYFLOAT, 0, 0)), LOAD, SAVE)

// func valuesF16AVX2X2(args *kvArgs)
TEXT ·valuesF16AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL2, ALLROWS2, STEPS4(2, ALLSTEP2(F16, 32, BYFLOAT, 0, 0)), LOAD, SAVE)

// func valuesF16AVX2X3(args *kvArgs)
TEXT ·valuesF16AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL3, ALLROWS3, STEPS4(2, ALLSTEP3(F16, 32, FMA, 0, 0)), LOAD, SAVE)

// func valuesF16AVX2X4(args *kvArgs)
TEXT ·valuesF16AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS4(2, STEP4(F16, FMA, 0, 0)), LOAD, SAVE)

// func valuesF16AVX2X6(args *kvArgs)
TEXT ·valuesF16AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F16(0), 2, EACH6(FMA, 0)), LOAD, SAVE)

// func valuesF32AVX2X1(args *kvArgs)
TEXT ·valuesF32AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL1, ALLROWS1, STEPS4(4, ALLSTEP1(F32, 64, BYFLOAT, 0, 0)), LOAD, SAVE)

// func valuesF32AVX2X2(args *kvArgs)
TEXT ·valuesF32AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL2, ALLROWS2, STEPS4(4, ALLSTEP2(F32, 64, BYFLOAT, 0, 0)), LOAD, SAVE)

// func valuesF32AVX2X3(args *kvArgs)
TEXT ·valuesF32AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZEROALL3, ALLROWS3, STEPS4(4, ALLSTEP3(F32, 64, FMA, 0, 0)), LOAD, SAVE)

// func valuesF32AVX2X4(args *kvArgs)
TEXT ·valuesF32AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO4, ROWS4, STEPS4(4, STEP4(F32, FMA, 0, 0)), LOAD, SAVE)

// func valuesF32AVX2X6(args *kvArgs)
TEXT ·valuesF32AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOTHING, ZERO6, ROWS6, STEPS(F32(0), 4, EACH6(FMA, 0)), LOAD, SAVE)

// func valuesBF16AVX2X1(args *kvArgs)
TEXT ·valuesBF16AVX2X1(SB), NOSPLIT, $0-8
	VALUES(NOBITS, ZEROALL1, ALLROWS1, STEPS4(2, ALLSTEP1(BF16, 32, BYFLOAT, 0, 0)), LOADSWAPPED, SAVESWAPPED)

// func valuesBF16AVX2X2(args *kvArgs)
TEXT ·valuesBF16AVX2X2(SB), NOSPLIT, $0-8
	VALUES(NOBITS, ZEROALL2, ALLROWS2, STEPS4(2, ALLSTEP2(BF16, 32, BYFLOAT, 0, 0)), LOADSWAPPED, SAVESWAPPED)

// func valuesBF16AVX2X3(args *kvArgs)
TEXT ·valuesBF16AVX2X3(SB), NOSPLIT, $0-8
	VALUES(NOBITS, ZEROALL3, ALLROWS3, STEPS4(2, ALLSTEP3(BF16, 32, FMA, 0, 0)), LOADSWAPPED, SAVESWAPPED)

// func valuesBF16AVX2X4(args *kvArgs)
TEXT ·valuesBF16AVX2X4(SB), NOSPLIT, $0-8
	VALUES(NOBITS, ZERO4, ROWS4, STEPS4(2, STEP4(BF16, FMA, 0, 0)), LOADSWAPPED, SAVESWAPPED)

// func valuesBF16AVX2X6(args *kvArgs)
TEXT ·valuesBF16AVX2X6(SB), NOSPLIT, $0-8
	VALUES(NOBITS, ZERO6, ROWS6, STEPS(BF16(0), 2, EACH6(FMA, 0)), LOADSWAPPED, SAVESWAPPED)

// func valuesQ8AVX2X1(args *kvArgs)
TEXT ·valuesQ8AVX2X1(SB), NOSPLIT, $0-8
	VALUESBYTES(ZEROALL1, STEPS4(2, ALLSTEP1(PAIRS, 32, BYPAIR, 0, 0)), ALLSUMS(WEIGHED, FIRST1, SECOND1))

// func valuesQ8AVX2X2(args *kvArgs)
TEXT ·valuesQ8AVX2X2(SB), NOSPLIT, $0-8
	VALUESBYTES(ZEROALL2, STEPS4(2, ALLSTEP2(PAIRS, 32, BYPAIR, 0, 0)), ALLSUMS(WEIGHED, FIRST2, SECOND2))

// func valuesQ8AVX2X3(args *kvArgs)
TEXT ·valuesQ8AVX2X3(SB), NOSPLIT, $0-8
	VALUESBYTES(ZEROALL3, STEPS4(2, ALLSTEP3(PAIRS, 32, MAC, 0, 0)), ALLSUMS(WEIGHED, FIRST3, SECOND3))

// func valuesQ8AVX2X4(args *kvArgs)
TEXT ·valuesQ8AVX2X4(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO4, STEPS4(2, STEP4(PAIRS, MAC, 0, 0)), SUMS(WEIGHED, EACH4))

// func valuesQ8AVX2X6(args *kvArgs)
TEXT ·valuesQ8AVX2X6(SB), NOSPLIT, $0-8
	VALUESBYTES(ZERO6, STEPS(PAIRS(0), 2, EACH6(MAC, 0)), SUMS(WEIGHED, EACH6))
