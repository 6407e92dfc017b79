// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A tokenKind names a token as jinja2 does.
type tokenKind string

// The kinds of tokens that are not operators; an operator's kind is its text.
const (
	tokEOF      tokenKind = "end of template"
	tokData     tokenKind = "template data / text"
	tokVarBegin tokenKind = "begin of print statement"
	tokVarEnd   tokenKind = "end of print statement"
	tokBlkBegin tokenKind = "begin of statement block"
	tokBlkEnd   tokenKind = "end of statement block"
	tokName     tokenKind = "name"
	tokString   tokenKind = "string"
	tokInteger  tokenKind = "integer"
	tokFloat    tokenKind = "float"
)

type lexeme struct {
	kind tokenKind
	text string // the unescaped text of a string
	line int
}

// describe names a token in an error message.
func (t lexeme) describe() string {
	if t.kind == tokName {
		return t.text
	}
	return string(t.kind)
}

// A lexer cuts a source into tokens.
type lexer struct {
	src      string
	pos      int
	line     int
	fresh    bool   // the last match ended a line, or nothing was matched yet
	brackets []byte // the closing brackets that are due
	out      []lexeme
}

// newlines turns every kind of line break into a line feed.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

func lex(source string) []lexeme {
	source = newlines.Replace(source)
	l := &lexer{src: strings.TrimSuffix(source, "\n"), line: 1, fresh: true}
	for l.pos < len(l.src) {
		l.root()
	}
	l.emit(tokEOF, "")
	return l.out
}

func (l *lexer) fail(format string, args ...any) {
	panic(&SyntaxError{Line: l.line, Msg: fmt.Sprintf(format, args...)})
}

func (l *lexer) emit(kind tokenKind, text string) {
	l.out = append(l.out, lexeme{kind: kind, text: text, line: l.line})
}

// advance steps over n bytes and counts their lines.
func (l *lexer) advance(n int) {
	if n == 0 {
		return
	}
	l.line += strings.Count(l.src[l.pos:l.pos+n], "\n")
	l.fresh = l.src[l.pos+n-1] == '\n'
	l.pos += n
}

// root reads text up to the next tag, and the tag.
func (l *lexer) root() {
	rest := l.src[l.pos:]
	at := nextTag(rest)
	if at < 0 {
		l.emit(tokData, rest)
		l.advance(len(rest))
		return
	}
	sign := byte(0)
	if at+2 < len(rest) && (rest[at+2] == '-' || rest[at+2] == '+') {
		sign = rest[at+2]
	}
	l.data(rest[:at], sign, rest[at+1] != '{')
	l.advance(at)
	rest = rest[at:]
	size := 2
	if sign != 0 {
		size = 3
	}
	if n := rawBegin(rest, size); n > 0 {
		l.advance(n)
		l.raw()
		return
	}
	switch rest[1] {
	case '#':
		l.advance(size)
		l.comment()
	case '{':
		l.emit(tokVarBegin, "")
		l.advance(size)
		l.tag(tokVarEnd)
	default:
		l.emit(tokBlkBegin, "")
		l.advance(size)
		l.tag(tokBlkEnd)
	}
}

// nextTag returns where the next {{, {% or {# begins, or -1.
func nextTag(s string) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '{')
		if i < 0 || at+i+1 >= len(s) {
			return -1
		}
		at += i
		if c := s[at+1]; c == '{' || c == '%' || c == '#' {
			return at
		}
		at++
	}
}

// data emits the text before a tag, without the white space that the tag takes away.
func (l *lexer) data(text string, sign byte, block bool) {
	switch {
	case sign == '-':
		text = strings.TrimRightFunc(text, isSpace)
	case sign == 0 && block:
		start := strings.LastIndexByte(text, '\n') + 1
		if (start > 0 || l.fresh) && strings.TrimLeftFunc(text[start:], isSpace) == "" {
			text = text[:start]
		}
	}
	if text != "" {
		l.emit(tokData, text)
	}
}

