// SPDX-License-Identifier: Apache-2.0

// The exponential function and what needs it, for AVX2 and FMA.
//
// Identity: each does to 8 lanes what its Go twin does to one number, with the same single roundings, so all tiers give
// the same bits. Sums are in 16 lanes, two vectors, added as a tree.
// EXP is e^x = 2^n e^r: see vec_exp.go for its constants and limits. MIN gets x second, so that a NaN stays one.
// Tails: none, n is a multiple of 16; the callers do the rest with the twins.
// Bound: the fma ports (11 operations for 8 numbers; 10 in EXPS).

#include "go_asm.h"
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

// EXPS sets Y0 to Y3 to e^Y0 to e^Y3 step by step, as each is a chain of some 46 cycles. None may be above 0, so none is cut at
// 88.3. 2^n is added to the exponent: results below 2^-126 are masked. The masks wait in the 128 bytes at DI. It changes Y4 to
// Y11 and Y13.
#define EXPS \
	VBROADCASTSS exps<>+8(SB), Y13; \
	VMULPS Y13, Y0, Y8; \
	VMULPS Y13, Y1, Y9; \
	VMULPS Y13, Y2, Y10; \
	VMULPS Y13, Y3, Y11; \
	VBROADCASTSS exps<>+0(SB), Y13; \
	VCMPPS $5, Y13, Y0, Y4; \
	VMOVUPS Y4, (DI); \
	VCMPPS $5, Y13, Y1, Y5; \
	VMOVUPS Y5, 32(DI); \
	VCMPPS $5, Y13, Y2, Y6; \
	VMOVUPS Y6, 64(DI); \
	VCMPPS $5, Y13, Y3, Y7; \
	VMOVUPS Y7, 96(DI); \
	VROUNDPS $8, Y8, Y4; \
	VROUNDPS $8, Y9, Y5; \
	VROUNDPS $8, Y10, Y6; \
	VROUNDPS $8, Y11, Y7; \
	VBROADCASTSS exps<>+12(SB), Y13; \
	VFNMADD231PS Y13, Y4, Y0; \
	VFNMADD231PS Y13, Y5, Y1; \
	VFNMADD231PS Y13, Y6, Y2; \
	VFNMADD231PS Y13, Y7, Y3; \
	VCVTPS2DQ Y8, Y8; \
	VCVTPS2DQ Y9, Y9; \
	VCVTPS2DQ Y10, Y10; \
	VCVTPS2DQ Y11, Y11; \
	VBROADCASTSS exps<>+16(SB), Y13; \
	VFNMADD231PS Y13, Y4, Y0; \
	VFNMADD231PS Y13, Y5, Y1; \
	VFNMADD231PS Y13, Y6, Y2; \
	VFNMADD231PS Y13, Y7, Y3; \
	VPSLLD $23, Y8, Y8; \
	VPSLLD $23, Y9, Y9; \
	VPSLLD $23, Y10, Y10; \
	VPSLLD $23, Y11, Y11; \
	VBROADCASTSS exps<>+20(SB), Y4; \
	VMOVAPS Y4, Y5; \
	VMOVAPS Y4, Y6; \
	VMOVAPS Y4, Y7; \
	TERM(24); \
	TERM(28); \
	TERM(32); \
	TERM(36); \
	TERM(40); \
	VMULPS Y0, Y0, Y13; \
	VFMADD231PS Y4, Y13, Y0; \
	VMULPS Y1, Y1, Y13; \
	VFMADD231PS Y5, Y13, Y1; \
	VMULPS Y2, Y2, Y13; \
	VFMADD231PS Y6, Y13, Y2; \
	VMULPS Y3, Y3, Y13; \
	VFMADD231PS Y7, Y13, Y3; \
	VBROADCASTSS exps<>+44(SB), Y13; \
	VADDPS Y13, Y0, Y0; \
	VADDPS Y13, Y1, Y1; \
	VADDPS Y13, Y2, Y2; \
	VADDPS Y13, Y3, Y3; \
	VPADDD Y8, Y0, Y0; \
	VPADDD Y9, Y1, Y1; \
	VPADDD Y10, Y2, Y2; \
	VPADDD Y11, Y3, Y3; \
	VANDPS (DI), Y0, Y0; \
	VANDPS 32(DI), Y1, Y1; \
	VANDPS 64(DI), Y2, Y2; \
	VANDPS 96(DI), Y3, Y3

// TERM is one more term of the polynomials of EXPS.
#define TERM(constant) \
	VBROADCASTSS exps<>+constant(SB), Y13; \
	VFMADD213PS Y13, Y0, Y4; \
	VFMADD213PS Y13, Y1, Y5; \
	VFMADD213PS Y13, Y2, Y6; \
	VFMADD213PS Y13, Y3, Y7

