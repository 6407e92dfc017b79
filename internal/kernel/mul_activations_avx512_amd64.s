// SPDX-License-Identifier: Apache-2.0

// Activations to records of signed bytes, four blocks at a time, with AVX-512.
//
// The order of the operations is free where they are exact (largest magnitude, integer sums); the rest are the single
// operations of quantizeBlock in mul_activations.go. Saturation never acts on finite values: see mul_activations_amd64.s.
// Tails: the last one to three blocks of a row are left to quantizeAVX2.
// Bound: the vector ports, some 22 operations a block. The reductions of four blocks share most of theirs.
//
// Registers: Z0-Z7 the values of blocks 0 to 3, two each, then codes; Z8-Z19 temporary; Z20-Z23 the numbers 0 to 3 in all
// lanes; Z24-Z31 constants.

#include "textflag.h"

DATA tiny512<>+0(SB)/4, $0x0D800000 // 2^-100
GLOBL tiny512<>(SB), RODATA|NOPTR, $4

DATA limit512<>+0(SB)/4, $127.0
GLOBL limit512<>(SB), RODATA|NOPTR, $4

// transpose512 takes the first element of each 128 bits, then the second, and so on.
DATA transpose512<>+0(SB)/8, $0x0000000400000000
DATA transpose512<>+8(SB)/8, $0x0000000c00000008
DATA transpose512<>+16(SB)/8, $0x0000000500000001
DATA transpose512<>+24(SB)/8, $0x0000000d00000009
DATA transpose512<>+32(SB)/8, $0x0000000600000002
DATA transpose512<>+40(SB)/8, $0x0000000e0000000a
DATA transpose512<>+48(SB)/8, $0x0000000700000003
DATA transpose512<>+56(SB)/8, $0x0000000f0000000b
GLOBL transpose512<>(SB), RODATA|NOPTR, $64

// shifts512 multiplies the sums in the second half of two records by 8, 16, 128, 32 and 32.
DATA shifts512<>+0(SB)/8, $0x0000000000000000
DATA shifts512<>+8(SB)/8, $0x0000000400000003
DATA shifts512<>+16(SB)/8, $0x0000000500000007
DATA shifts512<>+24(SB)/8, $0x0000000000000005
DATA shifts512<>+32(SB)/8, $0x0000000000000000
DATA shifts512<>+40(SB)/8, $0x0000000400000003
DATA shifts512<>+48(SB)/8, $0x0000000500000007
DATA shifts512<>+56(SB)/8, $0x0000000000000005
GLOBL shifts512<>(SB), RODATA|NOPTR, $64

// RECORDS writes the records of two blocks, whose codes are in CODES and whose numbers among the four, eight times each, in
// INDEX, to TO and NEXT.
#define RECORDS(CODES, INDEX, TO, NEXT) \
	VPXORD     Z8, Z8, Z8                \
	VPDPBUSD   CODES, Z27, Z8            \
	VPSHUFD    $0x4E, Z8, Z9             \
	VPADDD     Z9, Z8, Z8                \
	VPSHUFD    $0xB1, Z8, Z9             \
	VPADDD     Z9, Z8, Z8                \
	VPERMQ     $0x4E, Z8, Z9             \
	VPADDD     Z9, Z8, Z10               \
	VCVTDQ2PS  Z10, Z11                  \
	VMOVDQA32  Z9, K2, Z10               \
	VMOVDQA32  Z8, K3, Z10               \
	VPSLLVD    Z28, Z10, Z10             \
	VPSUBD.Z   Z10, Z26, K4, Z10         \
	VPERMPS    Z18, INDEX, Z12           \
	VMOVAPS    Z12, K5, Z10              \
	VMULPS     Z12, Z11, K6, Z10         \
	VSHUFI32X4 $0x44, Z10, CODES, Z13    \
	VSHUFI32X4 $0xEE, Z10, CODES, Z14    \
	VMOVDQU32  Z13, TO                   \
	VMOVDQU32  Z14, NEXT

