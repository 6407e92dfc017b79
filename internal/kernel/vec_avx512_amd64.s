// SPDX-License-Identifier: Apache-2.0

// Element-wise kernels for AVX-512.
//
// Identity: each does to 16 lanes what its Go twin does to one number, with the same single roundings, so all tiers give
// the same bits. Sums are in 16 lanes, one vector, added as a tree here or by the caller.
// EXP is e^x = 2^n e^r: see vec_exp.go for its constants and limits. VSCALEFPS multiplies by 2^n, as the twin does. MIN gets x
// second, so that a NaN stays one.
// Tails: none, n is a multiple of 16; the callers do the rest with the twins.
// Bound: memory, or for EXP the fma ports (16 operations for 16 numbers).

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
DATA exps<>+52(SB)/4, $0x80000000 // sign
DATA exps<>+56(SB)/4, $0x3d922279 // geluCubic
DATA exps<>+60(SB)/4, $0x3fcc422a // geluLinear
GLOBL exps<>(SB), RODATA|NOPTR, $64

DATA halves<>+0(SB)/4, $0x477fe000 // 65504
DATA halves<>+4(SB)/4, $0xc77fe000 // -65504
GLOBL halves<>(SB), RODATA|NOPTR, $8

// Constants of EXP and the gates.
#define CONSTANTS \
	VBROADCASTSS exps<>+0(SB), Z16; \
	VBROADCASTSS exps<>+4(SB), Z17; \
	VBROADCASTSS exps<>+8(SB), Z18; \
	VBROADCASTSS exps<>+12(SB), Z19; \
	VBROADCASTSS exps<>+16(SB), Z20; \
	VBROADCASTSS exps<>+20(SB), Z21; \
	VBROADCASTSS exps<>+24(SB), Z22; \
	VBROADCASTSS exps<>+28(SB), Z23; \
	VBROADCASTSS exps<>+32(SB), Z24; \
	VBROADCASTSS exps<>+36(SB), Z25; \
	VBROADCASTSS exps<>+40(SB), Z26; \
	VBROADCASTSS exps<>+44(SB), Z27; \
	VBROADCASTSS exps<>+52(SB), Z29; \
	VBROADCASTSS exps<>+56(SB), Z30; \
	VBROADCASTSS exps<>+60(SB), Z31

// EXP sets Z0 to e^Z0. It changes Z1, Z2, Z3 and K1.
#define EXP \
	VCMPPS $5, Z16, Z0, K1; \
	VMINPS Z0, Z17, Z0; \
	VMULPS Z18, Z0, Z1; \
	VRNDSCALEPS $8, Z1, Z1; \
	VFNMADD231PS Z19, Z1, Z0; \
	VFNMADD231PS Z20, Z1, Z0; \
	VMOVAPS Z21, Z2; \
	VFMADD213PS Z22, Z0, Z2; \
	VFMADD213PS Z23, Z0, Z2; \
	VFMADD213PS Z24, Z0, Z2; \
	VFMADD213PS Z25, Z0, Z2; \
	VFMADD213PS Z26, Z0, Z2; \
	VMULPS Z0, Z0, Z3; \
	VFMADD231PS Z2, Z3, Z0; \
	VADDPS Z27, Z0, Z0; \
	VSCALEFPS.Z Z1, Z0, K1, Z0

// func expAVX512(x float32) float32
TEXT ·expAVX512(SB), NOSPLIT, $0-12
	VBROADCASTSS x+0(FP), Z0
	CONSTANTS
	EXP
	VMOVSS X0, ret+8(FP)
	VZEROUPPER
	RET

// func softmaxAVX512(s *float32, stride uintptr, rows, n int, maxima, sums *float32, ahead unsafe.Pointer)
TEXT ·softmaxAVX512(SB), NOSPLIT, $0-56
	MOVQ ahead+48(FP), DX
	MOVQ stride+8(FP), R9
	MOVQ n+24(FP), R11
	CONSTANTS
	// The maxima of all rows come first, so that no row's weights wait for their own.
	MOVQ s+0(FP), R8
	MOVQ rows+16(FP), R10
	MOVQ maxima+32(FP), R12