// func softmaxAVX2(s *float32, stride uintptr, rows, n int, maxima, sums *float32, ahead unsafe.Pointer)
TEXT ·softmaxAVX2(SB), NOSPLIT, $0-56
	MOVQ ahead+48(FP), DX
	MOVQ stride+8(FP), R9
	MOVQ n+24(FP), R11
	// The maxima of all rows come first, so that no row's weights wait for their own.
	MOVQ s+0(FP), R8
	MOVQ rows+16(FP), R10
	MOVQ maxima+32(FP), R12
maximum:
	MOVQ R8, SI
	MOVQ R11, BX
	VBROADCASTSS (R12), Y0
	VMOVAPS Y0, Y1
largest:
	VMAXPS (SI), Y0, Y0
	VMAXPS 32(SI), Y1, Y1
	ADDQ $64, SI
	SUBQ $16, BX
	JNZ largest
	VMAXPS Y1, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0x4E, X0, X1
	VMAXPS X1, X0, X0
	VPERMILPS $0xB1, X0, X1
	VMAXPS X1, X0, X0
	VMOVSS X0, (R12)
	ADDQ R9, R8
	ADDQ $4, R12
	DECQ R10
	JNZ maximum
	MOVQ s+0(FP), R8
	MOVQ rows+16(FP), R10
	MOVQ maxima+32(FP), R12
	MOVQ sums+40(FP), R13
row:
	VBROADCASTSS (R12), Y15
	VBROADCASTSS exps<>+52(SB), Y0
	VXORPS Y0, Y15, Y15 // -maximum
	VXORPS Y12, Y12, Y12
	VXORPS Y14, Y14, Y14
	MOVQ R8, DI
	MOVQ R11, CX
	SUBQ $32, CX
	JLT last
weights:
	PREFETCHT1 (DX)
	PREFETCHT1 64(DX)
	PREFETCHT1 128(DX)
	PREFETCHT1 192(DX)
	VADDPS (DI), Y15, Y0
	VADDPS 32(DI), Y15, Y1
	VADDPS 64(DI), Y15, Y2
	VADDPS 96(DI), Y15, Y3
	EXPS
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	VADDPS Y0, Y12, Y12
	VADDPS Y1, Y14, Y14
	VADDPS Y2, Y12, Y12
	VADDPS Y3, Y14, Y14
	ADDQ $128, DI
	ADDQ $256, DX
	SUBQ $32, CX
	JGE weights
last:
	CMPQ CX, $-32
	JEQ whole
	PREFETCHT1 (DX)
	PREFETCHT1 64(DX)
	ADDQ $128, DX
	CONSTANTS
	VADDPS (DI), Y15, Y0
	EXP
	VMOVUPS Y0, (DI)
	VADDPS Y0, Y12, Y12
	VADDPS 32(DI), Y15, Y0
	EXP
	VMOVUPS Y0, 32(DI)
	VADDPS Y0, Y14, Y14
whole:
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

// One of the factors of a row is e^0, which is 1, the other e^-difference: the first two lanes.
//
// func mergeAVX2(all, one *float32, rows, width int)
TEXT ·mergeAVX2(SB), NOSPLIT, $0-32
	MOVQ all+0(FP), R8
	MOVQ one+8(FP), R9
	MOVQ rows+16(FP), R10
	MOVQ width+24(FP), R11
	LEAQ (4*2*const_KVTileRows)(R8), DI
	LEAQ (4*2*const_KVTileRows)(R9), SI
	CONSTANTS
row:
	VMOVSS (R8), X0
	VMOVSS (R9), X1
	VMAXSS X0, X1, X2
	VMOVSS X2, (R8)
	VUNPCKLPS X1, X0, X0
	VBROADCASTSS X2, X2
	VSUBPS X2, X0, X0
	EXP
	VBROADCASTSS X0, Y14
	VMOVSHDUP X0, X0
	VBROADCASTSS X0, Y15
	VMULSS (4*const_KVTileRows)(R8), X14, X0
	VMULSS (4*const_KVTileRows)(R9), X15, X1
	VADDSS X1, X0, X0
	VMOVSS X0, (4*const_KVTileRows)(R8)
	MOVQ R11, CX
values:
	VMULPS (DI), Y14, Y0
	VMULPS 32(DI), Y14, Y1
	VFMADD231PS (SI), Y15, Y0
	VFMADD231PS 32(SI), Y15, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ values
	ADDQ $4, R8
	ADDQ $4, R9
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
