// SPDX-License-Identifier: Apache-2.0

// What attention's kernels of both amd64 tiers share: see attn_avx512_amd64.s for the registers.

// START loads what stays for all blocks, with the arguments in AX.
#define START \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_dst(AX), DI

// ROWSOFA points to the rows of A.
#define ROWSOFA \
	MOVQ kvArgs_lda(AX), R9; \
	LEAQ (R9)(R9*2), R12; \
	MOVQ kvArgs_a(AX), R8; \
	LEAQ (R8)(R9*4), R13; \
	LEAQ (R13)(R9*4), BX

// BLOCK points to the next block, and from there to what is prefetched meanwhile.
#define BLOCK \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_order(AX), R11; \
	MOVQ kvArgs_at(AX), DX; \
	LEAQ (R11)(DX*8), R11; \
	MOVQ (R11), R10; \
	MOVQ 8(R11), DX; \
	MOVQ kvArgs_ahead(AX), CX; \
	MOVQ (R11)(CX*8), R11; \
	SUBQ R10, DX; \
	SUBQ R10, R11; \
	ADDQ kvArgs_offset(AX), R10; \
	INCQ kvArgs_at(AX)

// PREFETCH asks for the line at R10 plus so many bytes of later blocks.
#define PREFETCH(at) PREFETCHT1 at(R10)(R11*1); PREFETCHT0 at(R10)(DX*1)

// STEPS takes CX steps: it multiplies a number or a pair of each row of A with a row of the block.
#define STEPS(row, size, fmas) \
step: \
	PREFETCH(0); \
	row; \
	fmas; \
	ADDQ $4, R8; \
	ADDQ $4, R13; \
	ADDQ $4, BX; \
	ADDQ $(32*size), R10; \
	DECQ CX; \
	JNZ step

// A type begins with something, and saves its sums in its way.
#define KEYS(begin, zeros, rows, steps, save) \
	begin; \
	START; \
block: \
	BLOCK; \
	ROWSOFA; \
	MOVQ kvArgs_depth(AX), CX; \
	zeros; \
	steps; \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_ldd(AX), SI; \
	rows(save); \
	ADDQ $128, DI; \
	MOVQ args+0(FP), AX; \
	DECQ kvArgs_count(AX); \
	JNZ block; \
	VZEROUPPER; \
	RET

// KEYSBYTES does group by group: SI rows are left while a group is done, in which A lies skip pairs before its scale.
#define KEYSBYTES(zeros, steps, scores) \
	START; \
block: \
	BLOCK; \
	ROWSOFA; \
	MOVQ kvArgs_depth(AX), SI; \
group: \
	MOVQ $16, CX; \
	CMPQ SI, CX; \
	CMOVQLT SI, CX; \
	SUBQ CX, SI; \
	MOVQ SI, kvArgs_left(AX); \
	MOVQ $16, SI; \
	SUBQ CX, SI; \
	MOVQ SI, kvArgs_skip(AX); \
	PREFETCH(1024); \
	PREFETCH(1088); \
	zeros; \
	steps; \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_skip(AX), CX; \
	LEAQ (R8)(CX*4), R8; \
	LEAQ (R13)(CX*4), R13; \
	LEAQ (BX)(CX*4), BX; \
	MOVQ kvArgs_ldd(AX), SI; \
	MOVQ kvArgs_scales(AX), CX; \
	scores; \
	ADDQ $128, R10; \
	ADDQ $(fixedGroup__size-fixedGroup_scale), R8; \
	ADDQ $(fixedGroup__size-fixedGroup_scale), R13; \
	ADDQ $(fixedGroup__size-fixedGroup_scale), BX; \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_left(AX), SI; \
	TESTQ SI, SI; \
	JNE group; \
	ADDQ $128, DI; \
	DECQ kvArgs_count(AX); \
	JNZ block; \
	VZEROUPPER; \
	RET

#define VALUES(begin, zeros, rows, steps, load, save) \
	begin; \
	START; \
	MOVQ kvArgs_ldd(AX), SI; \
	ROWSOFA; \
	CMPQ kvArgs_fresh(AX), $0; \
	JEQ add; \
	zeros; \
	JMP block; \
add: \
	rows(load); \
block: \
	BLOCK; \
	MOVQ kvArgs_count(AX), CX; \
	SUBQ $32, kvArgs_count(AX); \
	CMPQ CX, $32; \
	JLE partial; \
	MOVQ $32, CX; \
partial: \
	steps; \
	MOVQ args+0(FP), AX; \
	CMPQ kvArgs_count(AX), $0; \
	JGT block; \
	MOVQ kvArgs_ldd(AX), SI; \
	rows(save); \
	VZEROUPPER; \
	RET

// VALUESBYTES does a block group by group. A is groups of weights, one for each row of a tile of 12.
#define VALUESBYTES(zeros, steps, sums) \
	START; \
	BLOCK; \
	ROWSOFA; \
group: \
	PREFETCH(1024); \
	PREFETCH(1088); \
	MOVQ $16, CX; \
	zeros; \
	steps; \
	MOVQ args+0(FP), AX; \
	MOVQ kvArgs_ldd(AX), SI; \
	sums; \
	ADDQ $128, DI; \
	ADDQ $128, R10; \
	ADDQ $(const_KVTileRows*fixedGroup__size-fixedGroup_scale), R8; \
	ADDQ $(const_KVTileRows*fixedGroup__size-fixedGroup_scale), R13; \
	ADDQ $(const_KVTileRows*fixedGroup__size-fixedGroup_scale), BX; \
	MOVQ args+0(FP), AX; \
	DECQ kvArgs_count(AX); \
	JNZ group; \
	VZEROUPPER; \
	RET

// NOTHING is what types do that need nothing.
#define NOTHING
