// SPDX-License-Identifier: Apache-2.0

// Sums of weights, for AVX2 and AVX-512.
//
// Identity: a weight is e·2^44 + 0.5 without its fraction. AVX-512 converts as the twin does. AVX2 cannot convert to 64 bits:
// with e = m·2^(x-150), m the mantissa, it shifts 2m by x-106 to the left or to the right, adds 1 and halves. A shift by
// more than 63, which a negative count is, gives 0, so both shifts are done and joined. A zero has m = 2^23 there and x = 0,
// which shifts everything out.
// Tails: none, n is a multiple of 16; the caller does the rest with the twin.
// Bound: the vector ports, 8 (AVX-512) and 40 (AVX2) operations for 16 numbers.

#include "textflag.h"

DATA weights<>+0(SB)/8, $0x42B0000000000000 // 2^44
DATA weights<>+8(SB)/8, $0x3FE0000000000000 // 0.5
DATA weights<>+16(SB)/4, $0x007FFFFF // mantissa
DATA weights<>+20(SB)/4, $0x00800000 // its first bit
DATA weights<>+24(SB)/4, $106
DATA weights<>+28(SB)/4, $0
DATA weights<>+32(SB)/8, $1
GLOBL weights<>(SB), RODATA|NOPTR, $40

// func weightSumAVX512(e *float32, n int) uint64
TEXT ·weightSumAVX512(SB), NOSPLIT, $0-24
	MOVQ e+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSD weights<>+0(SB), Z4
	VBROADCASTSD weights<>+8(SB), Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7
step:
	VCVTPS2PD (SI), Z0
	VCVTPS2PD 32(SI), Z1
	VMULPD Z4, Z0, Z0
	VMULPD Z4, Z1, Z1
	VADDPD Z5, Z0, Z0
	VADDPD Z5, Z1, Z1
	VCVTTPD2QQ Z0, Z0
	VCVTTPD2QQ Z1, Z1
	VPADDQ Z0, Z6, Z6
	VPADDQ Z1, Z7, Z7
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VPADDQ Z7, Z6, Z6
	VEXTRACTI64X4 $1, Z6, Y0
	VPADDQ Y0, Y6, Y6
	VEXTRACTI128 $1, Y6, X0
	VPADDQ X0, X6, X6
	VPSRLDQ $8, X6, X0
	VPADDQ X0, X6, X6
	MOVQ X6, ret+16(FP)
	VZEROUPPER
	RET

// FOUR adds the weights of 4 numbers to Y6: m has their 2m, x their x-106, each in 32 bits.
#define FOUR(m, x) \
	VPMOVZXDQ m, Y2; \
	VPMOVSXDQ x, Y3; \
	VPSLLVQ Y3, Y2, Y4; \
	VPSUBQ Y3, Y7, Y3; \
	VPSRLVQ Y3, Y2, Y2; \
	VPOR Y4, Y2, Y2; \
	VPADDQ Y11, Y2, Y2; \
	VPSRLQ $1, Y2, Y2; \
	VPADDQ Y2, Y6, Y6

// func weightSumAVX2(e *float32, n int) uint64
TEXT ·weightSumAVX2(SB), NOSPLIT, $0-24
	MOVQ e+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS weights<>+16(SB), Y8
	VBROADCASTSS weights<>+20(SB), Y9
	VBROADCASTSS weights<>+24(SB), Y10
	VPBROADCASTQ weights<>+32(SB), Y11
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
step:
	VMOVDQU (SI), Y0
	VPSRLD $23, Y0, Y1
	VPSUBD Y10, Y1, Y1
	VPAND Y8, Y0, Y0
	VPOR Y9, Y0, Y0
	VPADDD Y0, Y0, Y0
	FOUR(X0, X1)
	VEXTRACTI128 $1, Y0, X0
	VEXTRACTI128 $1, Y1, X1
	FOUR(X0, X1)
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ step
	VEXTRACTI128 $1, Y6, X0
	VPADDQ X0, X6, X6
	VPSRLDQ $8, X6, X0
	VPADDQ X0, X6, X6
	MOVQ X6, ret+16(FP)
	VZEROUPPER
	RET
