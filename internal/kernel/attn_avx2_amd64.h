// SPDX-License-Identifier: Apache-2.0

// What attention's kernels for AVX2 share: see attn_avx2_amd64.s for the registers.

// One row: its sums are c0 and c1.
#define ZERO(c0, c1) VXORPS c0, c0, c0; VXORPS c1, c1, c1
#define LOAD(at, c0, c1) VMOVUPS (at), c0; VMOVUPS 32(at), c1
#define SAVE(at, c0, c1) VMOVUPS c0, (at); VMOVUPS c1, 32(at)

// Numbers of a row of the block, in Y12 and Y13, times one of A, or a pair of it.
#define BYFLOAT(b, c0, c1) VFMADD231PS Y12, b, c0; VFMADD231PS Y13, b, c1
#define BYPAIR(b, c0, c1) VPMADDWD Y12, b, Y15; VPADDD Y15, c0, c0; VPMADDWD Y13, b, Y15; VPADDD Y15, c1, c1
#define FMA(at, c0, c1) VBROADCASTSS at, Y14; BYFLOAT(Y14, c0, c1)
#define MAC(at, c0, c1) VBROADCASTSS at, Y14; BYPAIR(Y14, c0, c1)

// The rows of a tile, one after the other.
#define ZERO4 ZERO(Y0, Y1); ZERO(Y2, Y3); ZERO(Y4, Y5); ZERO(Y6, Y7)
#define ZERO6 ZERO4; ZERO(Y8, Y9); ZERO(Y10, Y11)

#define EACH4(M, at) M(at(R8), Y0, Y1); M(at(R8)(R9*1), Y2, Y3); M(at(R8)(R9*2), Y4, Y5); M(at(R8)(R12*1), Y6, Y7)
#define EACH6(M, at) EACH4(M, at); M(at(R13), Y8, Y9); M(at(R13)(R9*1), Y10, Y11)

#define ROWS4(M) MOVQ DI, AX; M(AX, Y0, Y1); ADDQ SI, AX; M(AX, Y2, Y3); ADDQ SI, AX; M(AX, Y4, Y5); ADDQ SI, AX; M(AX, Y6, Y7)
#define ROWS6(M) ROWS4(M); ADDQ SI, AX; M(AX, Y8, Y9); ADDQ SI, AX; M(AX, Y10, Y11)

// The same of all 32 columns, for up to 3 rows: first 16 of each row, then the others.
#define ZEROALL1 ZERO(Y0, Y1); ZERO(Y2, Y3)
#define ZEROALL2 ZERO4
#define ZEROALL3 ZERO6

#define FIRST1(M, at) M(at(R8), Y0, Y1)
#define FIRST2(M, at) FIRST1(M, at); M(at(R8)(R9*1), Y4, Y5)
#define FIRST3(M, at) FIRST2(M, at); M(at(R8)(R9*2), Y8, Y9)
#define SECOND1(M, at) M(at(R8), Y2, Y3)
#define SECOND2(M, at) SECOND1(M, at); M(at(R8)(R9*1), Y6, Y7)
#define SECOND3(M, at) SECOND2(M, at); M(at(R8)(R9*2), Y10, Y11)

#define ALLROWS1(M) MOVQ DI, AX; M(AX, Y0, Y1); ADDQ $64, AX; M(AX, Y2, Y3)
#define ALLROWS2(M) ALLROWS1(M); ADDQ SI, AX; M(AX, Y6, Y7); SUBQ $64, AX; M(AX, Y4, Y5)
#define ALLROWS3(M) ALLROWS2(M); ADDQ SI, AX; M(AX, Y8, Y9); ADDQ $64, AX; M(AX, Y10, Y11)

// A step: the row of a block that begins so many bytes from R10 times the numbers of A that do so many from R8. Where all columns
// of 1 or 2 rows are done, what is broadcast stays in Y10 and Y11 for both halves.
#define STEP4(row, M, at, a) row(at); EACH4(M, a)
#define STEP6(row, M, at, a) row(at); EACH6(M, a)
#define ALLSTEP1(row, half, by, at, a) \
	VBROADCASTSS a(R8), Y10; \
	row(at); \
	by(Y10, Y0, Y1); \
	row(at+half); \
	by(Y10, Y2, Y3)
#define ALLSTEP2(row, half, by, at, a) \
	VBROADCASTSS a(R8), Y10; \
	VBROADCASTSS a(R8)(R9*1), Y11; \
	row(at); \
	by(Y10, Y0, Y1); \
	by(Y11, Y4, Y5); \
	row(at+half); \
	by(Y10, Y2, Y3); \
	by(Y11, Y6, Y7)
#define ALLSTEP3(row, half, M, at, a) row(at); FIRST3(M, a); row(at+half); SECOND3(M, a)

// A row of a block as floats. BF16 numbers get 16 bits of 0 from Y15 in front of them; they change their places, so that c0 is columns
// 0 to 3 and 8 to 11 of 16, which SWAP puts right again.
#define F16(at) VCVTPH2PS at(R10), Y12; VCVTPH2PS at+16(R10), Y13
#define F32(at) VMOVUPS at(R10), Y12; VMOVUPS at+32(R10), Y13
#define BF16(at) VPUNPCKLWD at(R10), Y15, Y12; VPUNPCKHWD at(R10), Y15, Y13
#define NOBITS VXORPS Y15, Y15, Y15
#define SWAP(c0, c1) VPERM2F128 $0x31, c1, c0, Y12; VPERM2F128 $0x20, c1, c0, c0; VMOVAPS Y12, c1
#define LOADSWAPPED(at, c0, c1) LOAD(at, c0, c1); SWAP(c0, c1)
#define SAVESWAPPED(at, c0, c1) SWAP(c0, c1); SAVE(at, c0, c1)

