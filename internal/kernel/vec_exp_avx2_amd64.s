// SPDX-License-Identifier: Apache-2.0

// The exponential function and what needs it, for AVX2 and FMA.
//
// Identity: each does to 8 lanes what its Go twin does to one number, with the same single roundings, so all tiers give
// the same bits. Sums are in 16 lanes, two vectors, added as a tree.
// EXP is e^x = 2^n e^r: see vec_exp.go for its constants and limits. MIN gets x second, so that a NaN stays one.
// Tails: none, n is a multiple of 16; the callers do the rest with the twins.
// Bound: the fma ports (11 operations for 8 numbers).

#include "textflag.h"

DATA exps<>+0(SB)/4, $0xc2aea8f6 // -87.33
DATA exps<>+4(SB)/4, $0x42b0999a // 88.3
DATA exps<>+8(SB)/4, $0x3fb8aa3b // log2e
DATA exps<>+12(SB)/4, $0x3f318000 // ln2, high part
DATA exps<>+16(SB)/4, $0xb95e8083 // ln2, low part
DATA exps<>+20(SB)/4, $0x39506967 // exp0
DATA exps<>+24(SB)/4, $0x3ab743ce // exp1
DATA exps<>+28(SB)/4, $0x3c088908 // exp2
DATA exps<>+32(SB)/4, $0x3d2aa9c1 // exp3
DATA exps<>+36(SB)/4, $0x3e2aaaaa // exp4
DATA exps<>+40(SB)/4, $0x3f000000 // exp5
DATA exps<>+44(SB)/4, $0x3f800000 // 1
DATA exps<>+48(SB)/4, $127
DATA exps<>+52(SB)/4, $0x80000000 // sign
DATA exps<>+56(SB)/4, $0x3d922279 // geluCubic
DATA exps<>+60(SB)/4, $0x3fcc422a // geluLinear
GLOBL exps<>(SB), RODATA|NOPTR, $64

// Constants of EXP that stay in registers; the others come from memory.
#define CONSTANTS \
	VBROADCASTSS exps<>+0(SB), Y4; \
	VBROADCASTSS exps<>+4(SB), Y5; \
	VBROADCASTSS exps<>+8(SB), Y6; \
	VBROADCASTSS exps<>+12(SB), Y7; \
	VBROADCASTSS exps<>+16(SB), Y8; \
	VBROADCASTSS exps<>+44(SB), Y9; \
	VBROADCASTSS exps<>+48(SB), Y10; \
	VBROADCASTSS exps<>+20(SB), Y11

// EXP sets Y0 to e^Y0. It changes Y1, Y2, Y3 and Y13.
#define EXP \
	VCMPPS $1, Y4, Y0, Y13; \
	VMINPS Y0, Y5, Y0; \
	VMULPS Y6, Y0, Y1; \
	VROUNDPS $8, Y1, Y1; \
	VFNMADD231PS Y7, Y1, Y0; \
	VFNMADD231PS Y8, Y1, Y0; \
	VMOVAPS Y11, Y2; \
	VBROADCASTSS exps<>+24(SB), Y3; \
	VFMADD213PS Y3, Y0, Y2; \
	VBROADCASTSS exps<>+28(SB), Y3; \
	VFMADD213PS Y3, Y0, Y2; \
	VBROADCASTSS exps<>+32(SB), Y3; \
	VFMADD213PS Y3, Y0, Y2; \
	VBROADCASTSS exps<>+36(SB), Y3; \
	VFMADD213PS Y3, Y0, Y2; \
	VBROADCASTSS exps<>+40(SB), Y3; \
	VFMADD213PS Y3, Y0, Y2; \
	VMULPS Y0, Y0, Y3; \
	VFMADD231PS Y2, Y3, Y0; \
	VADDPS Y9, Y0, Y0; \
	VCVTPS2DQ Y1, Y1; \
	VPADDD Y10, Y1, Y1; \
	VPSLLD $23, Y1, Y1; \
	VMULPS Y1, Y0, Y0; \
	VANDNPS Y0, Y13, Y0

// func expAVX2(x float32) float32
TEXT ·expAVX2(SB), NOSPLIT, $0-12
	VBROADCASTSS x+0(FP), Y0
	CONSTANTS
	EXP
	VMOVSS X0, ret+8(FP)
	VZEROUPPER
	RET

