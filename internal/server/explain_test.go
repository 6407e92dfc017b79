// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestExplainTellsHowAPromptCameToBe(t *testing.T) {
	s := say(t, "hi<|im_end|>")
	type explained struct {
		Sampo struct {
			CachedTokens int `json:"cached_tokens"`
			Explain      []struct {
				Template string
				Prompt   string
				Segments []struct{ Origin, Text string }
				IDs      []int `json:"token_ids"`
				Plan     map[string]any
			}
		}
		Usage struct {
			Prompt int `json:"prompt_tokens"`
		}
	}
	read := func(text string) (e explained) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		return e
	}
	check := func(name string, e explained) {
		t.Helper()
		if len(e.Sampo.Explain) != 1 {
			t.Fatalf("%s: %d explanations, want one", name, len(e.Sampo.Explain))
		}
		x := e.Sampo.Explain[0]
		joined, data := "", ""
		for _, segment := range x.Segments {
			joined += segment.Text
			if segment.Origin == "data" {
				data += segment.Text
			}
		}
		if joined != x.Prompt || !strings.Contains(data, "hi") || strings.Contains(data, "<|im_start|>") || len(x.IDs) == 0 || x.Plan["max_tokens"] != 5.0 || x.Plan["temperature"] != 0.5 {
			t.Errorf("%s: %+v", name, x)
		}
	}
	const fields = `"max_tokens":5,"temperature":0.5,`
	whole := read(s.post("/v1/chat/completions", `{`+fields+hello+`}`, "X-Sampo-Explain: 1").body)
	check("whole", whole)
	if x := whole.Sampo.Explain[0]; !strings.HasPrefix(x.Template, "sha256:") || len(x.IDs) != whole.Usage.Prompt {
		t.Errorf("template %q, %d ids for %d tokens", x.Template, len(x.IDs), whole.Usage.Prompt)
	}
	stream := s.post("/v1/chat/completions", `{"stream":true,`+fields+hello+`}`, "X-Sampo-Explain: 1").body
	events := strings.Split(strings.TrimSpace(stream), "\n\n")
	check("stream", read(strings.TrimPrefix(events[len(events)-2], "data: ")))
	check("completion", read(s.post("/v1/completions", `{`+fields+`"prompt":"hi"}`, "X-Sampo-Explain: 1").body))
	if plain := s.post("/v1/completions", `{`+fields+`"prompt":"hi"}`).body; strings.Contains(plain, "explain") {
		t.Errorf("explained without being asked: %s", plain)
	}
}

func TestAPIHealthTellsWhatTheServerHolds(t *testing.T) {
	s := say(t, "a")
	var h struct {
		State    string
		Warnings []string
		Models   []struct {
			ID       string
			Resident bool
		}
		Queue   map[string]int
		Version string
		Mode    string
	}
	if err := json.Unmarshal([]byte(s.do(http.MethodGet, "/api/health", "").body), &h); err != nil {
		t.Fatal(err)
	}
	if h.State != "ok" || len(h.Warnings) != 0 || len(h.Models) != 1 || h.Models[0].ID != "m" || !h.Models[0].Resident || h.Version != "0.1.0" || h.Mode != "none" {
		t.Errorf("got %+v", h)
	}
}
