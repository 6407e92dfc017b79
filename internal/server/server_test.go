// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/token"
)

// A site is a server that listens, for a test.
type site struct {
	t      *testing.T
	url    string
	server *Server
	engine *scripted.Engine
	log    *logBuffer
}

// A logBuffer collects a log that is read while it is written.
type logBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start serves a model on a free port until the test ends.
func start(t *testing.T, m *answer.Model, engine *scripted.Engine, change func(c *Config)) *site {
	t.Helper()
	s := startEngine(t, m, engine.Close, change)
	s.engine = engine
	return s
}

// startEngine is start for any engine, which is closed in the end.
func startEngine(t *testing.T, m *answer.Model, closeEngine func() error, change func(c *Config)) *site {
	t.Helper()
	log := &logBuffer{}
	cfg := Config{Models: []Model{{Model: m}}, Version: "0.1.0", Loopback: true, Log: slog.New(slog.NewTextHandler(log, nil))}
	if change != nil {
		change(&cfg)
	}
	s := New(cfg)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		_ = closeEngine()
	})
	return &site{t: t, url: "http://" + l.Addr().String(), server: s, log: log}
}

// say starts a server whose model "m" always says text.
func say(t *testing.T, text string) *site { return sayWith(t, text, nil) }

// sayWith is say with a changed configuration.
func sayWith(t *testing.T, text string, change func(c *Config)) *site {
	m, engine := bytechat.Say("m", text)
	return start(t, m, engine, change)
}

// An answerOf is a response with its body read.
type answerOf struct {
	*http.Response
	body string
}

// do sends a request; a body is JSON unless a header says otherwise. Headers are "Name: value".
func (s *site) do(method, path, body string, headers ...string) answerOf {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answerOf{resp, string(data)}
}

func (s *site) post(path, body string, headers ...string) answerOf {
	s.t.Helper()
	return s.do(http.MethodPost, path, body, headers...)
}

// problem reads an error body, which must have the four keys of the envelope.
func (a answerOf) problem(t *testing.T) (message, kind, param, code string) {
	t.Helper()
	var body struct {
		Error map[string]any `json:"error"`
	}
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatalf("status %d, body %q: %v", a.StatusCode, a.body, err)
	}
	for _, key := range []string{"message", "type", "param", "code"} {
		if _, ok := body.Error[key]; !ok {
			t.Errorf("error body %s lacks %q", a.body, key)
		}
	}
	str := func(key string) string { v, _ := body.Error[key].(string); return v }
	return str("message"), str("type"), str("param"), str("code")
}

const hello = `"messages":[{"role":"user","content":"hi"}]`

