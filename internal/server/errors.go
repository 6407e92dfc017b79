// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/ordjson"
	"github.com/sampo-ai/sampo/internal/prompt/jinja"
	"github.com/sampo-ai/sampo/internal/registry"
	"github.com/sampo-ai/sampo/internal/wire/openai"
)

// statusClientGone is what the log shows for a request whose client has left. It is never sent.
const statusClientGone = 499

// A problem is an error as a client sees it.
type problem struct {
	status     int
	err        openai.Error
	retryAfter int   // seconds; 0: no such header
	early      bool  // the body may not have been read
	slow       bool  // the body did not come in time; its client may still be there
	cause      error // for the log
}

func (p *problem) Error() string { return p.err.Error() }

// kind is what machines call the problem.
func (p *problem) kind() string {
	if p.err.Code != "" {
		return p.err.Code
	}
	return p.err.Type
}

func (p *problem) headers() map[string]string {
	h := map[string]string{}
	if p.retryAfter > 0 {
		h["Retry-After"] = fmt.Sprint(p.retryAfter)
	}
	if p.status == http.StatusConflict {
		h["X-Should-Retry"] = "false" // client libraries would try again
	}
	if p.status == http.StatusUnauthorized {
		h["WWW-Authenticate"] = "Bearer"
	}
	return h
}

// Errors that need no details.
var (
	errInternal     = &problem{status: http.StatusInternalServerError, err: openai.Error{Message: "Internal server error", Type: openai.TypeServer}}
	errShuttingDown = &problem{status: http.StatusServiceUnavailable, retryAfter: 5, err: openai.Error{Message: "The server is shutting down.", Type: openai.TypeUnavailable, Code: "shutting_down"}}
	errLoading      = &problem{status: http.StatusServiceUnavailable, retryAfter: 1, err: openai.Error{Message: "The model is being loaded. Try again in a moment.", Type: openai.TypeUnavailable, Code: "model_loading"}}
	errStopped      = &problem{status: http.StatusServiceUnavailable, retryAfter: 5, err: openai.Error{Message: "The engine has stopped.", Type: openai.TypeUnavailable, Code: "shutting_down"}}
	errQueueFull    = &problem{status: http.StatusTooManyRequests, retryAfter: 1, err: openai.Error{Message: "The queue is full. Try again in a moment.", Type: openai.TypeRateLimit, Code: "queue_full"}}
	errExpired      = &problem{status: http.StatusTooManyRequests, retryAfter: 1, err: openai.Error{Message: "The request waited too long for its turn. Try again in a moment.", Type: openai.TypeRateLimit, Code: "queue_full"}}
	errHeaders      = &problem{status: http.StatusRequestHeaderFieldsTooLarge, early: true, err: openai.Error{Message: fmt.Sprintf("The request has more than %d header lines.", maxHeaders), Type: openai.TypeInvalidRequest}}
	errContentType  = &problem{status: http.StatusBadRequest, early: true, err: openai.Error{Message: "Unsupported Media Type: Only 'application/json' is allowed", Type: openai.TypeInvalidRequest}}
	errNoToken      = badRequest(openai.CodeInvalidValue, "", "No token is left to choose from: allowed_token_ids, bad_words, min_tokens and stop_token_ids together forbid all of them.")
	errNoTemplate   = badRequest("chat_template_missing", "model", "This model has no chat template: it is a base model. Start the server with --chat-template to give it one, or use /v1/completions.")
)

func badRequest(code, param, format string, args ...any) *problem {
	return &problem{status: http.StatusBadRequest, err: openai.Error{Message: fmt.Sprintf(format, args...), Type: openai.TypeInvalidRequest, Param: param, Code: code}}
}

func errOrigin(format string, args ...any) *problem {
	return &problem{status: http.StatusForbidden, early: true, err: openai.Error{Message: fmt.Sprintf(format, args...), Type: openai.TypePermission, Code: "origin_refused"}}
}

func errKey(sent bool) *problem {
	message := "You didn't provide an API key. Send it as 'Authorization: Bearer KEY' or as 'x-api-key: KEY'."
	if sent {
		message = "Incorrect API key provided."
	}
	return &problem{status: http.StatusUnauthorized, early: true, err: openai.Error{Message: message, Type: openai.TypeAuthentication, Code: "invalid_api_key"}}
}

// errScope says which right a key lacks.
func errScope(id string, k *Key, r Route) *problem {
	has := []any{}
	for _, s := range k.Scopes {
		has = append(has, string(s))
	}
	o := ordjson.NewObject()
	o.Set("request_id", id)
	o.Set("needs", string(r.Scope))
	o.Set("has", has)
	return &problem{status: http.StatusForbidden, early: true, err: openai.Error{
		Message: fmt.Sprintf("This key lacks the scope %s.", r.Scope), Type: openai.TypePermission, Code: "insufficient_scope", Sampo: o,
	}}
}

