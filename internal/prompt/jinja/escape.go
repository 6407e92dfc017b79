// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape reads the escapes of a string literal as Python does.
func (l *lexer) unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		i += l.escape(&b, s[i+1:]) + 1
	}
	return b.String()
}

// escape writes what the escape s (without its backslash) stands for and returns its length.
func (l *lexer) escape(b *strings.Builder, s string) int {
	switch c := s[0]; c {
	case '\n':
		return 1
	case 'a', 'b', 'f', 'n', 'r', 't', 'v', '\\', '\'', '"':
		i := strings.IndexByte(`abfnrtv\'"`, c)
		b.WriteByte("\a\b\f\n\r\t\v\\'\""[i])
		return 1
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := 1
		for n < 3 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		v, _ := strconv.ParseUint(s[:n], 8, 32)
		b.WriteRune(rune(v))
		return n
	case 'x':
		return l.hexEscape(b, s, 2)
	case 'u':
		return l.hexEscape(b, s, 4)
	case 'U':
		return l.hexEscape(b, s, 8)
	case 'N':
		l.fail("named characters are not supported")
	}
	r, size := utf8.DecodeRuneInString(s)
	b.WriteByte('\\')
	switch {
	case r < utf8.RuneSelf:
		b.WriteRune(r)
	// jinja2 first spells other characters as escapes, which a backslash before them then undoes.
	case r < 0x100:
		fmt.Fprintf(b, "x%02x", r)
	case r < 0x10000:
		fmt.Fprintf(b, "u%04x", r)
	default:
		fmt.Fprintf(b, "U%08x", r)
	}
	return size
}

func (l *lexer) hexEscape(b *strings.Builder, s string, digits int) int {
	v, ok := hexValue(s[1:], digits)
	if !ok {
		l.fail("truncated \\%s escape", s[:1])
	}
	if v > utf8.MaxRune {
		l.fail("illegal Unicode character")
	}
	n := 1 + digits
	r := rune(v)
	if utf16.IsSurrogate(r) && digits == 4 && strings.HasPrefix(s[n:], `\u`) {
		if low, ok := hexValue(s[n+2:], 4); ok {
			if pair := utf16.DecodeRune(r, rune(low)); pair != utf8.RuneError {
				b.WriteRune(pair)
				return n + 6
			}
		}
	}
	b.WriteRune(r)
	return n
}

func hexValue(s string, digits int) (uint64, bool) {
	if len(s) < digits {
		return 0, false
	}
	for i := range digits {
		if !isHex(s[i]) {
			return 0, false
		}
	}
	v, err := strconv.ParseUint(s[:digits], 16, 64)
	return v, err == nil
}