maximum:
	MOVQ R8, SI
	MOVQ R11, BX
	VBROADCASTSS (R12), Z4
	VMOVAPS Z4, Z5
	SUBQ $32, BX
	JLT last
pair:
	VMAXPS (SI), Z4, Z4
	VMAXPS 64(SI), Z5, Z5
	ADDQ $128, SI
	SUBQ $32, BX
	JGE pair
last:
	CMPQ BX, $-32
	JEQ whole
	VMAXPS (SI), Z4, Z4
whole:
	VMAXPS Z5, Z4, Z4
	VSHUFF32X4 $0x4E, Z4, Z4, Z5
	VMAXPS Z5, Z4, Z4
	VSHUFF32X4 $0xB1, Z4, Z4, Z5
	VMAXPS Z5, Z4, Z4
	VPERMILPS $0x4E, Z4, Z5
	VMAXPS Z5, Z4, Z4
	VPERMILPS $0xB1, Z4, Z5
	VMAXPS Z5, Z4, Z4
	VMOVSS X4, (R12)
	ADDQ R9, R8
	ADDQ $4, R12
	DECQ R10
	JNZ maximum
	MOVQ s+0(FP), R8
	MOVQ rows+16(FP), R10
	MOVQ maxima+32(FP), R12
	MOVQ sums+40(FP), R13
row:
	VBROADCASTSS (R12), Z4
	VPXORQ Z6, Z6, Z6
	MOVQ R8, DI
	MOVQ R11, CX
weights:
	PREFETCHT1 (DX)
	PREFETCHT1 64(DX)
	VMOVUPS (DI), Z0
	VSUBPS Z4, Z0, Z0
	EXP
	VMOVUPS Z0, (DI)
	VADDPS Z0, Z6, Z6
	ADDQ $64, DI
	ADDQ $128, DX
	SUBQ $16, CX
	JNZ weights
	VEXTRACTF64X4 $1, Z6, Y5
	VADDPS Y5, Y6, Y6
	VEXTRACTF128 $1, Y6, X5
	VADDPS X5, X6, X6
	VPERMILPS $0x4E, X6, X5
	VADDPS X5, X6, X6
	VPERMILPS $0xB1, X6, X5
	VADDSS X5, X6, X6
	VMOVSS X6, (R13)
	ADDQ R9, R8
	ADDQ $4, R12
	ADDQ $4, R13
	DECQ R10
	JNZ row
	VZEROUPPER
	RET

// func gateSiLUAVX512(gate, up *float32, n int)
TEXT ·gateSiLUAVX512(SB), NOSPLIT, $0-24
	MOVQ gate+0(FP), DI
	MOVQ up+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANTS
step:
	VMOVUPS (DI), Z5
	VXORPS Z29, Z5, Z0
	EXP
	VADDPS Z27, Z0, Z0
	VDIVPS Z0, Z5, Z0
	VMULPS (SI), Z0, Z0
	VMOVUPS Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func gateGELUAVX512(gate, up *float32, n int)
TEXT ·gateGELUAVX512(SB), NOSPLIT, $0-24
	MOVQ gate+0(FP), DI
	MOVQ up+8(FP), SI
	MOVQ n+16(FP), CX
	CONSTANTS
step:
	VMOVUPS (DI), Z5
	VMULPS Z5, Z5, Z0
	VFMADD213PS Z31, Z30, Z0
	VMULPS Z5, Z0, Z0
	VXORPS Z29, Z0, Z0
	EXP
	VADDPS Z27, Z0, Z0
	VDIVPS Z0, Z5, Z0
	VMULPS (SI), Z0, Z0
	VMOVUPS Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func softCapAVX512(x *float32, n int, scale, twice, limit float32)
