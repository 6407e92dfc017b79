// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"strings"
	"unicode/utf8"
)

// strMethods are the methods of Python's str.
func strMethods() map[string]methodFunc {
	t := map[string]methodFunc{
		"upper": mapping((*machine).upper), "lower": mapping((*machine).lower), "title": mapping((*machine).title),
		"capitalize": mapping((*machine).capitalize), "swapcase": mapping((*machine).swapcase), "casefold": mapping((*machine).casefold),
		"strip": stripMethod(true, true), "lstrip": stripMethod(true, false), "rstrip": stripMethod(false, true),
		"split": strSplit, "rsplit": strRsplit, "splitlines": strSplitlines,
		"partition": strPartition, "rpartition": strRpartition,
		"startswith": affixMethod("startswith", strings.HasPrefix), "endswith": affixMethod("endswith", strings.HasSuffix),
		"removeprefix": strRemoveprefix, "removesuffix": strRemovesuffix,
		"replace": strReplace, "join": strJoin, "format": strFormat, "format_map": strFormatMap,
		"find": findMethod("find", strings.Index), "rfind": findMethod("rfind", strings.LastIndex),
		"index": indexMethod("index", strings.Index), "rindex": indexMethod("rindex", strings.LastIndex), "count": strCount,
		"ljust": justMethod("ljust", 0, 1), "rjust": justMethod("rjust", 1, 0), "center": justMethod("center", 1, 1),
		"zfill": strZfill, "expandtabs": strExpandtabs, "translate": strTranslate, "encode": unsupported("encode"),
		"maketrans": unsupported("maketrans"),
	}
	predicates := map[string]func(string) bool{
		"isdigit": all(isDigitRune), "isdecimal": all(isDecimalRune), "isnumeric": all(isNumeric), "isalpha": all(isLetterRune),
		"isalnum": all(isAlnumRune), "isspace": all(isSpace), "islower": isLowerText, "isupper": isUpperText, "istitle": isTitleText,
		"isascii": isASCII, "isidentifier": isIdentifier,
		"isprintable": func(s string) bool { return s == "" || every(s, isPrintable) },
	}
	for name, is := range predicates {
		t[name] = func(m *machine, self value, a arguments) value {
			bindArgs("str."+name, a, 0)
			m.work(len(self.(*Str).text))
			return is(self.(*Str).text)
		}
	}
	return t
}

func all(is func(rune) bool) func(string) bool {
	return func(s string) bool { return every(s, is) }
}

func unsupported(name string) methodFunc {
	return func(*machine, value, arguments) value {
		throw("NotImplementedError", "str.%s is not supported", name)
		return nil
	}
}

// mapping is a method without arguments that maps a string to another.
func mapping(f func(*machine, *Str) *Str) methodFunc {
	return func(m *machine, self value, a arguments) value {
		bindArgs("str method", a, 0)
		return f(m, self.(*Str))
	}
}

// argument returns a string argument of a method of self, escaped if self is Markup.
func argument(m *machine, self *Str, v value) *Str {
	s, ok := v.(*Str)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			u.fail()
		}
		typeError("expected a str, got %s", typeName(v))
	}
	if self.safe {
		return escape(m, s)
	}
	return s
}

func stripMethod(left, right bool) methodFunc {
	return func(m *machine, self value, a arguments) value {
		s := self.(*Str)
		chars := given(bindArgs("str.strip", a, 0, "chars")[0], nil)
		return m.strip(s, chars, left, right)
	}
}

