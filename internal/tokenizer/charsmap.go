// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"
)

// A charsMap is the compiled rewriting of SentencePiece: a double-array trie from strings to offsets of zero-terminated
// replacements.
//
// As in Hugging Face's tokenizers it is applied to grapheme clusters of up to five bytes, and where that finds nothing to single
// characters; and of the rules that a cluster begins with the shortest counts, for the whole cluster. SentencePiece itself
// takes the longest rule at each place.
type charsMap struct {
	units []uint32
	texts []byte
}

var errCharsMap = errors.New("the character map is damaged")

// newCharsMap reads a precompiled_charsmap: the size of the trie in bytes, the trie, the replacements.
func newCharsMap(data []byte) (charsMap, error) {
	var m charsMap
	if len(data) < 4 {
		return m, errCharsMap
	}
	size := int64(binary.LittleEndian.Uint32(data))
	if size%4 != 0 || size == 0 || size > int64(len(data)-4) {
		return m, errCharsMap
	}
	m.units = make([]uint32, size/4)
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(data[4+4*i:])
	}
	m.texts = data[4+size:]
	loadProps()
	return m, nil
}

// lookup returns what the shortest rule that s begins with makes of it.
func (m charsMap) lookup(s string) (string, bool) {
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(m.units[0])
	for i := 0; i < len(s) && s[i] != 0; i++ {
		at ^= uint32(s[i])
		if int(at) >= len(m.units) {
			return "", false
		}
		unit := m.units[at]
		if unit&(1<<31|0xFF) != uint32(s[i]) {
			return "", false
		}
		at ^= offset(unit)
		if int(at) >= len(m.units) {
			return "", false
		}
		if unit>>8&1 != 0 {
			return m.text(m.units[at] & (1<<31 - 1))
		}
	}
	return "", false
}

func (m charsMap) text(start uint32) (string, bool) {
	if int64(start) >= int64(len(m.texts)) {
		return "", int64(start) == int64(len(m.texts))
	}
	end := start
	for int(end) < len(m.texts) && m.texts[end] != 0 {
		end++
	}
	return string(m.texts[start:end]), true
}

// maxClusterBytes is the length of the longest cluster that is looked up as a whole.
const maxClusterBytes = 5

func (m charsMap) apply(s string, _ bool) string {
	var b strings.Builder
	b.Grow(len(s) + 8)
	for len(s) > 0 {
		n := clusterLen(s)
		if n <= maxClusterBytes {
			if text, ok := m.lookup(s[:n]); ok {
				b.WriteString(text)
				s = s[n:]
				continue
			}
		}
		for _, r := range s[:n] {
			c := s[:utf8.RuneLen(r)]
			s = s[len(c):]
			if text, ok := m.lookup(c); ok {
				c = text
			}
			b.WriteString(c)
		}
	}
	return repair(b.String()) // a damaged map may replace by half a character
}

// clusterLen returns the length of the grapheme cluster that s begins with (Unicode Standard Annex 29). Of clusters longer than
// maxClusterBytes the end does not matter, so that the rules for flags and for Indic conjuncts are not needed.
func clusterLen(s string) int {
	if len(s) > 1 && s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		if s[0] == '\r' && s[1] == '\n' {
			return 2
		}
		return 1
	}
	before, n := utf8.DecodeRuneInString(s)
	picture := propsOf(before).has(propPicture)
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !joined(before, r, picture) {
			break
		}
		if !propsOf(r).has(propAttached) {
			picture = propsOf(r).has(propPicture)
		}
		before = r
		n += size
	}
	return n
}

// joined reports whether no cluster ends between a and b. picture is true if a pictograph and marks end in a.
func joined(a, b rune, picture bool) bool {
	pa, pb := propsOf(a), propsOf(b)
	switch {
	case a == '\r' && b == '\n':
		return true
	case pa.has(propControl) || pb.has(propControl):
		return false
	case pb.has(propAttached) || pa.has(propPrepended):
		return true
	case a == '\u200d' && picture && pb.has(propPicture):
		return true
	}
	return hangulJoined(a, b)
}

// hangulJoined reports whether two jamo or syllables belong together.
func hangulJoined(a, b rune) bool {
	const lead, vowel, trail, open, closed = 1, 2, 3, 4, 5
	kind := func(r rune) int {
		switch {
		case r >= 0x1100 && r <= 0x115F, r >= 0xA960 && r <= 0xA97C:
			return lead
		case r >= 0x1160 && r <= 0x11A7, r >= 0xD7B0 && r <= 0xD7C6:
			return vowel
		case r >= 0x11A8 && r <= 0x11FF, r >= 0xD7CB && r <= 0xD7FB:
			return trail
		case r >= 0xAC00 && r <= 0xD7A3 && (r-0xAC00)%28 == 0:
			return open
		case r >= 0xAC00 && r <= 0xD7A3:
			return closed
		}
		return 0
	}
	switch ka, kb := kind(a), kind(b); ka {
	case lead:
		return kb == lead || kb == vowel || kb == open || kb == closed
	case open, vowel:
		return kb == vowel || kb == trail
	case closed, trail:
		return kb == trail
	}
	return false
}
