// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package kernel

func mulKeys(p *KVProduct) { mulKeysGo(p) }

func mulValues(p *KVProduct, positions int, fresh bool) { mulValuesGo(p, positions, fresh) }

func mulBytes(p *KVProduct, block int) { mulBytesGo(p, block) }

func quantizePart(record *[RecordBytes]byte, x *[BlockCols]float32) { quantizeBlock(record, x) }

func fix(a *fixArgs) { fixGo(a) }

func weigh(a *weighArgs) { weighGo(a) }
