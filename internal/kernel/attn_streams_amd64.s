// SPDX-License-Identifier: Apache-2.0

// Attention's products for 1 to 4 rows and a block of each of several segments, for AVX2, FMA and F16C. Types and identity are
// those of attn_avx2_amd64.s.
//
// Memory is read in as many streams as there are segments, a piece of each in turn: 16 rows of a block, which are 1 KiB.
// Meanwhile the sums of the others wait in dst. The two products differ in where a group's part of A
// and of dst lies, which the arguments say. 4 rows take 16 columns of a piece and then the others.
// Tails: none, a group has 32 rows. Dst is always added to.
// Bound: memory. Each step asks for a line of the same segment's next piece.
//
// Registers: AX arguments or scratch, CX steps left, DX a segment's part, DI dst, SI bytes between its rows, R8 A, R9 bytes between
// its rows, R12 3·R9, R10 the block. How far pieces are from the first one: R11 in the block, R13 in A, BX in dst. Y0 to Y11 sums,
// Y12 and Y13 numbers of the block, Y14 and, where there are up to 2 rows, Y10 and Y11 of A, Y15 no bits for BF16.

#include "go_asm.h"
#include "textflag.h"
#include "attn_amd64.h"
#include "attn_avx2_amd64.h"

// STREAMS does one piece of each segment after the other, half a group at a time.
#define STREAMS(begin, piece) \
	begin; \
	MOVQ args+0(FP), AX; \
	MOVQ kvStreamArgs_lda(AX), R9; \
	LEAQ (R9)(R9*2), R12; \
	MOVQ kvStreamArgs_ldd(AX), SI; \
	XORL R11, R11; \
	XORL R13, R13; \
	XORL BX, BX; \
half: \
	LEAQ kvStreamArgs_of(AX), DX; \
stream: \
	MOVQ kvStream_dst(DX), DI; \
	MOVQ kvStream_a(DX), R8; \
	MOVQ kvStream_block(DX), R10; \
	ADDQ BX, DI; \
	ADDQ R13, R8; \
	ADDQ R11, R10; \
	piece; \
	MOVQ args+0(FP), AX; \
	ADDQ $kvStream__size, DX; \
	LEAQ kvStreamArgs_of+const_KVStreams*kvStream__size(AX), CX; \
	CMPQ DX, CX; \
	JNE stream; \
	ADDQ $1024, R11; \
	ADDQ $64, R13; \
	TESTQ $1024, R11; \
	JNZ half; \
	ADDQ kvStreamArgs_nextA(AX), R13; \
	ADDQ kvStreamArgs_nextDst(AX), BX; \
	DECQ kvStreamArgs_groups(AX); \
	JNZ half; \
	VZEROUPPER; \
	RET

// PIECE takes 16 steps with rows of a type.
#define PIECE(step, row, begin) \
	MOVQ $4, CX; \
begin: \
	step(row, 0, 0); \
	step(row, 64, 4); \
	step(row, 128, 8); \
	step(row, 192, 12); \
	ADDQ $256, R10; \
	ADDQ $16, R8; \
	DECQ CX; \
	JNZ begin

// Steps for 1 to 4 rows, and for the other 16 columns of 4 rows, whose lines have been asked for.
#define SOON(at) PREFETCHT0 1024+at(R10)
#define SOON1(row, at, a) SOON(at); ALLSTEP1(row, 32, BYFLOAT, at, a)
#define SOON2(row, at, a) SOON(at); ALLSTEP2(row, 32, BYFLOAT, at, a)
#define SOON3(row, at, a) SOON(at); ALLSTEP3(row, 32, FMA, at, a)
#define SOON4(row, at, a) SOON(at); STEP4(row, FMA, at, a)
#define REST4(row, at, a) STEP4(row, FMA, at, a)

#define FOUR(row, load, save) \
	ROWS4(load); \
	PIECE(SOON4, row, first); \
	ROWS4(save); \
	SUBQ $(1024-32), R10; \
	SUBQ $64, R8; \
	ADDQ $64, DI; \
	ROWS4(load); \
	PIECE(REST4, row, second); \
	ROWS4(save)

// func streamsF16AVX2X1(args *kvStreamArgs)
TEXT ·streamsF16AVX2X1(SB), NOSPLIT, $0-8
	STREAMS(NOTHING, ALLROWS1(LOAD); PIECE(SOON1, F16, step); ALLROWS1(SAVE))

// func streamsF16AVX2X2(args *kvStreamArgs)
TEXT ·streamsF16AVX2X2(SB), NOSPLIT, $0-8
	STREAMS(NOTHING, ALLROWS2(LOAD); PIECE(SOON2, F16, step); ALLROWS2(SAVE))

// func streamsF16AVX2X3(args *kvStreamArgs)
TEXT ·streamsF16AVX2X3(SB), NOSPLIT, $0-8
	STREAMS(NOTHING, ALLROWS3(LOAD); PIECE(SOON3, F16, step); ALLROWS3(SAVE))

// func streamsF16AVX2X4(args *kvStreamArgs)
TEXT ·streamsF16AVX2X4(SB), NOSPLIT, $0-8
	STREAMS(NOTHING, FOUR(F16, LOAD, SAVE))

// func streamsBF16AVX2X1(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X1(SB), NOSPLIT, $0-8
	STREAMS(NOBITS, ALLROWS1(LOADSWAPPED); PIECE(SOON1, BF16, step); ALLROWS1(SAVESWAPPED))

// func streamsBF16AVX2X2(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X2(SB), NOSPLIT, $0-8
	STREAMS(NOBITS, ALLROWS2(LOADSWAPPED); PIECE(SOON2, BF16, step); ALLROWS2(SAVESWAPPED))

// func streamsBF16AVX2X3(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X3(SB), NOSPLIT, $0-8
	STREAMS(NOBITS, ALLROWS3(LOADSWAPPED); PIECE(SOON3, BF16, step); ALLROWS3(SAVESWAPPED))

// func streamsBF16AVX2X4(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X4(SB), NOSPLIT, $0-8
	STREAMS(NOBITS, FOUR(BF16, LOADSWAPPED, SAVESWAPPED))
