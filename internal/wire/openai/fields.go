// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// findings collects what is wrong with a body. Only the first finding of each sort counts.
type findings struct {
	err     *Error   // malformed
	refused *Error   // well formed, but not to be had
	unknown []string // fields that mean nothing here
}

func (f *findings) fail(code, param, format string, args ...any) {
	if f.err == nil {
		f.err = &Error{Message: fmt.Sprintf(format, args...), Type: TypeInvalidRequest, Param: param, Code: code}
	}
}

func (f *findings) refuse(code, param, format string, args ...any) {
	if f.refused == nil {
		f.refused = &Error{Message: fmt.Sprintf(format, args...), Type: TypeInvalidRequest, Param: param, Code: code}
	}
}

// fields reads the fields of one JSON object and remembers which ones were asked for.
type fields struct {
	*findings
	obj   *ordjson.Object
	path  string // of the object; "" for the body
	known map[string]bool
}

// bodyLimits bound what a body may make of its bytes: the longest prompts of ids stay far below.
var bodyLimits = ordjson.Limits{Depth: 64, Keys: 10_000, Values: 4 << 20}

// parseBody reads a body that must be one JSON object within the limits.
func parseBody(body []byte) (*fields, *Error) {
	v, err := ordjson.ParseLimited(body, bodyLimits)
	if err != nil {
		return nil, &Error{Message: "The request body is not valid JSON: " + err.Error() + ".", Type: TypeInvalidRequest, Code: CodeInvalidJSON}
	}
	obj, ok := v.(*ordjson.Object)
	if !ok {
		return nil, &Error{Message: "The request body must be a JSON object, got " + kindOf(v) + ".", Type: TypeInvalidRequest, Code: CodeInvalidType}
	}
	return newFields(&findings{}, obj, ""), nil
}

