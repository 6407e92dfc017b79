// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/testkit/scriptmodel"
)

// An obj is a JSON object.
type obj map[string]any

// A client asks a server.
type client struct {
	url     string // without /v1
	key     string
	model   string
	models  []obj
	context int // max_model_len; 0 if the server does not tell

	scripted bool // the model says what it is asked to
	http     *http.Client
}

func newClient(url, model, key string) (*client, error) {
	url = strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/v1")
	c := &client{url: url, key: key, model: model, http: &http.Client{Timeout: 5 * time.Minute}}
	r, err := c.try(http.MethodGet, "/v1/models", nil)
	if err != nil {
		return nil, err
	}
	for _, m := range list(r.json["data"]) {
		if o, ok := m.(map[string]any); ok {
			c.models = append(c.models, o)
		}
	}
	if len(c.models) == 0 {
		return nil, fmt.Errorf("%s/v1/models lists no model: status %d, %.200s", url, r.status, r.body)
	}
	if c.model == "" {
		c.model = text(c.models[0]["id"])
	}
	for _, m := range c.models {
		if text(m["id"]) == c.model {
			c.context = int(number(m["max_model_len"]))
		}
	}
	return c, nil
}

// A reply is what a server answered.
type reply struct {
	status int
	header http.Header
	body   string
	json   obj // nil if the body is no object
}