// errUnknownURL also sends those who know other programs' paths to ours, and those whose base URL lacks /v1 or has it twice.
func errUnknownURL(r *http.Request, routes routeTable) *problem {
	hint := ""
	clean := path.Clean("/" + r.URL.Path)
	under := "/v1" + strings.TrimPrefix(clean, "/v1/v1")
	if routes.find(under) != nil {
		hint = fmt.Sprintf(". It is %s here: the base URL for OpenAI's clients ends in /v1.", under)
	} else if clean += "/"; strings.HasPrefix(clean, "/api/v0/") || strings.HasPrefix(clean, "/api/v1/") {
		hint = ". The routes for OpenAI's clients are below /v1."
	}
	return &problem{status: http.StatusNotFound, early: true, err: openai.Error{Message: fmt.Sprintf("Unknown URL: %s %s", r.Method, r.URL.Path) + hint, Type: openai.TypeNotFound, Code: "unknown_url"}}
}

func errMethod(r *http.Request) *problem {
	return &problem{status: http.StatusMethodNotAllowed, early: true, err: openai.Error{Message: fmt.Sprintf("The method %s is not allowed for %s", r.Method, r.URL.Path), Type: openai.TypeInvalidRequest, Code: "method_not_allowed"}}
}

func errTooLarge(limit int64) *problem {
	return &problem{status: http.StatusRequestEntityTooLarge, early: true, err: openai.Error{Message: fmt.Sprintf("The request body is larger than %d bytes.", limit), Type: openai.TypeInvalidRequest, Code: "request_too_large"}}
}

func errEncoding(name string) *problem {
	return &problem{status: http.StatusUnsupportedMediaType, early: true, err: openai.Error{Message: fmt.Sprintf("The content encoding %q is not supported.", name), Type: openai.TypeInvalidRequest}}
}

func errBody(cause error) *problem {
	p := badRequest(openai.CodeInvalidJSON, "", "The request body could not be read whole.")
	p.cause, p.early = cause, true
	return p
}

// errModel says which models there are, and what makes another one available.
func (s *Server) errModel(name string) *problem {
	const most = 512 // some times in the message, which has a bound too
	name = strings.ToValidUTF8(name[:min(len(name), most)], "")
	what := "it"
	get, ok := registry.HowToGet(name)
	if !ok {
		what = "another"
	}
	message := fmt.Sprintf("The model `%s` does not exist. To get %s: %s (sampo pull %s says more).", name, what, get, name)
	if len(s.cfg.Models) > 0 {
		message += " This server has: " + namesOf(s.cfg.Models) + "."
	}
	p := badRequest("model_not_found", "model", "%s", message)
	p.status = http.StatusNotFound
	return p
}

// problem returns what a client of this exchange sees of err.
func (x *exchange) problem(err error) *problem {
	if x.stopped() && errors.Is(err, context.Canceled) || x.s.draining.Load() && errors.Is(err, inference.ErrClosed) {
		return errShuttingDown
	}
	return problemOf(err)
}

// problemOf is the one table from errors to what a client sees.
func problemOf(err error) *problem {
	var (
		known    *problem
		wire     *openai.Error
		input    *answer.InputError
		length   *answer.LengthError
		template *answer.TemplateError
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &wire):
		return &problem{status: http.StatusBadRequest, err: *wire}
	case errors.As(err, &input):
		code := openai.CodeInvalidValue
		if input.Unsupported {
			code = openai.CodeUnsupportedParameter
		}
		return badRequest(code, input.Param, "%s", input.Message)
	case errors.As(err, &length):
		return badRequest("context_length_exceeded", "", "%s", overflow(length))
	case errors.As(err, &template):
		return badRequest(openai.CodeInvalidValue, "messages", "%s", templateMessage(template))
	case errors.Is(err, answer.ErrNoTemplate):
		return errNoTemplate
	case errors.Is(err, inference.ErrNoToken):
		return errNoToken
	case errors.Is(err, inference.ErrClosed):
		return errStopped
	case errors.Is(err, inference.ErrBusy):
		return errQueueFull
	case errors.Is(err, inference.ErrExpired):
		return errExpired
	}
	p := *errInternal
	p.cause = err
	return &p
}

// templateMessage returns the template's own words if it refused the conversation itself.
func templateMessage(e *answer.TemplateError) string {
	var raised *jinja.RaisedError
	if errors.As(e, &raised) {
		return raised.Message
	}
	return "The chat template could not render this conversation: " + e.Err.Error()
}

// overflow is the sentence that clients look for. Its words are vLLM's, and the end is for LangChain.
func overflow(e *answer.LengthError) string {
	var b strings.Builder
	output := e.OutputTokens
	if output == 0 && e.PromptTokens == e.MaxContext {
		output = 1
	}
	fmt.Fprintf(&b, "This model's maximum context length is %d tokens. However, you requested %d output tokens and your prompt contains ", e.MaxContext, output)
	if e.Bytes > 0 {
		fmt.Fprintf(&b, "%d bytes (more than %d bytes, which is the upper bound for %d input tokens). ", e.Bytes, e.MostBytes, e.MaxContext)
	} else {
		fmt.Fprintf(&b, "%d input tokens, for a total of %d tokens. ", e.PromptTokens, uint64(e.PromptTokens)+uint64(output))
	}
	b.WriteString("Please reduce the length of the input prompt or the number of requested output tokens. (context_length_exceeded)")
	return b.String()
}
