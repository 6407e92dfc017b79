// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/server"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/testkit/scriptmodel"
)

// An ownServer is a server that this program runs, set up for one case.
type ownServer struct {
	url   string
	key   string
	close func()
}

func (s *ownServer) client() *client {
	cl, err := newClient(s.url, "", s.key)
	if err != nil {
		panic(err)
	}
	return cl
}

// listen runs a server on a free port of loopback.
func listen(cfg server.Config, closers ...func() error) *ownServer {
	cfg.Loopback, cfg.Version = true, "0.1.0"
	s := server.New(cfg)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() { _ = s.Serve(l) }()
	return &ownServer{url: "http://" + l.Addr().String(), close: func() {
		_ = s.Close()
		for _, c := range closers {
			_ = c()
		}
	}}
}

// chatty is a model that says ok, on an engine that a script drives.
func chatty() (*answer.Model, *scripted.Engine) { return bytechat.Say("chatty", "ok<|im_end|>") }

// base is a model without a template.
func base(m *answer.Model) server.Model {
	cfg := m.Config
	cfg.Name, cfg.Template, cfg.Source = "base", nil, ""
	return server.Model{Model: answer.New(cfg)}
}

// How long first tokens take: what must not come before is seen soon, what must come before may take its time.
const (
	slow     = 400 * time.Millisecond
	verySlow = 2 * time.Second
)

// slowModel gives its first token after a time.
func slowModel(slow time.Duration) (*answer.Model, *scripted.Engine) {
	return bytechat.New("chatty", func(inference.Request, int) scripted.Reply {
		step := make(chan struct{})
		time.AfterFunc(slow, func() { close(step) })
		return scripted.Reply{Tokens: bytechat.Tokens(bytechat.Tokenizer(), "late<|im_end|>"), Step: step}
	})
}

// Titles of cases with servers of their own.
const (
	titleSeveral = "model left out where several are in memory"
	titleScopes  = "scopes of keys"
	titleFailure = "an engine that fails in a stream"
	titleLate    = "nothing is sent before the first token"
	titleEarly   = "early_headers sends the status at once"
	titleSmall   = "max_tokens null fills a small context"
	titleDead    = "health of an engine that has stopped"
	titleFull    = "a full queue"
	titleAbsent  = "a model on disk that does not fit"
	titleBase    = "chat with a base model"
	titleCORS    = "an origin that is allowed"
)

// ownServers start what the cases of these titles need.
var ownServers = map[string]func() *ownServer{
	titleSeveral: func() *ownServer {
		m, e := chatty()
		other, otherEngine := bytechat.Say("chatty2", "ok<|im_end|>")
		return listen(server.Config{Models: []server.Model{{Model: m}, base(m), {Model: other}}}, e.Close, otherEngine.Close)
	},
	titleScopes: func() *ownServer {
		m, e := chatty()
		s := listen(server.Config{Models: []server.Model{{Model: m}}, Keys: []server.Key{
			{Secret: "sk-all"}, {Secret: "sk-infer", Scopes: []server.Scope{server.ScopeInfer}}, {Secret: "sk-metrics", Scopes: []server.Scope{server.ScopeMetrics}},
		}}, e.Close)
		s.key = "sk-all"
		return s
	},
	titleFailure: func() *ownServer {
		m, e := bytechat.New("chatty", func(inference.Request, int) scripted.Reply {
			return scripted.Reply{Tokens: bytechat.Tokens(bytechat.Tokenizer(), "abc"), Err: errors.New("the machine is on fire at /secret")}
		})
		return listen(server.Config{Models: []server.Model{{Model: m}}}, e.Close)
	},
	titleLate: func() *ownServer {
		m, e := slowModel(slow)
		return listen(server.Config{Models: []server.Model{{Model: m}}}, e.Close)
	},
	titleEarly: func() *ownServer {
		m, e := slowModel(verySlow)
		return listen(server.Config{Models: []server.Model{{Model: m}}, EarlyHeaders: true}, e.Close)
	},
	titleSmall: func() *ownServer {
		pool := tensor.NewPool(1)
		m, err := scriptmodel.Open(pool, local.Options{Context: 512, CacheBytes: 16 << 20})
		if err != nil {
			panic(err)
		}
		return listen(server.Config{Models: []server.Model{{Model: m.Model}}}, m.Close, func() error { pool.Close(); return nil })
	},
	titleDead: func() *ownServer {
		m, e := chatty()
		s := listen(server.Config{Models: []server.Model{{Model: m}}}, e.Close)
		e.Break(errors.New("gone"))
		return s
	},
	titleFull: func() *ownServer {
		m, e := chatty()
		e.Fill(true)
		return listen(server.Config{Models: []server.Model{{Model: m}}}, e.Close)
	},
	titleAbsent: func() *ownServer {
		m, e := chatty()
		return listen(server.Config{Models: []server.Model{{Model: m, HeldBytes: 7 << 20}}, Absent: []server.AbsentModel{{Name: "huge", NeededBytes: 900 << 20}}}, e.Close)
	},
	titleBase: func() *ownServer {
		m, e := chatty()
		return listen(server.Config{Models: []server.Model{base(m)}}, e.Close)
	},
	titleCORS: func() *ownServer {
		m, e := chatty()
		return listen(server.Config{Models: []server.Model{{Model: m}}, Origins: []string{"https://app.example"}}, e.Close)
	},
}