// try sends a request. A string body is sent as it is, anything else as JSON. Headers are "Name: value".
func (c *client) try(method, path string, body any, headers ...string) (reply, error) {
	var data []byte
	switch b := body.(type) {
	case nil:
	case string:
		data = []byte(b)
	default:
		var err error
		if data, err = json.Marshal(b); err != nil {
			return reply{}, err
		}
	}
	req, err := http.NewRequest(method, c.url+path, bytes.NewReader(data))
	if err != nil {
		return reply{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	setHeaders(req, headers)
	// An empty key is not sent, but lets a request be repeated whose connection the server closed after the one before.
	req.Header["X-Idempotency-Key"] = []string{}
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer closeBody(resp)
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	r := reply{status: resp.StatusCode, header: resp.Header, body: string(answer)}
	_ = json.Unmarshal(answer, &r.json) // bodies need not be JSON
	return r, nil
}

// closeBody closes a body that was read, or that nobody wants.
func closeBody(resp *http.Response) { _ = resp.Body.Close() }

func setHeaders(req *http.Request, headers []string) {
	for _, h := range headers {
		switch name, value, _ := strings.Cut(h, ": "); {
		case name == "Host":
			req.Host = value
		case value == "-":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
}

// send is try that ends the case if there is no answer.
func (c *check) send(method, path string, body any, headers ...string) reply {
	r, err := c.try(method, path, body, headers...)
	if err != nil {
		c.fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// words returns a question, in those of the scripted model if it is that.
func (c *client) words(question, script string) string {
	if c.scripted {
		return scriptmodel.Say(script)
	}
	return question
}

// request returns a chat request about something short, with further fields as name, value, name, value.
func (c *check) request(fields ...any) obj {
	o := obj{"model": c.model, "messages": []obj{{"role": "user", "content": "Name three colours."}}, "max_tokens": 12, "temperature": 0}
	return o.with(fields...)
}

// prompt returns a completion request.
func (c *check) prompt(fields ...any) obj {
	return obj{"model": c.model, "prompt": "The sky is", "max_tokens": 8, "temperature": 0}.with(fields...)
}

// absent as a value takes a field out.
type absent struct{}

// with returns a copy with further fields.
func (o obj) with(fields ...any) obj {
	n := obj{}
	for k, v := range o {
		n[k] = v
	}
	for i := 0; i+1 < len(fields); i += 2 {
		name, _ := fields[i].(string)
		if _, ok := fields[i+1].(absent); ok {
			delete(n, name)
			continue
		}
		n[name] = fields[i+1]
	}
	return n
}

// chat sends a chat request that must succeed.
func (c *check) chat(body any, headers ...string) reply {
	return c.good("/v1/chat/completions", body, headers...)
}

// complete sends a completion request that must succeed.
func (c *check) complete(body any) reply { return c.good("/v1/completions", body) }

func (c *check) good(path string, body any, headers ...string) reply {
	r := c.send(http.MethodPost, path, body, headers...)
	if strings.Contains(r.body, "chat_template_missing") {
		c.skipf("the model does not chat")
	}
	if r.status != 200 {
		c.fatalf("status %d, want 200: %.300s", r.status, r.body)
	}
	return r
}

// refused sends a request that must fail with status 400 and a parameter that starts with param.
func (c *check) refused(path string, body any, param string) reply {
	r := c.send(http.MethodPost, path, body)
	c.isError(r, 400, "", param)
	return r
}

// isError checks a status and the envelope. An empty code or param is not compared.
func (c *check) isError(r reply, status int, code, param string) {
	c.expect(r.status == status, "status %d, want %d: %.200s", r.status, status, r.body)
	e, _ := r.json["error"].(map[string]any)
	for _, key := range []string{"message", "type", "param", "code"} {
		if _, ok := e[key]; !ok {
			c.errorf("the error has no %q: %.200s", key, r.body)
		}
	}
	c.expect(code == "" || text(e["code"]) == code, "code %v, want %s", e["code"], code)
	c.expect(strings.HasPrefix(text(e["param"]), param), "param %v, want %s", e["param"], param)
}

func (r reply) message() string {
	e, _ := r.json["error"].(map[string]any)
	return text(e["message"])
}

// Readers of loose JSON: what is missing is empty.

func text(v any) string { s, _ := v.(string); return s }

func number(v any) float64 { n, _ := v.(float64); return n }

func list(v any) []any { l, _ := v.([]any); return l }

func object(v any) obj { o, _ := v.(map[string]any); return o }

func (r reply) choice(i int) obj {
	choices := list(r.json["choices"])
	if i >= len(choices) {
		return obj{}
	}
	return object(choices[i])
}

func (r reply) content(i int) string { return text(object(r.choice(i)["message"])["content"]) }

func (r reply) finish(i int) string { return text(r.choice(i)["finish_reason"]) }

func (r reply) usage(name string) int { return int(number(object(r.json["usage"])[name])) }

func ids(v any) []int {
	var out []int
	for _, x := range list(v) {
		out = append(out, int(number(x)))
	}
	return out
}

// tokenize returns the ids of a text, without special tokens.
func (c *check) tokenize(s string) []int {
	r := c.send(http.MethodPost, "/tokenize", obj{"model": c.model, "prompt": s, "add_special_tokens": false})
	got := ids(r.json["tokens"])
	if r.status != 200 || len(got) == 0 {
		c.skipf("the server has no /tokenize of this form")
	}
	return got
}

// events sends a request and returns the data of its events but the last, which must be [DONE].
func (c *check) events(path string, body obj) (chunks []obj, raw string) {
	r := c.send(http.MethodPost, path, body.with("stream", true))
	if strings.Contains(r.body, "chat_template_missing") {
		c.skipf("the model does not chat")
	}
	if r.status != 200 || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		c.fatalf("status %d, content type %q: %.300s", r.status, r.header.Get("Content-Type"), r.body)
	}
	c.expect(!strings.Contains(r.body, "\r"), "the stream has a carriage return")
	if !strings.HasSuffix(r.body, "\n\ndata: [DONE]\n\n") {
		c.fatalf("the stream does not end with [DONE]: %.200q", r.body[max(0, len(r.body)-200):])
	}
	parts := strings.Split(strings.TrimSuffix(r.body, "\n\n"), "\n\n")
	for _, e := range parts[:len(parts)-1] {
		data, ok := strings.CutPrefix(e, "data: ")
		var chunk obj
		if err := json.Unmarshal([]byte(data), &chunk); !ok || err != nil {
			c.fatalf("event %.200q: %v", e, err)
		}
		if _, bad := chunk["error"]; bad {
			c.errorf("a chunk has the key error")
		}
		chunks = append(chunks, chunk)
	}
	return chunks, r.body
}

// joined returns a delta's field, joined over the chunks of a choice.
func joined(chunks []obj, choice int, field string) string {
	var b strings.Builder
	for _, chunk := range chunks {
		for _, v := range list(chunk["choices"]) {
			o := object(v)
			if int(number(o["index"])) != choice {
				continue
			}
			b.WriteString(text(object(o["delta"])[field]))
			if field == "text" {
				b.WriteString(text(o["text"]))
			}
		}
	}
	return b.String()
}

// uniqueInside returns a short piece of s that first occurs well inside it.
func uniqueInside(s string, size int) string {
	runes := []rune(s)
	for i := 4; i+size < len(runes); i++ {
		piece := string(runes[i : i+size])
		if strings.Index(s, piece) == len(string(runes[:i])) && strings.TrimSpace(piece) == piece {
			return piece
		}
	}
	return ""
}

func equalInts(a, b []int) bool { return slices.Equal(a, b) }
