// SPDX-License-Identifier: Apache-2.0

package gguf

import (
	"fmt"
	"math"
	"slices"
)

// Metadata holds the pairs of a file in their order.
//
// A value is one of uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32, float64, bool and string; or a
// slice of one of these; or []any, whose elements are such slices.
type Metadata struct {
	keys   []string
	values map[string]any
}

// NewMetadata gives Metadata without pairs.
func NewMetadata() *Metadata { return &Metadata{values: map[string]any{}} }

// Set adds a pair, or replaces the value of a key. It panics if the value is none of the types above: that is a bug
// in the caller.
func (m *Metadata) Set(key string, value any) {
	if _, ok := typeOf(value); !ok {
		panic(fmt.Sprintf("gguf: key %q: no metadata type holds a %T", key, value))
	}
	if _, ok := m.values[key]; !ok {
		m.keys = append(m.keys, key)
	}
	m.values[key] = value
}

// Keys lists the keys in the order of the file. The caller must not change it.
func (m *Metadata) Keys() []string { return m.keys }

// Value gives the value of a key as it is stored.
func (m *Metadata) Value(key string) (any, bool) {
	v, ok := m.values[key]
	return v, ok
}

// String gives the value of a key that holds a string.
func (m *Metadata) String(key string) (string, bool) {
	s, ok := m.values[key].(string)
	return s, ok
}

// Bool gives the value of a key that holds a truth value.
func (m *Metadata) Bool(key string) (bool, bool) {
	b, ok := m.values[key].(bool)
	return b, ok
}

// Int gives the value of a key that holds an integer of any type, if an int64 can hold it: writers differ in the
// types that they choose.
func (m *Metadata) Int(key string) (int64, bool) { return toInt(m.values[key]) }

// Float gives the value of a key that holds a number of any type.
func (m *Metadata) Float(key string) (float64, bool) { return toFloat(m.values[key]) }

// Strings gives the value of a key that holds an array of strings. The caller must not change it.
func (m *Metadata) Strings(key string) ([]string, bool) {
	s, ok := m.values[key].([]string)
	return s, ok
}

// Bools gives the value of a key that holds an array of truth values. The caller must not change it.
func (m *Metadata) Bools(key string) ([]bool, bool) {
	b, ok := m.values[key].([]bool)
	return b, ok
}

// Ints gives the value of a key that holds an array of integers of any type. An integer alone counts as an array of
// one, because keys that may differ from layer to layer are spelled either way.
func (m *Metadata) Ints(key string) ([]int64, bool) {
	switch v := m.values[key].(type) {
	case []uint8:
		return ints(v), true
	case []int8:
		return ints(v), true
	case []uint16:
		return ints(v), true
	case []int16:
		return ints(v), true
	case []uint32:
		return ints(v), true
	case []int32:
		return ints(v), true
	case []int64:
		return slices.Clone(v), true
	case []uint64:
		if slices.ContainsFunc(v, func(u uint64) bool { return u > math.MaxInt64 }) {
			return nil, false
		}
		return ints(v), true
	}
	i, ok := m.Int(key)
	if !ok {
		return nil, false
	}
	return []int64{i}, true
}

// Floats gives the value of a key that holds an array of numbers of any type. A number alone counts as an array of
// one.
func (m *Metadata) Floats(key string) ([]float64, bool) {
	switch v := m.values[key].(type) {
	case []float32:
		return floats(v), true
	case []float64:
		return slices.Clone(v), true
	case float32, float64:
		f, ok := toFloat(v)
		return []float64{f}, ok
	}
	v, ok := m.Ints(key)
	return floats(v), ok
}

func ints[T uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64](v []T) []int64 {
	out := make([]int64, len(v))
	for i, x := range v {
		out[i] = int64(x)
	}
	return out
}

func floats[T float32 | int64](v []T) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

func toInt(value any) (int64, bool) {
	switch v := value.(type) {
	case uint8:
		return int64(v), true
	case int8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case int16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint64:
		return int64(v), v <= math.MaxInt64
	case int64:
		return v, true
	}
	return 0, false
}

func toFloat(value any) (float64, bool) {
	switch v := value.(type) {
	case float32:
		return float64(v), true
	case float64:
		return v, true
	case uint64:
		return float64(v), true
	}
	i, ok := toInt(value)
	return float64(i), ok
}

// typeOf gives the number of the type that stores value.
func typeOf(value any) (valueType, bool) {
	switch v := value.(type) {
	case uint8:
		return typeUint8, true
	case int8:
		return typeInt8, true
	case uint16:
		return typeUint16, true
	case int16:
		return typeInt16, true
	case uint32:
		return typeUint32, true
	case int32:
		return typeInt32, true
	case uint64:
		return typeUint64, true
	case int64:
		return typeInt64, true
	case float32:
		return typeFloat32, true
	case float64:
		return typeFloat64, true
	case bool:
		return typeBool, true
	case string:
		return typeString, true
	case []any:
		for _, e := range v {
			if t, ok := typeOf(e); !ok || t != typeArray {
				return 0, false
			}
		}
		return typeArray, true
	}
	_, ok := elemTypeOf(value)
	return typeArray, ok
}

// elemTypeOf gives the number of the type of the elements of value, which is a slice.
func elemTypeOf(value any) (valueType, bool) {
	switch value.(type) {
	case []uint8:
		return typeUint8, true
	case []int8:
		return typeInt8, true
	case []uint16:
		return typeUint16, true
	case []int16:
		return typeInt16, true
	case []uint32:
		return typeUint32, true
	case []int32:
		return typeInt32, true
	case []uint64:
		return typeUint64, true
	case []int64:
		return typeInt64, true
	case []float32:
		return typeFloat32, true
	case []float64:
		return typeFloat64, true
	case []bool:
		return typeBool, true
	case []string:
		return typeString, true
	case []any:
		return typeArray, true
	}
	return 0, false
}
