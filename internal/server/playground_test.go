// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/scriptmodel"
)

const playgroundPath = "/api/playground/complete"

// startScripted serves the model that writes scripts, on the native engine.
func startScripted(t *testing.T) *site {
	t.Helper()
	pool := tensor.NewPool(1)
	t.Cleanup(pool.Close)
	m, err := scriptmodel.Open(pool, local.Options{CacheBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return startEngine(t, m.Model, m.Close, nil)
}

type explainedAnswer struct {
	Choices []struct {
		Text   string
		Tokens []explainedTokens `json:"sampo_tokens"`
	}
	Usage struct {
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

type explainedTokens struct {
	ID          int
	Text        string
	Probability float64
	Rank        int
	Candidates  []struct {
		ID          int
		Text        string
		Probability float64
		Rank        int
		Kept        bool
	}
}

func explained(t *testing.T, s *site, body string) explainedAnswer {
	t.Helper()
	a := s.post(playgroundPath, body)
	var answer explainedAnswer
	if err := json.Unmarshal([]byte(a.body), &answer); err != nil || a.StatusCode != 200 {
		t.Fatalf("%s: status %d, %v: %s", body, a.StatusCode, err, a.body)
	}
	return answer
}

func TestThePlaygroundExplainsEachToken(t *testing.T) {
	s := startScripted(t)
	plain := explained(t, s, `{"prompt":"say:yes","temperature":0}`)
	if c := plain.Choices[0]; c.Text != "yes." || c.Tokens != nil {
		t.Errorf("without explain: %+v", c)
	}
	for _, tt := range []struct {
		body string
		kept []bool // of the candidates of the first token
	}{
		{`"temperature":0`, []bool{true, false, false}},
		{`"temperature":1,"seed":1`, []bool{true, true, true}},
		{`"temperature":1,"seed":1,"top_k":2`, []bool{true, true, false}},
		{`"temperature":1,"seed":1,"min_p":0.5`, []bool{true, false, false}},
	} {
		c := explained(t, s, `{"prompt":"say:yes","explain":3,`+tt.body+`}`).Choices[0]
		if len(c.Tokens) != 3 || c.Tokens[0].Text != "ye" || c.Tokens[0].Rank != 1 || c.Tokens[0].Probability < 0.9 {
			t.Fatalf("%s: %+v", tt.body, c)
		}
		sum := 0.0
		for i, candidate := range c.Tokens[0].Candidates {
			if candidate.Rank != i+1 || candidate.Kept != tt.kept[i] {
				t.Errorf("%s: candidate %d: %+v, want kept %v", tt.body, i, candidate, tt.kept[i])
			}
			sum += candidate.Probability
		}
		if len(c.Tokens[0].Candidates) != 3 || sum > 1.0001 || sum < 0.9 {
			t.Errorf("%s: %d candidates with probability %g", tt.body, len(c.Tokens[0].Candidates), sum)
		}
	}
	c := explained(t, s, `{"prompt":"say:yes","explain":0,"temperature":0}`).Choices[0]
	if len(c.Tokens) != 3 || c.Tokens[0].Candidates == nil || len(c.Tokens[0].Candidates) > 0 {
		t.Errorf("explain 0: %+v", c.Tokens)
	}
	// The logprobs that were asked for keep their own number.
	a := s.post(playgroundPath, `{"prompt":"say:yes","explain":3,"logprobs":1,"temperature":0}`)
	if strings.Count(a.body, `"kept"`) != 9 || !strings.Contains(a.body, `"top_logprobs":[{"ye":`) || strings.Contains(a.body, `"top_logprobs":[{"ye":0,"`) {
		t.Errorf("with logprobs: %s", a.body)
	}
}

func TestThePlaygroundStreamsItsExplanation(t *testing.T) {
	s := startScripted(t)
	a := s.post(playgroundPath, `{"prompt":"say:yes","explain":2,"temperature":0,"stream":true}`)
	events := strings.Split(strings.TrimSuffix(a.body, "\n\ndata: [DONE]\n\n"), "\n\n")
	var tokens []string
	for _, e := range events {
		var chunk explainedAnswer
		if err := json.Unmarshal([]byte(strings.TrimPrefix(e, "data: ")), &chunk); err != nil {
			t.Fatalf("%q: %v", e, err)
		}
		for _, token := range chunk.Choices[0].Tokens {
			tokens = append(tokens, token.Text)
		}
	}
	if got := strings.Join(tokens, "|"); got != "ye|s.|<|im_end|>" {
		t.Errorf("tokens %s", got)
	}
}

func TestFreshComputesThePromptAnew(t *testing.T) {
	s := startScripted(t)
	prompt := strings.Repeat("a long prompt ", 40)
	ask := func(fresh string) int {
		return explained(t, s, `{"prompt":"`+prompt+`","max_tokens":1`+fresh+`}`).Usage.Details.Cached
	}
	ask("")
	if n := ask(""); n == 0 {
		t.Error("the second time nothing was read from the cache")
	}
	if n := ask(`,"fresh":true`); n != 0 {
		t.Errorf("fresh: %d tokens were read from the cache", n)
	}
}

func TestThePlaygroundIsStrict(t *testing.T) {
	s := say(t, "ok<|im_end|>")
	for _, tt := range []struct{ body, param, code string }{
		{`{"prompt":"a","foo":1}`, "foo", "unknown_parameter"},
		{`{"prompt":"a","stream":true,"stream_options":{"foo":1}}`, "stream_options.foo", "unknown_parameter"},
		{`{"prompt":["a","b"]}`, "prompt", "invalid_value"},
		{`{"prompt":[[1],[2]]}`, "prompt", "invalid_value"},
		{`{"prompt":"a","explain":21}`, "explain", "invalid_value"},
		{`{"prompt":"a","explain":-1}`, "explain", "invalid_value"},
		{`{"prompt":"a","explain":true}`, "explain", "invalid_type"},
		{`{"prompt":"a","explain":1,"beam_width":2}`, "explain", "invalid_value"},
		{`{"prompt":"a","fresh":1}`, "fresh", "invalid_type"},
		{`{}`, "prompt", "missing_required_parameter"},
		{`{"prompt":"a","suffix":"x"}`, "suffix", "unsupported_parameter"},
	} {
		a := s.post(playgroundPath, tt.body)
		_, _, param, code := a.problem(t)
		if a.StatusCode != 400 || param != tt.param || code != tt.code {
			t.Errorf("%s: status %d, %s %s, want %s %s", tt.body, a.StatusCode, param, code, tt.param, tt.code)
		}
	}
	if a := s.post(playgroundPath, `{"prompt":["a"],"user":"u","n":2}`); a.StatusCode != 200 {
		t.Errorf("one prompt in a list: %d %s", a.StatusCode, a.body)
	}
	if a := s.post("/v1/completions", `{"prompt":"a","explain":1}`); a.Header.Get("X-Sampo-Notice") != "unknown field: explain" {
		t.Errorf("explain on /v1/completions: notice %q", a.Header.Get("X-Sampo-Notice"))
	}
}

func TestUnknownQueriesBelowAPIAreRefused(t *testing.T) {
	s := say(t, "a")
	for _, a := range []answerOf{
		s.do("GET", "/api/health?colour=1", ""), s.do("GET", "/api/openapi.json?colour", ""), s.post(playgroundPath+"?colour=1", `{"prompt":"a"}`),
	} {
		if _, _, param, code := a.problem(t); a.StatusCode != 400 || param != "colour" || code != "unknown_parameter" {
			t.Errorf("got %d, param %q, code %q, want 400 unknown_parameter that names colour", a.StatusCode, param, code)
		}
	}
	if a := s.do("GET", "/v1/models?limit=3", ""); a.StatusCode != 200 { // clients of others send what others know
		t.Errorf("got %d %s, want 200", a.StatusCode, a.body)
	}
}
