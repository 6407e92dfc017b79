// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
)

func TestSeveralModelsAreToldApartByName(t *testing.T) {
	m, engine := bytechat.Say("m", "a<|im_end|>")
	base := m.Config
	base.Name, base.Template, base.Source = "base", nil, ""
	s := start(t, m, engine, func(c *Config) {
		c.Models[0].HeldBytes = 7 << 20
		c.Models = append(c.Models, Model{Model: answer.New(base)})
		c.Absent = []AbsentModel{{Name: "large", NeededBytes: 900 << 20}}
	})
	for _, tt := range []struct {
		path, body string
		status     int
		code, text string
	}{
		{"/v1/chat/completions", `{` + hello + `}`, 200, "", `"model":"m"`}, // the only one that chats
		{"/v1/completions", `{"prompt":"a"}`, 400, "missing_required_parameter", "m, base"},
		{"/v1/completions", `{"model":"base","prompt":"a"}`, 200, "", `"model":"base"`},
		{"/v1/chat/completions", `{"model":"base",` + hello + `}`, 400, "chat_template_missing", ""},
		{"/v1/chat/completions", `{"model":"other",` + hello + `}`, 404, "model_not_found", "sampo pull other says more). This server has: m, base."},
		{"/v1/chat/completions", `{"model":"o/other:Q4_0",` + hello + `}`, 404, "model_not_found", "To get it: hf download o/other, then sampo serve o/other:Q4_0 (sampo pull o/other:Q4_0 says more)."},
		// It told how to download a model that no hub has.
		{"/v1/chat/completions", `{"model":"sampo/mini-chat@cpu",` + hello + `}`, 404, "model_not_found", "To get it: sampo serve sampo/mini-chat (sampo pull sampo/mini-chat@cpu says more)."},
		{"/v1/chat/completions", `{"model":"large",` + hello + `}`, 409, "insufficient_memory", `"holders":[{"model":"m","bytes":7340032},{"model":"base","bytes":0}]`},
	} {
		r := s.post(tt.path, tt.body)
		if r.StatusCode != tt.status || !strings.Contains(r.body, tt.text) {
			t.Errorf("%s %s: status %d, want %d with %q: %s", tt.path, tt.body, r.StatusCode, tt.status, tt.text, r.body)
		}
		if tt.code != "" {
			if _, _, _, code := r.problem(t); code != tt.code {
				t.Errorf("%s %s: code %q, want %q", tt.path, tt.body, code, tt.code)
			}
		}
		if got := r.Header.Get("X-Should-Retry"); (got == "false") != (tt.status == 409) {
			t.Errorf("%s %s: x-should-retry %q", tt.path, tt.body, got)
		}
	}
	listed := s.do(http.MethodGet, "/v1/models", "").body
	if i, j := strings.Index(listed, `"id":"base"`), strings.Index(listed, `"id":"large"`); i < 0 || j < i || !strings.Contains(listed, `"resident":false`) {
		t.Errorf("the list is %s", listed)
	}
}
