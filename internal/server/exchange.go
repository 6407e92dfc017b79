// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/tracing"
)

// An exchange is one request and what was answered.
type exchange struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	rc     *http.ResponseController
	id     string // of the request
	begun  time.Time
	status int // 0 until something was sent

	// What the access log tells.
	route      string
	tenant     string // whose key it is; "" if there are none
	api        string // "" for a route that asks no model
	model      string // as configured; "" until it is found
	stream     bool
	usage      chat.Usage
	timings    chat.Timings
	firstToken time.Time
	finish     string
	finishes   []string // reasons by choice, "" for one that has not ended
	answerID   string
	cause      error  // behind a 500; the client does not see it
	failure    string // kind of error, "" for none

	span *tracing.Request // nil: nobody traces
}

const maxRequestID = 256

func (s *Server) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{s: s, w: w, r: r, rc: http.NewResponseController(w), begun: time.Now()}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	x.extendWrite() // the deadline of the connection's last answer may be over
	if r.ContentLength != 0 {
		// A body that no handler reads is waited for after the answer. Without a body, reading tells that the client has left.
		_ = x.rc.SetReadDeadline(x.begun.Add(s.readTimeout))
	}
	x.setID(r.Header.Get("X-Request-Id"))
	if x.id == "" {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		x.setID(hex.EncodeToString(b[:]))
	}
	return x
}

// setID takes a request id if it can stand in a header and in a log.
func (x *exchange) setID(id string) {
	if id == "" || len(id) > maxRequestID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return
	}
	x.id = id
	x.w.Header().Set("X-Request-Id", id)
}

// end turns a panic into an error and writes the access log. An answer that was given up it cuts off.
func (x *exchange) end() {
	v := recover()
	begun := x.status != 0
	if v != nil {
		x.s.log.Error("panic in a request", "request", x.id, "panic", v, "stack", string(debug.Stack()))
		x.finish, x.failure = "error", errInternal.kind()
		x.fail(errInternal)
	}
	x.s.metrics.end(x)
	x.endSpan()
	x.s.log.LogAttrs(x.r.Context(), slog.LevelInfo, "request", x.logged()...)
	if x.finish == "abort" || v != nil && begun {
		// The client may only have closed its half of the connection, or wait for the rest: what it got must not look whole.
		panic(http.ErrAbortHandler)
	}
}

// logged is the access log's line: never a prompt, never an answer.
func (x *exchange) logged() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("request", x.id), slog.String("method", x.r.Method), slog.String("route", x.route),
		slog.Int("status", x.status), slog.Duration("total", time.Since(x.begun)),
		slog.String("client", clientOf(x.r)), slog.String("agent", shortened(x.r.UserAgent())),
	}
	if x.tenant != "" {
		attrs = append(attrs, slog.String("tenant", x.tenant))
	}
	if id := x.span.TraceID(); id != "" {
		attrs = append(attrs, slog.String("trace", id))
	}
	if x.model != "" {
		attrs = append(attrs, slog.String("api", x.api), slog.String("model", x.model), slog.Bool("stream", x.stream),
			slog.Int("prompt_tokens", x.usage.PromptTokens), slog.Int("cached_tokens", x.usage.CachedTokens),
			slog.Int("output_tokens", x.usage.OutputTokens), slog.Int("reasoning_tokens", x.usage.ReasoningTokens),
			slog.String("finish", x.finish))
	}
	if x.timings != (chat.Timings{}) { // known from the first token on
		attrs = append(attrs, slog.Duration("queue", x.timings.Queue), slog.Duration("prefill", x.timings.Prefill), slog.Duration("decode", x.timings.Decode))
	}
	if !x.firstToken.IsZero() {
		attrs = append(attrs, slog.Duration("ttft", x.firstToken.Sub(x.begun)))
	}
	if x.cause != nil {
		attrs = append(attrs, slog.String("error", x.cause.Error()))
	}
	return attrs
}

