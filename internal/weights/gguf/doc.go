// SPDX-License-Identifier: Apache-2.0

// Package gguf reads and writes GGUF files: metadata pairs, then descriptions of tensors, then their data.
//
// Open gives a File, which is a weights.Source and has the Metadata. A model may be split over several files named
// NAME-00001-of-00003.gguf; given any of them, Open opens all.
//
// Always true of an open File: each tensor's bytes lie inside its file at a multiple of the alignment, and no two
// tensors overlap; keys and tensor names are unique; nothing was allocated before the number that asked for it was
// checked against what is left of the file and against the limits below. Strings are copies, so that they outlive
// the File; only tensor data is in the mapping.
//
// Versions 2 and 3, little-endian. Version 1 and big-endian files are refused by name. What the keys mean is not
// known here.
//
// The format is described in docs/formats/gguf.md, after the specification in ggml's docs/gguf.md.
package gguf

// Limits of what a file may ask for. They are far above any real model; docs/limits.md lists them.
const (
	maxHeaderBytes = 1 << 29 // everything before the tensor data
	maxKeys        = 1 << 16
	maxKeyBytes    = 1<<16 - 1
	maxStringBytes = 1 << 26
	maxArrayElems  = 1 << 24
	maxArrayDepth  = 4 // arrays of arrays
	maxTensors     = 1 << 20
	maxNameBytes   = 1 << 10
	maxDims        = 4
	maxAlignment   = 1 << 16
	maxParts       = 1 << 10 // files of a split model
)

const (
	magic            = "GGUF"
	defaultAlignment = 32
	keyAlignment     = "general.alignment"
	keySplitNumber   = "split.no"
	keySplitCount    = "split.count"
	keySplitTensors  = "split.tensors.count"
)

// A valueType is the number that says how a metadata value is stored.
type valueType uint32

const (
	typeUint8   valueType = 0
	typeInt8    valueType = 1
	typeUint16  valueType = 2
	typeInt16   valueType = 3
	typeUint32  valueType = 4
	typeInt32   valueType = 5
	typeFloat32 valueType = 6
	typeBool    valueType = 7
	typeString  valueType = 8
	typeArray   valueType = 9
	typeUint64  valueType = 10
	typeInt64   valueType = 11
	typeFloat64 valueType = 12
)

// minBytes is the least that one value of a type takes in a file: strings have a length, arrays a type and a count.
var minBytes = [...]uint64{
	typeUint8: 1, typeInt8: 1, typeUint16: 2, typeInt16: 2, typeUint32: 4, typeInt32: 4, typeFloat32: 4,
	typeBool: 1, typeString: 8, typeArray: 12, typeUint64: 8, typeInt64: 8, typeFloat64: 8,
}
