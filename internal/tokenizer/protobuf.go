// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"encoding/binary"
	"errors"
	"math"
)

// A protoField is one field of a message in Protocol Buffers' wire format.
type protoField struct {
	number int
	bits   uint64 // of a number
	data   []byte // of a string, bytes or a message; nil for a number
}

func (f protoField) float() float32 { return math.Float32frombits(uint32(f.bits)) }

var errNotProto = errors.New("not in Protocol Buffers' format, or cut off")

// protoFields calls each with every field of a message. Nothing is copied.
func protoFields(message []byte, each func(f protoField) error) error {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		if n <= 0 || key>>3 == 0 || key>>3 > 1<<29-1 {
			return errNotProto
		}
		message = message[n:]
		f := protoField{number: int(key >> 3)}
		var size int
		switch key & 7 {
		case 0:
			if f.bits, size = binary.Uvarint(message); size <= 0 {
				return errNotProto
			}
		case 1:
			if size = 8; len(message) >= size {
				f.bits = binary.LittleEndian.Uint64(message)
			}
		case 2:
			length, n := binary.Uvarint(message)
			if n <= 0 || length > uint64(len(message)-n) {
				return errNotProto
			}
			size = n + int(length)
			f.data = message[n:size:size]
		case 5:
			if size = 4; len(message) >= size {
				f.bits = uint64(binary.LittleEndian.Uint32(message))
			}
		default:
			return errNotProto
		}
		if size > len(message) {
			return errNotProto
		}
		message = message[size:]
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}
