// SPDX-License-Identifier: Apache-2.0

package ordjson

import (
	"fmt"
	"unicode/utf8"
)

// Append adds the compact JSON text of v to dst: no white space, no escapes but those that JSON needs.
// Invalid UTF-8 is written as U+FFFD. Panics if v holds a type that is no JSON value of this package.
func Append(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Number:
		return append(dst, v...)
	case string:
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = Append(dst, e)
		}
		return append(dst, ']')
	case *Object:
		return appendObject(dst, v)
	}
	panic(fmt.Sprintf("ordjson: %T is no JSON value", v))
}

// Marshal returns the compact JSON text of v. See Append.
func Marshal(v any) string { return string(Append(nil, v)) }

// MarshalJSON lets an object be a field of a struct that encoding/json writes.
func (o *Object) MarshalJSON() ([]byte, error) { return Append(nil, o), nil }

// UnmarshalJSON lets an object be a field of a struct that encoding/json reads. null gives an empty object.
func (o *Object) UnmarshalJSON(data []byte) error {
	v, err := Parse(data, DefaultDepth)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*o = Object{}
	case *Object:
		*o = *v
	default:
		return fmt.Errorf("json: expected an object, got %s", kind(v))
	}
	return nil
}

func kind(v any) string {
	switch v.(type) {
	case bool:
		return "a boolean"
	case Number:
		return "a number"
	case string:
		return "a string"
	}
	return "an array"
}

// appendObject writes a nil object as null.
func appendObject(dst []byte, o *Object) []byte {
	if o == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	for i, k := range o.keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, k)
		dst = append(dst, ':')
		dst = Append(dst, o.values[i])
	}
	return append(dst, '}')
}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendEscape writes a byte that can't stand for itself.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	if c >= utf8.RuneSelf {
		return utf8.AppendRune(dst, utf8.RuneError)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
