// SPDX-License-Identifier: Apache-2.0

package openai

import (
	"github.com/sampo-ai/sampo/internal/ordjson"
)

// The values of Error.Type.
const (
	TypeInvalidRequest = "invalid_request_error"
	TypeAuthentication = "authentication_error"
	TypePermission     = "permission_error"
	TypeNotFound       = "not_found_error"
	TypeConflict       = "conflict_error"
	TypeRateLimit      = "rate_limit_error"
	TypeServer         = "server_error"
	TypeUnavailable    = "service_unavailable"
)

// The values of Error.Code that decoding gives.
const (
	CodeInvalidJSON          = "invalid_json"
	CodeInvalidType          = "invalid_type"
	CodeInvalidValue         = "invalid_value"
	CodeMissing              = "missing_required_parameter"
	CodeUnsupportedParameter = "unsupported_parameter"
	CodeUnsupportedValue     = "unsupported_value"
	CodeUnknownParameter     = "unknown_parameter"
)

// An Error is the content of an error body. Param and Code are null in it when they are empty.
type Error struct {
	Message string
	Type    string
	Param   string
	Code    string
	Sampo   *ordjson.Object // our own details; left out if nil
}

func (e *Error) Error() string {
	if e.Param == "" {
		return "openai: " + e.Message
	}
	return "openai: " + e.Param + ": " + e.Message
}

// What is sent of a message and of a parameter's name, in bytes: they may repeat what the client wrote, which has no bound.
const (
	maxMessage = 4 << 10
	maxParam   = 256
)

// Body returns the JSON body of e.
func (e *Error) Body() []byte {
	inner := ordjson.NewObject()
	inner.Set("message", shortenTo(e.Message, maxMessage))
	inner.Set("type", e.Type)
	inner.Set("param", orNull(shortenTo(e.Param, maxParam)))
	inner.Set("code", orNull(e.Code))
	if e.Sampo != nil {
		inner.Set("sampo", e.Sampo)
	}
	body := ordjson.NewObject()
	body.Set("error", inner)
	return ordjson.Append(nil, body)
}

// Event returns e as an event of a stream that has begun.
func (e *Error) Event() []byte {
	return append(append([]byte("event: error\ndata: "), e.Body()...), "\n\n"...)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