// spaces returns how many bytes of white space s begins with.
func spaces(s string) int { return len(s) - len(strings.TrimLeftFunc(s, isSpace)) }

// rawBegin returns the length of the tag raw that s begins with, 0 if there is none.
func rawBegin(s string, size int) int {
	if s[1] != '%' {
		return 0
	}
	n := size + spaces(s[size:])
	if !strings.HasPrefix(s[n:], "raw") {
		return 0
	}
	n += 3
	n += spaces(s[n:])
	switch {
	case strings.HasPrefix(s[n:], "-%}"):
		n += 3
		return n + spaces(s[n:])
	case strings.HasPrefix(s[n:], "%}"):
		return n + 2
	}
	return 0
}

// raw reads up to the tag endraw.
func (l *lexer) raw() {
	rest := l.src[l.pos:]
	for at := 0; ; at++ {
		i := strings.Index(rest[at:], "{%")
		if i < 0 && rest == "" {
			return // jinja2 lets that pass
		}
		if i < 0 {
			l.fail("Missing end of raw directive")
		}
		at += i
		n := at + 2
		sign := byte(0)
		if n < len(rest) && (rest[n] == '-' || rest[n] == '+') {
			sign = rest[n]
			n++
		}
		n += spaces(rest[n:])
		if !strings.HasPrefix(rest[n:], "endraw") {
			continue
		}
		n += len("endraw")
		n += spaces(rest[n:])
		end := blockEnd(rest[n:], "%}")
		if end == 0 {
			continue
		}
		l.data(rest[:at], sign, true)
		l.advance(n + end)
		return
	}
}

// comment reads up to the end of a comment.
func (l *lexer) comment() {
	rest := l.src[l.pos:]
	i := strings.Index(rest, "#}")
	if i < 0 && rest == "" {
		return // jinja2 lets that pass
	}
	if i < 0 {
		l.fail("Missing end of comment tag")
	}
	if i > 0 && (rest[i-1] == '-' || rest[i-1] == '+') {
		i--
	}
	l.advance(i + blockEnd(rest[i:], "#}"))
}

// blockEnd returns the length of the closing delimiter that s begins with, with the white space that it takes away.
func blockEnd(s, closing string) int {
	switch {
	case strings.HasPrefix(s, "-"+closing):
		n := 1 + len(closing)
		return n + spaces(s[n:])
	case strings.HasPrefix(s, "+"+closing):
		return 1 + len(closing)
	case strings.HasPrefix(s, closing+"\n"):
		return len(closing) + 1
	case strings.HasPrefix(s, closing):
		return len(closing)
	}
	return 0
}

// variableEnd is blockEnd for {{ }}.
func variableEnd(s string) int {
	if strings.HasPrefix(s, "-}}") {
		return 3 + spaces(s[3:])
	}
	if strings.HasPrefix(s, "}}") {
		return 2
	}
	return 0
}

// tag reads the tokens of a tag up to its end.
func (l *lexer) tag(end tokenKind) {
	l.brackets = l.brackets[:0]
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		if len(l.brackets) == 0 {
			var n int
			if end == tokVarEnd {
				n = variableEnd(rest)
			} else {
				n = blockEnd(rest, "%}")
			}
			if n > 0 {
				l.emit(end, "")
				l.advance(n)
				return
			}
		}
		if n := spaces(rest); n > 0 {
			l.advance(n)
			continue
		}
		l.token(rest)
	}
}

// token reads one token inside a tag.
func (l *lexer) token(rest string) {
	c := rest[0]
	switch {
	case c >= '0' && c <= '9':
		l.number(rest)
	case c == '\'' || c == '"':
		l.str(rest)
	default:
		r, _ := utf8.DecodeRuneInString(rest)
		if isWord(r) {
			l.name(rest)
			return
		}
		l.operator(rest)
	}
}

