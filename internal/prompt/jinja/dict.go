// SPDX-License-Identifier: Apache-2.0

package jinja

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// A Dict is a Python dict: any hashable keys, in the order in which they were first set.
type Dict struct {
	entries []entry
	index   map[any]int // by hashKey; nil while a scan is faster
	data    bool        // came from the inputs
}

type entry struct {
	key value
	v   value
}

// scanUpTo is the number of entries up to which a dict is scanned.
const scanUpTo = 8

func newDict(size int) *Dict {
	return &Dict{entries: make([]entry, 0, size)}
}

func (d *Dict) len() int { return len(d.entries) }

func (d *Dict) find(key value) int {
	if d.index != nil {
		if i, ok := d.index[hashKey(key)]; ok {
			return i
		}
		return -1
	}
	if s, ok := key.(*Str); ok {
		for i := range d.entries {
			if k, ok := d.entries[i].key.(*Str); ok && k.text == s.text {
				return i
			}
		}
		return -1
	}
	h := hashKey(key)
	for i := range d.entries {
		if hashKey(d.entries[i].key) == h {
			return i
		}
	}
	return -1
}

func (d *Dict) get(key value) (value, bool) {
	if i := d.find(key); i >= 0 {
		return d.entries[i].v, true
	}
	return nil, false
}

func (d *Dict) getText(key string) (value, bool) { return d.get(bare(key)) }

func (d *Dict) set(key, v value) {
	if i := d.find(key); i >= 0 {
		d.entries[i].v = v
		return
	}
	d.entries = append(d.entries, entry{key, v})
	if d.index != nil {
		d.index[hashKey(key)] = len(d.entries) - 1
	} else if len(d.entries) > scanUpTo {
		d.reindex()
	}
}

func (d *Dict) remove(i int) {
	d.entries = slices.Delete(d.entries, i, i+1)
	if d.index != nil {
		d.reindex()
	}
}

func (d *Dict) reindex() {
	d.index = make(map[any]int, len(d.entries))
	for i, e := range d.entries {
		d.index[hashKey(e.key)] = i
	}
}

func (d *Dict) copy() *Dict {
	c := newDict(d.len())
	c.data = d.data
	c.merge(d)
	return c
}

func (d *Dict) merge(from *Dict) {
	for _, e := range from.entries {
		d.set(e.key, e.v)
	}
}

// The types of hash keys that Go's own values don't cover.
type (
	bigKey       string
	tupleKey     string
	undefinedKey struct{}
)

// maxTupleKey bounds the bytes of a tuple's key: nested tuples that share parts could make it grow without end.
const maxTupleKey = 1 << 16

// hashKey returns what is equal, as a Go map key, for exactly the values that Python finds equal as keys. It throws
// for what can't be a key.
func hashKey(v value) any {
	switch v := v.(type) {
	case bool:
		return asInt(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < -float64(math.MinInt) {
			return int(v)
		}
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			b, _ := big.NewFloat(v).Int(nil)
			return hashKey(normal(b))
		}
		return v
	case *big.Int:
		return bigKey(v.String())
	case *Str:
		return v.text
	case *tuple:
		return tupleKey(appendKey(nil, v))
	case *undefined:
		return undefinedKey{}
	case *List, *Dict:
		typeError("unhashable type: '%s'", typeName(v))
	}
	return v
}

// appendKey spells the key of a value of a tuple.
func appendKey(dst []byte, v value) []byte {
	if len(dst) > maxTupleKey {
		throw("MemoryError", "tuple is too large to be a key")
	}
	t, ok := v.(*tuple)
	if !ok {
		key := fmt.Sprint(hashKey(v))
		return fmt.Appendf(dst, "%T:%d:%s,", hashKey(v), len(key), key)
	}
	dst = append(dst, '(')
	for _, item := range t.items {
		dst = appendKey(dst, item)
	}
	return append(dst, ')')
}

// NewDict returns an empty dict of the template's own: its punctuation is not data when it is printed.
func NewDict() *Dict { return newDict(4) }

// Set gives a key of the template's own a value: one of FromJSON, Text, Data or NewDict, a bool, an int, nil, or a slice
// of such, which becomes a list of the template's own.
func (d *Dict) Set(key string, v any) {
	if items, ok := v.([]any); ok {
		v = &List{items: items}
	}
	d.set(bare(key), v)
}

// Lookup returns the value of a string key.
func (d *Dict) Lookup(key string) (v any, ok bool) { return d.getText(key) }

// Delete removes a string key.
func (d *Dict) Delete(key string) {
	if i := d.find(bare(key)); i >= 0 {
		d.remove(i)
	}
}

// Keys returns the string keys in order.
func (d *Dict) Keys() []string {
	var out []string
	for _, e := range d.entries {
		if s, ok := e.key.(*Str); ok {
			out = append(out, s.text)
		}
	}
	return out
}

// Items returns the items of a list. They belong to the list.
func (l *List) Items() []any { return l.items }