// clientOf returns the client's address without its port, which changes with each connection.
func clientOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// shortened keeps what a client says of itself within a line.
func shortened(s string) string {
	const most = 128
	return s[:min(len(s), most)]
}

// gone reports whether the client has left.
func (x *exchange) gone() bool {
	ctx := x.r.Context()
	return ctx.Err() != nil && !x.stopped()
}

// stopped reports whether the server has ended the request.
func (x *exchange) stopped() bool { return errors.Is(context.Cause(x.r.Context()), errShuttingDown) }

// send writes a whole body.
func (x *exchange) send(status int, contentType string, body []byte) error {
	x.status = status
	x.w.Header().Set("Content-Type", contentType)
	x.extendWrite()
	x.w.WriteHeader(status)
	if x.r.Method == http.MethodHead {
		return nil
	}
	_, _ = x.w.Write(body) // a client that is gone is no error of ours
	return nil
}

func (x *exchange) sendJSON(body []byte) error {
	return x.send(http.StatusOK, "application/json", body)
}

// extendWrite gives the client time to take what is written next.
func (x *exchange) extendWrite() {
	_ = x.rc.SetWriteDeadline(time.Now().Add(x.s.writeTimeout)) // test writers have no deadlines
}

// fail answers with an error. After a client has left nothing is written; after headers have left the handler itself
// ends the stream.
func (x *exchange) fail(err error) {
	if x.status != 0 {
		return
	}
	p := x.problem(err)
	if x.gone() && !p.slow {
		x.status, x.finish = statusClientGone, "abort"
		return
	}
	x.cause, x.failure = p.cause, p.kind()
	x.s.metrics.refuse(&p.err)
	x.finish = "" // that of a choice which had ended counts no more
	if p.status >= http.StatusInternalServerError {
		x.finish = "error"
	}
	h := x.w.Header()
	for k, v := range p.headers() {
		h.Set(k, v)
	}
	// A body that was not read must not hold the answer back.
	if x.r.ContentLength != 0 && p.early {
		h.Set("Connection", "close")
		_ = x.rc.EnableFullDuplex() // HTTP/2 needs no such thing
	}
	_ = x.send(p.status, "application/json", p.err.Body())
}

// body reads the request's JSON.
func (x *exchange) body() ([]byte, error) {
	if err := x.checkContentType(); err != nil {
		return nil, err
	}
	limit := x.s.cfg.MaxBody
	if x.r.ContentLength > limit {
		return nil, errTooLarge(limit)
	}
	data, err := io.ReadAll(&pacedBody{Reader: http.MaxBytesReader(x.w, x.r.Body, limit), x: x, begun: time.Now()})
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, errTooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		p := errBody(err)
		p.slow = true
		return nil, p
	case err != nil: // the deadline stays: what is left of the body must not be waited for
		return nil, errBody(err)
	}
	_ = x.rc.SetReadDeadline(time.Time{}) // from here on a read error means that the client has left
	return data, nil
}

// A pacedBody is a body whose client must keep a pace: half a minute to begin with, and a second more for each 64 KiB
// that came.
type pacedBody struct {
	io.Reader
	x     *exchange
	begun time.Time
	bytes int64
}

func (b *pacedBody) Read(p []byte) (int, error) {
	_ = b.x.rc.SetReadDeadline(b.begun.Add(b.x.s.readTimeout + time.Duration(b.bytes>>16)*time.Second)) // test requests have no deadlines
	n, err := b.Reader.Read(p)
	b.bytes += int64(n)
	return n, err
}

// checkContentType accepts JSON, and a missing header from anything but a browser.
func (x *exchange) checkContentType() error {
	if e := x.r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return errEncoding(e)
	}
	header := x.r.Header.Get("Content-Type")
	if header == "" && x.r.Header.Get("Origin") == "" && x.r.Header.Get("Sec-Fetch-Site") == "" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(header)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || kind != "application/json" {
		return errContentType
	}
	return nil
}