// A row of pairs of bytes as pairs of 16 bits.
#define PAIRS(at) VPMOVSXBW at(R10), Y12; VPMOVSXBW at+16(R10), Y13

// Sums of a group of keys times the scales of the keys, in Y12 and Y13, and of a row of A are added to old, and become the row of dst
// at AX. That is old, or nothing yet.
#define ADDSCORE(old0, old1, at, c0, c1) \
	VBROADCASTSS at, Y14; \
	VCVTDQ2PS c0, c0; \
	VCVTDQ2PS c1, c1; \
	VMULPS Y12, Y14, Y15; \
	VMULPS Y13, Y14, Y14; \
	VFMADD213PS old0, Y15, c0; \
	VFMADD213PS old1, Y14, c1; \
	SAVE(AX, c0, c1); \
	ADDQ SI, AX
#define SCORE(at, c0, c1) ADDSCORE((AX), 32(AX), at, c0, c1)
#define NEWSCORE(at, c0, c1) ADDSCORE(none<>(SB), none<>(SB), at, c0, c1)

// The same of a group of values and a row of A.
#define ADDWEIGHED(old0, old1, at, c0, c1) \
	VBROADCASTSS at, Y14; \
	VCVTDQ2PS c0, c0; \
	VCVTDQ2PS c1, c1; \
	VFMADD213PS old0, Y14, c0; \
	VFMADD213PS old1, Y14, c1; \
	SAVE(AX, c0, c1); \
	ADDQ SI, AX
#define WEIGHED(at, c0, c1) ADDWEIGHED((AX), 32(AX), at, c0, c1)
#define NEWWEIGHED(at, c0, c1) ADDWEIGHED(none<>(SB), none<>(SB), at, c0, c1)

GLOBL none<>(SB), RODATA|NOPTR, $32

#define LOADSCALES(at) VMOVUPS at(R10)(CX*1), Y12; VMOVUPS at+32(R10)(CX*1), Y13
#define SCORES(score, each) LOADSCALES(0); MOVQ DI, AX; each(score, 0)
#define ALLSCORES(score, first, second) SCORES(score, first); LOADSCALES(64); LEAQ 64(DI), AX; second(score, 0)
#define SUMS(sum, each) MOVQ DI, AX; each(sum, 0)
#define ALLSUMS(sum, first, second) SUMS(sum, first); LEAQ 64(DI), AX; second(sum, 0)

// 1/32767, 2^-100, 32767, and 2^15/32767^2.
DATA fixed<>+0(SB)/4, $0x38000100
DATA fixed<>+4(SB)/4, $0x0d800000
DATA fixed<>+8(SB)/4, $0x46fffe00
DATA fixed<>+12(SB)/4, $0x38000200
GLOBL fixed<>(SB), RODATA|NOPTR, $16

// ROUND makes 32 numbers, in Y0 to Y3, integers of 16 bits in Y0 and Y2, and their scale the largest times one, in X5. Magnitudes are
// compared as integers, which have the same order, but of which that of a NaN is the largest.
#define ROUNDCONSTANTS \
	VPCMPEQD Y15, Y15, Y15; \
	VPSRLD $1, Y15, Y15; \
	VBROADCASTSS fixed<>+8(SB), Y14; \
	VMOVSS fixed<>+4(SB), X13
#define ROUND(one) \
	VANDPS Y15, Y0, Y4; \
	VANDPS Y15, Y1, Y5; \
	VANDPS Y15, Y2, Y6; \
	VANDPS Y15, Y3, Y7; \
	VPMAXSD Y4, Y5, Y4; \
	VPMAXSD Y6, Y7, Y6; \
	VPMAXSD Y4, Y6, Y4; \
	VEXTRACTI128 $1, Y4, X5; \
	VPMAXSD X5, X4, X4; \
	VPSHUFD $0x4e, X4, X5; \
	VPMAXSD X5, X4, X4; \
	VPSHUFD $0xb1, X4, X5; \
	VPMAXSD X5, X4, X4; \
	VPMAXSD X13, X4, X4; \
	VMULSS one, X4, X5; \
	VDIVSS X4, X14, X4; \
	VBROADCASTSS X4, Y4; \
	VMULPS Y4, Y0, Y0; \
	VMULPS Y4, Y1, Y1; \
	VMULPS Y4, Y2, Y2; \
	VMULPS Y4, Y3, Y3; \
	VCVTPS2DQ Y0, Y0; \
	VCVTPS2DQ Y1, Y1; \
	VCVTPS2DQ Y2, Y2; \
	VCVTPS2DQ Y3, Y3; \
	VPACKSSDW Y1, Y0, Y0; \
	VPACKSSDW Y3, Y2, Y2; \
	VPERMQ $0xd8, Y0, Y0; \
	VPERMQ $0xd8, Y2, Y2

// UNITS are the units of 32 values, in Y8 to Y11, from their scales on. TIMESUNITS are weights times those.
#define UNIT(at, y) VPMOVZXWD at, y; VPSLLD $16, y, y
#define UNITS(at, r) UNIT(at+64(r), Y8); UNIT(at+80(r), Y9); UNIT(at+96(r), Y10); UNIT(at+112(r), Y11)
#define TIMESUNITS(x) VMULPS (x), Y8, Y0; VMULPS 32(x), Y9, Y1; VMULPS 64(x), Y10, Y2; VMULPS 96(x), Y11, Y3
