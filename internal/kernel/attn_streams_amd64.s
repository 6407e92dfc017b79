// SPDX-License-Identifier: Apache-2.0

// Attention's products for 1 to 4 rows and whole segments, keys of some and values of others, for AVX2, FMA and F16C. Types and
// identity are those of attn_avx2_amd64.s.
//
// Memory is read in as many streams as there are keys and values, a piece of each in turn: 16 rows of a block, which are 1 KiB, and
// of bytes the scales behind them. Meanwhile the sums of the others wait in dst. The two products differ in how A and dst go on from
// piece to piece, which the arguments say; of bytes also in what is done with a group's sums. 4 rows take 16 columns of a piece and
// then the others. Of BF16, dst has the columns in the order that BF16 of attn_avx2_amd64.h gives them, until sortColumns.
// Tails: none, a group has 32 rows. Dst is set.
// Bound: memory. Each step asks for one line of the next pieces, of each stream in turn: 4 lines of all of them for each piece that
// is done. That order matters, as the processor looks ahead in streams that it sees advance together.
//
// Frame: the stream, and how far behind the beginning of a block is what is asked for.
// Registers: AX arguments, what is in the frame, or scratch, CX steps left, DI dst, SI bytes between its rows, R8 A, R9 bytes between
// its rows, R12 3·R9, R10 the piece, R11, R13, BX and DX where what is asked for is counted from. Y0 to Y11 sums, Y12 and Y13 numbers
// of the block, Y14 and, where there are up to 2 rows, Y10 and Y11 of A, Y15 no bits for BF16.

#include "go_asm.h"
#include "textflag.h"
#include "attn_amd64.h"
#include "attn_avx2_amd64.h"

// STREAMS does a piece of each stream after the other, until the blocks end. Half sets CX to 16 in the second half of a group, else 0;
// bytes is the size of a piece.
#define STREAMS(begin, piece, half, bytes) \
	begin; \
	MOVQ args+0(FP), AX; \
	MOVQ kvStreamArgs_piece(AX), CX; \
	MOVQ CX, 8(SP); \
pieces: \
	LEAQ kvStreamArgs_of(AX), DX; \
stream: \
	MOVQ DX, 0(SP); \
	MOVQ kvStream_lda(DX), R9; \
	LEAQ (R9)(R9*2), R12; \
	MOVQ kvStream_ldd(DX), SI; \
	MOVQ kvStream_dst(DX), DI; \
	MOVQ kvStream_a(DX), R8; \
	MOVQ kvStreamArgs_block(AX), CX; \
	MOVQ kvStream_blocks(DX)(CX*1), R10; \
	ADDQ kvStream_atDst(DX), DI; \
	ADDQ kvStream_atA(DX), R8; \
	ADDQ kvStreamArgs_at(AX), R10; \
	piece; \
	MOVQ args+0(FP), AX; \
	MOVQ 0(SP), DX; \
	half; \
	MOVQ kvStream_steps+kvStep_a(DX)(CX*1), R8; \
	MOVQ kvStream_steps+kvStep_dst(DX)(CX*1), R9; \
	ADDQ R8, kvStream_atA(DX); \
	ADDQ R9, kvStream_atDst(DX); \
	ADDQ $kvStream__size, DX; \
	LEAQ kvStreamArgs_of(AX), CX; \
	ADDQ kvStreamArgs_size(AX), CX; \
	CMPQ DX, CX; \
	JNE stream; \
	MOVQ kvStreamArgs_skip(AX), CX; \
	ADDQ CX, 8(SP); \
	ADDQ $bytes, kvStreamArgs_at(AX); \
	MOVQ kvStreamArgs_left(AX), DX; \
	MOVQ kvStreamArgs_block(AX), CX; \
	CMPQ DX, $2; \
	JGT more; \
	JEQ last; \
	ADDQ $8, CX; \
	CMPQ CX, $(8*const_KVTileBlocks); \
	JEQ done; \
	MOVQ CX, kvStreamArgs_block(AX); \
	MOVQ $0, kvStreamArgs_at(AX); \
	NEXT(0); NEXT(1); NEXT(2); NEXT(3); \
	MOVQ kvStreamArgs_piece(AX), DX; \
	MOVQ DX, 8(SP); \
	MOVQ kvStreamArgs_pieces(AX), DX; \
	MOVQ DX, kvStreamArgs_left(AX); \
	CMPQ DX, $1; \
	JNE pieces; \
	INCQ DX; \
