// SPDX-License-Identifier: Apache-2.0

// Element-wise kernels for AVX2, FMA and F16C but those that need the exponential function: vec_exp_avx2_amd64.s has these.
//
// Identity: each does to 8 lanes what its Go twin does to one number, with the same single roundings, so all tiers give
// the same bits. Sums are in 16 lanes, two vectors; the caller adds them as a tree.
// MIN gets x second, so that a NaN stays one.
// Tails: none, n is a multiple of 16; the callers do the rest with the twins.
// Bound: memory.

#include "textflag.h"

DATA halves<>+0(SB)/4, $0x477fe000 // 65504
DATA halves<>+4(SB)/4, $0xc77fe000 // -65504
GLOBL halves<>(SB), RODATA|NOPTR, $8

// func sumSquaresAVX2(x *float32, n int, sums *[16]float32)
TEXT ·sumSquaresAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ sums+16(FP), DX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
step:
	VMOVUPS (DI), Y2
	VFMADD231PS Y2, Y2, Y0
	VMOVUPS 32(DI), Y3
	VFMADD231PS Y3, Y3, Y1
	ADDQ $64, DI
	SUBQ $16, CX
	JNZ step
	VMOVUPS Y0, (DX)
	VMOVUPS Y1, 32(DX)
	VZEROUPPER
	RET

// func scaleMulAVX2(dst, x, w *float32, c float32, n int)
TEXT ·scaleMulAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ w+16(FP), DX
	VBROADCASTSS c+24(FP), Y1
	MOVQ n+32(FP), CX
step:
	VMULPS (SI), Y1, Y0
	VMULPS (DX), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET

// func scaleAVX2(dst, x *float32, c float32, n int)
TEXT ·scaleAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	VBROADCASTSS c+16(FP), Y1
	MOVQ n+24(FP), CX
step:
	VMULPS (SI), Y1, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET

// func addAVX2(dst, x *float32, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
step:
	VMOVUPS (DI), Y0
	VADDPS (SI), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET

// func addScaledAVX2(dst, x *float32, c float32, n int)
TEXT ·addScaledAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	VBROADCASTSS c+16(FP), Y1
	MOVQ n+24(FP), CX
step:
	VMOVUPS (DI), Y0
	VFMADD231PS (SI), Y1, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET

// func rotateHalvesAVX2(a, b, cos, sin *float32, n int)
TEXT ·rotateHalvesAVX2(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ cos+16(FP), DX
	MOVQ sin+24(FP), BX
	MOVQ n+32(FP), CX
step:
	VMOVUPS (DI), Y0
	VMOVUPS (SI), Y1
	VMOVUPS (DX), Y2
	VMOVUPS (BX), Y3
	VMULPS Y3, Y1, Y4
	VMULPS Y3, Y0, Y5
	VFMSUB213PS Y4, Y2, Y0
	VFMADD213PS Y5, Y2, Y1
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, (SI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, BX
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET

// func rotatePairsAVX2(x, cos, sin *float32, n int)
TEXT ·rotatePairsAVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ cos+8(FP), SI
	MOVQ sin+16(FP), DX
	MOVQ n+24(FP), CX
step:
	VMOVUPS (DI), Y0
	VPERMILPS $0xB1, Y0, Y1
	VMULPS (DX), Y1, Y1
	VFMADD132PS (SI), Y1, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET

// func notAboveAVX2(x *float32, n int, bound float32) int
TEXT ·notAboveAVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS bound+16(FP), Y2
	XORQ AX, AX
step:
	VMOVUPS (SI)(AX*4), Y0
	VMOVUPS 32(SI)(AX*4), Y1
	VCMPPS $6, Y2, Y0, Y0 // not less or equal: larger, or NaN
	VCMPPS $6, Y2, Y1, Y1
	VORPS Y1, Y0, Y0
	VPTEST Y0, Y0
	JNZ above
	ADDQ $16, AX
	CMPQ AX, CX
	JLT step
above:
	MOVQ AX, ret+24(FP)
	VZEROUPPER
	RET

// func toHalfAVX2(dst *uint16, x *float32, n int)
TEXT ·toHalfAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS halves<>+0(SB), Y1
	VBROADCASTSS halves<>+4(SB), Y2
step:
	VMOVUPS (SI), Y0
	VMINPS Y0, Y1, Y0
	VMAXPS Y0, Y2, Y0
	VCVTPS2PH $0, Y0, X0
	VMOVUPS X0, (DI)
	ADDQ $16, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JNZ step
	VZEROUPPER
	RET
