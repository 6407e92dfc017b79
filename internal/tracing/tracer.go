// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A Tracer makes spans of requests and sends them in the background. Its methods may be called from many goroutines.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
}

// maxValue is the length of what a client says that goes into a span, in characters.
const maxValue = 1024

// Open returns a tracer that sends to the configuration's endpoint. Nothing is sent before the first span ends.
func Open(c Config) *Tracer {
	if c.Sampler == nil {
		c.Sampler = sdktrace.ParentBased(sdktrace.AlwaysSample())
	}
	e := newExporter(c)
	limits := sdktrace.NewSpanLimits() // of the environment
	if limits.AttributeValueLengthLimit < 0 {
		limits.AttributeValueLengthLimit = maxValue
	}
	p := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(e, sdktrace.WithExportTimeout(e.timeout)), sdktrace.WithSampler(c.Sampler),
		sdktrace.WithRawSpanLimits(limits),
		sdktrace.WithResource(resource.NewSchemaless(c.attributes()...)),
	)
	return &Tracer{provider: p, tracer: p.Tracer("github.com/sampo-ai/sampo", trace.WithInstrumentationVersion(c.Version)), exporter: e}
}

// Endpoint returns where spans go.
func (t *Tracer) Endpoint() string { return t.exporter.url }

// Close sends what is left, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// A Request is the spans of one request. Its methods are for one goroutine.
type Request struct {
	tracer *Tracer
	ctx    context.Context //nolint:containedctx // it is how OpenTelemetry hands a parent on
	server trace.Span
	work   trace.Span // nil until Ask
	begun  time.Time
	model  string
}

// Start opens the SERVER span of a request that came at begun. A traceparent header is its parent.
func (t *Tracer) Start(r *http.Request, route string, begun time.Time) *Request {
	if t == nil {
		return nil
	}
	parent := propagation.TraceContext{}.Extract(context.WithoutCancel(r.Context()), propagation.HeaderCarrier(r.Header))
	attrs := []attribute.KeyValue{
		attribute.String(httpMethod, r.Method), attribute.String(httpRoute, route), attribute.String(urlPath, r.URL.Path),
		attribute.String(urlScheme, "http"), attribute.String(userAgent, r.UserAgent()),
	}
	attrs = append(attrs, address(serverAddress, serverPort, r.Host)...)
	attrs = append(attrs, address(clientAddress, "", r.RemoteAddr)...)
	q := &Request{tracer: t, begun: begun}
	q.ctx, q.server = t.tracer.Start(parent, r.Method+" "+route,
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(begun), trace.WithAttributes(attrs...))
	return q
}

// address divides host:port into attributes; without a name for it the port is left out.
func address(hostName, portName, hostPort string) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return []attribute.KeyValue{attribute.String(hostName, hostPort)}
	}
	list := []attribute.KeyValue{attribute.String(hostName, host)}
	if n, err := strconv.Atoi(port); err == nil && portName != "" {
		list = append(list, attribute.Int(portName, n))
	}
	return list
}

// TraceID returns the trace that the request is part of, "" where there is none.
func (q *Request) TraceID() string {
	if q == nil {
		return ""
	}
	return q.server.SpanContext().TraceID().String()
}

// An Outcome is what became of a request.
type Outcome struct {
	Status     int    // of HTTP
	Error      string // kind of error, "" for none
	ID         string // of the request
	AnswerID   string // "" if there was no answer
	Finishes   []string
	Usage      Usage
	Dispatched time.Time // the first step that worked on it; zero: none did
	FirstToken time.Time // zero: none came
}

// Usage counts tokens: input includes cached, output includes reasoning.
type Usage struct{ Input, Cached, Output, Reasoning int }

// End closes the spans and hands them to the sender.
func (q *Request) End(o Outcome) {
	if q == nil {
		return
	}
	q.endWork(&o)
	q.server.SetAttributes(attribute.Int(httpStatus, o.Status), attribute.String(requestID, o.ID))
	q.failed(q.server, &o)
	q.server.End()
}

// failed marks a span of a request that went wrong. A refused request is no failure of the server.
func (q *Request) failed(s trace.Span, o *Outcome) {
	if o.Error == "" {
		return
	}
	s.SetAttributes(attribute.String(errorType, o.Error))
	if o.Status < http.StatusBadRequest || o.Status >= http.StatusInternalServerError {
		s.SetStatus(codes.Error, "")
	}
}
