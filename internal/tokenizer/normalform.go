// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A former brings text into a Unicode normalisation form, as Hugging Face's tokenizers does. That knows an old version of
// Unicode only: see lateMarks and lateCompatible. And it leaves runs of more than 30 combining marks whole, which the package norm breaks
// with a joiner (Unicode's stream-safe format); texts where that happens go the slow way here.
type former struct {
	form      norm.Form
	decompose norm.Form
	compose   bool
	compat    bool // NFKC or NFKD
}

var (
	nfc   = former{norm.NFC, norm.NFD, true, false}
	forms = map[string]former{
		"NFC":  nfc,
		"NFD":  {norm.NFD, norm.NFD, false, false},
		"NFKC": {norm.NFKC, norm.NFKD, true, true},
		"NFKD": {norm.NFKD, norm.NFKD, false, true},
	}
)

// graphemeJoiner is what norm inserts. It has no decomposition and never composes.
const graphemeJoiner = "\u034f"

func (f former) apply(s string, _ bool) string {
	if isASCII(s) || f.form.IsNormalString(s) {
		return s
	}
	if !strings.ContainsFunc(s, f.isLate) {
		return f.between(s)
	}
	var b strings.Builder
	for s != "" {
		// A late mark stands like a letter between what is before and behind it.
		i := strings.IndexFunc(s, f.isLate)
		if i < 0 {
			i = len(s)
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(f.between(s[:i]))
		b.WriteString(s[i : i+n])
		s = s[i+n:]
	}
	return b.String()
}

func (f former) isLate(r rune) bool {
	return r > 0x300 && (unicode.Is(lateMarks, r) || f.compat && unicode.Is(lateCompatible, r))
}

// between normalises text without late marks.
func (f former) between(s string) string {
	out := f.form.String(s)
	if strings.Count(out, graphemeJoiner) == strings.Count(s, graphemeJoiner) {
		return out
	}
	runes := f.decomposed(s)
	if f.compose {
		runes = composed(runes)
	}
	return string(runes)
}

func ccc(r rune) uint8 {
	if r < 0x300 {
		return 0
	}
	var buf [utf8.UTFMax]byte
	return norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).CCC()
}

// decomposed returns the decomposition of s with its marks in canonical order (Unicode standard, section 3.11).
func (f former) decomposed(s string) []rune {
	var out []rune
	for _, r := range s {
		if r < 0x80 {
			out = append(out, r)
			continue
		}
		out = append(out, []rune(f.decompose.String(string(r)))...)
	}
	for start := 0; start < len(out); {
		end := start
		for end < len(out) && ccc(out[end]) != 0 {
			end++
		}
		slices.SortStableFunc(out[start:end], func(a, b rune) int { return int(ccc(a)) - int(ccc(b)) })
		start = end + 1
	}
	return out
}

// composed joins starters with what follows them, unless a mark between them blocks it.
func composed(runes []rune) []rune {
	out := runes[:0]
	starter, last := -1, -1 // index of the last starter in out; class of the last rune in out behind it, -1: none
	for _, r := range runes {
		class := int(ccc(r))
		if starter >= 0 && (last < class || last == -1) {
			if joined, ok := compose(out[starter], r); ok {
				out[starter] = joined
				continue
			}
		}
		if class == 0 {
			starter, last = len(out), -1
		} else {
			last = class
		}
		out = append(out, r)
	}
	return out
}

// compose returns the rune that two runes make.
func compose(a, b rune) (rune, bool) {
	if b < 0x300 {
		return 0, false
	}
	s := norm.NFC.String(string([]rune{a, b}))
	r, n := utf8.DecodeRuneInString(s)
	return r, n == len(s)
}
