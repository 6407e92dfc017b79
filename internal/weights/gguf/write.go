// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/sampo-ai/sampo/internal/weights"
)

// Write writes a GGUF file of version 3. Alignment is that of the metadata's general.alignment, else 32 bytes.
//
// It fails if a tensor's data has not the length that its type and shape need, or if two have the same name.
func Write(w io.Writer, meta *Metadata, tensors []weights.Tensor) error {
	alignment := int64(defaultAlignment)
	if n, ok := meta.Int(keyAlignment); ok {
		if n < 1 || n > maxAlignment || n&(n-1) != 0 {
			return fmt.Errorf("gguf: write: alignment is %d, want a power of two up to %d", n, maxAlignment)
		}
		alignment = n
	}
	if err := checkTensors(tensors); err != nil {
		return err
	}
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint32(b, 3)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(tensors)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(meta.keys)))
	for _, key := range meta.keys {
		t, _ := typeOf(meta.values[key]) // Set let it in
		b = appendString(b, key)
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
		b = appendValue(b, meta.values[key])
	}
	var offset int64
	for _, t := range tensors {
		b = appendInfo(b, t, offset)
		offset = padded(offset+int64(len(t.Data)), alignment)
	}
	b = append(b, make([]byte, padded(int64(len(b)), alignment)-int64(len(b)))...)
	return writeData(w, b, tensors, alignment)
}

// checkTensors makes sure that Open will read what Write writes.
func checkTensors(tensors []weights.Tensor) error {
	names := map[string]bool{}
	for _, t := range tensors {
		size, reason := weights.Size(t.Type, t.Shape)
		switch {
		case names[t.Name]:
			reason = "appears twice"
		case !t.Type.InGGUF():
			reason = fmt.Sprintf("%v has no number in GGUF files", t.Type)
		case len(t.Shape) > maxDims:
			reason = fmt.Sprintf("%d dimensions, want at most %d", len(t.Shape), maxDims)
		case reason == "" && size != int64(len(t.Data)):
			reason = fmt.Sprintf("got %d bytes for %v of shape %v, want %d", len(t.Data), t.Type, t.Shape, size)
		}
		if reason != "" {
			return fmt.Errorf("gguf: write: tensor %q: %s", t.Name, reason)
		}
		names[t.Name] = true
	}
	return nil
}

// writeData writes the header and the tensors, each padded to the alignment.
func writeData(w io.Writer, header []byte, tensors []weights.Tensor, alignment int64) error {
	chunks := [][]byte{header}
	for _, t := range tensors {
		n := int64(len(t.Data))
		chunks = append(chunks, t.Data, make([]byte, padded(n, alignment)-n))
	}
	for _, c := range chunks {
		if _, err := w.Write(c); err != nil {
			return fmt.Errorf("gguf: write: %w", err)
		}
	}
	return nil
}

func appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	return append(b, s...)
}

func appendInfo(b []byte, t weights.Tensor, offset int64) []byte {
	b = appendString(b, t.Name)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Shape)))
	for _, d := range slices.Backward(t.Shape) {
		b = binary.LittleEndian.AppendUint64(b, uint64(d))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(t.Type))
	return binary.LittleEndian.AppendUint64(b, uint64(offset))
}

// appendValue appends a value without its type. Slices of numbers go the way of single numbers.
func appendValue(b []byte, value any) []byte {
	if t, ok := elemTypeOf(value); ok {
		b = binary.LittleEndian.AppendUint32(b, uint32(t))
	}
	switch v := value.(type) {
	case string:
		return appendString(b, v)
	case []string:
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
		for _, s := range v {
			b = appendString(b, s)
		}
		return b
	case []any:
		b = binary.LittleEndian.AppendUint64(b, uint64(len(v)))
		for _, e := range v {
			b = appendValue(b, e)
		}
		return b
	}
	if n := binary.Size(value); n >= 0 {
		if _, ok := elemTypeOf(value); ok {
			b = binary.LittleEndian.AppendUint64(b, uint64(countOf(value, n)))
		}
		b, _ = binary.Append(b, binary.LittleEndian, value) // the size is known, so it can
	}
	return b
}

// countOf gives the number of elements of a slice of numbers that takes n bytes.
func countOf(value any, n int) int {
	t, _ := elemTypeOf(value)
	return n / int(minBytes[t])
}