last: \
	LAST(0); LAST(1); LAST(2); LAST(3); \
more: \
	DECQ DX; \
	MOVQ DX, kvStreamArgs_left(AX); \
	JMP pieces; \
done: \
	VZEROUPPER; \
	RET

#define STREAM(i, field) (kvStreamArgs_of+i*kvStream__size+field)(AX)

// NEXT goes to the next block, LAST asks for what comes after the block from now on.
#define NEXT(i) \
	MOVQ STREAM(i, kvStream_blocks)(CX*1), DX; \
	MOVQ DX, STREAM(i, kvStream_ask); \
	MOVQ STREAM(i, kvStream_steps+2*kvStep__size+kvStep_a), R8; \
	MOVQ STREAM(i, kvStream_steps+2*kvStep__size+kvStep_dst), R9; \
	ADDQ R8, STREAM(i, kvStream_atA); \
	ADDQ R9, STREAM(i, kvStream_atDst)
#define LAST(i) \
	MOVQ STREAM(i, kvStream_blocks+8)(CX*1), R8; \
	SUBQ kvStreamArgs_bytes(AX), R8; \
	MOVQ R8, STREAM(i, kvStream_ask)

// Groups of floats are done in halves.
#define HALF MOVQ kvStreamArgs_at(AX), CX; ANDQ $1024, CX; SHRQ $6, CX
#define WHOLE XORL CX, CX

// ASK asks for a line of a stream, NOASK does not.
#define ASK(block) PREFETCHT0 (block)(AX*1)
#define NOASK(block)

// SIXTEEN takes 16 steps with rows of a type, and asks for 4 lines of each stream meanwhile.
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
	MOVQ STREAM(0, kvStream_ask), R11; \
	MOVQ STREAM(1, kvStream_ask), R13; \
	MOVQ STREAM(2, kvStream_ask), BX; \
	MOVQ STREAM(3, kvStream_ask), DX; \
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

// FIRSTPIECE tells whether this is the first piece of its sums.
#define FIRSTPIECE \
	MOVQ kvStreamArgs_at(AX), CX; \
	MOVQ kvStreamArgs_block(AX), R11; \
	ANDQ kvStream_more+kvPlace_at(DX), CX; \
	ANDQ kvStream_more+kvPlace_block(DX), R11; \
	ORQ R11, CX

// FLOATS does a piece of 1 to 3 rows.
#define FLOATS(zero, rows, step, row) \
	FIRSTPIECE; \
	JZ zeros; \
	rows(LOAD); \
	JMP steps; \
zeros: \
	zero; \
steps: \
	PIECE(step, row, sixteen); \
	rows(SAVE)

#define FOURFLOATS(row) \
	FIRSTPIECE; \
	JZ zeros; \
	ROWS4(LOAD); \
	PIECE(HALF4, row, first); \
	ROWS4(SAVE); \
	BACK; \
	ROWS4(LOAD); \
	JMP rest; \
zeros: \
	ZERO4; \
	PIECE(HALF4, row, second); \
	ROWS4(SAVE); \
	BACK; \
	ZERO4; \
rest: \
	REST(HALF4, row, third); \
	ROWS4(SAVE)

// The same of bytes. Four pieces ask for 18 lines of each stream, in their order, as the scales of a group are behind its rows: each
// asks for five, one of them again in every second piece.
#define FIFTH \
	PREFETCHT0 (R11)(AX*1); \
	PREFETCHT0 (R13)(AX*1); \
	PREFETCHT0 (BX)(AX*1); \
	PREFETCHT0 (DX)(AX*1); \
	ADDQ $32, AX; \
	MOVQ AX, 8(SP)
#define PAIRS1(row, at, a) ALLSTEP1(row, 32, BYPAIR, at, a)
#define PAIRS2(row, at, a) ALLSTEP2(row, 32, BYPAIR, at, a)
#define PAIRS3(row, at, a) ALLSTEP3(row, 32, MAC, at, a)
#define PAIRS4(row, at, a) STEP4(row, MAC, at, a)
#define OFKEYS CMPQ kvStream_keys(DX), $0