TEXT ·softCapAVX512(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS scale+16(FP), Z4
	VBROADCASTSS twice+20(FP), Z5
	VBROADCASTSS limit+24(FP), Z6
	CONSTANTS
step:
	VMULPS (DI), Z4, Z0
	EXP
	VADDPS Z27, Z0, Z0
	VDIVPS Z0, Z5, Z0
	VSUBPS Z0, Z6, Z0
	VMOVUPS Z0, (DI)
	ADDQ $64, DI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func sumSquaresAVX512(x *float32, n int, sums *[16]float32)
TEXT ·sumSquaresAVX512(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ sums+16(FP), DX
	VPXORQ Z0, Z0, Z0
step:
	VMOVUPS (DI), Z1
	VFMADD231PS Z1, Z1, Z0
	ADDQ $64, DI
	SUBQ $16, CX
	JNZ step
	VMOVUPS Z0, (DX)
	VZEROUPPER
	RET

// func scaleMulAVX512(dst, x, w *float32, c float32, n int)
TEXT ·scaleMulAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ w+16(FP), DX
	VBROADCASTSS c+24(FP), Z1
	MOVQ n+32(FP), CX
step:
	VMULPS (SI), Z1, Z0
	VMULPS (DX), Z0, Z0
	VMOVUPS Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	ADDQ $64, DX
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func scaleAVX512(dst, x *float32, c float32, n int)
TEXT ·scaleAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	VBROADCASTSS c+16(FP), Z1
	MOVQ n+24(FP), CX
step:
	VMULPS (SI), Z1, Z0
	VMOVUPS Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func addAVX512(dst, x *float32, n int)
TEXT ·addAVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
step:
	VMOVUPS (DI), Z0
	VADDPS (SI), Z0, Z0
	VMOVUPS Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func addScaledAVX512(dst, x *float32, c float32, n int)
TEXT ·addScaledAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	VBROADCASTSS c+16(FP), Z1
	MOVQ n+24(FP), CX
step:
	VMOVUPS (DI), Z0
	VFMADD231PS (SI), Z1, Z0
	VMOVUPS Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func rotateHalvesAVX512(a, b, cos, sin *float32, n int)
TEXT ·rotateHalvesAVX512(SB), NOSPLIT, $0-40
	MOVQ a+0(FP), DI
	MOVQ b+8(FP), SI
	MOVQ cos+16(FP), DX
	MOVQ sin+24(FP), BX
	MOVQ n+32(FP), CX
step:
	VMOVUPS (DI), Z0
	VMOVUPS (SI), Z1
	VMOVUPS (DX), Z2
	VMOVUPS (BX), Z3
	VMULPS Z3, Z1, Z4
	VMULPS Z3, Z0, Z5
	VFMSUB213PS Z4, Z2, Z0
	VFMADD213PS Z5, Z2, Z1
	VMOVUPS Z0, (DI)
	VMOVUPS Z1, (SI)
	ADDQ $64, DI
	ADDQ $64, SI
	ADDQ $64, DX
	ADDQ $64, BX
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func rotatePairsAVX512(x, cos, sin *float32, n int)
TEXT ·rotatePairsAVX512(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ cos+8(FP), SI
	MOVQ sin+16(FP), DX
	MOVQ n+24(FP), CX
step:
	VMOVUPS (DI), Z0
	VPERMILPS $0xB1, Z0, Z1
	VMULPS (DX), Z1, Z1
	VFMADD132PS (SI), Z1, Z0
	VMOVUPS Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	ADDQ $64, DX
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET

// func toHalfAVX512(dst *uint16, x *float32, n int)
TEXT ·toHalfAVX512(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSS halves<>+0(SB), Z1
	VBROADCASTSS halves<>+4(SB), Z2
step:
	VMOVUPS (SI), Z0
	VMINPS Z0, Z1, Z0
	VMAXPS Z0, Z2, Z0
	VCVTPS2PH $0, Z0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $64, SI
	SUBQ $16, CX
	JNZ step
	VZEROUPPER
	RET
