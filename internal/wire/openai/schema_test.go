// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

// The document must name each field that the decoder asks for, and no other.
func TestSchemasNameTheFieldsThatAreDecoded(t *testing.T) {
	for _, tt := range []struct {
		schema string
		body   string
		read   func(f *fields)
	}{
		{"ChatRequest", `{}`, func(f *fields) { f.readChat() }},
		{"CompletionRequest", `{}`, func(f *fields) { f.readCompletion() }},
		{"PlaygroundRequest", `{}`, func(f *fields) { f.readPlayground() }},
		{"TokenizeRequest", `{"messages":[]}`, func(f *fields) { f.readTokenize() }},
		{"DetokenizeRequest", `{}`, func(f *fields) { f.readDetokenize() }},
		{"ChatMessage", `{"role":"assistant"}`, func(f *fields) { f.readMessage(); f.obj.Set("role", "tool"); f.readMessage() }},
		{"Tool", `{}`, func(f *fields) { f.readTool() }},
	} {
		f, err := parseBody([]byte(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		tt.read(f)
		schema, _ := Schemas().Object(tt.schema)
		properties, _ := schema.Object("properties")
		want, got := slices.Sorted(maps.Keys(f.known)), slices.Sorted(slices.Values(properties.Keys()))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-decoder +schema):\n%s", tt.schema, diff)
		}
	}
}

// A field whose schema says null only must be refused, and one without a schema be taken whatever it is.
func TestSchemasTellRefusedAndIgnoredFields(t *testing.T) {
	for _, name := range slices.Concat(refusedAnywhere, refusedByChat) {
		r, err := DecodeChat([]byte(`{` + hi + `,"` + name + `":{}}`))
		if err != nil || r.Refused == nil || r.Refused.Param != name {
			t.Errorf("%s: %v, refused %v, want it to be refused by name", name, err, r)
		}
	}
	for _, name := range slices.Concat(ignoredAnywhere, ignoredByChat) {
		r, err := DecodeChat([]byte(`{` + hi + `,"` + name + `":{}}`))
		if err != nil || r.Refused != nil || len(r.Unknown) > 0 {
			t.Errorf("%s: %v, want it to be ignored", name, err)
		}
	}
}

// Answers that are sent must have the keys that their schemas require, and no others.
func TestSchemasHaveTheKeysOfAnswers(t *testing.T) {
	schemas := Schemas()
	for name, body := range map[string][]byte{
		"ModelList":        ModelList([]ModelEntry{{ID: "m"}}),
		"Model":            ModelEntry{ID: "m"}.Body(),
		"TokenizeAnswer":   TokenizeBody(nil, nil, 1),
		"DetokenizeAnswer": DetokenizeBody("a"),
		"TokenizerInfo":    TokenizerInfo{}.Body(),
		"Error":            (&Error{}).Body(),
	} {
		schema, _ := schemas.Object(name)
		v, err := ordjson.Parse(body, 64)
		if err != nil {
			t.Fatal(err)
		}
		checkKeys(t, name, schema, v)
	}
}

// checkKeys compares the keys of nested objects with their schema's.
func checkKeys(t *testing.T, path string, schema *ordjson.Object, v any) {
	t.Helper()
	switch v := v.(type) {
	case *ordjson.Object:
		properties, _ := schema.Object("properties")
		required, _ := schema.Array("required")
		for key, value := range v.All() {
			s, ok := properties.Object(key)
			if !ok {
				t.Errorf("%s: the schema lacks %s", path, key)
				continue
			}
			checkKeys(t, path+"."+key, s, value)
		}
		for _, key := range required {
			if _, ok := v.Get(key.(string)); !ok {
				t.Errorf("%s lacks %s", path, key)
			}
		}
	case []any:
		items, _ := schema.Object("items")
		for _, item := range v {
			checkKeys(t, path+"[]", items, item)
		}
	}
}
