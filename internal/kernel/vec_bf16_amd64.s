// SPDX-License-Identifier: Apache-2.0

// Conversion of floats to BF16, for AVX2 and AVX-512.
//
// Identity: the upper 16 bits of x + 0x7fff + bit 16 of x, as integers: rounding to even. A carry into the exponent is right.
// MIN and MAX keep numbers finite; they get x second, so that a NaN stays one, which then becomes 0x7fc0.
// Tails: none, n is a multiple of 16; the caller does the rest with the twin.
// Bound: memory.

#include "textflag.h"

DATA bf16s<>+0(SB)/4, $0x7f7f0000 // the largest
DATA bf16s<>+4(SB)/4, $0xff7f0000
DATA bf16s<>+8(SB)/4, $1
DATA bf16s<>+12(SB)/4, $0x7fff
DATA bf16s<>+16(SB)/4, $0x7fc0 // NaN
GLOBL bf16s<>(SB), RODATA|NOPTR, $20

// func toBF16AVX512(dst *uint16, x *float32, n int)
TEXT ·toBF16AVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS bf16s<>+0(SB), Z4
	VBROADCASTSS bf16s<>+4(SB), Z5
	VBROADCASTSS bf16s<>+8(SB), Z6
	VBROADCASTSS bf16s<>+12(SB), Z7
	VBROADCASTSS bf16s<>+16(SB), Z8
step:
	VMOVUPS (SI), Z0
	VCMPPS $3, Z0, Z0, K1
	VMINPS Z0, Z4, Z0
	VMAXPS Z0, Z5, Z0
	VPSRLD $16, Z0, Z1
	VPANDD Z6, Z1, Z1
	VPADDD Z7, Z0, Z0
	VPADDD Z1, Z0, Z0
	VPSRLD $16, Z0, Z0
	VMOVDQA32 Z8, K1, Z0
	VPMOVDW Z0, (DI)
	ADDQ $32, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// ROUND converts 8 floats to 8 numbers of 32 bits.
#define ROUND(at, c) \
	VMOVUPS at, c; \
	VCMPPS $3, c, c, Y2; \
	VMINPS c, Y4, c; \
	VMAXPS c, Y5, c; \
	VPSRLD $16, c, Y3; \
	VPAND Y6, Y3, Y3; \
	VPADDD Y7, c, c; \
	VPADDD Y3, c, c; \
	VPSRLD $16, c, c; \
	VPBLENDVB Y2, Y8, c, c

// func toBF16AVX2(dst *uint16, x *float32, n int)
TEXT ·toBF16AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS bf16s<>+0(SB), Y4
	VBROADCASTSS bf16s<>+4(SB), Y5
	VBROADCASTSS bf16s<>+8(SB), Y6
	VBROADCASTSS bf16s<>+12(SB), Y7
	VBROADCASTSS bf16s<>+16(SB), Y8
step:
	ROUND((SI), Y0)
	ROUND(32(SI), Y1)
	VPACKUSDW Y1, Y0, Y0
	VPERMQ $0xD8, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET
