// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/token"
)

// Schemas returns JSON Schemas of the bodies, by name: those of requests from their lists of fields, those of answers
// from the types that are encoded.
func Schemas() *ordjson.Object {
	all := ordjson.NewObject()
	all.Set("ChatRequest", requestSchema("messages", slices.Concat(samplingFields, chatFields), slices.Concat(ignoredAnywhere, ignoredByChat), slices.Concat(refusedAnywhere, refusedByChat)))
	all.Set("ChatMessage", requestSchema("role", messageFields, nil, nil))
	all.Set("Tool", requestSchema("function", toolFields, nil, nil))
	all.Set("ChatAnswer", schemaOf(reflect.TypeFor[chatBody]()))
	all.Set("ChatChunk", schemaOf(reflect.TypeFor[chatChunk]()))
	completion := slices.Concat(samplingFields, completionFields)
	ignored := slices.Concat(ignoredAnywhere, ignoredByCompletion)
	all.Set("CompletionRequest", requestSchema("prompt", completion, ignored, refusedAnywhere))
	all.Set("CompletionAnswer", schemaOf(reflect.TypeFor[completionBody]()))
	playground := requestSchema("prompt", slices.Concat(completion, playgroundFields), ignored, refusedAnywhere)
	playground.Set("additionalProperties", false)
	all.Set("PlaygroundRequest", playground)
	all.Set("TokenizeRequest", requestSchema("", tokenizeFields, ignoredByTokenize, refusedByTokenize))
	all.Set("TokenizeAnswer", schemaOf(reflect.TypeFor[tokenizeBody]()))
	all.Set("DetokenizeRequest", requestSchema("tokens", detokenizeFields, nil, nil))
	all.Set("DetokenizeAnswer", schemaOf(reflect.TypeFor[detokenizeBody]()))
	all.Set("TokenizerInfo", schemaOf(reflect.TypeFor[TokenizerInfo]()))
	all.Set("Model", schemaOf(reflect.TypeFor[modelBody]()))
	all.Set("ModelList", schemaOf(reflect.TypeFor[modelListBody]()))
	all.Set("Error", schemaOf(reflect.TypeFor[errorBody]()))
	return all
}

// An errorBody is what Error.Body writes.
type errorBody struct {
	Error struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Param   *string         `json:"param"`
		Code    *string         `json:"code"`
		Sampo   json.RawMessage `json:"sampo,omitempty"`
	} `json:"error"`
}

// requestSchema describes a request. Every field may be null, which is as if it were not there; of two fields with the
// same name the later counts.
func requestSchema(required string, fields []requestField, ignored, refused []string) *ordjson.Object {
	properties := ordjson.NewObject()
	for _, f := range fields {
		properties.Set(f.name, f.schema(f.name == required))
	}
	for _, name := range ignored {
		o := ordjson.NewObject()
		o.Set("description", "Changes nothing.")
		properties.Set(name, o)
	}
	for _, name := range refused {
		o := typed("null")
		o.Set("description", "Not supported: refused unless it is null.")
		properties.Set(name, o)
	}
	o := typed("object")
	if required != "" {
		o.Set("required", []any{required})
	}
	o.Set("properties", properties)
	return o
}

// schema returns the JSON Schema of a field, null included unless it is required.
func (f requestField) schema(required bool) *ordjson.Object {
	o := parseKind(f.kind)
	if !required {
		o = nullable(o)
	}
	if f.text != "" {
		o.Set("description", f.text)
	}
	return o
}

func parseKind(kind string) *ordjson.Object {
	if strings.HasPrefix(kind, "{") {
		v, err := ordjson.Parse([]byte(kind), bodyLimits.Depth)
		o, ok := v.(*ordjson.Object)
		if err != nil || !ok {
			panic("openai: schema " + kind)
		}
		return o
	}
	words := strings.Fields(kind)
	if item, isList := strings.CutSuffix(words[0], "[]"); isList {
		o := typed("array")
		o.Set("items", typed(item))
		return o
	}
	o := typed(words[0])
	for i, bound := range []string{"minimum", "maximum"} {
		if len(words) > i+1 {
			o.Set(bound, ordjson.Number(words[i+1]))
		}
	}
	return o
}

func typed(name string) *ordjson.Object {
	o := ordjson.NewObject()
	o.Set("type", name)
	return o
}

// nullable returns a schema that takes null too.
func nullable(o *ordjson.Object) *ordjson.Object {
	kind, simple := o.String("type")
	_, fixed := o.Get("const")
	_, listed := o.Get("enum")
	if simple && !fixed && !listed {
		o.Set("type", []any{kind, "null"})
		return o
	}
	if list, ok := o.Array("anyOf"); ok {
		o.Set("anyOf", append(list, typed("null")))
		return o
	}
	either := ordjson.NewObject()
	either.Set("anyOf", []any{o, typed("null")})
	return either
}

// schemaOf describes what encoding/json writes for a type.
func schemaOf(t reflect.Type) *ordjson.Object {
	switch t {
	case reflect.TypeFor[json.RawMessage](): // usage, stop_reason, plans: their forms differ
		return ordjson.NewObject()
	case reflect.TypeFor[logprobMap]():
		o := typed("object")
		o.Set("additionalProperties", typed("number"))
		return nullable(o)
	case reflect.TypeFor[token.ID]():
		return typed("integer")
	case reflect.TypeFor[chat.Reason]():
		o := typed("string")
		o.Set("enum", []any{string(chat.ReasonStop), string(chat.ReasonLength), string(chat.ReasonToolCalls)})
		return o
	}
	if t.Kind() == reflect.Struct {
		if l, ok := reflect.Zero(t).Interface().(interface{ shape() reflect.Type }); ok {
			return schemaOf(l.shape())
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(schemaOf(t.Elem()))
	case reflect.Slice:
		o := typed("array")
		o.Set("items", schemaOf(t.Elem()))
		return o
	case reflect.Struct:
		return structSchema(t)
	case reflect.String:
		return typed("string")
	case reflect.Bool:
		return typed("boolean")
	case reflect.Int, reflect.Int64:
		return typed("integer")
	case reflect.Float32, reflect.Float64:
		return typed("number")
	case reflect.Interface:
		return ordjson.NewObject()
	default:
		panic("openai: no schema for " + t.String())
	}
}

// structSchema lists the fields by their JSON names. Those that are left out when empty are not required, and are null
// only where encoding says so.
func structSchema(t reflect.Type) *ordjson.Object {
	properties, required := ordjson.NewObject(), []any{}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue // its fields stand for themselves
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		schema := schemaOf(f.Type)
		if option == "omitempty" && f.Type.Kind() == reflect.Pointer {
			schema = schemaOf(f.Type.Elem())
		}
		properties.Set(name, schema)
		if option != "omitempty" {
			required = append(required, name)
		}
	}
	o := typed("object")
	o.Set("required", required)
	o.Set("properties", properties)
	return o
}