func (l *lexer) number(rest string) {
	behindDot := l.pos > 0 && l.src[l.pos-1] == '.'
	if n := floatLen(rest); n > 0 && !behindDot {
		l.emit(tokFloat, strings.ReplaceAll(rest[:n], "_", ""))
		l.advance(n)
		return
	}
	n := integerLen(rest)
	l.emit(tokInteger, strings.ReplaceAll(rest[:n], "_", ""))
	l.advance(n)
}

// digitsLen returns the length of digits with single underscores between them.
func digitsLen(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
		if n+1 < len(s) && s[n] == '_' && is(s[n+1]) {
			n++
		}
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// floatLen returns the length of the float that s begins with, 0 if there is none.
func floatLen(s string) int {
	n := digitsLen(s, isDigit)
	if n == 0 {
		return 0
	}
	fraction := false
	if n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		n += 1 + digitsLen(s[n+1:], isDigit)
		fraction = true
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		m := n + 1
		if m < len(s) && (s[m] == '+' || s[m] == '-') {
			m++
		}
		if d := digitsLen(s[min(m, len(s)):], isDigit); d > 0 {
			return m + d
		}
	}
	if fraction {
		return n
	}
	return 0
}

// integerLen returns the length of the integer that s begins with; s begins with a digit.
func integerLen(s string) int {
	if s[0] != '0' {
		return digitsLen(s, isDigit)
	}
	if len(s) > 2 {
		body := s[2:]
		if body[0] == '_' {
			body = body[1:]
		}
		var is func(byte) bool
		switch s[1] | 0x20 {
		case 'b':
			is = func(c byte) bool { return c == '0' || c == '1' }
		case 'o':
			is = func(c byte) bool { return c >= '0' && c <= '7' }
		case 'x':
			is = isHex
		}
		if is != nil {
			if n := digitsLen(body, is); n > 0 {
				return len(s) - len(body) + n
			}
		}
	}
	return digitsLen(s, func(c byte) bool { return c == '0' })
}

func (l *lexer) name(rest string) {
	n := len(rest)
	for i, r := range rest {
		if !isWord(r) {
			n = i
			break
		}
	}
	if !isIdentifier(rest[:n]) {
		l.fail("Invalid character in identifier")
	}
	l.emit(tokName, rest[:n])
	l.advance(n)
}

func (l *lexer) operator(rest string) {
	n := 1
	for _, two := range []string{"//", "**", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(rest, two) {
			n = 2
			break
		}
	}
	op := rest[:n]
	if n == 1 && !strings.Contains("+-/*%~[](){}><=.:|,;", op) {
		r, _ := utf8.DecodeRuneInString(rest)
		l.fail("unexpected char %s at %d", reprText(string(r)), utf8.RuneCountInString(l.src[:l.pos]))
	}
	l.balance(op)
	l.emit(tokenKind(op), op)
	l.advance(n)
}

// balance keeps track of brackets: a tag can't end inside them.
func (l *lexer) balance(op string) {
	switch op {
	case "(":
		l.brackets = append(l.brackets, ')')
	case "[":
		l.brackets = append(l.brackets, ']')
	case "{":
		l.brackets = append(l.brackets, '}')
	case ")", "]", "}":
		n := len(l.brackets) - 1
		if n < 0 {
			l.fail("unexpected '%s'", op)
		}
		if due := l.brackets[n]; due != op[0] {
			l.fail("unexpected '%s', expected '%c'", op, due)
		}
		l.brackets = l.brackets[:n]
	}
}

// str reads a string literal, which may span lines.
func (l *lexer) str(rest string) {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			l.emit(tokString, l.unescape(rest[1:i]))
			l.advance(i + 1)
			return
		}
	}
	l.fail("unexpected char %s at %d", reprText(rest[:1]), utf8.RuneCountInString(l.src[:l.pos]))
}

// isWord reports whether r can be in a name.
func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || r > unicode.MaxASCII && (isIDContinue(r) || isNumeric(r))
}
