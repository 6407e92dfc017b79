// SPDX-License-Identifier: Apache-2.0

package kernel

// quantizePart is Quantize for one block.
func quantizePart(record *[RecordBytes]byte, x *[BlockCols]float32) {
	if active == generic {
		quantizeBlock(record, x)
		return
	}
	quantizeAVX2(&record[0], RecordBytes, &x[0], 1)
}

// fix sets groups to numbers.
func fix(a *fixArgs) {
	if active == generic {
		fixGo(a)
		return
	}
	fixAVX2(a)
}

// weigh sets groups to weights times the scales of values.
func weigh(a *weighArgs) {
	if active == generic {
		weighGo(a)
		return
	}
	weighAVX2(a)
}
