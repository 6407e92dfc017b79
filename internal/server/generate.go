// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/wire/openai"
)

const (
	maxSession = 512 // characters
	maxNotice  = 1 << 10
)

// chat answers POST /v1/chat/completions.
func (s *Server) chat(x *exchange) error {
	body, err := x.body()
	if err != nil {
		return err
	}
	req, bad := openai.DecodeChat(body)
	if bad != nil {
		return bad
	}
	if err := x.accept(&req.Common, &req.Chat.Params); err != nil {
		return err
	}
	m, err := s.model(req.Model, Model.Chats)
	if err != nil {
		return err
	}
	x.ask(m, "chat", &req.Chat.Params)
	if req.Refused != nil {
		return req.Refused
	}
	done, err := s.admit()
	if err != nil {
		return err
	}
	defer done()
	stream, err := m.Chat(x.r.Context(), req.Chat)
	if err != nil {
		return renamed(err, "messages", req.LimitField, "top_logprobs")
	}
	head := x.head(m, "chatcmpl-")
	source := x.watch(stream, req.Chat.Choices)
	if req.Stream {
		return x.streamAnswer(source, req.Events(head))
	}
	return x.wholeAnswer(source, func(w io.Writer, a *chat.Answer) error { return req.WriteBody(w, head, a) })
}

// complete answers POST /v1/completions.
func (s *Server) complete(x *exchange) error {
	body, err := x.body()
	if err != nil {
		return err
	}
	req, bad := openai.DecodeCompletion(body)
	if bad != nil {
		return bad
	}
	return s.continueText(x, req)
}

// continueText answers a completion.
func (s *Server) continueText(x *exchange, req *openai.CompletionRequest) error {
	if err := x.accept(&req.Common, &req.Completion.Params); err != nil {
		return err
	}
	m, err := s.model(req.Model, anyModel)
	if err != nil {
		return err
	}
	x.ask(m, "text_completion", &req.Completion.Params)
	if req.Refused != nil {
		return req.Refused
	}
	done, err := s.admit()
	if err != nil {
		return err
	}
	defer done()
	stream, err := m.Complete(x.r.Context(), req.Completion)
	if err != nil {
		return renamed(err, "prompt", req.LimitField, "logprobs")
	}
	head := x.head(m, "cmpl-")
	source := x.watch(stream, req.Completion.Choices)
	if req.Stream {
		return x.streamAnswer(source, req.Events(head))
	}
	return x.wholeAnswer(source, func(w io.Writer, a *chat.Answer) error { return req.WriteBody(w, head, a) })
}

// admit counts a generation request until the function that it returns is called. Once the server drains, no
// request is admitted.
func (s *Server) admit() (done func(), err error) {
	if s.draining.Load() {
		return nil, errShuttingDown
	}
	s.generating.Add(1)
	return func() { s.generating.Add(-1) }, nil
}

// accept takes over what the headers say, and tells of fields that mean nothing here.
func (x *exchange) accept(c *openai.Common, p *chat.Params) error {
	if x.r.Header.Get("X-Request-Id") != x.id {
		x.setID(p.RequestID)
	}
	p.RequestID, p.Tenant, p.CacheSalt = x.id, x.tenant, x.s.cacheSalt(x.tenant, p.CacheSalt)
	if err := x.readSession(p); err != nil {
		return err
	}
	if n, err := strconv.ParseInt(x.r.Header.Get("X-Vllm-Priority"), 10, 64); err == nil {
		p.Priority = n
	}
	p.Explain = x.r.Header.Get("X-Sampo-Explain") == "1"
	x.stream = c.Stream
	return x.notice(c.Unknown)
}

// readSession takes the conversation's name from the first header that has one, unless the body has.
func (x *exchange) readSession(p *chat.Params) error {
	for _, name := range []string{"X-Sampo-Session", "X-NVCL-Session", "X-Session-ID"} {
		if p.Session != "" {
			return nil
		}
		p.Session = x.r.Header.Get(name)
		if n := utf8.RuneCountInString(p.Session); n > maxSession {
			return badRequest(openai.CodeInvalidValue, name, "%s can have at most %d characters, got %d.", name, maxSession, n)
		}
	}
	return nil
}

