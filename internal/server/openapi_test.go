// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/testkit"
)

func TestTheDocumentHasOneOperationForEachRoute(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	a := s.do(http.MethodGet, "/api/openapi.json", "")
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(a.body), "", " "); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, filepath.Join("..", "..", "docs", "api", "openapi.json"), append(pretty.Bytes(), '\n'))

	paths, _ := Document().Object("paths")
	operations, ids := 0, map[string]bool{}
	for _, path := range paths.Keys() {
		item, _ := paths.Object(path)
		operations += item.Len()
		for _, method := range item.Keys() {
			operation, _ := item.Object(method)
			id, _ := operation.String("operationId")
			if ids[id] || id == "" {
				t.Errorf("%s %s: operationId %q", method, path, id)
			}
			ids[id] = true
		}
	}
	if operations != len(Routes()) {
		t.Errorf("%d operations for %d routes", operations, len(Routes()))
	}
	for target := range refsOf(Document()) {
		if !resolves(Document(), target) {
			t.Errorf("%s is not in the document", target)
		}
	}
}

// refsOf collects the targets of $ref in a document.
func refsOf(v any) map[string]bool {
	all := map[string]bool{}
	switch v := v.(type) {
	case *ordjson.Object:
		for key, value := range v.All() {
			if target, ok := value.(string); ok && key == "$ref" {
				all[target] = true
			}
			for target := range refsOf(value) {
				all[target] = true
			}
		}
	case []any:
		for _, item := range v {
			for target := range refsOf(item) {
				all[target] = true
			}
		}
	}
	return all
}

func resolves(o *ordjson.Object, target string) bool {
	for name := range strings.SplitSeq(strings.TrimPrefix(target, "#/"), "/") {
		next, ok := o.Object(name)
		if !ok {
			return false
		}
		o = next
	}
	return true
}

// The router and the table must agree: each route answers something else than 404 and 405.
func TestEveryRouteOfTheTableIsServed(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	for _, r := range Routes() {
		path := strings.Replace(r.Path, "{id}", "m", 1)
		body := ""
		if r.In != "" {
			body = "{}"
		}
		for _, form := range []string{path, path + "/", "/" + path} {
			if a := s.do(r.Method, form, body); a.StatusCode == 404 || a.StatusCode == 405 {
				t.Errorf("%s %s: status %d", r.Method, form, a.StatusCode)
			}
		}
	}
}

// The list of routes that need no key is short and must not grow unnoticed.
func TestOnlyOpenRoutesNeedNoKey(t *testing.T) {
	open := map[string]bool{"/health": true, "/ping": true, "/version": true, "/metrics": true, "/": true, "/v1": true}
	s := sayWith(t, "ok<|im_end|>", func(c *Config) { c.Keys = []Key{{Secret: "sk"}} })
	for _, r := range Routes() {
		path := strings.Replace(r.Path, "{id}", "m", 1)
		methods := []string{r.Method}
		if r.Method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		for _, method := range methods {
			for _, form := range []string{path, path + "/", "/" + path} {
				if got := s.do(method, form, "").StatusCode; (got != 401) != open[r.Path] {
					t.Errorf("%s %s without a key: status %d, open %v", method, form, got, open[r.Path])
				}
			}
			if got := s.do(method, path, "", "Authorization: bearer sk").StatusCode; got == 401 || got == 403 {
				t.Errorf("%s %s with the key: status %d", method, path, got)
			}
		}
	}
}

func TestAKeyOpensWhatItsScopesSay(t *testing.T) {
	s := sayWith(t, "ok<|im_end|>", func(c *Config) {
		c.Keys = []Key{
			{Secret: "infer", Scopes: []Scope{ScopeInfer}},
			{Secret: "read", Scopes: []Scope{ScopeModelsRead}},
			{Secret: "metrics", Scopes: []Scope{ScopeMetrics, ScopeData}},
			{Secret: "admin", Scopes: []Scope{ScopeAdmin}},
			{Secret: "all"},
		}
	})
	const chat, models, health, document = "/v1/chat/completions", "/v1/models", "/api/health", "/api/openapi.json"
	for _, tt := range []struct{ key, path, needs string }{
		{"infer", chat, ""},
		{"infer", models, ""},
		{"infer", "/v1/models/m", ""},
		{"infer", "/tokenizer_info", ""},
		{"infer", document, ""},
		{"infer", health, "models:read"},
		{"read", chat, "infer"},
		{"read", models, ""},
		{"read", health, ""},
		{"read", "/load", "infer"},
		{"metrics", chat, "infer"},
		{"metrics", health, ""},
		{"metrics", "/metrics", ""},
		{"metrics", document, ""},
		{"admin", chat, ""},
		{"admin", health, ""},
		{"all", chat, ""},
		{"all", health, ""},
	} {
		method, body := http.MethodGet, ""
		if tt.path == chat {
			method, body = http.MethodPost, `{`+hello+`}`
		}
		a := s.do(method, tt.path, body, "x-api-key: "+tt.key)
		if tt.needs == "" {
			if a.StatusCode != 200 {
				t.Errorf("%s on %s: status %d: %s", tt.key, tt.path, a.StatusCode, a.body)
			}
			continue
		}
		_, kind, _, code := a.problem(t)
		if a.StatusCode != 403 || kind != "permission_error" || code != "insufficient_scope" || !strings.Contains(a.body, `"needs":"`+tt.needs+`"`) {
			t.Errorf("%s on %s: status %d, want 403 that names %s: %s", tt.key, tt.path, a.StatusCode, tt.needs, a.body)
		}
	}
}