func TestErrorsComeInTheirOrder(t *testing.T) {
	m, engine := bytechat.Say("m", "ok<|im_end|>")
	s := start(t, m, engine, func(c *Config) { c.Keys = []Key{{Secret: "sk-1"}, {Secret: "sk-2"}}; c.MaxBody = 4000 })
	key := "Authorization: Bearer sk-2"
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		kind, param, code        string
		message                  string
	}{
		{"origin before key", "POST", "/v1/chat/completions", "{", []string{"Origin: https://evil.example"}, 403, "permission_error", "", "origin_refused", ""},
		{"host", "GET", "/health", "", []string{"Host: evil.example"}, 403, "permission_error", "", "origin_refused", ""},
		{"no key", "POST", "/v1/chat/completions", "{", nil, 401, "authentication_error", "", "invalid_api_key", "didn't provide"},
		{"wrong key", "POST", "/v1/chat/completions", "{", []string{"x-api-key: nope"}, 401, "authentication_error", "", "invalid_api_key", "Incorrect API key provided"},
		{"key before route", "POST", "/v1/nope", "{", nil, 401, "authentication_error", "", "invalid_api_key", ""},
		{"unknown route", "GET", "/v1/nope", "", []string{key}, 404, "not_found_error", "", "unknown_url", ""},
		{"wrong method", "GET", "/v1/chat/completions", "", []string{key}, 405, "invalid_request_error", "", "method_not_allowed", ""},
		{"content type before JSON", "POST", "/v1/chat/completions", "{", []string{key, "Content-Type: text/plain"}, 400, "invalid_request_error", "", "", "application/json"},
		{"size before JSON", "POST", "/v1/chat/completions", "{" + strings.Repeat(" ", 5000), []string{key}, 413, "invalid_request_error", "", "request_too_large", ""},
		{"JSON", "POST", "/v1/chat/completions", `{"model":`, []string{key}, 400, "invalid_request_error", "", "invalid_json", "byte 9"},
		{"not an object", "POST", "/v1/chat/completions", `[]`, []string{key}, 400, "invalid_request_error", "", "invalid_type", ""},
		{"types before model", "POST", "/v1/chat/completions", `{"model":"nope","temperature":"x",` + hello + `}`, []string{key}, 400, "invalid_request_error", "temperature", "invalid_type", ""},
		{"model before unsupported", "POST", "/v1/chat/completions", `{"model":"nope","prediction":{},` + hello + `}`, []string{key}, 404, "invalid_request_error", "model", "model_not_found", "The model `nope` does not exist. To get another: hf download OWNER/NAME, then sampo serve OWNER/NAME (sampo pull nope says more). This server has: m."},
		{"unsupported before length", "POST", "/v1/chat/completions", `{"prediction":{},"max_tokens":99999,` + hello + `}`, []string{key}, 400, "invalid_request_error", "prediction", "unsupported_parameter", ""},
		{
			"length", "POST", "/v1/chat/completions", `{"max_tokens":1024,` + hello + `}`,
			[]string{key},
			400, "invalid_request_error", "max_tokens", "context_length_exceeded",
			"This model's maximum context length is 1024 tokens. However, you requested 1024 output tokens and your prompt contains 21 input tokens, for a total of 1045 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (context_length_exceeded)",
		},
		{"length by its other name", "POST", "/v1/chat/completions", `{"max_completion_tokens":1024,` + hello + `}`, []string{key}, 400, "invalid_request_error", "max_completion_tokens", "context_length_exceeded", ""},
		{"prompt too long", "POST", "/v1/completions", `{"stream":true,"prompt":"` + strings.Repeat("a", 1024) + `"}`, []string{key}, 400, "invalid_request_error", "prompt", "context_length_exceeded", "contains 1024 input tokens"},
		{"embeddings", "POST", "/v1/embeddings", `{"input":"a"}`, []string{key}, 400, "invalid_request_error", "model", "unsupported_endpoint", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := s.do(tt.method, tt.path, tt.body, tt.headers...)
			message, kind, param, code := a.problem(t)
			if a.StatusCode != tt.status || kind != tt.kind || param != tt.param || code != tt.code || !strings.Contains(message, tt.message) {
				t.Errorf("got %d %s\nwant %d type %q param %q code %q message %q", a.StatusCode, a.body, tt.status, tt.kind, tt.param, tt.code, tt.message)
			}
			if a.Header.Get("X-Request-Id") == "" {
				t.Errorf("no X-Request-Id")
			}
			if tt.status == 405 && a.Header.Get("Allow") != "OPTIONS, POST" {
				t.Errorf("Allow %q", a.Header.Get("Allow"))
			}
		})
	}
}

func TestOpenRoutesNeedNoKey(t *testing.T) {
	m, engine := bytechat.Say("m", "ok")
	s := start(t, m, engine, func(c *Config) { c.Keys = []Key{{Secret: "sk"}} })
	for path, want := range map[string]int{
		"/health": 200, "/ping": 200, "/version": 200, "/": 200, "/v1": 200, "/v1/": 200,
		"/load": 401, "/v1/load": 401, "/tokenizer_info": 401, "/v1/models": 401,
	} {
		if a := s.do("GET", path, ""); a.StatusCode != want {
			t.Errorf("GET %s = %d, want %d", path, a.StatusCode, want)
		}
	}
	if a := s.do("GET", "/v1/models", "", "Authorization: bearer wrong", "X-Api-Key: sk"); a.StatusCode != 200 {
		t.Errorf("one valid key of two: status %d", a.StatusCode)
	}
}

func TestRefusesTheKeyBeforeReadingTheBody(t *testing.T) {
	m, engine := bytechat.Say("m", "ok")
	s := start(t, m, engine, func(c *Config) { c.Keys = []Key{{Secret: "sk"}} })
	for _, length := range []string{"Content-Length: 60000000", "Content-Length: 100", "Transfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"+length+"\r\n\r\n{")
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		line := make([]byte, 12)
		if _, err := io.ReadFull(conn, line); err != nil || string(line) != "HTTP/1.1 401" {
			t.Errorf("%s: got %q, %v", length, line, err)
		}
	}
}

