// SPDX-License-Identifier: Apache-2.0

package tokenizer

// A Segment is a stretch of a prompt with its provenance.
type Segment struct {
	Text string
	Data bool // came from a user, a tool or a document: its text never becomes a control token
}

// A span is a half-open range of byte offsets.
type span struct{ start, end int }

// joinSegments returns the text of all segments and the ranges that are data, in order, neighbours joined.
func joinSegments(segs []Segment) (string, []span) {
	if len(segs) == 1 && !segs[0].Data {
		return segs[0].Text, nil
	}
	size := 0
	for _, s := range segs {
		size += len(s.Text)
	}
	text := make([]byte, 0, size)
	var data []span
	for _, s := range segs {
		start := len(text)
		text = append(text, s.Text...)
		if !s.Data || s.Text == "" {
			continue
		}
		if n := len(data); n > 0 && data[n-1].end == start {
			data[n-1].end = len(text)
			continue
		}
		data = append(data, span{start, len(text)})
	}
	return string(text), data
}

// overlaps reports whether [start, end) shares a byte with one of spans, which are sorted and apart.
func overlaps(spans []span, start, end int) bool {
	lo, hi := 0, len(spans)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if spans[mid].end <= start {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(spans) && spans[lo].start < end
}