// A right that is missing is told before the body is read, as a missing key is.
func TestAMissingScopeIsToldBeforeTheBody(t *testing.T) {
	s := sayWith(t, "ok<|im_end|>", func(c *Config) { c.Keys = []Key{{Secret: "sk", Scopes: []Scope{ScopeMetrics}}} })
	conn := s.dial("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nx-api-key: sk\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n{")
	defer conn.Close()
	first := make([]byte, 16)
	if _, err := conn.Read(first); err != nil || !strings.Contains(string(first), " 403") {
		t.Errorf("got %q, %v, want 403", first, err)
	}
}

func TestTheReferencePageLoadsNothing(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	a := s.do(http.MethodGet, "/api", "")
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("status %d, %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	for _, bad := range []string{"src=", "<script", "@import", "url(", "<link"} {
		if strings.Contains(a.body, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, r := range Routes() {
		if !strings.Contains(a.body, ">"+r.Path+"<") {
			t.Errorf("the page lacks %s", r.Path)
		}
	}
	if csp := a.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || !strings.Contains(csp, "default-src 'self'") {
		t.Errorf("Content-Security-Policy %q", csp)
	}
}

func TestTheReferencePageTellsReadersOfScreensWhatColumnsMean(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	page := s.do(http.MethodGet, "/api", "").body
	if tables, headers := strings.Count(page, "<table"), strings.Count(page, "<tr><th scope=\"col\">"); tables < 2 || headers != tables {
		t.Errorf("%d tables, %d of them with headers", tables, headers)
	}
	for _, want := range []string{"<main>", "<nav aria-label=", `name="color-scheme" content="light dark"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// On a phone the page was wider than the screen: names and types of fields kept to one line.
func TestTheReferencePageFitsNarrowScreens(t *testing.T) {
	_, narrow, found := strings.Cut(referenceCSS, "@media (max-width: 40rem) {")
	narrow, _, _ = strings.Cut(narrow, "\n}\n")
	if !found || !strings.Contains(narrow, "overflow-wrap: anywhere") || !strings.Contains(narrow, "td:nth-child(2) { min-width: 0; white-space: normal; }") {
		t.Errorf("the style for narrow screens is %s", narrow)
	}
}

func TestPathsOfOtherProgramsAreSentToOurs(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	for _, path := range []string{"/api/v0/models", "/api/v1/chat", "/api/v1"} {
		message, kind, _, code := s.do(http.MethodGet, path, "").problem(t)
		if kind != "not_found_error" || code != "unknown_url" || !strings.Contains(message, "/v1") {
			t.Errorf("%s: %s %s %q", path, kind, code, message)
		}
	}
}

func TestABaseURLWithoutV1IsToldOf(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	for _, tt := range []struct{ path, want string }{
		{"/chat/completions", " It is /v1/chat/completions here"},
		{"/models", " It is /v1/models here"},
		{"/models/sampo/mini-chat", " It is /v1/models/sampo/mini-chat here"},
		{"/v1/v1/chat/completions", " It is /v1/chat/completions here"},
		{"/nosuch", "Unknown URL: POST /nosuch"},
		{"/v1/nosuch", "Unknown URL: POST /v1/nosuch"},
	} {
		message, _, _, code := s.do(http.MethodPost, tt.path, "{}").problem(t)
		told := strings.Contains(message, " here")
		if code != "unknown_url" || !strings.Contains(message, tt.want) || told != strings.Contains(tt.want, " here") {
			t.Errorf("%s: %s %q, want %q", tt.path, code, message, tt.want)
		}
	}
}