func TestServesManyModels(t *testing.T) {
	m, engine := bytechat.Say("org/m:Q4", "a<|im_end|>")
	base, _ := bytechat.Say("base", "b<|im_end|>")
	c := base.Config
	c.Template, c.Source = nil, ""
	s := start(t, m, engine, func(cfg *Config) { cfg.Models = append(cfg.Models, Model{Model: answer.New(c)}) })
	for _, tt := range []struct {
		path, body string
		status     int
		contains   string
	}{
		{"/v1/chat/completions", `{` + hello + `}`, 200, `"model":"org/m:Q4"`},
		{"/v1/completions", `{"prompt":"a"}`, 400, "This server has: org/m:Q4, base."},
		{"/v1/completions", `{"prompt":"a","model":"base"}`, 200, `"model":"base"`},
		{"/v1/chat/completions", `{"model":"base",` + hello + `}`, 400, "chat_template_missing"},
		{"/tokenize", `{"model":"base",` + hello + `}`, 400, "chat_template_missing"},
	} {
		if a := s.post(tt.path, tt.body); a.StatusCode != tt.status || !strings.Contains(a.body, tt.contains) {
			t.Errorf("%s %s: got %d %s, want %d and %q", tt.path, tt.body, a.StatusCode, a.body, tt.status, tt.contains)
		}
	}
	list := s.do("GET", "/v1/models", "").body
	for _, path := range []string{"/v1/models/org/m:Q4", "/v1/models/org%2Fm:Q4", "/v1/models/org%2Fm%3AQ4"} {
		if a := s.do("GET", path, ""); a.StatusCode != 200 || !strings.Contains(list, a.body) {
			t.Errorf("%s: got %d %s, want the entry of the list", path, a.StatusCode, a.body)
		}
	}
	if a := s.do("GET", "/v1/models/nope", ""); a.StatusCode != 404 {
		t.Errorf("unknown model: status %d", a.StatusCode)
	}
}

func TestNoticesUnknownFields(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	body := `{"foo":1,"user":"u","metadata":{"a":"b"},"store":true,"service_tier":"auto","verbosity":"low","bär":null,"stream":true,"stream_options":{"bar":1},` + hello + `}`
	a := s.post("/v1/chat/completions", body)
	if got, want := a.Header.Get("X-Sampo-Notice"), "unknown field: stream_options.bar; unknown field: foo"; got != want {
		t.Errorf("notice %q, want %q", got, want)
	}
	a = s.post("/v1/chat/completions", body, "X-Sampo-Strict: 1")
	if _, _, param, code := a.problem(t); a.StatusCode != 400 || code != "unknown_parameter" || param != "stream_options.bar" {
		t.Errorf("strict: got %d %s", a.StatusCode, a.body)
	}
}

func TestRequestIDs(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	for _, tt := range []struct{ header, body, want string }{
		{"abc", "", "abc"},
		{"abc", `"request_id":"b",`, "abc"},
		{"", `"request_id":"b",`, "b"},
		{"", "", ""},
	} {
		var headers []string
		if tt.header != "" {
			headers = append(headers, "X-Request-Id: "+tt.header)
		}
		a := s.post("/v1/chat/completions", `{`+tt.body+hello+`}`, headers...)
		id := a.Header.Get("X-Request-Id")
		if tt.want == "" && len(id) != 32 || tt.want != "" && id != tt.want || !strings.Contains(a.body, `"id":"chatcmpl-`+id+`"`) {
			t.Errorf("header %q, body %q: id %q, answer %s", tt.header, tt.body, id, a.body)
		}
	}
}