// ownCases run on servers that are set up for them.
var ownCases = []testCase{
	{6, titleSeveral, func(c *check) {
		r := c.send(http.MethodPost, completePath, c.prompt("model", absent{}))
		c.isError(r, 400, "missing_required_parameter", "model")
		c.expect(strings.Contains(r.message(), "chatty, base, chatty2"), "message %q", r.message())
		r = c.send(http.MethodPost, chatPath, c.request("model", absent{}))
		c.isError(r, 400, "missing_required_parameter", "model")
		c.expect(!strings.Contains(r.message(), "base"), "message %q names a model that does not chat", r.message())
	}},
	{11, titleScopes, func(c *check) {
		c.chat(c.request("max_tokens", 1), "Authorization: Bearer sk-infer")
		c.expect(c.send(http.MethodGet, "/v1/models", nil, "Authorization: Bearer sk-infer").status == 200, "infer does not open /v1/models")
		c.chat(c.request("max_tokens", 1), "Authorization: -", "x-api-key: sk-infer")
		c.chat(c.request("max_tokens", 1), "Authorization: bearer wrong", "x-api-key: sk-infer")
		r := c.send(http.MethodPost, chatPath, c.request(), "Authorization: Bearer sk-metrics")
		c.isError(r, 403, "insufficient_scope", "")
		none := "Authorization: -"
		for _, path := range []string{"/health", "/ping", "/version", "/metrics", "/", "/v1"} {
			c.expect(c.send(http.MethodGet, path, nil, none).status == 200, "%s needs a key", path)
		}
		for _, path := range []string{"/tokenizer_info", "/load", "/v1/load", "/v1/models", "/api/health", "/api"} {
			c.expect(c.send(http.MethodGet, path, nil, none).status == 401, "%s needs no key", path)
		}
		c.isError(c.send(http.MethodPost, "/tokenize", obj{"prompt": "a"}, none), 401, "invalid_api_key", "")
		c.expect(strings.HasPrefix(c.send(http.MethodPost, "/tokenize", obj{}, "Authorization: Bearer x").message(), "Incorrect API key provided"), "another message")
		c.expect(strings.Contains(c.raw(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n{", chatPath)), " 401 "), "a held back body holds 401 back")
	}},
	{40, titleFailure, func(c *check) {
		r := c.send(http.MethodPost, chatPath, c.request("stream", true))
		c.expect(r.status == 200 && strings.Contains(r.body, `"content":"`), "status %d: %.200s", r.status, r.body)
		c.expect(strings.Contains(r.body, "event: error\ndata: {\"error\":{\"message\":\"") && strings.HasSuffix(r.body, "\n\ndata: [DONE]\n\n"), "the stream ends %q", r.body[max(0, len(r.body)-300):])
		c.expect(!strings.Contains(r.body, `"finish_reason":"`), "a finish reason is made up")
		c.expect(!strings.Contains(r.body, "secret"), "the message tells of the inside")
		c.isError(c.send(http.MethodPost, chatPath, c.request()), 500, "", "")
	}},
	{43, titleLate, func(c *check) {
		status, role, lines := c.streamTimes()
		c.expect(status >= slow && role >= slow, "the status came after %v, the role after %v, the first token after %v", status, role, slow)
		for _, line := range lines {
			c.expect(!strings.HasPrefix(line, ":"), "a comment: %q", line)
		}
	}},
	{43, titleEarly, func(c *check) {
		status, role, _ := c.streamTimes()
		c.expect(status < verySlow && role >= verySlow, "the status came after %v, the role after %v, the first token after %v", status, role, verySlow)
	}},
	{74, titleSmall, func(c *check) {
		r := c.complete(c.prompt("max_tokens", nil, "ignore_eos", true))
		c.expect(r.finish(0) == "length" && r.usage("total_tokens") == c.context, "%s after %d tokens", r.finish(0), r.usage("total_tokens"))
		c.expect(c.complete(c.prompt("max_tokens", absent{}, "ignore_eos", true)).usage("completion_tokens") == 16, "left out is not 16")
	}},
	{92, titleDead, func(c *check) {
		c.isError(c.send(http.MethodGet, "/health", nil), 503, "", "")
		c.expect(c.send(http.MethodGet, "/ping", nil).status == 503, "/ping")
	}},
	{94, titleFull, func(c *check) {
		for _, stream := range []bool{false, true} {
			r := c.send(http.MethodPost, chatPath, c.request("stream", stream))
			c.isError(r, 429, "queue_full", "")
			c.expect(text(object(r.json["error"])["type"]) == "rate_limit_error" && r.header.Get("Retry-After") != "", "retry-after %q: %s", r.header.Get("Retry-After"), r.body)
			c.expect(!strings.Contains(strings.ToLower(r.message()), "rate limit"), "clients take %q for a rate limit", r.message())
		}
	}},
	{99, titleAbsent, func(c *check) {
		r := c.send(http.MethodPost, chatPath, c.request("model", "huge"))
		c.isError(r, 409, "insufficient_memory", "model")
		holders := list(object(object(r.json["error"])["sampo"])["holders"])
		c.expect(len(holders) == 1 && object(holders[0])["model"] == "chatty" && r.header.Get("X-Should-Retry") == "false", "holders %v, x-should-retry %q", holders, r.header.Get("X-Should-Retry"))
		c.chat(c.request("max_tokens", 1))
	}},
	{100, titleBase, func(c *check) {
		c.isError(c.send(http.MethodPost, chatPath, c.request("max_tokens", 1)), 400, "chat_template_missing", "model")
		c.isError(c.send(http.MethodPost, "/tokenize", obj{"messages": []obj{{"role": "user", "content": "a"}}}), 400, "chat_template_missing", "model")
		c.complete(c.prompt("max_tokens", 1))
	}},
	{105, titleCORS, func(c *check) {
		const header = "Access-Control-Allow-Origin"
		r := c.chat(c.request("max_tokens", 1), "Origin: https://app.example", "Sec-Fetch-Site: cross-site")
		c.expect(r.header.Get(header) == "https://app.example", "%s: %q", header, r.header.Get(header))
		r = c.send(http.MethodOptions, chatPath, nil, "Origin: https://app.example", "Access-Control-Request-Method: POST")
		c.expect(r.status == 204 && r.header.Get(header) == "https://app.example", "preflight: status %d, %q", r.status, r.header.Get(header))
		r = c.send(http.MethodOptions, chatPath, nil, "Origin: https://evil.example", "Access-Control-Request-Method: POST")
		c.expect(r.header.Get(header) == "", "preflight of another origin: %q", r.header.Get(header))
		c.isError(c.send(http.MethodPost, chatPath, c.request("max_tokens", 1), "Origin: https://evil.example"), 403, "origin_refused", "")
	}},
}

// streamTimes returns when the status and the first event of a stream came, and all its lines.
func (c *check) streamTimes() (status, role time.Duration, lines []string) {
	begun := time.Now()
	req, err := http.NewRequest(http.MethodPost, c.url+chatPath, strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		c.fatalf("%v", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		c.fatalf("%v", err)
	}
	defer closeBody(resp)
	status = time.Since(begun)
	for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
		if role == 0 {
			role = time.Since(begun)
		}
		lines = append(lines, scan.Text())
	}
	return status, role, lines
}

// raw sends bytes over a connection and returns the first that come back, within two seconds.
func (c *check) raw(request string) string {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(c.url, "http://"), time.Second)
	if err != nil {
		c.fatalf("%v", err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	_, _ = io.WriteString(conn, request)
	answer := make([]byte, 512)
	n, _ := conn.Read(answer)
	return string(answer[:n])
}
