// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The filters of this file serve web pages. Their results have one origin: data if any of the input is.

func filterStriptags(m *machine, v value, _ []value) value {
	s := m.str(v)
	m.charge(2 * len(s.text))
	text := cutAll(cutAll(s.text, "<!--", "-->"), "<", ">")
	text = html.UnescapeString(strings.Join(strings.FieldsFunc(text, isSpace), " "))
	return s.like(text)
}

// cutAll removes what stands between the marks, with them.
func cutAll(s, opening, closing string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, opening)
		if i < 0 {
			break
		}
		j := strings.Index(s[i:], closing)
		if j < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+j+len(closing):]
	}
	return b.String() + s
}

func filterXMLAttr(m *machine, v value, a []value) value {
	d, ok := v.(*Dict)
	if !ok {
		if u, isUndefined := v.(*undefined); isUndefined {
			u.fail()
		}
		throw("AttributeError", "'%s' object has no attribute 'items'", typeName(v))
	}
	b := builder{m: m}
	for _, e := range d.entries {
		if e.v == nil || isUndefined(e.v) {
			continue
		}
		key := textArg(e.key)
		if strings.ContainsAny(key.text, " \t\n\r\f\v/>=") {
			valueError("Invalid character in attribute name: %s", reprOf(key))
		}
		if len(b.buf) > 0 || boolArg(a[0], true) {
			b.text(" ")
		}
		b.add(escape(m, key))
		b.text(`="`)
		b.add(escape(m, e.v))
		b.text(`"`)
	}
	s := b.str()
	s.safe = m.autoescape
	return s
}

// quoteURL is Python's quote: the slash stays, unless for a query, where a blank becomes a plus.
func (m *machine) quoteURL(v value, query bool) *Str {
	s := m.str(v)
	b := builder{mark: s.data, m: m}
	for i := range len(s.text) {
		c := s.text[i]
		switch {
		case isDigit(c), c|0x20 >= 'a' && c|0x20 <= 'z', strings.IndexByte("_.-~", c) >= 0, c == '/' && !query:
			b.write(string(rune(c)), s.dataAt(i))
		case c == ' ' && query:
			b.write("+", s.dataAt(i))
		default:
			const hex = "0123456789ABCDEF"
			b.write(string([]byte{'%', hex[c>>4], hex[c&15]}), s.dataAt(i))
		}
	}
	return b.str()
}

func filterURLEncode(m *machine, v value, _ []value) value {
	if _, ok := v.(*Str); ok || !iterable(v) {
		return m.quoteURL(v, false)
	}
	if d, ok := v.(*Dict); ok {
		v = &view{"dict_items", d}
	}
	b := builder{m: m}
	for i, pair := range m.items(v) {
		kv := m.items(pair)
		if len(kv) != 2 {
			valueError("too many values to unpack (expected 2)")
		}
		if i > 0 {
			b.text("&")
		}
		b.add(m.quoteURL(kv[0], true))
		b.text("=")
		b.add(m.quoteURL(kv[1], true))
	}
	return b.str()
}

var (
	urlPattern = regexp.MustCompile(`(?i)^((https?://|www\.)(([\pL\pN_%-]+\.)+)?([a-z]{2,63}|xn--[\pL\pN_%]{2,59})|` +
		`([\pL\pN_%-]{2,63}\.)+(com|net|int|edu|gov|org|info|mil)|` +
		`(https?://)((\d{1,3}(\.\d{1,3}){3})|(\[([\da-f]{0,4}:){2}([\da-f]{0,4}:?){1,6}])))(:\d{1,5})?([/?#]\S*)?$`)
	emailPattern = regexp.MustCompile(`^\S+@[\pL\pN_][\pL\pN_.-]*\.[\pL\pN_]+$`)
	urlHead      = regexp.MustCompile(`^([(<]|&lt;)+`)
	urlTail      = regexp.MustCompile(`([)>.,\n]|&gt;)+$`)
	blanks       = regexp.MustCompile(`\s+`)
)

// A linker is the state of the filter urlize.
type linker struct {
	limit   int // longest text of a link, negative: any
	attrs   string
	schemes []string
}

func filterUrlize(m *machine, v value, a []value) value {
	l := linker{limit: -1}
	if !absentOrNone(a[0]) {
		l.limit = max(intArg(a[0], -1), 0)
	}
	rel := []string{"noopener"}
	if !absentOrNone(a[3]) {
		rel = append(rel, strings.Fields(textArg(a[3]).text)...)
	}
	if boolArg(a[1], false) {
		rel = append(rel, "nofollow")
	}
	slices.Sort(rel)
	l.attrs = ` rel="` + escape(m, bare(strings.Join(slices.Compact(rel), " "))).text + `"`
	if !absentOrNone(a[2]) {
		l.attrs += ` target="` + escape(m, a[2]).text + `"`
	}
	if !absentOrNone(a[4]) {
		for _, s := range m.items(a[4]) {
			l.schemes = append(l.schemes, textArg(s).text)
		}
	}
	s := m.str(v)
	m.work(8 * len(s.text))
	text := escape(m, v).text
	var b strings.Builder
	at := 0
	for _, gap := range append(blanks.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		word := l.word(text[at:gap[0]])
		m.charge(len(word))
		b.WriteString(word + text[gap[0]:gap[1]])
		at = gap[1]
	}
	return s.like(b.String())
}

func (l *linker) word(word string) string {
	head := urlHead.FindString(word)
	middle := word[len(head):]
	tail := urlTail.FindString(middle)
	middle = middle[:len(middle)-len(tail)]
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		n := strings.Count(middle, pair[0])
		if n <= strings.Count(middle, pair[1]) {
			continue
		}
		for range min(n, strings.Count(tail, pair[1])) {
			end := strings.Index(tail, pair[1]) + len(pair[1])
			middle, tail = middle+tail[:end], tail[end:]
		}
	}
	return head + l.link(middle) + tail
}

func (l *linker) link(s string) string {
	anchor := func(href string) string { return `<a href="` + href + `"` + l.attrs + `>` + l.cut(s) + `</a>` }
	switch {
	case urlPattern.MatchString(s):
		if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
			return anchor(s)
		}
		return anchor("https://" + s)
	case strings.HasPrefix(s, "mailto:") && emailPattern.MatchString(s[7:]):
		return `<a href="` + s + `">` + s[7:] + `</a>`
	case strings.Contains(s, "@") && !strings.HasPrefix(s, "www.") && !strings.HasPrefix(s, "@") && !strings.Contains(s, ":") &&
		emailPattern.MatchString(s):
		return `<a href="mailto:` + s + `">` + s + `</a>`
	}
	for _, scheme := range l.schemes {
		if s != scheme && strings.HasPrefix(s, scheme) {
			s = `<a href="` + s + `"` + l.attrs + `>` + s + `</a>`
		}
	}
	return s
}

func (l *linker) cut(s string) string {
	if l.limit < 0 || utf8.RuneCountInString(s) <= l.limit {
		return s
	}
	return string([]rune(s)[:l.limit]) + "..."
}
