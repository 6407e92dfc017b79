// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	wire "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sampo-ai/sampo/internal/chat"
)

// A receiver is a collector that keeps what it gets.
type receiver struct {
	*httptest.Server
	status int // of the answers; 0: 200

	mu       sync.Mutex
	requests []*http.Request
	exports  []*collector.ExportTraceServiceRequest
}

func receive(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		body, err := io.ReadAll(q.Body)
		export := &collector.ExportTraceServiceRequest{}
		if err = errors.Join(err, proto.Unmarshal(body, export)); err != nil {
			t.Error(err)
		}
		r.requests, r.exports = append(r.requests, q), append(r.exports, export)
		if r.status != 0 {
			w.WriteHeader(r.status)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// spans returns all that came, by name.
func (r *receiver) spans() map[string]*wire.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := map[string]*wire.Span{}
	for _, e := range r.exports {
		for _, s := range e.ResourceSpans[0].ScopeSpans[0].Spans {
			m[s.Name] = s
		}
	}
	return m
}

// values spells attributes.
func values(list []*common.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		if a := kv.Value.GetArrayValue(); a != nil {
			var items []string
			for _, v := range a.Values {
				items = append(items, v.GetStringValue())
			}
			m[kv.Key] = fmt.Sprint(items)
			continue
		}
		_, m[kv.Key], _ = strings.Cut(strings.ReplaceAll(kv.Value.String(), `"`, ""), ":")
	}
	return m
}

func ptr[T any](v T) *T { return &v }

func TestARequestBecomesTwoSpans(t *testing.T) {
	r := receive(t)
	tracer := Open(Config{Endpoint: r.URL + "/v1/traces", Headers: map[string]string{"Api-Key": "k"}, Version: "1.2", Resource: map[string]string{"zone": "a"}})
	req := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", nil)
	req.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	req.Header.Set("User-Agent", "tester")
	begun := time.Now()
	q := tracer.Start(req, "/v1/chat/completions", begun)
	if q.TraceID() != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("trace %s", q.TraceID())
	}
	q.Ask(Ask{Operation: "chat", Model: "m", Stream: true, Params: &chat.Params{
		Temperature: ptr(0.5), MaxTokens: ptr(9), Seed: ptr(int64(7)), Choices: 2, Stop: []string{"x"}, PresencePenalty: 1, Session: "s",
	}})
	q.End(Outcome{
		Status: 200, ID: "id", AnswerID: "chatcmpl-id", Finishes: []string{"stop", "length"},
		Usage: Usage{Input: 10, Cached: 4, Output: 6, Reasoning: 2}, Dispatched: begun.Add(time.Second), FirstToken: begun.Add(2 * time.Second),
	})
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := r.spans()
	server, work := spans["POST /v1/chat/completions"], spans["chat m"]
	if server == nil || work == nil || len(spans) != 2 {
		t.Fatalf("got %v", spans)
	}
	if fmt.Sprintf("%x %x", server.TraceId, server.ParentSpanId) != "0af7651916cd43dd8448eb211c80319c b7ad6b7169203331" {
		t.Errorf("the traceparent is not honoured: %v", server)
	}
	if !bytes.Equal(work.ParentSpanId, server.SpanId) || server.Kind != wire.Span_SPAN_KIND_SERVER || work.Kind != wire.Span_SPAN_KIND_INTERNAL {
		t.Errorf("got %v\nand %v", server, work)
	}
	want := map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "sampo", "gen_ai.request.model": "m", "gen_ai.request.stream": "true",
		"gen_ai.output.type": "text", "gen_ai.request.temperature": "0.5", "gen_ai.request.max_tokens": "9", "gen_ai.request.seed": "7",
		"gen_ai.request.choice.count": "2", "gen_ai.request.presence_penalty": "1", "gen_ai.request.stop_sequences": "[x]", "gen_ai.conversation.id": "s",
		"gen_ai.response.id": "chatcmpl-id", "gen_ai.response.model": "m", "gen_ai.response.finish_reasons": "[stop length]",
		"gen_ai.response.time_to_first_chunk": "2", "gen_ai.usage.input_tokens": "10", "gen_ai.usage.cache_read.input_tokens": "4",
		"gen_ai.usage.output_tokens": "6", "gen_ai.usage.reasoning.output_tokens": "2",
	}
	if diff := cmp.Diff(want, values(work.Attributes)); diff != "" {
		t.Errorf("attributes of the work (-want +got):\n%s", diff)
	}
	if len(work.Events) != 2 || work.Events[0].Name != "dispatched" || work.Events[1].Name != "first_token" {
		t.Errorf("events %v", work.Events)
	}
	want = map[string]string{
		"http.request.method": "POST", "http.route": "/v1/chat/completions", "url.path": "/v1/chat/completions", "url.scheme": "http",
		"http.response.status_code": "200", "server.address": "example.com", "client.address": "192.0.2.1", "user_agent.original": "tester", "sampo.request.id": "id",
	}
	if diff := cmp.Diff(want, values(server.Attributes)); diff != "" {
		t.Errorf("attributes of the server's span (-want +got):\n%s", diff)
	}
	resource := values(r.exports[0].ResourceSpans[0].Resource.Attributes)
	if diff := cmp.Diff(map[string]string{"service.name": "sampo", "service.version": "1.2", "zone": "a"}, resource); diff != "" {
		t.Errorf("resource (-want +got):\n%s", diff)
	}
	if h := r.requests[0]; h.Header.Get("Api-Key") != "k" || h.Header.Get("Content-Type") != "application/x-protobuf" || h.URL.Path != "/v1/traces" {
		t.Errorf("got %s with %v", h.URL, h.Header)
	}
}

