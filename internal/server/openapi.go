// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/wire/openai"
)

// apiVersion is the version of the API, which grows when something is added to it, apart from the program's own.
const apiVersion = "1.0"

// openAPI answers GET /api/openapi.json.
func (s *Server) openAPI(x *exchange) error { return x.sendJSON(ordjson.Append(nil, Document())) }

// Document returns the API as an OpenAPI 3.1 document: one operation for each of the Routes.
func Document() *ordjson.Object {
	paths := ordjson.NewObject()
	for _, r := range Routes() {
		item, ok := paths.Object(r.Path)
		if !ok {
			item = ordjson.NewObject()
			paths.Set(r.Path, item)
		}
		item.Set(strings.ToLower(r.Method), r.operation())
	}
	return members(
		"openapi", "3.1.0",
		"info", members("title", "Sampo", "version", apiVersion, "description", "Language models on your own machine, through the APIs that clients already speak. In bodies null equals absent, keys match exactly, and numbers, texts and booleans do not stand in for each other."),
		"servers", []any{members("url", "/")},
		"paths", paths,
		"components", members(
			"schemas", schemas(),
			"responses", members("Error", members("description", "What went wrong, and with which field.", "content", jsonContent("Error"))),
			"securitySchemes", members(
				"bearer", members("type", "http", "scheme", "bearer"),
				"apiKey", members("type", "apiKey", "in", "header", "name", "x-api-key"),
			),
		),
	)
}

// operation describes a route.
func (r Route) operation() *ordjson.Object {
	o := members("operationId", r.id(), "tags", []any{r.Group}, "summary", r.Summary)
	if r.Doc != "" {
		o.Set("description", r.Doc)
	}
	o.Set("security", r.security())
	o.Set("x-sampo-scope", string(r.Scope))
	o.Set("x-sampo-cli", "sampo api "+r.Method+" "+r.Path)
	if list := r.parameters(); len(list) > 0 {
		o.Set("parameters", list)
	}
	if r.In != "" {
		o.Set("requestBody", members("required", true, "content", jsonContent(r.In)))
	}
	responses := ordjson.NewObject()
	if r.Out != "Error" {
		responses.Set("200", members("description", "Good.", "content", r.content()))
	}
	responses.Set("default", ref("responses", "Error"))
	o.Set("responses", responses)
	if r.Events != "" {
		o.Set("x-sampo-events", members("data", ref("schemas", r.Events), "error", ref("schemas", "Error"), "end", "[DONE]"))
	}
	return o
}

// id is a name that generators make functions of.
func (r Route) id() string {
	words := strings.FieldsFunc(r.Method+" "+r.Path, func(c rune) bool { return strings.ContainsRune(" /.{}", c) })
	return strings.ToLower(strings.Join(words, "_"))
}

func (r Route) security() []any {
	if r.Scope == scopeOpen {
		return []any{}
	}
	return []any{members("bearer", []any{}), members("apiKey", []any{})}
}

func (r Route) parameters() []any {
	var list []any
	text := func() *ordjson.Object { return members("type", "string") }
	if r.Path == modelPath {
		list = append(list, members("name", "id", "in", "path", "required", true, "schema", text()))
	}
	for _, p := range r.Query {
		list = append(list, members("name", p.Name, "in", "query", "description", p.Doc, "schema", text()))
	}
	return list
}

// content describes the body of a good answer.
func (r Route) content() *ordjson.Object {
	if strings.HasPrefix(r.Out, "text/") {
		return members(r.Out, members("schema", members("type", "string")))
	}
	c := jsonContent(r.Out)
	if r.Events != "" {
		c.Set("text/event-stream", members("schema", members("description", "Where stream is true: server-sent events, whose data are described in x-sampo-events.")))
	}
	return c
}

// schemas returns those of the wire, and those of the service's own bodies.
func schemas() *ordjson.Object {
	all := openai.Schemas()
	integer := func() *ordjson.Object { return members("type", "integer") }
	text := func() *ordjson.Object { return members("type", "string") }
	list := func(item *ordjson.Object) *ordjson.Object { return members("type", "array", "items", item) }
	object := func(fields ...any) *ordjson.Object {
		return members("type", "object", "properties", members(fields...))
	}
	all.Set("Object", members("type", "object"))
	all.Set("Version", object("version", text()))
	all.Set("Load", object("server_load", integer()))
	all.Set("Health", object(
		"state", members("type", "string", "enum", []any{"ok", "loading", "stopped", "draining"}),
		"warnings", list(text()),
		"models", list(object(
			"id", text(), "kind", text(), "resident", members("type", "boolean"), "tier", text(), "max_model_len", integer(),
			"bytes", members("type", []any{"integer", "null"}), "running", integer(), "waiting", integer(), "cache_used_percent", integer(),
		)),
		"queue", object("running", integer(), "waiting", integer(), "requests", integer()),
		"version", text(), "uptime_seconds", integer(),
		"mode", members("type", "string", "enum", []any{"none", "key"}),
	))
	return all
}

func jsonContent(schema string) *ordjson.Object {
	return members("application/json", members("schema", ref("schemas", schema)))
}

func ref(kind, name string) *ordjson.Object { return members("$ref", "#/components/"+kind+"/"+name) }

// members makes an object from names and values in turn.
func members(pairs ...any) *ordjson.Object {
	o := ordjson.NewObject()
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		o.Set(name, pairs[i+1])
	}
	return o
}
