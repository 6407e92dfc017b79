// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"strings"
	"testing"
)

// What a client wrote may stand in an error's message, but not in any length: a model name of three megabytes made a body of
// six.
func TestAnErrorRepeatsLittleOfTheRequest(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	long := strings.Repeat("é", 20_000)
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
	}{
		{"model", "POST", "/v1/chat/completions", `{"model":"` + long + `",` + hello + `}`, nil},
		{"unknown field", "POST", "/v1/chat/completions", `{"` + long + `":1,` + hello + `}`, []string{"X-Sampo-Strict: 1"}},
		{"nested field", "POST", "/v1/chat/completions", `{"stream":true,"stream_options":{"` + long + `":1},` + hello + `}`, []string{"X-Sampo-Strict: 1"}},
		{"content part", "POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"` + long + `"}]}]}`, nil},
		{"path", "GET", "/" + strings.Repeat("a", 30_000), "", nil},
		{"host", "GET", "/health", "", []string{"Host: " + strings.Repeat("a", 30_000)}},
		{"origin", "POST", "/v1/chat/completions", "{}", []string{"Origin: " + strings.Repeat("a", 30_000)}},
		{"encoding", "POST", "/v1/chat/completions", "{}", []string{"Content-Encoding: " + strings.Repeat("a", 30_000)}},
		{"model in the path", "GET", "/v1/models/" + strings.Repeat("a", 30_000), "", nil},
		{"model in the query", http.MethodGet, "/tokenizer_info?model=" + strings.Repeat("a", 30_000), "", nil},
	} {
		a := s.do(tt.method, tt.path, tt.body, tt.headers...)
		message, _, _, _ := a.problem(t)
		if a.StatusCode < 400 || len(a.body) > 6000 || message == "" {
			t.Errorf("%s: status %d, a body of %d bytes", tt.name, a.StatusCode, len(a.body))
		}
	}
}
