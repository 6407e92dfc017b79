// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"strings"
	"unicode"
)

// A regexReplacer replaces each match of a pattern.
type regexReplacer struct {
	re  *regex
	new string
}

func (r regexReplacer) apply(s string, _ bool) string {
	var b strings.Builder
	done := 0
	r.re.each(s, func(start, end int) {
		b.WriteString(s[done:start])
		b.WriteString(r.new)
		done = end
	})
	if done == 0 && b.Len() == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// A stripper removes white space from the ends of a piece.
type stripper struct{ left, right bool }

func (p stripper) apply(s string, inner bool) string {
	if p.left && !inner {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	if p.right {
		s = strings.TrimRightFunc(s, unicode.IsSpace)
	}
	return s
}

// A mapper rewrites a text rune by rune, or drops runes (-1).
type mapper func(r rune) rune

func (m mapper) apply(s string, _ bool) string { return strings.Map(m, s) }

// dropper returns a mapper that removes the runes that have a property.
func dropper(flag props) mapper {
	return func(r rune) rune {
		if r >= 0x80 && propsOf(r).has(flag) {
			return -1
		}
		return r
	}
}

// nmt is the clean-up of control characters and spaces that translation models use.
func nmt(r rune) rune {
	switch {
	case r >= 1 && r <= 8, r == 0x0B, r >= 0x0E && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
		return -1
	case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, r >= 0x200B && r <= 0x200F, r == 0x2028, r == 0x2029,
		r == 0x2581, r == 0xFEFF, r == 0xFFFD:
		return ' '
	}
	return r
}

// A lowercaser writes small letters, rune by rune, whatever stands beside them.
type lowercaser struct{}

func (lowercaser) apply(s string, _ bool) string {
	if strings.Contains(s, "İ") {
		s = strings.ReplaceAll(s, "İ", "i\u0307") // the only one that becomes two
	}
	return strings.Map(lower, s)
}

// lower is unicode.ToLower with what later versions of Unicode added, which the reference knows.
func lower(r rune) rune {
	switch {
	case r < 0x1C89:
	case r == 0x1C89, r == 0xA7CC, r == 0xA7CE, r == 0xA7D2, r == 0xA7D4, r == 0xA7DA:
		return r + 1
	case r == 0xA7CB:
		return 0x0264
	case r == 0xA7DC:
		return 0x019B
	case r >= 0x10D50 && r <= 0x10D65:
		return r + 0x20
	case r >= 0x16EA0 && r <= 0x16EB8:
		return r + 0x1B
	}
	return unicode.ToLower(r)
}

// bertClean drops control characters and writes white space as spaces.
func bertClean(r rune) rune {
	switch {
	case r >= ' ' && r < 0x7F:
		return r
	case propsOf(r).has(propBertRemoved):
		return -1
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// A spacer puts spaces around Chinese characters, as BERT does.
type spacer struct{}

func (spacer) apply(s string, _ bool) string {
	if !strings.ContainsFunc(s, isBertChinese) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isBertChinese(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isBertChinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4DBF, r >= 0x4E00 && r <= 0x9FFF, r >= 0xF900 && r <= 0xFAFF, r >= 0x20000 && r <= 0x2A6DF,
		r >= 0x2A700 && r <= 0x2B81F, r >= 0x2B920 && r <= 0x2CEAF, r >= 0x2F800 && r <= 0x2FA1F:
		return true
	}
	return false
}

// bertNormalizer returns the steps of a BertNormalizer.
func bertNormalizer(clean, chinese, accents, lowercase bool) normalizers {
	var n normalizers
	if clean {
		n = append(n, mapper(bertClean))
	}
	if chinese {
		n = append(n, spacer{})
	}
	if accents {
		n = append(n, forms["NFD"], dropper(propBertAccent))
	}
	if lowercase {
		n = append(n, lowercaser{})
	}
	return n
}
