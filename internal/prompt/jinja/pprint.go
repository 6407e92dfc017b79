// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// pprint is Python's pprint.pformat for containers: sorted keys, and one item a line where a line would get longer
// than 80 characters. Long strings stay whole. The result has one origin.
func (m *machine) pprint(v value) *Str {
	text := m.pretty(m.sortKeys(v, 0), 0, 0)
	return &Str{text: text, data: m.repr(v).anyData()}
}

// sortKeys returns v with its dicts in the order of their keys.
func (m *machine) sortKeys(v value, depth int) value {
	if depth > maxDepth {
		tooDeep()
	}
	m.charge(valueBytes)
	switch v := v.(type) {
	case *List:
		return &List{items: m.sortItems(v.items, depth)}
	case *tuple:
		return &tuple{items: m.sortItems(v.items, depth)}
	case *Dict:
		out := newDict(v.len())
		entries := slices.Clone(v.entries)
		slices.SortStableFunc(entries, func(a, b entry) int { return m.safeCompare(a.key, b.key) })
		for _, e := range entries {
			out.set(e.key, m.sortKeys(e.v, depth+1))
		}
		return out
	}
	return v
}

func (m *machine) sortItems(items []value, depth int) []value {
	out := make([]value, len(items))
	for i, item := range items {
		out[i] = m.sortKeys(item, depth+1)
	}
	return out
}

// safeCompare orders what can't be compared by the names of its types.
func (m *machine) safeCompare(a, b value) int {
	sa, okA := a.(*Str)
	sb, okB := b.(*Str)
	switch {
	case okA && okB:
		return strings.Compare(sa.text, sb.text)
	case isNumber(a) && isNumber(b):
		return compareNumbers(a, b)
	}
	return strings.Compare(typeName(a), typeName(b))
}

// pretty lays out v after indent characters, with room for allowance characters behind it.
func (m *machine) pretty(v value, indent, allowance int) string {
	text := m.repr(v).text
	if utf8.RuneCountInString(text) <= 80-indent-allowance {
		return text
	}
	var opening, closing string
	var parts []string
	switch v := v.(type) {
	case *List:
		opening, closing = "[", "]"
		parts = m.prettyItems(v.items, indent, allowance)
	case *tuple:
		opening, closing = "(", ")"
		if len(v.items) == 1 {
			closing = ",)"
		}
		parts = m.prettyItems(v.items, indent, allowance)
	case *Dict:
		opening, closing = "{", "}"
		for i, e := range v.entries {
			key := m.repr(e.key).text
			room := 1
			if i == v.len()-1 {
				room += allowance
			}
			parts = append(parts, key+": "+m.pretty(e.v, indent+1+utf8.RuneCountInString(key)+2, room))
		}
	}
	if len(parts) == 0 {
		return text
	}
	return opening + strings.Join(parts, ",\n"+strings.Repeat(" ", indent+1)) + closing
}

func (m *machine) prettyItems(items []value, indent, allowance int) []string {
	var parts []string
	for i, item := range items {
		room := 1
		if i == len(items)-1 {
			room += allowance
		}
		parts = append(parts, m.pretty(item, indent+1, room))
	}
	return parts
}
