// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"github.com/sampo-ai/sampo/internal/ordjson"
)

var (
	//go:embed reference.html
	referenceHTML string
	//go:embed reference.css
	referenceCSS string

	referencePage = template.Must(template.New("reference").Parse(referenceHTML))
)

// A referenceGroup is a heading of the page and its routes.
type referenceGroup struct {
	Name   string
	Routes []referenceRoute
}

// A referenceRoute is a route as the page shows it.
type referenceRoute struct {
	Route
	ID      string
	Scopes  string
	InBody  bool // In names a schema that the page has
	OutBody bool
}

// A referenceBody is a schema as a table.
type referenceBody struct {
	Name   string
	Fields []referenceField
}

type referenceField struct{ Name, Kind, Doc string }

// reference answers GET /api: the API's document as a page. It loads nothing: the style is part of it.
func (s *Server) reference(x *exchange) error {
	page := struct {
		Version, Address string
		Style            template.CSS
		Groups           []referenceGroup
		Bodies           []referenceBody
	}{s.cfg.Version, "http://" + x.r.Host, template.CSS(referenceCSS), referenceGroups(), referenceBodies()}
	var html bytes.Buffer
	if err := referencePage.Execute(&html, page); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(referenceCSS))
	x.w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'self'; style-src 'sha256-%s'; frame-ancestors 'none'", base64.StdEncoding.EncodeToString(sum[:])))
	return x.send(200, "text/html; charset=utf-8", html.Bytes())
}

func referenceGroups() []referenceGroup {
	var groups []referenceGroup
	all := schemas()
	described := func(name string) bool {
		o, ok := all.Object(name)
		_, hasFields := o.Object("properties")
		return ok && hasFields
	}
	for _, r := range Routes() {
		if n := len(groups); n == 0 || groups[n-1].Name != r.Group {
			groups = append(groups, referenceGroup{Name: r.Group})
		}
		shown := referenceRoute{Route: r, ID: r.id(), InBody: described(r.In), OutBody: described(r.Out), Scopes: "scope " + string(r.Scope)}
		switch {
		case r.Scope == scopeOpen:
			shown.Scopes = "open"
		case r.Scope == scopeAny:
			shown.Scopes = "any key"
		case r.Also != "":
			shown.Scopes += " or " + string(r.Also)
		}
		g := &groups[len(groups)-1]
		g.Routes = append(g.Routes, shown)
	}
	return groups
}

func referenceBodies() []referenceBody {
	var list []referenceBody
	for name, v := range schemas().All() {
		schema, _ := v.(*ordjson.Object)
		if fields := fieldsOf(schema, ""); len(fields) > 0 {
			list = append(list, referenceBody{name, fields})
		}
	}
	return list
}

// fieldsOf lists the properties of a schema and of what is in it, with their paths.
func fieldsOf(schema *ordjson.Object, path string) []referenceField {
	var list []referenceField
	properties, _ := schema.Object("properties")
	for name, v := range properties.All() {
		property, _ := v.(*ordjson.Object)
		doc, _ := property.String("description")
		at := path + name
		list = append(list, referenceField{at, kindOf(property), doc})
		inner := property
		for {
			items, ok := inner.Object("items")
			if !ok {
				break
			}
			inner, at = items, at+"[]"
		}
		list = append(list, fieldsOf(inner, at+".")...)
	}
	return list
}

// kindOf says in words what a schema takes.
func kindOf(schema *ordjson.Object) string {
	if target, ok := schema.String("$ref"); ok {
		return target[strings.LastIndexByte(target, '/')+1:]
	}
	if list, ok := schema.Array("anyOf"); ok {
		return eitherOf(list)
	}
	if value, ok := schema.Get("const"); ok {
		return ordjson.Marshal(value)
	}
	if list, ok := schema.Array("enum"); ok {
		words := make([]string, len(list))
		for i, v := range list {
			words[i] = ordjson.Marshal(v)
		}
		return strings.Join(words, ", ")
	}
	kind, _ := schema.String("type")
	if list, ok := schema.Array("type"); ok && len(list) > 0 {
		kind, _ = list[0].(string) // the other one is null, which everything may be
	}
	if items, ok := schema.Object("items"); ok {
		return "array of " + kindOf(items)
	}
	low, hasLow := schema.Get("minimum")
	high, hasHigh := schema.Get("maximum")
	switch {
	case hasLow && hasHigh:
		return fmt.Sprintf("%s, %v to %v", kind, low, high)
	case hasLow:
		return fmt.Sprintf("%s, at least %v", kind, low)
	case kind == "":
		return "anything"
	}
	return kind
}

func eitherOf(list []any) string {
	var words []string
	for _, v := range list {
		if o, ok := v.(*ordjson.Object); ok && kindOf(o) != "null" {
			words = append(words, kindOf(o))
		}
	}
	return strings.Join(words, " or ")
}
