// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

// types maps the names of the format to tensor types.
var types = map[string]quant.Type{
	"BOOL": quant.Bool, "U8": quant.U8, "U16": quant.U16, "U32": quant.U32, "U64": quant.U64,
	"I8": quant.I8, "I16": quant.I16, "I32": quant.I32, "I64": quant.I64,
	"F16": quant.F16, "BF16": quant.BF16, "F32": quant.F32, "F64": quant.F64,
	"F8_E4M3": quant.F8E4M3, "F8_E5M2": quant.F8E5M2, "F8_E8M0": quant.F8E8M0,
}

// An entry is what the header says of a tensor.
type entry struct {
	Dtype   string   `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets []uint64 `json:"data_offsets"`
}

// A header is what one file says before its data.
type header struct {
	metadata map[string]string
	tensors  []tensorInfo
}

// A tensorInfo is a checked entry.
type tensorInfo struct {
	weights.Tensor       // without Data
	at             int64 // where the entry stands, for errors
	begin, end     int64 // of its bytes, from the start of the data
}

// A reader reads the header of one file.
type reader struct {
	file string
	dec  *json.Decoder
}

// fail says what is wrong with a part of the file.
func (r *reader) fail(what string, at int64, format string, args ...any) error {
	return &weights.FileError{Format: "safetensors", File: r.file, What: what, Offset: at, Reason: fmt.Sprintf(format, args...)}
}

// parse reads the header of a file and gives every tensor its bytes.
func parse(file string, data []byte) (*header, error) {
	r := &reader{file: file}
	if len(data) < 8 {
		return nil, r.fail("header", 0, "file ends too early: 8 bytes needed, %d left", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	switch {
	case n > maxHeaderBytes:
		return nil, r.fail("header", 0, "length is %d bytes, want at most %d: damaged, or not a safetensors file", n, maxHeaderBytes)
	case n > uint64(len(data)-8):
		return nil, r.fail("header", 0, "length is %d bytes, but the file has %d more", n, len(data)-8)
	}
	text, data := data[8:8+n], data[8+n:]
	switch {
	case len(text) == 0 || text[0] != '{':
		return nil, r.fail("header", 8, "it does not begin with {: damaged, or not a safetensors file")
	case !utf8.Valid(text):
		return nil, r.fail("header", 8, "it is not UTF-8")
	}
	r.dec = json.NewDecoder(bytes.NewReader(text))
	h, err := r.header()
	if err != nil {
		return nil, err
	}
	return h, r.place(h, data, 8+int64(n))
}

// header reads the object that holds an entry for each tensor. The decoder goes key by key, so that a name that
// appears twice is noticed.
func (r *reader) header() (*header, error) {
	h := &header{}
	if _, err := r.dec.Token(); err != nil { // the brace
		return nil, r.jsonError("header", err)
	}
	seen := map[string]bool{}
	for r.dec.More() {
		key, err := r.dec.Token()
		if err != nil {
			return nil, r.jsonError("header", err)
		}
		name, _ := key.(string) // the decoder lets only strings be keys
		at := 8 + r.dec.InputOffset()
		switch {
		case seen[name]:
			return nil, r.fail(fmt.Sprintf("tensor %q", name), at, "appears twice")
		case len(seen) == maxTensors:
			return nil, r.fail("header", at, "more than %d tensors", maxTensors)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := r.dec.Decode(&h.metadata); err != nil {
				return nil, r.jsonError("__metadata__", err)
			}
			continue
		}
		info, err := r.tensor(name, at)
		if err != nil {
			return nil, err
		}
		h.tensors = append(h.tensors, info)
	}
	if _, err := r.dec.Token(); err != nil {
		return nil, r.jsonError("header", err)
	}
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, r.fail("header", 8+r.dec.InputOffset(), "text after the closing brace")
	}
	return h, nil
}

// jsonError says where the JSON is broken.
func (r *reader) jsonError(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return r.fail(what, 8+r.dec.InputOffset(), "JSON: %v", err)
}

// tensor reads and checks the entry of one tensor.
func (r *reader) tensor(name string, at int64) (tensorInfo, error) {
	info := tensorInfo{at: at}
	if len(name) > maxNameBytes {
		return info, r.fail(fmt.Sprintf("tensor %.40q...", name), at, "name of %d bytes, want at most %d", len(name), maxNameBytes)
	}
	what := fmt.Sprintf("tensor %q", name)
	var e entry
	if err := r.dec.Decode(&e); err != nil {
		return info, r.jsonError(what, err)
	}
	t, ok := types[e.Dtype]
	switch {
	case !ok:
		return info, r.fail(what, at, "dtype %q is not supported", e.Dtype)
	case e.Shape == nil:
		return info, r.fail(what, at, "shape is missing")
	case len(e.Shape) > maxDims:
		return info, r.fail(what, at, "%d dimensions, want at most %d", len(e.Shape), maxDims)
	case len(e.Offsets) != 2 || e.Offsets[0] > e.Offsets[1] || e.Offsets[1] > math.MaxInt64:
		return info, r.fail(what, at, "data_offsets are %v, want begin and end", e.Offsets)
	}
	info.Name, info.Type, info.Shape = name, t, make([]int, len(e.Shape))
	for i, d := range e.Shape {
		if d > math.MaxInt {
			return info, r.fail(what, at, "dimension %d overflows", d)
		}
		info.Shape[i] = int(d)
	}
	info.begin, info.end = int64(e.Offsets[0]), int64(e.Offsets[1])
	size, reason := weights.Size(t, info.Shape)
	switch {
	case reason != "":
		return info, r.fail(what, at, "%s: %v of shape %v", reason, t, info.Shape)
	case info.end-info.begin != size:
		return info, r.fail(what, at, "data_offsets span %d bytes, but %v of shape %v needs %d", info.end-info.begin, t, info.Shape, size)
	}
	return info, nil
}

// place checks that the tensors cover the data exactly and gives them their bytes. Start is where the data begins.
func (r *reader) place(h *header, data []byte, start int64) error {
	order := make([]*tensorInfo, len(h.tensors))
	for i := range h.tensors {
		order[i] = &h.tensors[i]
	}
	slices.SortStableFunc(order, func(a, b *tensorInfo) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	var end int64
	for _, t := range order {
		what := fmt.Sprintf("tensor %q", t.Name)
		switch {
		case t.begin < end:
			return r.fail(what, t.at, "begins at byte %d of the data, inside the tensor that ends at %d", t.begin, end)
		case t.begin > end:
			return r.fail(what, t.at, "begins at byte %d of the data, but the tensor before it ends at %d", t.begin, end)
		case t.end > int64(len(data)):
			return r.fail(what, t.at, "bytes %d to %d of the data needed, but the file has %d: it is cut short or damaged", t.begin, t.end, len(data))
		}
		t.Data = data[t.begin:t.end:t.end]
		end = t.end
	}
	if end != int64(len(data)) {
		return r.fail("data", start+end, "%d bytes belong to no tensor", int64(len(data))-end)
	}
	return nil
}