// notice names unknown fields in a header, or refuses them if the client wants that.
func (x *exchange) notice(unknown []string) error {
	if len(unknown) == 0 {
		return nil
	}
	if x.r.Header.Get("X-Sampo-Strict") == "1" {
		return errUnknownField(unknown[0])
	}
	notice := "unknown field: " + strings.Join(unknown, "; unknown field: ")
	notice = strings.Map(printable, notice)
	x.w.Header().Set("X-Sampo-Notice", notice[:min(len(notice), maxNotice)])
	return nil
}

func errUnknownField(name string) *problem {
	return badRequest(openai.CodeUnknownParameter, name, "Unknown parameter: '%s'.", name)
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}

// renamed gives errors of package answer the names of the fields that this request used.
func renamed(err error, prompt, limit, top string) error {
	var length *answer.LengthError
	if errors.As(err, &length) {
		p := problemOf(err)
		if p.err.Param = prompt; length.PromptFits() {
			p.err.Param = limit
		}
		return p
	}
	var input *answer.InputError
	if errors.As(err, &input) {
		named := *input
		switch input.Param {
		case "prompt":
			named.Param = prompt
		case "logprobs":
			named.Param = top
		}
		return &named
	}
	return err
}

func (x *exchange) head(m Model, prefix string) openai.Head {
	x.answerID = prefix + x.id
	return openai.Head{ID: x.answerID, Model: m.Name, Fingerprint: x.s.fingerprint, Created: time.Now()}
}

// wholeAnswer sends an answer once it is complete.
func (x *exchange) wholeAnswer(source answer.Source, write func(io.Writer, *chat.Answer) error) error {
	a, err := answer.Collect(source)
	if err != nil {
		return err
	}
	x.w.Header().Set("Openai-Processing-Ms", strconv.FormatInt(time.Since(x.begun).Milliseconds(), 10))
	b := &bodyWriter{x: x}
	if err := write(b, a); err != nil {
		x.finish = "abort"
		return nil //nolint:nilerr // the client is gone: there is nobody to tell
	}
	return b.end()
}

// An encoder writes deltas as events of a stream.
type encoder interface {
	Delta(d chat.Delta) [][]byte
	End() [][]byte
}

// streamAnswer sends an answer as it comes. Nothing leaves before the first token, so that an error up to there is
// an ordinary one.
func (x *exchange) streamAnswer(source answer.Source, enc encoder) error {
	defer source.Close()
	if x.s.cfg.EarlyHeaders {
		x.openStream()
	}
	for {
		d, err := source.Next()
		switch {
		case errors.Is(err, io.EOF):
			x.sendEvents(enc.End())
			return nil
		case err != nil && x.status == 0:
			return err
		case err != nil:
			x.breakStream(err)
			return nil
		}
		if x.status == 0 {
			x.openStream()
		}
		if !x.sendEvents(enc.Delta(d)) {
			x.finish = "abort"
			return nil
		}
	}
}

func (x *exchange) openStream() {
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	x.status = http.StatusOK
	x.w.WriteHeader(http.StatusOK)
	if x.s.cfg.EarlyHeaders {
		_ = x.rc.Flush()
	}
}

// breakStream ends a stream that has begun with an error.
func (x *exchange) breakStream(err error) {
	if x.gone() {
		x.finish = "abort"
		return
	}
	p := x.problem(err)
	x.cause, x.finish, x.failure = p.cause, "error", p.kind()
	x.sendEvents([][]byte{p.err.Event(), []byte(openai.Done)})
}

// sendEvents sends each event in one piece. It reports whether the client still takes them.
func (x *exchange) sendEvents(events [][]byte) bool {
	for _, e := range events {
		x.extendWrite()
		if _, err := x.w.Write(e); err != nil {
			return false
		}
		if err := x.rc.Flush(); err != nil {
			return false
		}
	}
	return true
}