// FIXING makes fixed groups of the weights of the next stream, if it is one of values, times the scales of its piece: they are what
// A is then. So nothing waits for them. The first stream does its own besides. Weights times units wait behind the groups, as they are
// the same for all pieces of a block.
#define FIXING(weights, groups) \
	LEAQ kvStreamArgs_of(AX), BX; \
	MOVQ DX, CX; \
	CMPQ DX, BX; \
	JNE other; \
	OFKEYS; \
	JEQ this; \
other: \
	ADDQ $kvStream__size, CX; \
this: \
	ADDQ kvStreamArgs_size(AX), BX; \
fix: \
	CMPQ CX, BX; \
	JEQ fixed; \
	CMPQ kvStream_keys(CX), $0; \
	JNE fixed; \
	MOVQ kvStreamArgs_block(AX), R11; \
	MOVQ kvStream_blocks(CX)(R11*1), R11; \
	ADDQ kvStreamArgs_at(AX), R11; \
	MOVQ kvStream_fixed(CX), R13; \
	CMPQ kvStreamArgs_at(AX), $0; \
	JNE multiply; \
	UNITS(1024, R11); \
	MOVQ kvStream_a(CX), R11; \
	ADDQ kvStream_atA(CX), R11; \
	ROUNDCONSTANTS; \
	weights; \
	MOVQ kvStreamArgs_block(AX), R11; \
	MOVQ kvStream_blocks(CX)(R11*1), R11; \
multiply: \
	VMOVDQU 1024(R11), Y8; \
	VMOVDQU 1056(R11), Y9; \
	groups; \
	ADDQ $kvStream__size, CX; \
	LEAQ kvStream__size(DX), R13; \
	CMPQ CX, R13; \
	JEQ fix; \
fixed: \
	OFKEYS; \
	JNE ready; \
	MOVQ kvStream_fixed(DX), R8; \
ready:

#define ROWWEIGHTS(r) \
	TIMESUNITS(R11); \
	ROUND(fixed<>+12(SB)); \
	VMOVDQU Y0, WAITING(r); \
	VMOVDQU Y2, 32+WAITING(r); \
	VMOVSS X5, (r*const_fixedStride+fixedGroup_scale)(R13)
#define WAITING(r) (const_KVStreamRows*const_fixedStride+64*r)(R13)
#define WEIGHTS1 ROWWEIGHTS(0)
#define WEIGHTS2 WEIGHTS1; ADDQ $(4*const_KVSegmentKeys), R11; ROWWEIGHTS(1)
#define WEIGHTS3 WEIGHTS2; ADDQ $(4*const_KVSegmentKeys), R11; ROWWEIGHTS(2)
#define WEIGHTS4 WEIGHTS3; ADDQ $(4*const_KVSegmentKeys), R11; ROWWEIGHTS(3)

#define ROWGROUP(r) \
	VPMULHRSW WAITING(r), Y8, Y0; \
	VPMULHRSW 32+WAITING(r), Y9, Y1; \
	VMOVDQU Y0, (r*const_fixedStride)(R13); \
	VMOVDQU Y1, (r*const_fixedStride+32)(R13)
#define GROUPS1 ROWGROUP(0)
#define GROUPS2 GROUPS1; ROWGROUP(1)
#define GROUPS3 GROUPS2; ROWGROUP(2)
#define GROUPS4 GROUPS3; ROWGROUP(3)

// END adds the sums of a piece to dst, or sets it if they are the first, by scores or sums. The scales of keys that these want are so
// many bytes behind the first one.
#define END(scale, scores, sums, new, values, newValues, end) \
	MOVQ args+0(FP), AX; \
	MOVQ 0(SP), DX; \
	FIRSTPIECE; \
	JZ new; \
	MOVL $scale, CX; \
	OFKEYS; \
	JEQ values; \
	scores(SCORE); \
	JMP end; \
values: \
	sums(WEIGHED); \
	JMP end; \
new: \
	MOVL $scale, CX; \
	OFKEYS; \
	JEQ newValues; \
	scores(NEWSCORE); \
	JMP end; \