func newFields(f *findings, obj *ordjson.Object, path string) *fields {
	return &fields{findings: f, obj: obj, path: path, known: map[string]bool{}}
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case ordjson.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

// param returns the path of a field as errors name it.
func (f *fields) param(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// raw returns a field's value; nil stands for null and for no field.
func (f *fields) raw(name string) any {
	f.known[name] = true
	v, _ := f.obj.Get(name)
	return v
}

// has reports whether a field is there, even as null.
func (f *fields) has(name string) bool {
	f.known[name] = true
	_, ok := f.obj.Get(name)
	return ok
}

// ignore names fields that change no answer.
func (f *fields) ignore(names ...string) {
	for _, name := range names {
		f.known[name] = true
	}
}

// refuseField refuses a field unless it is null.
func (f *fields) refuseField(name, message string) {
	if f.raw(name) != nil {
		f.refuse(CodeUnsupportedParameter, f.param(name), "%s", message)
	}
}

// leftovers notes the fields that nobody asked for.
func (f *fields) leftovers() {
	for key, v := range f.obj.All() {
		if v != nil && !f.known[key] {
			f.unknown = append(f.unknown, f.param(key))
		}
	}
}

func (f *fields) wrongType(name, want string, got any) {
	f.fail(CodeInvalidType, f.param(name), "%s must be %s, got %s.", f.param(name), want, kindOf(got))
}

func (f *fields) str(name string) string {
	switch v := f.raw(name).(type) {
	case nil:
	case string:
		return v
	default:
		f.wrongType(name, "a string", v)
	}
	return ""
}

// boolean returns nil for a field that is not there.
func (f *fields) boolean(name string) *bool {
	switch v := f.raw(name).(type) {
	case nil:
	case bool:
		return &v
	default:
		f.wrongType(name, "a boolean", v)
	}
	return nil
}

// flag is a boolean that is false unless it says true.
func (f *fields) flag(name string) bool {
	b := f.boolean(name)
	return b != nil && *b
}

// number returns nil for a field that is not there. Only finite numbers pass.
func (f *fields) number(name string) *float64 {
	v := f.raw(name)
	if v == nil {
		return nil
	}
	n, ok := v.(ordjson.Number)
	if !ok {
		f.wrongType(name, "a number", v)
		return nil
	}
	x, ok := n.Float64()
	if !ok || math.IsInf(x, 0) {
		f.fail(CodeInvalidValue, f.param(name), "%s must be a finite number, got %s.", f.param(name), shorten(string(n)))
		return nil
	}
	return &x
}

// numberWhere is a number for which ok holds; rule says so in words.
func (f *fields) numberWhere(name, rule string, ok func(x float64) bool) *float64 {
	x := f.number(name)
	if x != nil && !ok(*x) {
		f.outOfRange(name, rule)
		return nil
	}
	return x
}

func (f *fields) outOfRange(name, rule string) {
	v, _ := f.obj.Get(name)
	f.fail(CodeInvalidValue, f.param(name), "%s must be %s, got %s.", f.param(name), rule, shorten(ordjson.Marshal(v)))
}

// integer returns nil for a field that is not there. An integral float counts.
func (f *fields) integer(name string) *int64 {
	v := f.raw(name)
	if v == nil {
		return nil
	}
	return f.toInteger(f.param(name), v)
}

func (f *findings) toInteger(param string, v any) *int64 {
	n, ok := v.(ordjson.Number)
	if !ok {
		f.fail(CodeInvalidType, param, "%s must be an integer, got %s.", param, kindOf(v))
		return nil
	}
	if i, ok := n.Int64(); ok {
		return &i
	}
	x, ok := n.Float64()
	switch {
	case !ok || x >= 1<<63 || x < -1<<63 || !strings.ContainsAny(string(n), ".eE"): // -1<<63 - 1 becomes -1<<63 as a float
		f.fail(CodeInvalidValue, param, "%s must be a 64-bit integer, got %s.", param, shorten(string(n)))
		return nil
	case x != math.Trunc(x):
		f.fail(CodeInvalidType, param, "%s must be an integer, got %s.", param, shorten(string(n)))
		return nil
	}
	i := int64(x)
	return &i
}

// count is an integer of at least low and at most high; rule says so in words.
func (f *fields) count(name, rule string, low, high int64) *int {
	i := f.integer(name)
	if i == nil {
		return nil
	}
	if *i < low || *i > high {
		f.outOfRange(name, rule)
		return nil
	}
	n := int(*i)
	return &n
}

// object returns nil for a field that is not there.
func (f *fields) object(name string) *fields {
	switch v := f.raw(name).(type) {
	case nil:
	case *ordjson.Object:
		return newFields(f.findings, v, f.param(name))
	default:
		f.wrongType(name, "an object", v)
	}
	return nil
}

// array returns nil for a field that is not there, and an empty slice for an empty array.
func (f *fields) array(name string) []any {
	switch v := f.raw(name).(type) {
	case nil:
	case []any:
		return v
	default:
		f.wrongType(name, "an array", v)
	}
	return nil
}

// strings is an array of strings.
func (f *fields) strings(name string) []string {
	list := f.array(name)
	out := make([]string, 0, len(list))
	for i, v := range list {
		s, ok := v.(string)
		if !ok {
			f.wrongType(index(name, i), "a string", v)
			return nil
		}
		out = append(out, s)
	}
	return out
}

// ids is an array of token IDs, nil for a field that is not there.
func (f *fields) ids(name string) []token.ID {
	list := f.array(name)
	if list == nil {
		return nil
	}
	return f.toIDs(f.param(name), list)
}

func (f *findings) toIDs(param string, list []any) []token.ID {
	ids := make([]token.ID, 0, len(list))
	for i, v := range list {
		n := f.toInteger(index(param, i), v)
		if n == nil {
			return nil
		}
		if *n < 0 {
			f.fail(CodeInvalidValue, index(param, i), "%s must be a token id of at least 0, got %d.", index(param, i), *n)
			return nil
		}
		if *n > math.MaxInt32 {
			f.fail(CodeInvalidValue, index(param, i), "%s is out of every vocabulary, got %d.", index(param, i), *n)
			return nil
		}
		ids = append(ids, token.ID(*n))
	}
	return ids
}

func index(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

// shorten keeps messages readable when a value is not.
func shorten(s string) string { return shortenTo(s, 64) }

func shortenTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}
