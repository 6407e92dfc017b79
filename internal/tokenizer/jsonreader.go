// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonReader reads JSON where the bulk of a tokenizer.json lies, the vocabulary and the merges: hundreds of thousands of
// strings that must not become as many values. The rest goes through package ordjson.
type jsonReader struct {
	data   []byte
	pos    int
	commas int // between the members of the value that was skipped last
}

// maxJSONDepth bounds the nesting of a tokenizer.json.
const maxJSONDepth = 64

func (r *jsonReader) fail(format string, args ...any) error {
	return fmt.Errorf("at byte %d: "+format, append([]any{r.pos}, args...)...)
}

func (r *jsonReader) space() {
	if r.pos < len(r.data) && r.data[r.pos] <= ' ' {
		r.skipSpace()
	}
}

// skipSpace moves past white space, eight spaces at a time: files are often indented.
func (r *jsonReader) skipSpace() {
	const eight = 0x2020202020202020
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ':
			if rest := r.data[r.pos:]; len(rest) >= 8 && binary.LittleEndian.Uint64(rest) == eight {
				r.pos += 8
				continue
			}
		case '\n', '\t', '\r':
		default:
			return
		}
		r.pos++
	}
}

// peek returns the next byte that is not white space, 0 at the end.
func (r *jsonReader) peek() byte {
	r.space()
	if r.pos >= len(r.data) {
		return 0
	}
	return r.data[r.pos]
}

