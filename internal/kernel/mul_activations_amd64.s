// SPDX-License-Identifier: Apache-2.0

// Activations to records of signed bytes, with AVX2.
//
// The order of the operations is free where they are exact (largest magnitude, integer sums); the rest are the single
// operations of quantizeBlock in mul_activations.go. A code is at most 127, since x*(127/m) rounds to 127 for |x| = m,
// so the saturation of the packs never acts on finite values.
// Tails: none, rows are whole blocks. Bound: about 40 cycles a block, for two divisions and the reductions.

#include "textflag.h"

DATA magnitude<>+0(SB)/4, $0x7FFFFFFF
GLOBL magnitude<>(SB), RODATA|NOPTR, $4

DATA tiny<>+0(SB)/4, $0x0D800000 // 2^-100
GLOBL tiny<>(SB), RODATA|NOPTR, $4

DATA limit<>+0(SB)/4, $127.0
GLOBL limit<>(SB), RODATA|NOPTR, $4

DATA order<>+0(SB)/8, $0x0000000400000000
DATA order<>+8(SB)/8, $0x0000000500000001
DATA order<>+16(SB)/8, $0x0000000600000002
DATA order<>+24(SB)/8, $0x0000000700000003
GLOBL order<>(SB), RODATA|NOPTR, $32

DATA zeros<>+0(SB)/4, $-8
DATA zeros<>+4(SB)/4, $-16
DATA zeros<>+8(SB)/4, $-128
DATA zeros<>+12(SB)/4, $-32
GLOBL zeros<>(SB), RODATA|NOPTR, $16

// func quantizeAVX2(dst *byte, stride uintptr, x *float32, blocks int)
TEXT ·quantizeAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ blocks+24(FP), CX

	VBROADCASTSS magnitude<>(SB), Y15
	VMOVSS       tiny<>(SB), X14
	VMOVSS       limit<>(SB), X13
	VMOVDQU      order<>(SB), Y12
	VMOVDQU      zeros<>(SB), X11
	VPCMPEQW     Y10, Y10, Y10
	VPABSW       Y10, Y10         // 1 in each of 16 words
	VPCMPEQB     Y9, Y9, Y9
	VPABSB       Y9, Y9           // 1 in each of 32 bytes

block:
	VMOVUPS 0(SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS 96(SI), Y3

	// X4: the largest magnitude
	VANDPS       Y15, Y0, Y4
	VANDPS       Y15, Y1, Y5
	VANDPS       Y15, Y2, Y6
	VANDPS       Y15, Y3, Y7
	VMAXPS       Y5, Y4, Y4
	VMAXPS       Y7, Y6, Y6
	VMAXPS       Y6, Y4, Y4
	VEXTRACTF128 $1, Y4, X5
	VMAXPS       X5, X4, X4
	VPERMILPS    $0x4E, X4, X5
	VMAXPS       X5, X4, X4
	VPERMILPS    $0xB1, X4, X5
	VMAXPS       X5, X4, X4

	// X6: scale, Y7: its inverse; both 0 if the largest magnitude is tiny
	VCMPSS       $14, X14, X4, X5 // greater than
	VDIVSS       X13, X4, X6
	VDIVSS       X4, X13, X7
	VANDPS       X5, X6, X6
	VANDPS       X5, X7, X7
	VBROADCASTSS X7, Y7

	// Y0: codes
	VMULPS    Y7, Y0, Y0
	VMULPS    Y7, Y1, Y1
	VMULPS    Y7, Y2, Y2
	VMULPS    Y7, Y3, Y3
	VCVTPS2DQ Y0, Y0
	VCVTPS2DQ Y1, Y1
	VCVTPS2DQ Y2, Y2
	VCVTPS2DQ Y3, Y3
	VPACKSSDW Y1, Y0, Y0
	VPACKSSDW Y3, Y2, Y2
	VPACKSSWB Y2, Y0, Y0
	VPERMD    Y0, Y12, Y0      // the packs work on halves of 128 bits
	VMOVDQU   Y0, (DI)

	// X1: sum of the first 16 codes in each word, X2: of the last 16, X3: of all
	VPMADDUBSW   Y0, Y9, Y1
	VPMADDWD     Y10, Y1, Y1
	VPHADDD      Y1, Y1, Y1
	VPHADDD      Y1, Y1, Y1
	VEXTRACTI128 $1, Y1, X2
	VPADDD       X2, X1, X3
	VCVTDQ2PS    X3, X4
	VMULSS       X6, X4, X4
	VMOVSS       X6, 32(DI)
	VMOVSS       X4, 36(DI)
	VPBLENDD     $8, X1, X3, X3   // sum, sum, sum, first half
	VPMULLD      X11, X3, X3
	VMOVDQU      X3, 40(DI)
	VPSLLD       $5, X2, X2
	VPXOR        X4, X4, X4
	VPSUBD       X2, X4, X2
	VMOVD        X2, AX           // upper word 0
	MOVQ         AX, 56(DI)

	ADDQ $128, SI
	ADDQ R8, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET
