// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"fmt"
	"math"
	"slices"

	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/weights"
)

// A header is what one file says before its data.
type header struct {
	meta    *Metadata
	tensors []tensorInfo
	data    int64 // where the tensor data begins
}

// A tensorInfo is the description of one tensor.
type tensorInfo struct {
	weights.Tensor       // without Data
	at             int   // where the description stands, for errors
	begin, end     int64 // of its bytes, from the start of the file
}

// parse reads the header of a file and gives every tensor its bytes.
func parse(file string, data []byte) (*header, error) {
	c := &cursor{file: file, data: data, what: "header"}
	if len(data) > maxHeaderBytes {
		c.data, c.capped = data[:maxHeaderBytes], true
	}
	tensors, pairs := c.counts()
	h := &header{meta: c.metadata(pairs)}
	alignment := c.alignment(h.meta)
	h.tensors = c.infos(tensors)
	if c.err != nil {
		return nil, c.err
	}
	h.data = padded(int64(c.pos), alignment)
	c.place(h, alignment, data)
	if c.err != nil {
		return nil, c.err
	}
	return h, nil
}

// padded is the smallest multiple of alignment that is n or more.
func padded(n, alignment int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }

// counts reads the fixed part at the start of the file.
func (c *cursor) counts() (tensors, pairs int) {
	if m := c.take(4); c.err == nil && string(m) != magic {
		c.fail(0, "not a GGUF file: it begins with %q, want %q", m, magic)
	}
	switch version := c.uint32(); {
	case c.err != nil:
	case version == 2, version == 3:
	case version == 1:
		c.fail(4, "version 1 is not supported, want 2 or 3: convert the model again")
	case version&0xffff == 0:
		c.fail(4, "big-endian files are not supported: convert the model again")
	default:
		c.fail(4, "version is %d, want 2 or 3", version)
	}
	// A description takes at least 24 bytes: lengths of name and dimensions, type and offset. A pair takes at
	// least 13: length of the key, type, one byte.
	tensors = c.count(maxTensors, 24)
	return tensors, c.count(maxKeys, 13)
}

// metadata reads the pairs.
func (c *cursor) metadata(pairs int) *Metadata {
	m := NewMetadata()
	for i := range pairs {
		c.what = fmt.Sprintf("key %d of %d", i+1, pairs)
		at := c.pos
		key := c.string(maxKeyBytes)
		if c.err != nil {
			return m
		}
		c.what = fmt.Sprintf("key %q", key)
		if _, ok := m.values[key]; ok {
			c.fail(at, "appears twice")
		}
		value := c.value(valueType(c.uint32()), 0)
		if c.err != nil {
			return m
		}
		m.keys = append(m.keys, key)
		m.values[key] = value
	}
	return m
}

// alignment gives the unit that tensor data is placed by.
func (c *cursor) alignment(m *Metadata) int64 {
	value, ok := m.Value(keyAlignment)
	if !ok {
		return defaultAlignment
	}
	n, ok := m.Int(keyAlignment)
	if !ok || n < 1 || n > maxAlignment || n&(n-1) != 0 {
		c.what = fmt.Sprintf("key %q", keyAlignment)
		c.fail(-1, "alignment is %v, want a power of two up to %d", value, maxAlignment)
		return defaultAlignment
	}
	return n
}

// infos reads the descriptions of n tensors.
func (c *cursor) infos(n int) []tensorInfo {
	out := make([]tensorInfo, 0, n)
	for i := range n {
		c.what = fmt.Sprintf("tensor %d of %d", i+1, n)
		info := c.info()
		if c.err != nil {
			return nil
		}
		out = append(out, info)
	}
	return out
}

// info reads the description of a tensor. Its begin is still relative to the data.
func (c *cursor) info() tensorInfo {
	info := tensorInfo{at: c.pos}
	info.Name = c.string(maxNameBytes)
	if c.err == nil {
		c.what = fmt.Sprintf("tensor %q", info.Name)
	}
	at := c.pos
	n := c.uint32()
	if n > maxDims {
		c.fail(at, "%d dimensions, want at most %d", n, maxDims)
		return info
	}
	for range n {
		at := c.pos
		d := c.uint64()
		if d > math.MaxInt || d == 0 {
			c.fail(at, "dimension is %d, want 1 to %d", d, math.MaxInt)
		}
		info.Shape = append(info.Shape, int(d))
	}
	slices.Reverse(info.Shape) // in the file the fastest comes first
	at = c.pos
	info.Type = quant.Type(c.uint32())
	if c.err == nil && !info.Type.InGGUF() {
		c.fail(at, "unknown tensor type number %d", uint32(info.Type))
	}
	size, reason := weights.Size(info.Type, info.Shape)
	if c.err == nil && reason != "" {
		c.fail(info.at, "%s: %v of shape %v", reason, info.Type, info.Shape)
	}
	at = c.pos
	offset := c.uint64()
	if offset > math.MaxInt64-uint64(size) {
		c.fail(at, "offset %d overflows", offset)
	}
	info.begin, info.end = int64(offset), int64(offset)+size
	return info
}

// place checks where the tensors say that they are and gives them their bytes.
func (c *cursor) place(h *header, alignment int64, data []byte) {
	room := int64(len(data)) - h.data
	for i := range h.tensors {
		t := &h.tensors[i]
		c.what = fmt.Sprintf("tensor %q", t.Name)
		switch {
		case t.begin%alignment != 0:
			c.fail(t.at, "offset %d is not a multiple of %d", t.begin, alignment)
		case t.end > room:
			c.fail(t.at, "bytes %d to %d of the data needed, but the file has %d: it is cut short or damaged", t.begin, t.end, max(room, 0))
		}
		if c.err != nil {
			return
		}
		t.begin, t.end = t.begin+h.data, t.end+h.data
		t.Data = data[t.begin:t.end:t.end]
	}
	c.checkApart(h.tensors)
}

// checkApart fails if two tensors share bytes. Loading such a file could take many times the memory of its size.
func (c *cursor) checkApart(tensors []tensorInfo) {
	order := slices.Clone(tensors)
	slices.SortFunc(order, func(a, b tensorInfo) int { return int(min(1, max(-1, a.begin-b.begin))) })
	for i := 1; i < len(order); i++ {
		if order[i].begin < order[i-1].end {
			c.what = fmt.Sprintf("tensor %q", order[i].Name)
			c.fail(order[i].at, "overlaps tensor %q", order[i-1].Name)
			return
		}
	}
}
