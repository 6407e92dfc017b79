// SPDX-License-Identifier: Apache-2.0

package ordjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseKeepsOrderAndSpelling(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `""`, `"a\"b\\c\n\u0001é"`, `[]`, `{}`,
		`{"b":1.0,"a":[1,-0,1e5,12345678901234567890123],"c":{"z":null,"y":{}}}`,
		`{"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"10":10,"11":11}`,
	} {
		v, err := Parse([]byte(text), DefaultDepth)
		if err != nil {
			t.Errorf("Parse(%s): %v", text, err)
			continue
		}
		if got := Marshal(v); got != text {
			t.Errorf("Marshal(Parse(%s)) = %s", text, got)
		}
	}
}

func TestParseReadsEscapes(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`"\u00e9\/\b\f\n\r\t\"\\"`, "é/\b\f\n\r\t\"\\"},
		{`"\ud83d\ude00"`, "\U0001F600"},
		{`"x\ud83dy"`, "x\ufffdy"},
		{`"\ud83d\u0041"`, "\ufffdA"},
		{`"\ude00\ud83d"`, "\ufffd\ufffd"},
		{"\"\u2028 raw\"", "\u2028 raw"},
	} {
		v, err := Parse([]byte(tt.text), 1)
		if err != nil || v != tt.want {
			t.Errorf("Parse(%s) = %q, %v; want %q", tt.text, v, err, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		``, ` `, `nul`, `NaN`, `Infinity`, `-Infinity`, `-`, `01`, `1.`, `.5`, `1e`, `+1`, `0x1`, `"`, `"\x"`, `"\u12"`, "\"\n\"",
		"\"\xff\"", `[`, `[1`, `[1,`, `[1,]`, `[,]`, `{`, `{"a"`, `{"a":`, `{"a":1,}`, `{a:1}`, `{'a':1}`, `1 2`, `[1]]`, "\x00",
		strings.Repeat("[", 10) + strings.Repeat("]", 10),
	} {
		v, err := Parse([]byte(text), 9)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("Parse(%q) = %v, %v; want a SyntaxError", text, v, err)
		} else if syntax.Offset < 0 || syntax.Offset > len(text) {
			t.Errorf("Parse(%q): offset %d is outside the text", text, syntax.Offset)
		}
	}
}

func TestLastOfRepeatedKeysWins(t *testing.T) {
	v, err := Parse([]byte(`{"a":1,"b":2,"a":3}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Marshal(v), `{"a":3,"b":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestObjectKeepsOrderThroughChanges(t *testing.T) {
	for _, n := range []int{3, indexFrom - 1, indexFrom, 40} {
		o := NewObject()
		for i := range n {
			o.Set(fmt.Sprint(i), Int(i))
		}
		o.Set("1", "one")
		o.Delete("0")
		o.Delete("no such key")
		o.Set("0", nil)
		if got, want := o.Len(), n; got != want {
			t.Errorf("n=%d: Len() = %d, want %d", n, got, want)
		}
		keys := o.Keys()
		if keys[0] != "1" || keys[n-1] != "0" {
			t.Errorf("n=%d: keys %v, want 1 first and 0 last", n, keys)
		}
		if v, ok := o.Get("1"); !ok || v != "one" {
			t.Errorf("n=%d: Get(1) = %v, %v", n, v, ok)
		}
		c := o.Clone()
		c.Delete("1")
		if _, ok := o.Get("1"); !ok {
			t.Errorf("n=%d: deleting from a clone changed the original", n)
		}
	}
}

func TestNilObjectReadsAsEmpty(t *testing.T) {
	var o *Object
	if _, ok := o.Get("a"); ok || o.Len() != 0 || o.Keys() != nil {
		t.Errorf("a nil object is not empty")
	}
	for range o.All() {
		t.Errorf("a nil object yields a key")
	}
}

func TestObjectFitsIntoStructs(t *testing.T) {
	var got struct {
		Schema *Object `json:"schema"`
		Absent *Object `json:"absent"`
	}
	const text = `{"schema":{"z":1.50,"a":"<&>"},"absent":null}`
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Absent != nil {
		t.Errorf("null gave %v, want nil", got.Absent)
	}
	if diff := cmp.Diff(`{"z":1.50,"a":"<&>"}`, Marshal(got.Schema)); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	if err := json.Unmarshal([]byte(`{"schema":[1]}`), &got); err == nil {
		t.Errorf("an array was taken for an object")
	}
}

func TestNumber(t *testing.T) {
	if v, ok := Number("12").Int64(); !ok || v != 12 {
		t.Errorf("Int64(12) = %d, %v", v, ok)
	}
	for _, n := range []Number{"1.0", "1e3", "99999999999999999999"} {
		if v, ok := n.Int64(); ok {
			t.Errorf("Int64(%s) = %d, want no integer", n, v)
		}
	}
	if v, ok := Number("1e3").Float64(); !ok || v != 1000 {
		t.Errorf("Float64(1e3) = %g, %v", v, ok)
	}
	if v, ok := Number("1e999").Float64(); ok {
		t.Errorf("Float64(1e999) = %g, want not ok", v)
	}
	if v, ok := Number("99999999999999999999").BigInt(); !ok || v.String() != "99999999999999999999" {
		t.Errorf("BigInt = %v, %v", v, ok)
	}
}

func TestAppendReplacesInvalidUTF8(t *testing.T) {
	if got, want := Marshal("a\xffb"), "\"a\ufffdb\""; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzParse checks that what parses is written back to text that parses to the same, and that encoding/json agrees on
// what is JSON (it lets invalid UTF-8 pass, we don't).
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,-0,1e9,"x\u00e9\ud83d\ude00",null,true,{}]}`, `[`, `"\ud800"`, `1 2`, "\"\x7f\"", `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data, 100)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("Parse(%q) accepts what encoding/json refuses", data)
		}
		text := Append(nil, v)
		again, err := Parse(text, 100)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		if got := Marshal(again); got != string(text) {
			t.Fatalf("written %q, then %q", text, got)
		}
	})
}