func TestSessionComesFromTheFirstThatHasOne(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	all := []string{"X-Session-ID: c", "X-NVCL-Session: b", "X-Sampo-Session: a"}
	for i, want := range []string{"c", "b", "a"} {
		s.post("/v1/chat/completions", `{`+hello+`}`, all[:i+1]...)
		requests := s.engine.Requests()
		if got := requests[len(requests)-1].Session; got != want {
			t.Errorf("headers %v: session %q, want %q", all[:i+1], got, want)
		}
	}
	if a := s.post("/v1/chat/completions", `{"session_id":"d",`+hello+`}`, "X-Sampo-Session: "+strings.Repeat("x", 513)); a.StatusCode != 200 {
		t.Errorf("session_id first: status %d", a.StatusCode)
	}
	if a := s.post("/v1/chat/completions", `{`+hello+`}`, "X-Sampo-Session: "+strings.Repeat("x", 513)); a.StatusCode != 400 {
		t.Errorf("513 characters: status %d", a.StatusCode)
	}
}

func TestFullQueueIsTooManyRequests(t *testing.T) {
	s := say(t, "ok")
	s.engine.Fill(true)
	a := s.post("/v1/chat/completions", `{`+hello+`}`)
	if _, kind, _, code := a.problem(t); a.StatusCode != 429 || kind != "rate_limit_error" || code != "queue_full" || a.Header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
}

// The bytes of a text were called characters, of which it can have a third.
func TestOverflowCountsBytesAsBytes(t *testing.T) {
	a := say(t, "x").post("/v1/completions", `{"prompt":"`+strings.Repeat("日", 10_000)+`"}`)
	if message, _, _, code := a.problem(t); code != "context_length_exceeded" || !strings.Contains(message, "your prompt contains 30000 bytes (more than ") {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
}

// A request that had its place in the queue was told that the queue is full.
func TestWhoWaitedTooLongIsToldSo(t *testing.T) {
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply {
		return scripted.Reply{Err: inference.ErrExpired}
	})
	a := start(t, m, engine, nil).post("/v1/chat/completions", `{`+hello+`}`)
	if message, kind, _, code := a.problem(t); a.StatusCode != 429 || kind != "rate_limit_error" || code != "queue_full" || a.Header.Get("Retry-After") == "" || !strings.Contains(message, "waited too long") {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
}

func TestHealthFollowsTheEngine(t *testing.T) {
	s := say(t, "ok")
	if a := s.do("GET", "/health", ""); a.StatusCode != 200 || a.body != "ok" {
		t.Errorf("healthy: %d %q", a.StatusCode, a.body)
	}
	s.engine.Break(errors.New("gone"))
	if a := s.do("GET", "/health", ""); a.StatusCode != 503 {
		t.Errorf("broken engine: status %d", a.StatusCode)
	}
}

func TestEngineFailureTellsNothing(t *testing.T) {
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply {
		return scripted.Reply{Err: errors.New("secret at 0xdeadbeef")}
	})
	s := start(t, m, engine, nil)
	a := s.post("/v1/chat/completions", `{"stream":true,`+hello+`}`)
	if message, kind, _, _ := a.problem(t); a.StatusCode != 500 || kind != "server_error" || message != "Internal server error" {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
	if !strings.Contains(s.log.String(), "0xdeadbeef") {
		t.Errorf("the log does not tell the cause: %s", s.log)
	}
}

func TestEngineFailureInAStreamIsAnEvent(t *testing.T) {
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply {
		return scripted.Reply{Tokens: []token.ID{65, 66, 67}, Err: inference.ErrEngine}
	})
	s := start(t, m, engine, nil)
	a := s.post("/v1/chat/completions", `{"stream":true,`+hello+`}`)
	want := "event: error\ndata: {\"error\":{\"message\":\"Internal server error\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\ndata: [DONE]\n\n"
	if a.StatusCode != 200 || !strings.HasSuffix(a.body, want) || strings.Contains(a.body, `"finish_reason":"`) {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
}

// waitFor polls until ok holds.
// patience is how long a test waits for what will come, on a machine that may be busy with other things.
const patience = 2 * time.Minute

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// paced starts a server whose model says one token each time step is sent to.
func paced(t *testing.T, step chan struct{}) *site {
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply {
		return scripted.Reply{Tokens: bytechat.Tokens(bytechat.Tokenizer(), "abc<|im_end|>"), Step: step}
	})
	return start(t, m, engine, nil)
}

