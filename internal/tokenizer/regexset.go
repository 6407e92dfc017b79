// SPDX-License-Identifier: Apache-2.0

package tokenizer

import (
	"fmt"
	"unicode"
)

// A runeSet is the set of runes that one place of a pattern accepts: members of any of its items, less those outside
// every set of within, then turned around if negated.
type runeSet struct {
	items  []setItem
	within []*runeSet // intersections
	negate bool
	fold   bool // a rune is in if one that differs by case only is
	ascii  [2]uint64
}

// A setItem is one part of a set: exactly one kind of its fields is used.
type setItem struct {
	lo, hi  rune // a range, if hi is not 0 or no other field is set
	classes classSet
	flag    props
	table   *unicode.RangeTable
	nested  *runeSet
	negate  bool
}

// seal prepares the set for use.
func (s *runeSet) seal() *runeSet {
	for r := range rune(128) {
		if s.slow(r) {
			s.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return s
}

// has reports whether r is in the set.
func (s *runeSet) has(r rune) bool {
	if r < 128 {
		return s.ascii[r>>6]>>(r&63)&1 != 0
	}
	return s.slow(r)
}

func (s *runeSet) slow(r rune) bool {
	in := s.contains(r)
	if s.fold && !in {
		for other := unicode.SimpleFold(r); other != r && !in; other = unicode.SimpleFold(other) {
			in = s.contains(other)
		}
	}
	return in != s.negate
}

func (s *runeSet) contains(r rune) bool {
	for _, w := range s.within {
		if !w.slow(r) {
			return false
		}
	}
	for i := range s.items {
		if s.items[i].has(r) {
			return true
		}
	}
	return false
}

func (i *setItem) has(r rune) bool {
	var in bool
	switch {
	case i.nested != nil:
		in = i.nested.slow(r)
	case i.classes != 0:
		in = classOf(r).in(i.classes)
	case i.flag != 0:
		in = propsOf(r).has(i.flag)
	case i.table != nil:
		in = unicode.Is(i.table, r)
	default:
		in = i.lo <= r && r <= i.hi
	}
	return in != i.negate
}

// classNames are the categories that the tables of the reference decide.
var classNames = map[string]classSet{
	"L": letters, "Lu": 1 << classUpper, "Lt": 1 << classTitle, "Ll": 1 << classLower, "Lm": 1 << classModifier,
	"Lo": 1 << classOtherLetter, "M": marks, "N": numbers, "P": puncts, "S": symbols,
}

// laterScripts are members of scripts that Go's tables don't have yet and the reference's do.
var laterScripts = map[string][]setItem{
	"Han":      {{lo: 0x2EBF0, hi: 0x2EE5D}},
	"Latin":    {{lo: 0xA7CB, hi: 0xA7CD}, {lo: 0xA7DA, hi: 0xA7DC}},
	"Cyrillic": {{lo: 0x1C89, hi: 0x1C8A}},
	"Arabic":   {{lo: 0x0897, hi: 0x0897}, {lo: 0x10EC2, hi: 0x10EC4}, {lo: 0x10EFC, hi: 0x10EFC}},
	"Hiragana": nil, "Katakana": nil, "Hangul": nil, "Thai": nil, "Greek": nil,
}

// sameCategories are categories that Go's tables and the reference's agree on.
var sameCategories = map[string]bool{"Nl": true, "No": true, "Z": true, "Zs": true, "Zl": true, "Zp": true, "Cc": true, "Cf": true, "Sc": true, "Sk": true, "Pc": true, "Ps": true, "Pe": true, "Pi": true, "Pf": true}

// property returns the items of \p{name}.
func property(name string) ([]setItem, error) {
	if set, ok := classNames[name]; ok {
		return []setItem{{classes: set}}, nil
	}
	if name == "Nd" {
		return []setItem{{flag: propDigit}}, nil
	}
	if later, ok := laterScripts[name]; ok {
		return append([]setItem{{table: unicode.Scripts[name]}}, later...), nil
	}
	if sameCategories[name] {
		return []setItem{{table: unicode.Categories[name]}}, nil
	}
	return nil, fmt.Errorf("property %q is not supported", name)
}

// shorthand returns the item of an escape such as \s; ok is false if c is none.
func shorthand(c byte) (item setItem, ok bool) {
	switch c | 0x20 {
	case 's':
		item.classes = spaces
	case 'd':
		item.flag = propDigit
	case 'w':
		item.flag = propPatternWord
	case 'h':
		item.nested = (&runeSet{items: []setItem{{lo: '0', hi: '9'}, {lo: 'a', hi: 'f'}, {lo: 'A', hi: 'F'}}}).seal()
	default:
		return item, false
	}
	item.negate = c&0x20 == 0
	return item, true
}