func TestWhatAClientSaysCannotSpoilAnExport(t *testing.T) {
	r := receive(t)
	tracer := Open(Config{Endpoint: r.URL})
	req := httptest.NewRequest(http.MethodPost, "/x", nil)
	req.Header.Set("User-Agent", "\xff"+strings.Repeat("é", maxValue))
	tracer.Start(req, "/x", time.Now()).End(Outcome{Status: 200})
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	agent := values(r.spans()["POST /x"].GetAttributes())["user_agent.original"]
	if !strings.HasPrefix(agent, "\uFFFDé") && !strings.HasPrefix(agent, "é") || len(agent) > 2*maxValue+8 {
		t.Errorf("agent of %d bytes: %.20q", len(agent), agent)
	}
}

func TestOnlyFailuresOfTheServerAreErrors(t *testing.T) {
	for _, tt := range []struct {
		status int
		kind   string
		want   wire.Status_StatusCode
	}{
		{400, "invalid_value", wire.Status_STATUS_CODE_UNSET},
		{500, "server_error", wire.Status_STATUS_CODE_ERROR},
		{200, "server_error", wire.Status_STATUS_CODE_ERROR},
		{200, "", wire.Status_STATUS_CODE_UNSET},
		{499, "client_gone", wire.Status_STATUS_CODE_UNSET},
	} {
		r := receive(t)
		tracer := Open(Config{Endpoint: r.URL})
		tracer.Start(httptest.NewRequest(http.MethodPost, "/x", nil), "/x", time.Now()).End(Outcome{Status: tt.status, Error: tt.kind})
		if err := tracer.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := r.spans()["POST /x"]
		if got := s.Status.Code; got != tt.want || values(s.Attributes)["error.type"] != tt.kind {
			t.Errorf("%d %s: status %v, attributes %v", tt.status, tt.kind, got, values(s.Attributes))
		}
	}
}

func TestWhatACallerDoesNotSampleIsNotSent(t *testing.T) {
	r := receive(t)
	tracer := Open(Config{Endpoint: r.URL})
	req := httptest.NewRequest(http.MethodPost, "/x", nil)
	req.Header.Set("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	q := tracer.Start(req, "/x", time.Now())
	q.Ask(Ask{Params: &chat.Params{}})
	q.End(Outcome{Status: 200})
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.exports) > 0 {
		t.Errorf("got %v", r.exports)
	}
}

func TestExportsAreTriedAgainWhileACollectorPutsThemOff(t *testing.T) {
	for status, want := range map[int]int{503: attempts, 429: attempts, 400: 1} {
		r := receive(t)
		r.status = status
		var log bytes.Buffer
		e := newExporter(Config{Endpoint: r.URL, Log: slog.New(slog.NewTextHandler(&log, nil))})
		e.delay = time.Nanosecond
		_, q := e.post(t.Context(), nil)
		if q == nil {
			t.Errorf("%d: no error", status)
		}
		r.requests = nil
		if err := e.send(t.Context(), nil); err == nil || len(r.requests) != want {
			t.Errorf("%d: %d attempts, %v; want %d", status, len(r.requests), err, want)
		}
		e.complain(errors.New("a"), 1)
		e.complain(errors.New("b"), 1)
		if n := strings.Count(log.String(), "spans are lost"); n != 1 {
			t.Errorf("%d lines in the log: %s", n, log.String())
		}
	}
}

func TestWithoutATracerNothingHappens(t *testing.T) {
	var tracer *Tracer
	q := tracer.Start(httptest.NewRequest(http.MethodPost, "/x", nil), "/x", time.Now())
	q.Ask(Ask{})
	q.End(Outcome{})
	if q != nil || q.TraceID() != "" || tracer.Close(context.Background()) != nil {
		t.Errorf("a nil tracer traces")
	}
}

func TestTheEnvironmentSaysWhereTracesGo(t *testing.T) {
	for _, tt := range []struct {
		name string
		flag string
		env  map[string]string
		want string // endpoint, "" for off, "!" for an error
	}{
		{"nothing", "", nil, ""},
		{"flag", "http://a:4318/", nil, "http://a:4318/v1/traces"},
		{"variable", "", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://b/x"}, "https://b/x/v1/traces"},
		{"of traces, as it is", "", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://b", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/t"}, "http://c/t"},
		{"flag before variables", "http://a", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/t"}, "http://a/v1/traces"},
		{"off", "http://a", map[string]string{"OTEL_SDK_DISABLED": "true"}, ""},
		{"none", "http://a", map[string]string{"OTEL_TRACES_EXPORTER": "none"}, ""},
		{"no URL", "localhost:4318", nil, "!"},
		{"gRPC", "http://a", map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "!"},
		{"sampler", "http://a", map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.05"}, "http://a/v1/traces"},
		{"no sampler", "http://a", map[string]string{"OTEL_TRACES_SAMPLER": "jaeger_remote"}, "!"},
		{"no share", "http://a", map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "NaN"}, "!"},
		{"bad headers", "http://a", map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "secret"}, "!"},
		{"bad timeout", "http://a", map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "5s"}, "!"},
	} {
		c, ok, err := FromEnvironment(tt.flag, func(name string) string { return tt.env[name] })
		got := c.Endpoint
		if err != nil {
			got = "!"
		} else if !ok {
			got = ""
		}
		if got != tt.want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
	c, _, err := FromEnvironment("http://a", func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a=1, b=x%20y", "OTEL_SERVICE_NAME": "s", "OTEL_EXPORTER_OTLP_TIMEOUT": "1500"}[name]
	})
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "x y"}, c.Headers); err != nil || diff != "" || c.Service != "s" || c.Timeout != 1500*time.Millisecond {
		t.Errorf("got %+v, %v", c, err)
	}
}
