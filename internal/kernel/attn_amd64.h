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