// func softmaxAVX2(s *float32, stride uintptr, rows, n int, maxima, sums *float32, ahead unsafe.Pointer)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-56
	MOVQ ahead+48(FP), DX
	MOVQ s+0(FP), R8
	MOVQ stride+8(FP), R9
	MOVQ rows+16(FP), R10
	MOVQ n+24(FP), R11
	MOVQ maxima+32(FP), R12
	MOVQ sums+40(FP), R13
	CONSTANTS
row:
	MOVQ R8, SI
	MOVQ R11, BX
	VBROADCASTSS (R12), Y15
largest:
	VMAXPS (SI), Y15, Y15
	VMAXPS 32(SI), Y15, Y15
	ADDQ $64, SI
	SUBQ $16, BX
	JNZ largest
	VPERM2F128 $1, Y15, Y15, Y14
	VMAXPS Y14, Y15, Y15
	VPERMILPS $0x4E, Y15, Y14
	VMAXPS Y14, Y15, Y15
	VPERMILPS $0xB1, Y15, Y14
	VMAXPS Y14, Y15, Y15
	VMOVSS X15, (R12)
	VXORPS Y12, Y12, Y12
	VXORPS Y14, Y14, Y14
	MOVQ R8, DI
	MOVQ R11, CX
weights:
	PREFETCHT1 (DX)
	PREFETCHT1 64(DX)
	VMOVUPS (DI), Y0
	VSUBPS Y15, Y0, Y0
	EXP
	VMOVUPS Y0, (DI)
	VADDPS Y0, Y12, Y12
	VMOVUPS 32(DI), Y0
	VSUBPS Y15, Y0, Y0
	EXP
	VMOVUPS Y0, 32(DI)
	VADDPS Y0, Y14, Y14
	ADDQ $64, DI
	ADDQ $128, DX
	SUBQ $16, CX
	JNZ weights
	VADDPS Y14, Y12, Y12
	VEXTRACTF128 $1, Y12, X0
	VADDPS X0, X12, X12
	VPERMILPS $0x4E, X12, X0
	VADDPS X0, X12, X12
	VPERMILPS $0xB1, X12, X0
	VADDSS X0, X12, X12
	VMOVSS X12, (R13)
	ADDQ R9, R8
	ADDQ $4, R12
	ADDQ $4, R13
	DECQ R10
	JNZ row
	VZEROUPPER
	RET

// func gateSiLUAVX2(gate, up *float32, n int)
TEXT ·gateSiLUAVX2(SB), NOSPLIT, $0-24
	MOVQ gate+0(FP), DI
	MOVQ up+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANTS
step:
	VMOVUPS (DI), Y14
	VBROADCASTSS exps<>+52(SB), Y3
	VXORPS Y3, Y14, Y0
	EXP
	VADDPS Y9, Y0, Y0
	VDIVPS Y0, Y14, Y0
	VMULPS (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET

// func gateGELUAVX2(gate, up *float32, n int)
TEXT ·gateGELUAVX2(SB), NOSPLIT, $0-24
	MOVQ gate+0(FP), DI
	MOVQ up+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANTS
step:
	VMOVUPS (DI), Y14
	VMULPS Y14, Y14, Y0
	VBROADCASTSS exps<>+56(SB), Y2
	VBROADCASTSS exps<>+60(SB), Y3
	VFMADD213PS Y3, Y2, Y0
	VMULPS Y14, Y0, Y0
	VBROADCASTSS exps<>+52(SB), Y3
	VXORPS Y3, Y0, Y0
	EXP
	VADDPS Y9, Y0, Y0
	VDIVPS Y0, Y14, Y0
	VMULPS (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET

// func softCapAVX2(x *float32, n int, scale, twice, limit float32)
TEXT ·softCapAVX2(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS scale+16(FP), Y14
	VBROADCASTSS twice+20(FP), Y15
	CONSTANTS
step:
	VMULPS (DI), Y14, Y0
	EXP
	VADDPS Y9, Y0, Y0
	VDIVPS Y0, Y15, Y0
	VBROADCASTSS limit+24(FP), Y1
	VSUBPS Y0, Y1, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET
