// SPDX-License-Identifier: Apache-2.0

// Attention's products for 1 to 4 rows and a block of each of several segments, for AVX2, FMA and F16C. Types and identity are
// those of attn_avx2_amd64.s.
//
// Memory is read in as many streams as there are segments, a piece of each in turn: 16 rows of a block, which are 1 KiB, and of
// bytes the scales behind them. Meanwhile the sums of the others wait in dst. The two products differ in where a group's part of A
// and of dst lies, which the arguments say. 4 rows take 16 columns of a piece and then the others. Of BF16, dst has the columns in
// the order that BF16 of attn_avx2_amd64.h gives them, until sortColumns.
// Tails: none, a group has 32 rows. Dst is always added to.
// Bound: memory. Each step asks for one line of the next pieces, of each segment in turn: 4 lines of all of them for each piece that
// is done. That order matters, as the processor looks ahead in streams that it sees advance together.
//
// Frame: the segment's part, and how far behind the beginning of a block is what is asked for.
// Registers: AX arguments, what is in the frame, or scratch, CX steps left, DI dst, SI bytes between its rows, R8 A, R9 bytes between
// its rows, R12 3·R9, R10 the block, R11, R13, BX and DX the blocks of all segments. Y0 to Y11 sums, Y12 and Y13 numbers of the
// block, Y14 and, where there are up to 2 rows, Y10 and Y11 of A, Y15 no bits for BF16.

#include "go_asm.h"
#include "textflag.h"
#include "attn_amd64.h"
#include "attn_avx2_amd64.h"

// STREAMS does one piece of each segment after the other, from group to group. Of floats a piece is half a group.
#define STREAMS(begin, piece, next) \
	begin; \
	MOVQ args+0(FP), AX; \
	MOVQ kvStreamArgs_lda(AX), R9; \
	LEAQ (R9)(R9*2), R12; \
	MOVQ kvStreamArgs_ldd(AX), SI; \
	MOVQ kvStreamArgs_piece(AX), CX; \
	MOVQ CX, 8(SP); \
pieces: \
	LEAQ kvStreamArgs_of(AX), DX; \
stream: \
	MOVQ DX, 0(SP); \
	MOVQ kvStream_dst(DX), DI; \
	MOVQ kvStream_a(DX), R8; \
	MOVQ kvStream_block(DX), R10; \
	ADDQ kvStreamArgs_atDst(AX), DI; \
	ADDQ kvStreamArgs_atA(AX), R8; \
	ADDQ kvStreamArgs_at(AX), R10; \
	piece; \
	MOVQ args+0(FP), AX; \
	MOVQ 0(SP), DX; \
	ADDQ $kvStream__size, DX; \
	LEAQ kvStreamArgs_of+const_KVStreams*kvStream__size(AX), CX; \
	CMPQ DX, CX; \
	JNE stream; \
	next; \
	MOVQ kvStreamArgs_nextA(AX), CX; \
	MOVQ kvStreamArgs_nextDst(AX), DX; \
	ADDQ CX, kvStreamArgs_atA(AX); \
	ADDQ DX, kvStreamArgs_atDst(AX); \
	DECQ kvStreamArgs_groups(AX); \
	JNZ pieces; \
	VZEROUPPER; \
	RET

// HALVES and WHOLE go on to the next piece: to the other half of a group, or behind the group and its scales.
#define HALVES \
	ADDQ $64, kvStreamArgs_atA(AX); \
	ADDQ $1024, kvStreamArgs_at(AX); \
	TESTQ $1024, kvStreamArgs_at(AX); \
	JNZ pieces
#define WHOLE \
	ADDQ $1152, kvStreamArgs_at(AX); \
	ADDQ $128, 8(SP)

#define OF(i) (kvStreamArgs_of+i*kvStream__size+kvStream_block)(AX)

// ASK asks for a line of a segment, NOASK does not.
#define ASK(block) PREFETCHT0 (block)(AX*1)
#define NOASK(block)

// SIXTEEN takes 16 steps with rows of a type, and asks for 4 lines of each segment meanwhile.
#define SIXTEEN(ask, step, row, begin) \
	MOVQ $4, CX; \
begin: \
	ask(R11); \
	step(row, 0, 0); \
	ask(R13); \
	step(row, 64, 4); \
	ask(BX); \
	step(row, 128, 8); \
	ask(DX); \
	step(row, 192, 12); \
	ADDQ $64, AX; \
	ADDQ $256, R10; \
	ADDQ $16, R8; \
	DECQ CX; \
	JNZ begin

// PIECE does a piece, or the first 16 columns of one. After BACK, REST does the others, whose lines are the same.
#define PIECE(step, row, begin) \
	MOVQ args+0(FP), AX; \
	MOVQ OF(0), R11; \
	MOVQ OF(1), R13; \
	MOVQ OF(2), BX; \
	MOVQ OF(3), DX; \
	MOVQ 8(SP), AX; \
	SIXTEEN(ASK, step, row, begin); \
	MOVQ AX, 8(SP)
#define BACK SUBQ $(1024-32), R10; SUBQ $64, R8; ADDQ $64, DI
#define REST(step, row, begin) SIXTEEN(NOASK, step, row, begin)

// Steps of floats for 1 to 4 rows.
#define ALL1(row, at, a) ALLSTEP1(row, 32, BYFLOAT, at, a)
#define ALL2(row, at, a) ALLSTEP2(row, 32, BYFLOAT, at, a)
#define ALL3(row, at, a) ALLSTEP3(row, 32, FMA, at, a)
#define HALF4(row, at, a) STEP4(row, FMA, at, a)

