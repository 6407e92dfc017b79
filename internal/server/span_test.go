// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	wire "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/tracing"
)

// traced asks a server that traces, and returns the spans by name.
func traced(t *testing.T, path, body string, headers ...string) (spans map[string]*wire.Span, log string) {
	t.Helper()
	return tracedBy(t, nil, path, body, headers...)
}

// tracedBy is traced by a server that change has changed once it runs.
func tracedBy(t *testing.T, change func(s *site), path, body string, headers ...string) (spans map[string]*wire.Span, log string) {
	t.Helper()
	var mu sync.Mutex
	spans = map[string]*wire.Span{}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		data, _ := io.ReadAll(r.Body)
		var export collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(data, &export); err != nil {
			t.Error(err)
			return
		}
		for _, s := range export.ResourceSpans[0].ScopeSpans[0].Spans {
			spans[s.Name] = s
		}
	}))
	defer receiver.Close()
	tracer := tracing.Open(tracing.Config{Endpoint: receiver.URL})
	m, engine := bytechat.Say("m", "a secret answer<|im_end|>")
	s := start(t, m, engine, func(c *Config) { c.Tracer = tracer })
	if change != nil {
		change(s)
	}
	s.post(path, body, headers...)
	waitFor(t, "the log", func() bool { return strings.Contains(s.log.String(), "msg=request") })
	if err := tracer.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return spans, s.log.String()
}

func TestRequestsAreTraced(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for name, tt := range map[string]struct{ path, body, work string }{
		"chat":       {"/v1/chat/completions", `{"n":2,"max_tokens":30,"messages":[{"role":"user","content":"a secret prompt"}]}`, "chat m"},
		"stream":     {"/v1/chat/completions", `{"n":2,"max_tokens":30,"stream":true,"messages":[{"role":"user","content":"a secret prompt"}]}`, "chat m"},
		"completion": {"/v1/completions", `{"n":2,"max_tokens":30,"prompt":"a secret prompt"}`, "text_completion m"},
	} {
		spans, log := traced(t, tt.path, tt.body, "traceparent: "+parent)
		work := spans[tt.work]
		if work == nil || spans["POST "+tt.path] == nil {
			t.Errorf("%s: got %v", name, spans)
			continue
		}
		text := ""
		for _, s := range spans {
			text += s.String()
		}
		if strings.Contains(text, "secret") {
			t.Errorf("%s: a span tells what was said: %s", name, text)
		}
		for _, want := range []string{`"gen_ai.response.finish_reasons"`, `"gen_ai.usage.output_tokens"`, `"gen_ai.response.id"`, `"gen_ai.request.max_tokens"`, `"first_token"`} {
			if !strings.Contains(work.String(), want) {
				t.Errorf("%s: no %s in %v", name, want, work)
			}
		}
		if !strings.Contains(log, "trace=0af7651916cd43dd8448eb211c80319c") {
			t.Errorf("%s: the log does not name the trace: %s", name, log)
		}
	}
}

func TestRefusedRequestsAreTraced(t *testing.T) {
	spans, _ := traced(t, "/v1/chat/completions", `{"temperature":-1,"messages":[]}`)
	s := spans["POST /v1/chat/completions"]
	if s == nil || !strings.Contains(s.String(), `"error.type"`) || s.Status.Code != wire.Status_STATUS_CODE_UNSET {
		t.Errorf("got %v", spans)
	}
}

// A request that is put off is a failure of the server, of a kind by which it is told from others.
func TestRequestsThatArePutOffAreTraced(t *testing.T) {
	const path, body = "/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}]}`
	for want, change := range map[string]func(s *site){
		"model_loading": func(s *site) { s.server.cfg.Loading, s.server.cfg.Models = true, nil },
		"shutting_down": func(s *site) { s.server.draining.Store(true) },
		"engine stopped: shutting_down": func(s *site) {
			if err := s.engine.Close(); err != nil {
				t.Error(err)
			}
		},
	} {
		spans, _ := tracedBy(t, change, path, body)
		_, kind, found := strings.Cut(want, ": ")
		if !found {
			kind = want
		}
		s := spans["POST "+path]
		if s == nil || s.Status.Code != wire.Status_STATUS_CODE_ERROR || attribute(s, "error.type") != kind || attribute(s, "http.response.status_code") != "503" {
			t.Errorf("%s: got %v", want, spans)
		}
	}
}

// attribute returns a span's attribute as text.
func attribute(s *wire.Span, name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			if v, ok := a.Value.Value.(*common.AnyValue_IntValue); ok {
				return strconv.FormatInt(v.IntValue, 10)
			}
			return a.Value.GetStringValue()
		}
	}
	return ""
}