func TestAClientThatLeavesStopsItsGeneration(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		t.Run("stream "+stream, func(t *testing.T) {
			s := paced(t, make(chan struct{}))
			ctx, cancel := context.WithCancel(t.Context())
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/chat/completions", strings.NewReader(`{"stream":`+stream+`,`+hello+`}`))
			req.Header.Set("Content-Type", "application/json")
			left := make(chan error, 1)
			go func() {
				resp, err := http.DefaultTransport.RoundTrip(req)
				if err == nil {
					_ = resp.Body.Close()
				}
				left <- err
			}()
			running := func() int { n, _ := s.engine.Load(); return n }
			waitFor(t, "the request", func() bool { return running() == 1 })
			cancel()
			<-left
			waitFor(t, "the engine", func() bool { return running() == 0 && s.server.generating.Load() == 0 })
		})
	}
}

func TestNothingLeavesBeforeTheFirstToken(t *testing.T) {
	step := make(chan struct{})
	s := paced(t, step)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body := `{"stream":true,` + hello + `}`
	_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "+
		json.Number(itoa(len(body))).String()+"\r\n\r\n"+body)
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	var one [1]byte
	if n, _ := conn.Read(one[:]); n != 0 {
		t.Errorf("a byte came before the first token")
	}
	close(step)
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadFull(conn, one[:]); err != nil {
		t.Error(err)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestShutdownLetsRequestsFinish(t *testing.T) {
	step := make(chan struct{})
	s := paced(t, step)
	got := make(chan answerOf, 1)
	go func() { got <- s.post("/v1/chat/completions", `{`+hello+`}`) }()
	waitFor(t, "the request", func() bool { return s.server.generating.Load() == 1 })
	down := make(chan error, 1)
	go func() { down <- s.server.Shutdown(context.Background()) }()
	waitFor(t, "draining", s.server.draining.Load)
	close(step)
	if a := <-got; a.StatusCode != 200 || !strings.Contains(a.body, `"content":"abc"`) {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}

func TestShutdownEndsWhatTakesTooLong(t *testing.T) {
	step := make(chan struct{})
	s := paced(t, step)
	got := make(chan answerOf, 2)
	go func() { got <- s.post("/v1/chat/completions", `{"stream":true,`+hello+`}`) }()
	step <- struct{}{}
	go func() { got <- s.post("/v1/chat/completions", `{`+hello+`}`) }()
	waitFor(t, "both requests", func() bool { return s.server.generating.Load() == 2 })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	for range 2 {
		a := <-got
		switch a.StatusCode {
		case 200:
			if !strings.Contains(a.body, "event: error\ndata: {\"error\":{\"message\":\"The server is shutting down.\"") || !strings.HasSuffix(a.body, "data: [DONE]\n\n") {
				t.Errorf("stream: got %s", a.body)
			}
		case 503:
			if _, kind, _, code := a.problem(t); kind != "service_unavailable" || code != "shutting_down" {
				t.Errorf("got %s", a.body)
			}
		default:
			t.Errorf("got %d %s", a.StatusCode, a.body)
		}
	}
}

func TestBrowserChecksOnLoopback(t *testing.T) {
	m, engine := bytechat.Say("m", "ok<|im_end|>")
	s := start(t, m, engine, func(c *Config) {
		c.Origins = []string{"https://app.example"}
		c.Hosts = []string{"box.local"}
	})
	for _, tt := range []struct {
		headers []string
		status  int
		granted string
	}{
		{nil, 200, ""},
		{[]string{"Host: localhost:1"}, 200, ""},
		{[]string{"Host: BOX.local.:7267"}, 200, ""},
		{[]string{"Host: [::1]:7267"}, 200, ""},
		{[]string{"Host: 192.168.1.5"}, 200, ""},
		{[]string{"Host: 0.0.0.0:7267"}, 403, ""},
		{[]string{"Host: evil.example"}, 403, ""},
		{[]string{"Origin: http://localhost:3000"}, 200, ""},
		{[]string{"Origin: https://app.example"}, 200, "https://app.example"},
		{[]string{"Origin: https://app.example", "Sec-Fetch-Site: cross-site"}, 200, "https://app.example"},
		{[]string{"Origin: https://evil.example"}, 403, ""},
		{[]string{"Origin: null"}, 403, ""},
		{[]string{"Sec-Fetch-Site: cross-site"}, 403, ""},
	} {
		a := s.post("/v1/chat/completions", `{`+hello+`}`, tt.headers...)
		if a.StatusCode != tt.status || a.Header.Get("Access-Control-Allow-Origin") != tt.granted {
			t.Errorf("%v: got %d, granted %q, want %d, %q", tt.headers, a.StatusCode, a.Header.Get("Access-Control-Allow-Origin"), tt.status, tt.granted)
		}
	}
	if a := s.post("/v1/chat/completions", `{`+hello+`}`, "Content-Type: ", "Origin: http://localhost:3000"); a.StatusCode != 400 {
		t.Errorf("no content type from a browser: status %d", a.StatusCode)
	}
}

func TestTokenRoutes(t *testing.T) {
	s := say(t, "ok")
	for _, tt := range []struct{ path, body, want string }{
		{"/tokenize", `{"prompt":"ab"}`, `{"count":2,"max_model_len":1024,"tokens":[97,98],"token_strs":null}`},
		{"/tokenize", `{"prompt":"a b","return_token_strs":true}`, `{"count":3,"max_model_len":1024,"tokens":[97,32,98],"token_strs":["a","Ġ","b"]}`},
		{"/tokenize", `{"prompt":"<|im_end|>","add_special_tokens":false}`, `{"count":1,"max_model_len":1024,"tokens":[259],"token_strs":null}`},
		{"/detokenize", `{"tokens":[97,259]}`, `{"prompt":"a<|im_end|>"}`},
		{"/detokenize", `{"tokens":[]}`, `{"prompt":""}`},
	} {
		if a := s.post(tt.path, tt.body); a.StatusCode != 200 || a.body != tt.want {
			t.Errorf("%s %s: got %d %s, want %s", tt.path, tt.body, a.StatusCode, a.body, tt.want)
		}
	}
	for _, tt := range []struct{ path, body string }{
		{"/tokenize", `{}`},
		{"/tokenize", `{"prompt":"a",` + hello + `}`},
		{"/detokenize", `{"tokens":[-1]}`},
		{"/detokenize", `{"tokens":[99999]}`},
		{"/detokenize", `{}`},
		{"/tokenize", `{"chat_template":"x",` + hello + `}`},
	} {
		if a := s.post(tt.path, tt.body); a.StatusCode != 400 {
			t.Errorf("%s %s: got %d %s, want 400", tt.path, tt.body, a.StatusCode, a.body)
		}
	}
	info := s.do("GET", "/tokenizer_info", "").body
	if want := `{"tokenizer_class":"PreTrainedTokenizerFast","bos_token":null,"eos_token":"<|im_end|>","pad_token":null,"unk_token":null,"add_bos_token":false,"model_max_length":1024,"chat_template":"<think> <tool_call>"}`; info != want {
		t.Errorf("tokenizer_info: got %s", info)
	}
}

func TestAccessLogTellsNoText(t *testing.T) {
	s := say(t, "secret answer<|im_end|>")
	s.post("/v1/chat/completions", `{"messages":[{"role":"user","content":"secret question"}]}`)
	waitFor(t, "the log", func() bool { return s.log.String() != "" })
	if log := s.log.String(); strings.Contains(log, "secret") || !strings.Contains(log, "output_tokens=14") {
		t.Errorf("log: %s", log)
	}
}

// OpenAI's library for JavaScript sends headers of its own, which a preflight that listed a few refused.
func TestClientLibrariesInBrowsersPassThePreflight(t *testing.T) {
	m, engine := bytechat.Say("m", "ok<|im_end|>")
	s := start(t, m, engine, func(c *Config) {
		c.Origins = []string{"https://app.example"}
		c.Keys = []Key{{Secret: "sk"}}
	})
	const sent = "authorization,content-type,x-stainless-lang,x-stainless-os"
	preflight := []string{"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: " + sent, "Access-Control-Request-Private-Network: true"}
	a := s.do(http.MethodOptions, "/v1/chat/completions", "", append(preflight, "Origin: https://app.example")...)
	if h := a.Header; a.StatusCode != 204 || h.Get("Access-Control-Allow-Headers") != sent || h.Get("Access-Control-Allow-Private-Network") != "true" {
		t.Errorf("an origin that is listed: %d %v", a.StatusCode, h)
	}
	a = s.do(http.MethodOptions, "/v1/chat/completions", "", append(preflight, "Origin: https://evil.example")...)
	for name := range a.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("an origin that is not listed is granted %s: %s", name, a.Header.Get(name))
		}
	}
}
