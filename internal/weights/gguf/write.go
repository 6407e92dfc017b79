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
	if err := checkTensors(tensors); err != nil {
		return err
	}
	for _, t := range tensors {
		if size, _ := weights.Size(t.Type, t.Shape); size != int64(len(t.Data)) {
			return fmt.Errorf("gguf: write: tensor %q: got %d bytes for %v of shape %v, want %d", t.Name, len(t.Data), t.Type, t.Shape, size)
		}
	}
	out, err := NewWriter(w, meta, tensors)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := out.Write(t.Data); err != nil {
			return err
		}
	}
	return out.Close()
}

// A Writer writes a GGUF file whose tensor data need not be in memory at once.
type Writer struct {
	w         io.Writer
	alignment int64
	left      []int64 // bytes of the tensors that are not complete
	written   int64   // bytes of data, with padding
}

// NewWriter writes the header of a file of version 3: everything but the data of tensors, which are then written in
// the same order. Their Data is not looked at.
//
// It fails if a tensor cannot be in a file, or if two have the same name.
func NewWriter(w io.Writer, meta *Metadata, tensors []weights.Tensor) (*Writer, error) {
	out := &Writer{w: w, alignment: defaultAlignment}
	if n, ok := meta.Int(keyAlignment); ok {
		if n < 1 || n > maxAlignment || n&(n-1) != 0 {
			return nil, fmt.Errorf("gguf: write: alignment is %d, want a power of two up to %d", n, maxAlignment)
		}
		out.alignment = n
	}
	if err := checkTensors(tensors); err != nil {
		return nil, err
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
		size, _ := weights.Size(t.Type, t.Shape) // checked
		b = appendInfo(b, t, offset)
		offset = padded(offset+size, out.alignment)
		out.left = append(out.left, size)
	}
	b = append(b, make([]byte, padded(int64(len(b)), out.alignment)-int64(len(b)))...)
	if _, err := w.Write(b); err != nil {
		return nil, fmt.Errorf("gguf: write: %w", err)
	}
	return out, nil
}

// Write writes the next bytes of tensor data, which may end anywhere, and the padding after each tensor. It fails if
// there are more than the tensors need.
func (w *Writer) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if len(w.left) == 0 {
			return done, fmt.Errorf("gguf: write: %d bytes more than the tensors need", len(p)-done)
		}
		n := int(min(int64(len(p)-done), w.left[0]))
		if err := w.put(p[done : done+n]); err != nil {
			return done, err
		}
		done += n
		if w.left[0] -= int64(n); w.left[0] > 0 {
			continue
		}
		w.left = w.left[1:]
		if err := w.put(make([]byte, padded(w.written, w.alignment)-w.written)); err != nil {
			return done, err
		}
	}
	return done, nil
}

// put writes bytes and counts them.
func (w *Writer) put(b []byte) error {
	n, err := w.w.Write(b)
	w.written += int64(n)
	if err != nil {
		return fmt.Errorf("gguf: write: %w", err)
	}
	return nil
}

// Close fails if data are missing. It does not close what it writes to.
func (w *Writer) Close() error {
	if len(w.left) > 0 {
		return fmt.Errorf("gguf: write: the data of %d tensors are missing", len(w.left))
	}
	return nil
}

// checkTensors refuses tensors that Open would not read.
func checkTensors(tensors []weights.Tensor) error {
	names := map[string]bool{}
	for _, t := range tensors {
		_, reason := weights.Size(t.Type, t.Shape)
		switch {
		case names[t.Name]:
			reason = "appears twice"
		case !t.Type.InGGUF():
			reason = fmt.Sprintf("%v has no number in GGUF files", t.Type)
		case len(t.Shape) > maxDims:
			reason = fmt.Sprintf("%d dimensions, want at most %d", len(t.Shape), maxDims)
		case len(t.Name) > maxNameBytes:
			reason = fmt.Sprintf("a name of %d bytes, want at most %d", len(t.Name), maxNameBytes)
		case slices.Contains(t.Shape, 0):
			reason = "a dimension is 0"
		}
		if reason != "" {
			return fmt.Errorf("gguf: write: tensor %q: %s", t.Name, reason)
		}
		names[t.Name] = true
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
