// SPDX-License-Identifier: Apache-2.0

package quant

import "strconv"

// A Type is a format that a tensor's values are stored in. The numbers are those of GGUF files.
type Type uint32

// The types of GGUF files. Retired numbers (4, 5, 31 to 33, 36 to 38) are unknown here.
const (
	F32    Type = 0
	F16    Type = 1
	Q40    Type = 2
	Q41    Type = 3
	Q50    Type = 6
	Q51    Type = 7
	Q80    Type = 8
	Q81    Type = 9 // made for activations
	Q2K    Type = 10
	Q3K    Type = 11
	Q4K    Type = 12
	Q5K    Type = 13
	Q6K    Type = 14
	Q8K    Type = 15 // activations only
	IQ2XXS Type = 16
	IQ2XS  Type = 17
	IQ3XXS Type = 18
	IQ1S   Type = 19
	IQ4NL  Type = 20
	IQ3S   Type = 21
	IQ2S   Type = 22
	IQ4XS  Type = 23
	I8     Type = 24
	I16    Type = 25
	I32    Type = 26
	I64    Type = 27
	F64    Type = 28
	IQ1M   Type = 29
	BF16   Type = 30
	TQ10   Type = 34
	TQ20   Type = 35
	MXFP4  Type = 39
	NVFP4  Type = 40
	Q10    Type = 41
	Q20    Type = 42
)

// The types that only safetensors files have. Their numbers are ours and never reach a file.
const (
	Bool Type = 0x10000 + iota // one byte, 0 or 1
	U8                         // also the packed bytes of 4-bit formats
	U16
	U32
	U64
	F8E4M3 // 8-bit float, 4 exponent bits, no infinity
	F8E5M2 // 8-bit float, 5 exponent bits
	F8E8M0 // 8-bit power of two
)

// A format is what the size arithmetic needs to know of a type.
type format struct {
	name       string
	blockElems int
	blockBytes int
}

// formats lists every known type.
var formats = map[Type]format{
	F32:    {"F32", 1, 4},
	F16:    {"F16", 1, 2},
	Q40:    {"Q4_0", 32, 18},
	Q41:    {"Q4_1", 32, 20},
	Q50:    {"Q5_0", 32, 22},
	Q51:    {"Q5_1", 32, 24},
	Q80:    {"Q8_0", 32, 34},
	Q81:    {"Q8_1", 32, 36},
	Q2K:    {"Q2_K", 256, 84},
	Q3K:    {"Q3_K", 256, 110},
	Q4K:    {"Q4_K", 256, 144},
	Q5K:    {"Q5_K", 256, 176},
	Q6K:    {"Q6_K", 256, 210},
	Q8K:    {"Q8_K", 256, 292},
	IQ2XXS: {"IQ2_XXS", 256, 66},
	IQ2XS:  {"IQ2_XS", 256, 74},
	IQ3XXS: {"IQ3_XXS", 256, 98},
	IQ1S:   {"IQ1_S", 256, 50},
	IQ4NL:  {"IQ4_NL", 32, 18},
	IQ3S:   {"IQ3_S", 256, 110},
	IQ2S:   {"IQ2_S", 256, 82},
	IQ4XS:  {"IQ4_XS", 256, 136},
	I8:     {"I8", 1, 1},
	I16:    {"I16", 1, 2},
	I32:    {"I32", 1, 4},
	I64:    {"I64", 1, 8},
	F64:    {"F64", 1, 8},
	IQ1M:   {"IQ1_M", 256, 56},
	BF16:   {"BF16", 1, 2},
	TQ10:   {"TQ1_0", 256, 54},
	TQ20:   {"TQ2_0", 256, 66},
	MXFP4:  {"MXFP4", 32, 17},
	NVFP4:  {"NVFP4", 64, 36},
	Q10:    {"Q1_0", 128, 18},
	Q20:    {"Q2_0", 64, 18},
	Bool:   {"BOOL", 1, 1},
	U8:     {"U8", 1, 1},
	U16:    {"U16", 1, 2},
	U32:    {"U32", 1, 4},
	U64:    {"U64", 1, 8},
	F8E4M3: {"F8_E4M3", 1, 1},
	F8E5M2: {"F8_E5M2", 1, 1},
	F8E8M0: {"F8_E8M0", 1, 1},
}

// Parse gives the type with a name such as "Q4_K".
func Parse(name string) (Type, bool) {
	for t, f := range formats {
		if f.name == name {
			return t, true
		}
	}
	return 0, false
}

// String gives the name that people know the type by, such as "Q4_K", or "type 99" for an unknown number.
func (t Type) String() string {
	if f, ok := formats[t]; ok {
		return f.name
	}
	return "type " + strconv.FormatUint(uint64(t), 10)
}

// Known says whether the sizes of the type are known, so that a tensor of it can be measured and skipped.
func (t Type) Known() bool {
	_, ok := formats[t]
	return ok
}

// Supported says whether Dequantize knows the type.
func (t Type) Supported() bool {
	_, ok := dequantizers[t]
	return ok
}

// InGGUF says whether the type has a number that GGUF files use.
func (t Type) InGGUF() bool { return t < Bool && t.Known() }

// BlockElems is the number of values in a block, 0 for an unknown type.
func (t Type) BlockElems() int { return formats[t].blockElems }

// BlockBytes is the number of bytes of a block, 0 for an unknown type.
func (t Type) BlockBytes() int { return formats[t].blockBytes }

// RowBytes is the number of bytes that cols values take.
//
// Shapes: cols is the length of one row, a multiple of BlockElems. Panics if it is not, or if the type is
// unknown: readers check both before they give out a tensor.
func (t Type) RowBytes(cols int) int {
	f, ok := formats[t]
	if !ok || cols < 0 || cols%f.blockElems != 0 {
		panic("quant: a row of " + strconv.Itoa(cols) + " values cannot be " + t.String())
	}
	return cols / f.blockElems * f.blockBytes
}
