// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace is Python's str.isspace for a character, and \s of its regular expressions.
func isSpace(r rune) bool {
	switch {
	case r <= ' ':
		return r >= '\t' && r <= '\r' || r >= 0x1c
	case r < 0x80:
		return false
	}
	return r == 0x85 || r == 0xa0 || r == 0x1680 || r >= 0x2000 && r <= 0x200a || r == 0x2028 || r == 0x2029 ||
		r == 0x202f || r == 0x205f || r == 0x3000
}

func isPrintable(r rune) bool { return unicode.IsPrint(r) }

func isIDContinue(r rune) bool {
	return unicode.IsLetter(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Nl, idExtra)
}

func isIdentifier(s string) bool {
	for i, r := range s {
		start := r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
		if !start && (i == 0 || !isIDContinue(r)) {
			return false
		}
	}
	return s != ""
}

func isDecimalRune(r rune) bool { return unicode.Is(unicode.Nd, r) }
func isDigitRune(r rune) bool   { return isDecimalRune(r) || unicode.Is(digits, r) }
func isNumeric(r rune) bool     { return isDigitRune(r) || unicode.Is(numerics, r) }
func isLowerRune(r rune) bool   { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }

func isUpperRune(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func isTitleRune(r rune) bool { return unicode.IsTitle(r) }
func isCased(r rune) bool     { return isLowerRune(r) || isUpperRune(r) || isTitleRune(r) }
func isAlnumRune(r rune) bool { return unicode.IsLetter(r) || isNumeric(r) }

// isWordRune is \w of Python's regular expressions.
func isWordRune(r rune) bool { return r == '_' || isAlnumRune(r) }

// asciiDigits replaces decimal digits of other scripts by those of ASCII.
func asciiDigits(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !isDecimalRune(r) {
			return r
		}
		zero := r
		for isDecimalRune(zero-1) && r-zero < 9 {
			zero--
		}
		return '0' + r - zero
	}, s)
}

// caseIgnorable reports whether r is passed over when the place of a final sigma is looked for.
func caseIgnorable(r rune) bool {
	return strings.ContainsRune("'.:^`\u00a8\u00ad\u00af\u00b4\u00b7\u00b8\u2018\u2019", r) ||
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// lowerRune is the lower case of character i.
func lowerRune(rs []rune, i int) string {
	switch rs[i] {
	case 'Σ':
		if finalSigma(rs, i) {
			return "ς"
		}
	case 'İ':
		return "i\u0307"
	}
	return string(unicode.ToLower(rs[i]))
}

// finalSigma reports whether the sigma at i ends a word.
func finalSigma(rs []rune, i int) bool {
	j := i - 1
	for j >= 0 && caseIgnorable(rs[j]) {
		j--
	}
	if j < 0 || !isCased(rs[j]) {
		return false
	}
	j = i + 1
	for j < len(rs) && caseIgnorable(rs[j]) {
		j++
	}
	return j == len(rs) || !isCased(rs[j])
}

func upperRune(rs []rune, i int) string {
	if s, ok := longUpper[rs[i]]; ok {
		return s
	}
	return string(unicode.ToUpper(rs[i]))
}

func titleRune(rs []rune, i int) string {
	if s, ok := longTitle[rs[i]]; ok {
		return s
	}
	return string(unicode.ToTitle(rs[i]))
}

func (m *machine) lower(s *Str) *Str {
	m.charge(len(s.text))
	if s.isASCII() {
		if t := s.mapText(strings.ToLower); t != nil {
			return t
		}
	}
	return s.mapRunes(lowerRune)
}

func (m *machine) upper(s *Str) *Str {
	m.charge(len(s.text))
	if s.isASCII() {
		if t := s.mapText(strings.ToUpper); t != nil {
			return t
		}
	}
	return s.mapRunes(upperRune)
}

// capitalize is Python's str.capitalize.
func (m *machine) capitalize(s *Str) *Str {
	m.charge(len(s.text))
	return s.mapRunes(func(rs []rune, i int) string {
		if i == 0 {
			return titleRune(rs, i)
		}
		return lowerRune(rs, i)
	})
}

// title is Python's str.title.
func (m *machine) title(s *Str) *Str {
	m.charge(len(s.text))
	return s.mapRunes(func(rs []rune, i int) string {
		if i > 0 && isCased(rs[i-1]) {
			return lowerRune(rs, i)
		}
		return titleRune(rs, i)
	})
}

func (m *machine) swapcase(s *Str) *Str {
	m.charge(len(s.text))
	return s.mapRunes(func(rs []rune, i int) string {
		switch {
		case isUpperRune(rs[i]):
			return lowerRune(rs, i)
		case isLowerRune(rs[i]):
			return upperRune(rs, i)
		}
		return string(rs[i])
	})
}

func (m *machine) casefold(s *Str) *Str {
	m.charge(len(s.text))
	return s.mapRunes(func(rs []rune, i int) string {
		if t, ok := folded[rs[i]]; ok {
			return t
		}
		if rs[i] == 'İ' {
			return "i\u0307"
		}
		return string(unicode.ToLower(rs[i]))
	})
}

// isCase is Python's str.islower and str.isupper: some character is, and none is of the others.
func isCase(s string, is func(rune) bool, others ...func(rune) bool) bool {
	found := false
	for _, r := range s {
		for _, other := range others {
			if other(r) {
				return false
			}
		}
		found = found || is(r)
	}
	return found
}

func isLowerText(s string) bool { return isCase(s, isLowerRune, isUpperRune, isTitleRune) }
func isUpperText(s string) bool { return isCase(s, isUpperRune, isLowerRune, isTitleRune) }

// isTitleText is Python's str.istitle.
func isTitleText(s string) bool {
	found, inWord := false, false
	for _, r := range s {
		switch {
		case isUpperRune(r) || isTitleRune(r):
			if inWord {
				return false
			}
			inWord, found = true, true
		case isLowerRune(r):
			if !inWord {
				return false
			}
		default:
			inWord = false
		}
	}
	return found
}

// every reports whether s has characters and all are such.
func every(s string, is func(rune) bool) bool {
	for _, r := range s {
		if !is(r) {
			return false
		}
	}
	return s != ""
}
func isLetterRune(r rune) bool { return unicode.IsLetter(r) }
