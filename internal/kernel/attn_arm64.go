// SPDX-License-Identifier: Apache-2.0

package kernel

// quantizePart is Quantize for one block.
func quantizePart(record *[RecordBytes]byte, x *[BlockCols]float32) {
	if active == generic {
		quantizeBlock(record, x)
		return
	}
	quantizeNEON(&record[0], RecordBytes, &x[0], 1)
}

// fix sets groups to numbers.
func fix(a *fixArgs) {
	if active == generic {
		fixGo(a)
		return
	}
	fixNEON(a)
}

// weigh sets groups to weights times the scales of values.
func weigh(a *weighArgs) {
	if active == generic {
		weighGo(a)
		return
	}
	weighNEON(a)
}

//go:noescape
func fixNEON(args *fixArgs)

//go:noescape
func weighNEON(args *weighArgs)