newValues: \
	sums(NEWWEIGHED); \
end:

#define SCORES1(score) ALLSCORES(score, FIRST1, SECOND1)
#define SCORES2(score) ALLSCORES(score, FIRST2, SECOND2)
#define SCORES3(score) ALLSCORES(score, FIRST3, SECOND3)
#define SCORES4(score) SCORES(score, EACH4)
#define SUMS1(sum) ALLSUMS(sum, FIRST1, SECOND1)
#define SUMS2(sum) ALLSUMS(sum, FIRST2, SECOND2)
#define SUMS3(sum) ALLSUMS(sum, FIRST3, SECOND3)
#define SUMS4(sum) SUMS(sum, EACH4)

// BYTES does a piece of 1 to 3 rows.
#define BYTES(weights, groups, zero, step, scores, sums) \
	FIXING(weights, groups); \
	zero; \
	PIECE(step, PAIRS, steps); \
	FIFTH; \
	END(0, scores, sums, new, values, newValues, end)

#define FOURBYTES \
	FIXING(WEIGHTS4, GROUPS4); \
	ZERO4; \
	PIECE(PAIRS4, PAIRS, first); \
	FIFTH; \
	END(0, SCORES4, SUMS4, new, values, newValues, end); \
	BACK; \
	ZERO4; \
	REST(PAIRS4, PAIRS, second); \
	END(32, SCORES4, SUMS4, newRest, valuesRest, newValuesRest, endRest)

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
	STREAMS(NOTHING, FLOATS(ZEROALL1, ALLROWS1, ALL1, F16), HALF, 1024)

// func streamsF16AVX2X2(args *kvStreamArgs)
TEXT ·streamsF16AVX2X2(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, FLOATS(ZEROALL2, ALLROWS2, ALL2, F16), HALF, 1024)

// func streamsF16AVX2X3(args *kvStreamArgs)
TEXT ·streamsF16AVX2X3(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, FLOATS(ZEROALL3, ALLROWS3, ALL3, F16), HALF, 1024)

// func streamsF16AVX2X4(args *kvStreamArgs)
TEXT ·streamsF16AVX2X4(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, FOURFLOATS(F16), HALF, 1024)

// func streamsBF16AVX2X1(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X1(SB), NOSPLIT, $16-8
	STREAMS(NOBITS, FLOATS(ZEROALL1, ALLROWS1, ALL1, BF16), HALF, 1024)

// func streamsBF16AVX2X2(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X2(SB), NOSPLIT, $16-8
	STREAMS(NOBITS, FLOATS(ZEROALL2, ALLROWS2, ALL2, BF16), HALF, 1024)

// func streamsBF16AVX2X3(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X3(SB), NOSPLIT, $16-8
	STREAMS(NOBITS, FLOATS(ZEROALL3, ALLROWS3, ALL3, BF16), HALF, 1024)

// func streamsBF16AVX2X4(args *kvStreamArgs)
TEXT ·streamsBF16AVX2X4(SB), NOSPLIT, $16-8
	STREAMS(NOBITS, FOURFLOATS(BF16), HALF, 1024)

// func streamsQ8AVX2X1(args *kvStreamArgs)
TEXT ·streamsQ8AVX2X1(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, BYTES(WEIGHTS1, GROUPS1, ZEROALL1, PAIRS1, SCORES1, SUMS1), WHOLE, 1152)

// func streamsQ8AVX2X2(args *kvStreamArgs)
TEXT ·streamsQ8AVX2X2(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, BYTES(WEIGHTS2, GROUPS2, ZEROALL2, PAIRS2, SCORES2, SUMS2), WHOLE, 1152)

// func streamsQ8AVX2X3(args *kvStreamArgs)
TEXT ·streamsQ8AVX2X3(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, BYTES(WEIGHTS3, GROUPS3, ZEROALL3, PAIRS3, SCORES3, SUMS3), WHOLE, 1152)

// func streamsQ8AVX2X4(args *kvStreamArgs)
TEXT ·streamsQ8AVX2X4(SB), NOSPLIT, $16-8
	STREAMS(NOTHING, FOURBYTES, WHOLE, 1152)
