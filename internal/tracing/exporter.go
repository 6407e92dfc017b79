// SPDX-License-Identifier: Apache-2.0

package tracing

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	attempts    = 4               // of an export that a collector puts off
	firstDelay  = time.Second     // before the second attempt; it doubles
	complainGap = 5 * time.Minute // between two lines of the log about one collector
)

// An exporter posts spans to a collector. It implements sdktrace.SpanExporter.
type exporter struct {
	url     string
	headers map[string]string
	timeout time.Duration
	http    *http.Client
	log     *slog.Logger
	delay   time.Duration

	// mu guards all below.
	mu         sync.Mutex
	complained time.Time // when the log was last told of a failure
	lost       int       // spans since then
}

func newExporter(c Config) *exporter {
	e := &exporter{url: c.Endpoint, headers: c.Headers, timeout: c.Timeout, log: c.Log, delay: firstDelay}
	// Nothing goes anywhere but where it was sent.
	e.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if e.timeout == 0 {
		e.timeout = defaultTimeout
	}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	return e
}

// ExportSpans implements sdktrace.SpanExporter. Failures go to the log, now and then: nobody above could do more.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	body, err := proto.Marshal(&collector.ExportTraceServiceRequest{ResourceSpans: resourceSpans(spans)})
	if err == nil {
		err = e.send(ctx, body)
	}
	if err != nil {
		e.complain(err, len(spans))
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.http.CloseIdleConnections()
	return nil
}

// send posts a body, and again if the collector asks for that.
func (e *exporter) send(ctx context.Context, body []byte) error {
	delay := e.delay
	for attempt := 1; ; attempt++ {
		wait, err := e.post(ctx, body)
		if err == nil || wait < 0 || attempt == attempts {
			return err
		}
		timer := time.NewTimer(max(wait, delay))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		delay *= 2
	}
}

// post sends a body once. After an error wait says how long to wait before another attempt, negative for none.
func (e *exporter) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	for key, value := range e.headers {
		req.Header.Set(key, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := e.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // the connection is used again
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return min(time.Duration(max(0, seconds))*time.Second, time.Minute), fmt.Errorf("the collector answers %s", resp.Status)
	}
	return -1, fmt.Errorf("the collector answers %s", resp.Status)
}

// complain tells the log that spans are lost.
func (e *exporter) complain(err error, spans int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost += spans
	if time.Since(e.complained) < complainGap {
		return
	}
	e.log.Warn("tracing: spans are lost", "endpoint", e.url, "spans", e.lost, "error", err)
	e.complained, e.lost = time.Now(), 0
}
