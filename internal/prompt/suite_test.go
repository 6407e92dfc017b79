// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/prompt/jinja"
)

// suite returns the folder of the template suite, which is too large and of too many owners to be kept here.
func suite(t *testing.T) string {
	t.Helper()
	root := os.Getenv("SAMPO_TEMPLATE_SUITE")
	if root == "" {
		t.Skip("SAMPO_TEMPLATE_SUITE is not set: the suite of templates is not checked")
	}
	return root
}

var suiteClock = time.Date(2026, 3, 15, 9, 26, 53, 0, time.UTC)

func readCases(t *testing.T, file string) []*ordjson.Object {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*ordjson.Object
	for line := range bytes.Lines(data) {
		v, err := ordjson.Parse(line, ordjson.DefaultDepth)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v.(*ordjson.Object))
	}
	return out
}

// suiteTemplates yields each template of the suite with its cases.
func suiteTemplates(t *testing.T, check func(t *testing.T, source string, cases []*ordjson.Object)) {
	root := suite(t)
	files, err := filepath.Glob(filepath.Join(root, "golden", "templates", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", root, err)
	}
	for _, file := range files {
		cases := readCases(t, file)
		name, _ := cases[0].String("template")
		source, err := os.ReadFile(filepath.Join(root, "templates", name))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { check(t, string(source), cases) })
	}
}

// check compares one result with what a case says: output, error or error_kind.
func checkResult(t *testing.T, what string, want *ordjson.Object, got string, err error) {
	t.Helper()
	if text, ok := want.String("output"); ok {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if got != text {
			t.Errorf("%s:\n got %q\nwant %q", what, got, text)
		}
		return
	}
	if message, ok := want.String("error"); ok {
		var raised *jinja.RaisedError
		if !errors.As(err, &raised) || raised.Message != message {
			t.Errorf("%s: error %v, want the template to raise %q", what, err, message)
		}
		return
	}
	if kind, _ := want.String("error_kind"); kindOf(err) != kind {
		t.Errorf("%s: error %v of kind %q, want kind %q", what, err, kindOf(err), kind)
	}
}

func kindOf(err error) string {
	var (
		runtime  *jinja.RuntimeError
		security *jinja.SecurityError
		open     *ContinueError
	)
	switch {
	case errors.As(err, &runtime):
		return "runtime"
	case errors.As(err, &security):
		return "security"
	case errors.As(err, &open):
		return "continue"
	}
	return ""
}

// A case without a result of its own for prepared messages or the strict environment has the same one there.
func TestTemplateSuite(t *testing.T) {
	suiteTemplates(t, func(t *testing.T, source string, cases []*ordjson.Object) {
		extended, err := New(source, Options{})
		if err != nil {
			t.Fatal(err)
		}
		strict, err := New(source, Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			name, _ := c.String("name")
			input, _ := c.Object("input")
			for _, variant := range []struct {
				name string
				tpl  *Template
				form Form
			}{{"raw", extended, Raw}, {"prepared", extended, Prepared}, {"strict", strict, Raw}} {
				want, ok := c.Object(variant.name)
				if !ok {
					want = c
				}
				out, err := variant.tpl.RenderJSON(input, variant.form, suiteClock)
				checkResult(t, name+" "+variant.name, want, Text(out), err)
			}
		}
		t.Logf("%d cases", len(cases))
	})
}

const marker = "Zqxj"

// mark appends the marker to every text of a request but roles and types.
func mark(v any, key string) any {
	switch v := v.(type) {
	case string:
		if key == "role" || key == "type" {
			return v
		}
		return v + marker
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = mark(e, key)
		}
		return out
	case *ordjson.Object:
		out := ordjson.NewObject()
		for k, e := range v.All() {
			out.Set(k, mark(e, k))
		}
		return out
	}
	return v
}

func TestNoTemplateOfTheSuitePassesDataOffAsItsOwn(t *testing.T) {
	suiteTemplates(t, func(t *testing.T, source string, cases []*ordjson.Object) {
		tpl, err := New(source, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rendered := 0
		for _, c := range cases {
			name, _ := c.String("name")
			input, _ := c.Object("input")
			input = input.Clone()
			for _, field := range []string{"messages", "tools"} {
				v, _ := input.Get(field)
				input.Set(field, mark(v, field))
			}
			out, err := tpl.RenderJSON(input, Served, suiteClock)
			if err != nil {
				continue // a marked ID or name may be refused
			}
			rendered++
			for _, s := range out {
				if !s.Data && strings.Contains(s.Text, marker) {
					t.Errorf("%s: data came out as template: %q", name, s.Text)
				}
			}
		}
		if rendered == 0 {
			t.Errorf("no case rendered")
		}
	})
}