// strip removes white space, or the given characters, from the ends.
func (m *machine) strip(s *Str, chars value, left, right bool) *Str {
	m.work(len(s.text))
	drop := isSpace
	if chars != nil {
		set := textArg(chars).text
		drop = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	i, j := 0, len(s.text)
	if left {
		i = len(s.text) - len(strings.TrimLeftFunc(s.text, drop))
	}
	if right {
		j = max(i, len(strings.TrimRightFunc(s.text, drop)))
	}
	return s.slice(i, j)
}

func strPartition(m *machine, self value, a arguments) value {
	s, sep := self.(*Str), separator(single("partition", a))
	m.work(len(s.text))
	i := strings.Index(s.text, sep.text)
	if i < 0 {
		return &tuple{items: []value{s, s.slice(0, 0), s.slice(0, 0)}}
	}
	return &tuple{items: []value{s.slice(0, i), s.slice(i, i+len(sep.text)), s.slice(i+len(sep.text), len(s.text))}}
}

func strRpartition(m *machine, self value, a arguments) value {
	s, sep := self.(*Str), separator(single("rpartition", a))
	m.work(len(s.text))
	i := strings.LastIndex(s.text, sep.text)
	if i < 0 {
		return &tuple{items: []value{s.slice(0, 0), s.slice(0, 0), s}}
	}
	return &tuple{items: []value{s.slice(0, i), s.slice(i, i+len(sep.text)), s.slice(i+len(sep.text), len(s.text))}}
}

func separator(v value) *Str {
	sep := textArg(v)
	if sep.text == "" {
		valueError("empty separator")
	}
	return sep
}

// window returns the part of s between two optional character positions, and the byte offset where it begins; ok
// is false if there is no such part.
func window(s *Str, start, end value) (text string, from int, ok bool) {
	if absentOrNone(start) && absentOrNone(end) {
		return s.text, 0, true
	}
	n := s.length()
	bound := func(v value, otherwise int) int {
		if absentOrNone(v) {
			return otherwise
		}
		i := sliceIndex(v)
		if i < 0 {
			i = max(i+n, 0)
		}
		return i
	}
	i, j := bound(start, 0), min(bound(end, n), n)
	if i > j {
		return "", 0, false
	}
	from = s.offset(i)
	return s.text[from:s.offset(j)], from, true
}

func absentOrNone(v value) bool { return v == nil || v == (missing{}) }

func affixMethod(name string, has func(s, affix string) bool) methodFunc {
	return func(_ *machine, self value, a arguments) value {
		p := bindArgs(name, a, 1, "prefix", "start", "end")
		text, _, ok := window(self.(*Str), p[1], p[2])
		affixes := []value{p[0]}
		if t, isTuple := p[0].(*tuple); isTuple {
			affixes = t.items
		}
		for _, v := range affixes {
			affix, isText := v.(*Str)
			if !isText {
				typeError("%s first arg must be str or a tuple of str, not %s", name, typeName(v))
			}
			if ok && has(text, affix.text) {
				return true
			}
		}
		return false
	}
}

func strRemoveprefix(_ *machine, self value, a arguments) value {
	s, affix := self.(*Str), textArg(single("removeprefix", a))
	if strings.HasPrefix(s.text, affix.text) {
		return s.slice(len(affix.text), len(s.text))
	}
	return s
}

func strRemovesuffix(_ *machine, self value, a arguments) value {
	s, affix := self.(*Str), textArg(single("removesuffix", a))
	if strings.HasSuffix(s.text, affix.text) {
		return s.slice(0, len(s.text)-len(affix.text))
	}
	return s
}

func strReplace(m *machine, self value, a arguments) value {
	s := self.(*Str)
	p := bindArgs("replace", a, 2, "old", "new", "count")
	m.work(len(s.text))
	out := s.replace(m, textArg(p[0]).text, argument(m, s, p[1]), intArg(p[2], -1))
	out.safe = s.safe
	return out
}

func strJoin(m *machine, self value, a arguments) value {
	s := self.(*Str)
	b := builder{m: m}
	next := m.iterate(single("join", a), "can only join an iterable")
	i := 0
	for item, ok := next(); ok; item, ok = next() {
		m.step()
		t, isText := item.(*Str)
		if s.safe {
			t, isText = escape(m, item), true
		}
		if !isText {
			typeError("sequence item %d: expected str instance, %s found", i, typeName(item))
		}
		if i > 0 {
			b.add(s)
		}
		b.add(t)
		i++
	}
	out := b.str()
	out.safe = s.safe
	return out
}

// search is the common part of find and index: the character position, or -1.
func search(m *machine, name string, self value, a arguments, at func(s, sub string) int) int {
	s := self.(*Str)
	p := bindArgs(name, a, 1, "sub", "start", "end")
	sub := textArg(p[0])
	m.work(len(s.text))
	text, from, ok := window(s, p[1], p[2])
	if !ok {
		return -1
	}
	i := at(text, sub.text)
	if i < 0 {
		return -1
	}
	return utf8.RuneCountInString(s.text[:from+i])
}

func findMethod(name string, at func(s, sub string) int) methodFunc {
	return func(m *machine, self value, a arguments) value { return search(m, name, self, a, at) }
}

func indexMethod(name string, at func(s, sub string) int) methodFunc {
	return func(m *machine, self value, a arguments) value {
		i := search(m, name, self, a, at)
		if i < 0 {
			valueError("substring not found")
		}
		return i
	}
}

func strCount(m *machine, self value, a arguments) value {
	p := bindArgs("count", a, 1, "sub", "start", "end")
	m.work(len(self.(*Str).text))
	text, _, ok := window(self.(*Str), p[1], p[2])
	if !ok {
		return 0
	}
	return strings.Count(text, textArg(p[0]).text)
}