#define FOUR(row) \
	ROWS4(LOAD); \
	PIECE(HALF4, row, first); \
	ROWS4(SAVE); \
	BACK; \
	ROWS4(LOAD); \
	REST(HALF4, row, second); \
	ROWS4(SAVE)

// The same of bytes, which ask for the scales of a later group of their own segment.
#define SCALES MOVQ kvStreamArgs_scales(AX), CX; PREFETCHT0 (R10)(CX*1); PREFETCHT0 64(R10)(CX*1)
#define PAIRS1(row, at, a) ALLSTEP1(row, 32, BYPAIR, at, a)
#define PAIRS2(row, at, a) ALLSTEP2(row, 32, BYPAIR, at, a)
#define PAIRS3(row, at, a) ALLSTEP3(row, 32, MAC, at, a)
#define PAIRS4(row, at, a) STEP4(row, MAC, at, a)
#define RESTSCORES(each) MOVQ $32, CX; SCORES(each)
#define FOURBYTES(sums, rest) \
	SCALES; \
	ZERO4; \
	PIECE(PAIRS4, PAIRS, first); \
	sums(EACH4); \
	BACK; \
	ZERO4; \
	REST(PAIRS4, PAIRS, second); \
	rest(EACH4)

// sortColumns puts the columns of BF16 in order, 16 at a time.
//
// func sortColumns(x *float32, n int)
TEXT ·sortColumns(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX

columns:
	VMOVUPS (DI), Y0
	VMOVUPS 32(DI), Y1
	SWAP(Y0, Y1)
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ $64, DI
	DECQ CX
	JNZ columns
	VZEROUPPER
	RET

// func streamsF16AVX2X1(args *kvStreamArgs)
TEXT ·streamsF16AVX2X1(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, ALLROWS1(LOAD); PIECE(ALL1, F16, step); ALLROWS1(SAVE), HALVES)

// func streamsF16AVX2X2(args *kvStreamArgs)
TEXT ·streamsF16AVX2X2(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, ALLROWS2(LOAD); PIECE(ALL2, F16, step); ALLROWS2(SAVE), HALVES)

// func streamsF16AVX2X3(args *kvStreamArgs)
TEXT ·streamsF16AVX2X3(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, ALLROWS3(LOAD); PIECE(ALL3, F16, step); ALLROWS3(SAVE), HALVES)

// func streamsF16AVX2X4(args *kvStreamArgs)
TEXT ·streamsF16AVX2X4(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, FOUR(F16), HALVES)

// func streamsBF16AVX2X1(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X1(SB), NOSPLIT, $16-8
	STREAMS(NOBITS, ALLROWS1(LOAD); PIECE(ALL1, BF16, step); ALLROWS1(SAVE), HALVES)

// func streamsBF16AVX2X2(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X2(SB), NOSPLIT, $16-8
	STREAMS(NOBITS, ALLROWS2(LOAD); PIECE(ALL2, BF16, step); ALLROWS2(SAVE), HALVES)

// func streamsBF16AVX2X3(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X3(SB), NOSPLIT, $16-8
	STREAMS(NOBITS, ALLROWS3(LOAD); PIECE(ALL3, BF16, step); ALLROWS3(SAVE), HALVES)

// func streamsBF16AVX2X4(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X4(SB), NOSPLIT, $16-8
	STREAMS(NOBITS, FOUR(BF16), HALVES)

// func keyStreamsQ8AVX2X1(args *kvStreamArgs)
TEXT ·keyStreamsQ8AVX2X1(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, SCALES; ZEROALL1; PIECE(PAIRS1, PAIRS, step); ALLSCORES(FIRST1, SECOND1), WHOLE)

// func keyStreamsQ8AVX2X2(args *kvStreamArgs)
TEXT ·keyStreamsQ8AVX2X2(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, SCALES; ZEROALL2; PIECE(PAIRS2, PAIRS, step); ALLSCORES(FIRST2, SECOND2), WHOLE)

// func keyStreamsQ8AVX2X3(args *kvStreamArgs)
TEXT ·keyStreamsQ8AVX2X3(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, SCALES; ZEROALL3; PIECE(PAIRS3, PAIRS, step); ALLSCORES(FIRST3, SECOND3), WHOLE)

// func keyStreamsQ8AVX2X4(args *kvStreamArgs)
TEXT ·keyStreamsQ8AVX2X4(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, FOURBYTES(SCORES, RESTSCORES), WHOLE)

// func valueStreamsQ8AVX2X1(args *kvStreamArgs)
TEXT ·valueStreamsQ8AVX2X1(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, SCALES; ZEROALL1; PIECE(PAIRS1, PAIRS, step); ALLSUMS(FIRST1, SECOND1), WHOLE)

// func valueStreamsQ8AVX2X2(args *kvStreamArgs)
TEXT ·valueStreamsQ8AVX2X2(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, SCALES; ZEROALL2; PIECE(PAIRS2, PAIRS, step); ALLSUMS(FIRST2, SECOND2), WHOLE)

// func valueStreamsQ8AVX2X3(args *kvStreamArgs)
TEXT ·valueStreamsQ8AVX2X3(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, SCALES; ZEROALL3; PIECE(PAIRS3, PAIRS, step); ALLSUMS(FIRST3, SECOND3), WHOLE)

// func valueStreamsQ8AVX2X4(args *kvStreamArgs)
TEXT ·valueStreamsQ8AVX2X4(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, FOURBYTES(SUMS, SUMS), WHOLE)
