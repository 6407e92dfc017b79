// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"strings"
	"unicode"
)

// A wrapper breaks a line into several, as Python's textwrap does.
type wrapper struct {
	width     int
	longWords bool // words longer than a line are broken
	hyphens   bool // words may be broken at hyphens
}

func filterWordwrap(m *machine, v value, a []value) value {
	s, ok := v.(*Str)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			u.fail()
		}
		throw("AttributeError", "'%s' object has no attribute 'splitlines'", typeName(v))
	}
	w := wrapper{width: intArg(a[0], 79), longWords: boolArg(a[1], true), hyphens: boolArg(a[3], true)}
	between := "\n"
	if !absentOrNone(a[2]) {
		between = textArg(a[2]).text
	}
	if w.width <= 0 && s.text != "" {
		valueError("invalid width %d (must be > 0)", w.width)
	}
	var lines []string
	for _, line := range m.splitlines(s, false) {
		m.work(64 * len(line.(*Str).text))
		lines = append(lines, strings.Join(w.wrap(line.(*Str).text), between))
	}
	m.charge(len(s.text) + len(lines)*len(between))
	return s.like(strings.Join(lines, between))
}

// wrap returns the lines that a line becomes.
func (w *wrapper) wrap(text string) []string {
	chunks := w.chunks(text)
	var lines []string
	for len(chunks) > 0 {
		if len(lines) > 0 && isBlankText(string(chunks[0])) {
			chunks = chunks[1:]
		}
		var line [][]rune
		size := 0
		for len(chunks) > 0 && size+len(chunks[0]) <= w.width {
			line = append(line, chunks[0])
			size += len(chunks[0])
			chunks = chunks[1:]
		}
		if len(chunks) > 0 && len(chunks[0]) > w.width {
			line, chunks = w.longWord(line, chunks, w.width-size)
		}
		if n := len(line); n > 0 && isBlankText(string(line[n-1])) {
			line = line[:n-1]
		}
		if len(line) > 0 {
			var b strings.Builder
			for _, c := range line {
				b.WriteString(string(c))
			}
			lines = append(lines, b.String())
		}
	}
	return lines
}

func isBlankText(s string) bool { return strings.TrimFunc(s, isSpace) == "" }

// longWord puts what fits of a word that is longer than a line onto the line.
func (w *wrapper) longWord(line, chunks [][]rune, left int) ([][]rune, [][]rune) {
	word := chunks[0]
	if !w.longWords {
		if len(line) == 0 {
			return append(line, word), chunks[1:]
		}
		return line, chunks
	}
	end := left
	if w.hyphens {
		i := left - 1
		for i > 0 && word[i] != '-' {
			i--
		}
		if i > 0 && strings.Trim(string(word[:i]), "-") != "" {
			end = i + 1
		}
	}
	chunks[0] = word[end:]
	return append(line, word[:end]), chunks
}

// chunks splits a line into words and the white space between them.
func (w *wrapper) chunks(text string) [][]rune {
	var out [][]rune
	rs := []rune(text)
	start := 0
	cut := func(i int) {
		if i > start {
			out = append(out, rs[start:i])
			start = i
		}
	}
	for i := range rs {
		if i > 0 && isWrapSpace(rs[i]) != isWrapSpace(rs[i-1]) {
			cut(i)
		}
		if w.hyphens && rs[i] == '-' && w.breaksAfter(rs, i) {
			cut(i + 1)
		}
	}
	cut(len(rs))
	return out
}

func isWrapSpace(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' }

// breaksAfter reports whether a line may end after the hyphen at i: two letters before it, two after it.
func (w *wrapper) breaksAfter(rs []rune, i int) bool {
	letter := func(i int) bool { return i >= 0 && i < len(rs) && (rs[i] == '_' || unicode.IsLetter(rs[i])) }
	hyphen := func(i int) bool { return i >= 0 && i < len(rs) && rs[i] == '-' }
	before := letter(i-1) && (letter(i-2) || hyphen(i-2) && letter(i-3))
	after := letter(i+1) && (letter(i+2) || hyphen(i+2) && letter(i+3))
	return before && after
}