// take moves past the next byte if it is c.
func (r *jsonReader) take(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

func (r *jsonReader) expect(c byte) error {
	if !r.take(c) {
		return r.fail("want %q", c)
	}
	return nil
}

// object calls field for each key of an object, with the reader before its value, which field reads.
func (r *jsonReader) object(field func(key []byte) error) error {
	if err := r.expect('{'); err != nil {
		return err
	}
	if r.take('}') {
		return nil
	}
	var buf []byte
	for {
		key, err := r.str(buf[:0])
		if err != nil {
			return err
		}
		if err := r.expect(':'); err != nil {
			return err
		}
		if err := field(key); err != nil {
			return err
		}
		buf = key
		if r.take('}') {
			return nil
		}
		if err := r.expect(','); err != nil {
			return err
		}
	}
}

// array calls element for each element of an array, with the reader before it.
func (r *jsonReader) array(element func(i int) error) error {
	if err := r.expect('['); err != nil {
		return err
	}
	if r.take(']') {
		return nil
	}
	for i := 0; ; i++ {
		if err := element(i); err != nil {
			return err
		}
		if r.take(']') {
			return nil
		}
		if err := r.expect(','); err != nil {
			return err
		}
	}
}

// str reads a string and appends its text to dst.
func (r *jsonReader) str(dst []byte) ([]byte, error) {
	if err := r.expect('"'); err != nil {
		return dst, err
	}
	for {
		rest := r.data[r.pos:]
		n := 0
		for n < len(rest) && rest[n] != '"' && rest[n] != '\\' && rest[n] >= ' ' {
			n++
		}
		dst = append(dst, rest[:n]...)
		r.pos += n
		switch {
		case n == len(rest):
			return dst, r.fail("the file ends inside a string")
		case rest[n] == '"':
			r.pos++
			return dst, nil
		case rest[n] != '\\':
			return dst, r.fail("control character in a string")
		}
		var err error
		if dst, err = r.escape(dst); err != nil {
			return dst, err
		}
	}
}

var plainEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads an escape sequence.
func (r *jsonReader) escape(dst []byte) ([]byte, error) {
	if r.pos+1 >= len(r.data) {
		return dst, r.fail("the file ends inside a string")
	}
	c := r.data[r.pos+1]
	if plain := plainEscapes[c]; plain != 0 {
		r.pos += 2
		return append(dst, plain), nil
	}
	if c != 'u' {
		return dst, r.fail("unknown escape %q", c)
	}
	first, err := r.unit()
	if err != nil {
		return dst, err
	}
	if !utf16.IsSurrogate(first) {
		return utf8.AppendRune(dst, first), nil
	}
	if !bytes.HasPrefix(r.data[r.pos:], []byte(`\u`)) {
		return dst, r.fail("half a surrogate pair")
	}
	second, err := r.unit()
	if err != nil {
		return dst, err
	}
	joined := utf16.DecodeRune(first, second)
	if joined == utf8.RuneError {
		return dst, r.fail("half a surrogate pair")
	}
	return utf8.AppendRune(dst, joined), nil
}

// unit reads \uXXXX.
func (r *jsonReader) unit() (rune, error) {
	if r.pos+6 > len(r.data) {
		return 0, r.fail("the file ends inside a string")
	}
	v, err := strconv.ParseUint(string(r.data[r.pos+2:r.pos+6]), 16, 16)
	if err != nil {
		return 0, r.fail("broken \\u escape")
	}
	r.pos += 6
	return rune(v), nil
}

// integer reads a number that is an integer of at most 32 bits, not negative.
func (r *jsonReader) integer() (int, error) {
	r.space()
	start := r.pos
	n := 0
	for r.pos < len(r.data) && r.data[r.pos] >= '0' && r.data[r.pos] <= '9' && r.pos-start < 10 {
		n = 10*n + int(r.data[r.pos]-'0')
		r.pos++
	}
	if r.pos == start {
		return 0, r.fail("want an integer that is not negative")
	}
	return n, nil
}

// float reads a number as the reference does, which rounds twice where there are more than 15 digits: the digits, as far as
// they fit 64 bits, to a float, then that times or by a power of ten. Sums of scores that are nearly equal depend on the
// last bit.
func (r *jsonReader) float() (float64, error) {
	r.space()
	start := r.pos
	for r.pos < len(r.data) && strings.IndexByte("+-.0123456789eE", r.data[r.pos]) >= 0 {
		r.pos++
	}
	text := string(r.data[start:r.pos])
	if v, err := strconv.ParseFloat(text, 64); err != nil || math.IsInf(v, 0) {
		return 0, r.fail("%q is not a number", text)
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	power, _ := strconv.Atoi(exponent)
	digits, full := uint64(0), false
	whole, fraction, _ := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	for i, c := range whole + fraction {
		hi, lo := bits.Mul64(digits, 10)
		sum, carry := bits.Add64(lo, uint64(c-'0'), 0)
		if full = full || hi+carry > 0; !full {
			digits = sum
		}
		switch behind := i >= len(whole); {
		case behind && !full:
			power--
		case !behind && full:
			power++
		}
	}
	v := scaled(float64(digits), power)
	if text[0] == '-' {
		v = -v
	}
	return v, nil
}

// scaled returns v times 10 to the power of n.
func scaled(v float64, n int) float64 {
	for ; n < -308; n += 308 {
		if v == 0 {
			return v
		}
		v /= 1e308
	}
	if n < 0 {
		return v / math.Pow10(-n)
	}
	return v * math.Pow10(n)
}

// skip moves past any value and returns its text. Only strings and brackets are looked at: what is needed is parsed
// again, with care.
func (r *jsonReader) skip() ([]byte, error) {
	r.space()
	start, depth := r.pos, 0
	r.commas = 0
	for {
		switch c := r.peek(); c {
		case 0:
			return nil, r.fail("the file ends inside a value")
		case '"':
			if err := r.skipString(); err != nil {
				return nil, err
			}
		case '{', '[':
			if depth++; depth > maxJSONDepth {
				return nil, r.fail("nested more than %d deep", maxJSONDepth)
			}
			r.pos++
		case '}', ']':
			if depth == 0 {
				return nil, r.fail("want a value")
			}
			depth--
			r.pos++
		case ',', ':':
			if depth == 0 {
				return nil, r.fail("want a value")
			}
			if c == ',' && depth == 1 {
				r.commas++
			}
			r.pos++
		default:
			for r.pos < len(r.data) && bytes.IndexByte([]byte(" \n\t\r\"{}[],:"), r.data[r.pos]) < 0 {
				r.pos++
			}
		}
		if depth == 0 {
			return r.data[start:r.pos], nil
		}
	}
}

// skipString moves past a string.
func (r *jsonReader) skipString() error {
	r.pos++
	for r.pos < len(r.data) {
		n := bytes.IndexByte(r.data[r.pos:], '"')
		if n < 0 {
			break
		}
		escaped := false
		for k := r.pos + n - 1; k >= r.pos && r.data[k] == '\\'; k-- {
			escaped = !escaped
		}
		r.pos += n + 1
		if !escaped {
			return nil
		}
	}
	return r.fail("the file ends inside a string")
}
