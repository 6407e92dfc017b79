// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"bytes"
	"crypto/rand"
	"io"
	"math"
	"reflect"
	"strconv"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// A sink takes JSON text and hands it on in pieces, so that lists of any length take little memory on their way out.
type sink struct {
	w   io.Writer // nil: buf keeps everything
	buf []byte
	err error // the first; nothing is written after it
}

// pieceBytes is how much is written at once.
const pieceBytes = 64 << 10

// flushed makes room if the buffer is full. It reports false if nobody takes anything more.
func (s *sink) flushed() bool {
	if s.w == nil || len(s.buf) < pieceBytes {
		return s.err == nil
	}
	return s.flush()
}

func (s *sink) flush() bool {
	if s.err == nil && len(s.buf) > 0 {
		_, s.err = s.w.Write(s.buf)
	}
	s.buf = s.buf[:0]
	return s.err == nil
}

func (s *sink) raw(text string)    { s.buf = append(s.buf, text...) }
func (s *sink) string(text string) { s.buf = ordjson.Append(s.buf, text) }
func (s *sink) int(n int)          { s.buf = strconv.AppendInt(s.buf, int64(n), 10) }

// comma goes before every item of a list but the first, which has index 0.
func (s *sink) comma(i int) {
	if i > 0 {
		s.buf = append(s.buf, ',')
	}
}

// float writes a number as encoding/json does.
func (s *sink) float(x float32) {
	format := byte('f')
	if abs := float32(math.Abs(float64(x))); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	s.buf = strconv.AppendFloat(s.buf, float64(x), format, -1, 32)
	if n := len(s.buf); format == 'e' && s.buf[n-4] == 'e' && s.buf[n-3] == '-' && s.buf[n-2] == '0' { // e-09 to e-9
		s.buf = append(s.buf[:n-2], s.buf[n-1])
	}
}

// A later is a value of JSON type T that a function writes. In a body that is sent in pieces a mark stands for it until its
// turn comes.
type later[T any] struct {
	mark  []byte // nil: it is written at once
	write func(*sink)
}

// shape is the type that the text has, for its schema.
func (later[T]) shape() reflect.Type { return reflect.TypeFor[T]() }

// MarshalJSON implements json.Marshaler.
func (l *later[T]) MarshalJSON() ([]byte, error) {
	if l.mark != nil {
		return l.mark, nil
	}
	s := sink{}
	l.write(&s)
	return s.buf, nil
}

// parts are what a body leaves for later. A nil one leaves nothing.
type parts struct {
	name   string // random: no text holds it by chance or by will
	writes []func(*sink)
}

func newParts() *parts { return &parts{name: rand.Text()} }

// postpone puts a function into a body.
func postpone[T any](p *parts, write func(*sink)) *later[T] {
	if p == nil {
		return &later[T]{write: write}
	}
	p.writes = append(p.writes, write)
	return &later[T]{mark: []byte(`"` + p.name + strconv.Itoa(len(p.writes)-1) + `"`)}
}

// send writes a body with all that was left for later in its place.
func (p *parts) send(w io.Writer, body any) error {
	s := &sink{w: w}
	text := encode(body)
	for {
		before, after, found := bytes.Cut(text, []byte(`"`+p.name))
		s.buf = append(s.buf, before...)
		if !found {
			s.flush()
			return s.err
		}
		number, rest, _ := bytes.Cut(after, []byte(`"`))
		i, err := strconv.Atoi(string(number))
		if err != nil {
			panic("openai: a broken mark in a body")
		}
		p.writes[i](s)
		text = rest
	}
}