// func quantizeFoursAVX512(dst *byte, stride uintptr, x *float32, fours int)
TEXT ·quantizeFoursAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ x+16(FP), SI
	MOVQ fours+24(FP), CX
	LEAQ (R8)(R8*2), R9

	VPXORD       Z20, Z20, Z20
	VPXORD       Z26, Z26, Z26
	MOVL         $1, AX
	VPBROADCASTD AX, Z21
	MOVL         $2, AX
	VPBROADCASTD AX, Z22
	MOVL         $3, AX
	VPBROADCASTD AX, Z23
	VBROADCASTSS tiny512<>(SB), X24
	VBROADCASTSS limit512<>(SB), X25
	MOVL         $0x01010101, AX
	VPBROADCASTD AX, Z27
	VMOVDQU32    shifts512<>(SB), Z28
	VMOVDQU32    transpose512<>(SB), Z29
	VSHUFI32X4   $0x44, Z21, Z20, Z30     // 0 eight times, 1
	VSHUFI32X4   $0x44, Z23, Z22, Z31     // 2, 3
	MOVL         $0x2020, AX
	KMOVW        AX, K2
	MOVL         $0x4040, AX
	KMOVW        AX, K3
	MOVL         $0x7C7C, AX
	KMOVW        AX, K4
	MOVL         $0x0101, AX
	KMOVW        AX, K5
	MOVL         $0x0202, AX
	KMOVW        AX, K6

four:
	VMOVUPS 0(SI), Z0
	VMOVUPS 64(SI), Z1
	VMOVUPS 128(SI), Z2
	VMOVUPS 192(SI), Z3
	VMOVUPS 256(SI), Z4
	VMOVUPS 320(SI), Z5
	VMOVUPS 384(SI), Z6
	VMOVUPS 448(SI), Z7

	// Z8: the largest magnitude of each block, in its 128 bits
	VRANGEPS   $0x0B, Z1, Z0, Z8
	VRANGEPS   $0x0B, Z3, Z2, Z9
	VRANGEPS   $0x0B, Z5, Z4, Z10
	VRANGEPS   $0x0B, Z7, Z6, Z11
	VSHUFF32X4 $0x44, Z9, Z8, Z12
	VSHUFF32X4 $0xEE, Z9, Z8, Z13
	VMAXPS     Z13, Z12, Z12
	VSHUFF32X4 $0x44, Z11, Z10, Z14
	VSHUFF32X4 $0xEE, Z11, Z10, Z15
	VMAXPS     Z15, Z14, Z14
	VSHUFF32X4 $0x88, Z14, Z12, Z8
	VSHUFF32X4 $0xDD, Z14, Z12, Z9
	VMAXPS     Z9, Z8, Z8
	VPERMILPS  $0x4E, Z8, Z9
	VMAXPS     Z9, Z8, Z8
	VPERMILPS  $0xB1, Z8, Z9
	VMAXPS     Z9, Z8, Z8

	// X18: the four scales, X19: their inverses; 0 where the largest magnitude is tiny
	VPERMPS  Z8, Z29, Z8
	VCMPPS   $14, X24, X8, K1
	VDIVPS.Z X25, X8, K1, X18
	VDIVPS.Z X8, X25, K1, X19

	// Z0 and Z4: the codes of two blocks each
	VPERMPS   Z19, Z20, Z8
	VPERMPS   Z19, Z21, Z9
	VPERMPS   Z19, Z22, Z10
	VPERMPS   Z19, Z23, Z11
	VMULPS    Z8, Z0, Z0
	VMULPS    Z8, Z1, Z1
	VMULPS    Z9, Z2, Z2
	VMULPS    Z9, Z3, Z3
	VMULPS    Z10, Z4, Z4
	VMULPS    Z10, Z5, Z5
	VMULPS    Z11, Z6, Z6
	VMULPS    Z11, Z7, Z7
	VCVTPS2DQ Z0, Z0
	VCVTPS2DQ Z1, Z1
	VCVTPS2DQ Z2, Z2
	VCVTPS2DQ Z3, Z3
	VCVTPS2DQ Z4, Z4
	VCVTPS2DQ Z5, Z5
	VCVTPS2DQ Z6, Z6
	VCVTPS2DQ Z7, Z7
	VPACKSSDW Z1, Z0, Z0
	VPACKSSDW Z3, Z2, Z2
	VPACKSSWB Z2, Z0, Z0
	VPERMD    Z0, Z29, Z0
	VPACKSSDW Z5, Z4, Z4
	VPACKSSDW Z7, Z6, Z6
	VPACKSSWB Z6, Z4, Z4
	VPERMD    Z4, Z29, Z4

	RECORDS(Z0, Z30, (DI), (DI)(R8*1))
	RECORDS(Z4, Z31, (DI)(R8*2), (DI)(R9*1))

	ADDQ $512, SI
	LEAQ (DI)(R8*4), DI
	DECQ CX
	JNZ  four
	VZEROUPPER
	RET
