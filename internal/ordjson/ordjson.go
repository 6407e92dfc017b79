// SPDX-License-Identifier: Apache-2.0

// Package ordjson reads and writes JSON values that keep the order of their keys and the spelling of their numbers.
//
// A value is one of nil, bool, Number, string, []any and *Object. Chat templates print objects in the order in
// which a client sent them, and 1.0 is not 1 to them; maps and float64 lose both.
//
// Always true: a parsed value holds valid UTF-8 only, and Parse(Append(nil, v)) gives v back.
//
// It does not decode into structs; encoding/json does that, and *Object fits into such structs.
package ordjson

import (
	"iter"
	"math/big"
	"slices"
	"strconv"
)

// A Number is a JSON number as it was spelled.
type Number string

// Int returns the Number of n.
func Int(n int) Number { return Number(strconv.Itoa(n)) }

// Int64 returns the value of an integer that fits. Spellings with a fraction or an exponent are not integers.
func (n Number) Int64() (int64, bool) {
	v, err := strconv.ParseInt(string(n), 10, 64)
	return v, err == nil
}

// BigInt returns the value of an integer of any size.
func (n Number) BigInt() (*big.Int, bool) {
	return new(big.Int).SetString(string(n), 10)
}

// Float64 returns the nearest float64; ok is false for what is too large for one.
func (n Number) Float64() (v float64, ok bool) {
	v, err := strconv.ParseFloat(string(n), 64)
	return v, err == nil
}

// indexFrom is the number of keys from which an object keeps a map; below it a scan is faster.
const indexFrom = 9

// An Object is a JSON object that keeps the order in which keys were first set. The zero Object is empty and ready.
// A nil *Object reads as an empty one.
type Object struct {
	keys   []string
	values []any
	index  map[string]int // nil while there are fewer than indexFrom keys
}

// NewObject returns an empty object.
func NewObject() *Object { return &Object{} }

// Len returns the number of keys.
func (o *Object) Len() int {
	if o == nil {
		return 0
	}
	return len(o.keys)
}

// Keys returns the keys in order. The slice is the caller's.
func (o *Object) Keys() []string {
	if o == nil {
		return nil
	}
	return slices.Clone(o.keys)
}

// All yields keys and values in order. The object must not change meanwhile.
func (o *Object) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if o == nil {
			return
		}
		for i, k := range o.keys {
			if !yield(k, o.values[i]) {
				return
			}
		}
	}
}

// Get returns the value of key; ok says whether there is one.
func (o *Object) Get(key string) (v any, ok bool) {
	if i := o.find(key); i >= 0 {
		return o.values[i], true
	}
	return nil, false
}

// Set gives key a value. A new key goes to the end, a known one keeps its place.
func (o *Object) Set(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.values[i] = v
		return
	}
	o.keys = append(o.keys, key)
	o.values = append(o.values, v)
	if o.index != nil {
		o.index[key] = len(o.keys) - 1
	} else if len(o.keys) >= indexFrom {
		o.reindex()
	}
}

// Delete takes key out; the order of the others stays.
func (o *Object) Delete(key string) {
	i := o.find(key)
	if i < 0 {
		return
	}
	o.keys = slices.Delete(o.keys, i, i+1)
	o.values = slices.Delete(o.values, i, i+1)
	if o.index != nil {
		o.reindex()
	}
}

// Clone returns an object with the same keys and the same values; the values themselves are shared.
func (o *Object) Clone() *Object {
	c := NewObject()
	if o == nil {
		return c
	}
	c.keys = slices.Clone(o.keys)
	c.values = slices.Clone(o.values)
	if len(c.keys) >= indexFrom {
		c.reindex()
	}
	return c
}

// String returns the string under key, if there is one.
func (o *Object) String(key string) (string, bool) {
	v, _ := o.Get(key)
	s, ok := v.(string)
	return s, ok
}

// Object returns the object under key, if there is one.
func (o *Object) Object(key string) (*Object, bool) {
	v, _ := o.Get(key)
	c, ok := v.(*Object)
	return c, ok && c != nil
}

// Array returns the array under key, if there is one.
func (o *Object) Array(key string) ([]any, bool) {
	v, _ := o.Get(key)
	a, ok := v.([]any)
	return a, ok
}

func (o *Object) find(key string) int {
	if o == nil {
		return -1
	}
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	return slices.Index(o.keys, key)
}

func (o *Object) reindex() {
	o.index = make(map[string]int, len(o.keys))
	for i, k := range o.keys {
		o.index[k] = i
	}
}
