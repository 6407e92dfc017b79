// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/prompt"
	"github.com/sampo-ai/sampo/internal/prompt/jinja"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
	"github.com/sampo-ai/sampo/internal/token"
)

// A client that ends its half of the connection counts as gone. It may still read, and must not take what it gets for
// a whole answer.
func TestHalfClosedConnectionGetsNoEmptyAnswer(t *testing.T) {
	for name, body := range map[string]string{
		"whole answer": `{` + hello + `}`,
		"stream":       `{"stream":true,` + hello + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			step := make(chan struct{})
			s := paced(t, step)
			conn := s.dial(fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
			step <- struct{}{} // the first token
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			got, _ := io.ReadAll(conn)
			if strings.Contains(string(got), "Content-Length: 0") || strings.Contains(string(got), "\r\n0\r\n") {
				t.Errorf("the answer looks whole: %q", got)
			}
			waitFor(t, "the log", func() bool { return strings.Contains(s.log.String(), "finish=abort") })
		})
	}
}

// A template that works for ever must not outlive its client.
func TestAClientThatLeavesEndsTheRendering(t *testing.T) {
	m, engine := bytechat.Say("m", "never said")
	endless, err := prompt.New("{% if 'stay' in messages[0].content %}{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}{% endif %}",
		prompt.Options{Limits: jinja.Limits{Steps: 1 << 60}})
	if err != nil {
		t.Fatal(err)
	}
	m.Template = endless
	s := start(t, m, engine, nil)
	const body = `{"messages":[{"role":"user","content":"stay"}]}`
	conn := s.dial(fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	waitFor(t, "the request", func() bool { return s.do("GET", "/load", "").body == `{"server_load":1}` })
	_ = conn.Close()
	waitFor(t, "the log", func() bool { return strings.Contains(s.log.String(), "finish=abort") })
	if n := len(engine.Requests()); n != 0 {
		t.Errorf("the engine was asked %d times", n)
	}
}

// A fault of ours in the middle of a stream ended it as if it were whole.
func TestAPanicCutsOffWhatHasBegun(t *testing.T) {
	s := paced(t, nil)
	s.server.routes["/panics"] = map[string]Route{http.MethodGet: {Path: "/panics", API: "chat", handle: func(_ *Server, x *exchange) error {
		x.model = "m"
		x.openStream()
		x.sendEvents([][]byte{[]byte("data: {}\n\n")})
		panic("a fault of this test")
	}}}
	a, err := http.Get(s.url + "/panics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Body.Close() }()
	if body, err := io.ReadAll(a.Body); err == nil {
		t.Errorf("the answer looks whole: %q", body)
	}
	waitFor(t, "the log", func() bool { return strings.Contains(s.log.String(), "finish=error") })
}

// A request that contradicts itself is no failure of the server.
func TestForbiddingEveryTokenIsRefused(t *testing.T) {
	m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply {
		return scripted.Reply{Err: fmt.Errorf("%w: %w", inference.ErrEngine, inference.ErrNoToken)}
	})
	a := start(t, m, engine, nil).post("/v1/chat/completions", `{"allowed_token_ids":[65],"stop_token_ids":[65],"min_tokens":1,`+hello+`}`)
	if a.StatusCode != 400 || !strings.Contains(a.body, "No token is left to choose from") {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
}

// A choice that had ended made a refused request look like one that was answered, in the log and in all times.
func TestARefusalHasNoFinishReason(t *testing.T) {
	m, engine := bytechat.New("m", func(_ inference.Request, choice int) scripted.Reply {
		if choice == 0 {
			return scripted.Reply{} // ends at once
		}
		return scripted.Reply{Tokens: []token.ID{65}, Err: inference.ErrExpired}
	})
	s := start(t, m, engine, nil)
	if a := s.post("/v1/chat/completions", `{"n":2,`+hello+`}`); a.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("got %d %s", a.StatusCode, a.body)
	}
	waitFor(t, "the log", func() bool { return strings.Contains(s.log.String(), "status=429") })
	page := s.do(http.MethodGet, "/metrics", "").body
	if !strings.Contains(s.log.String(), `finish=""`) || !strings.Contains(page, `vllm:e2e_request_latency_seconds_count{engine="0",model_name="m"} 0`) {
		t.Errorf("it counts as answered: %s", s.log.String())
	}
}

func TestOverflowOfTheLargestNumberIsCounted(t *testing.T) {
	s := paced(t, nil)
	a := s.post("/v1/chat/completions", `{"max_tokens":9223372036854775807,`+hello+`}`)
	if a.StatusCode != 400 || !strings.Contains(a.body, "for a total of 92233720368547758") {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
}

// counted returns a counter's value; the server may have ended.
func (s *site) counted(name string) float64 {
	s.t.Helper()
	families, err := s.server.metrics.registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	s.t.Fatalf("no metric %s", name)
	return 0
}

// Who pays for tokens reads the log: what was taken in and made is no less for an answer that nobody got.
func TestARequestCutOffBeforeItsFirstTokenTellsItsTokens(t *testing.T) {
	leave := func(_ *site, conn net.Conn) { _ = conn.Close() }
	shutDown := func(s *site, _ net.Conn) {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.server.Shutdown(now) // the log tells how it went
	}
	for _, tt := range []struct {
		name, fields string
		steps        int // tokens that the engine gives before the end
		end          func(s *site, conn net.Conn)
		computed     bool // the prompt
		output       int
	}{
		{"whole", `"stream":false`, 0, leave, false, 0},
		{"stream", `"stream":true`, 0, leave, false, 0},
		{"stream when the server ends", `"stream":true`, 0, shutDown, false, 0},
		{"beams without a step", `"use_beam_search":true,"beam_width":2`, 0, leave, false, 0},
		// The first step takes a token and the next one two; the third step stays half done.
		{"beams", `"use_beam_search":true,"beam_width":2`, 4, leave, true, 2},
		{"two beams when the server ends", `"use_beam_search":true,"beam_width":2,"n":2`, 4, shutDown, true, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			step := make(chan struct{})
			said := bytechat.Tokens(bytechat.Tokenizer(), "ab")
			m, engine := bytechat.New("m", func(inference.Request, int) scripted.Reply {
				return scripted.Reply{Tokens: said, Step: step, Cached: 3, Logprob: func(int, token.ID) (float32, []inference.TokenLogprob) {
					return -1, []inference.TokenLogprob{{Token: said[0], Logprob: -1}, {Token: said[1], Logprob: -2}}
				}}
			})
			s := start(t, m, engine, nil)
			body := `{` + tt.fields + `,` + hello + `}`
			conn := s.dial(fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
			waitFor(t, "the request", func() bool { return len(engine.Requests()) > 0 })
			for range tt.steps {
				step <- struct{}{}
			}
			tt.end(s, conn)
			waitFor(t, "the log", func() bool { return strings.Contains(s.log.String(), "msg=request ") })
			prompt := len(engine.Requests()[0].Prompt)
			computed, cached := 0, 0
			if tt.computed {
				computed, cached = prompt, 3
			}
			if want := fmt.Sprintf("prompt_tokens=%d cached_tokens=%d output_tokens=%d ", prompt, cached, tt.output); !strings.Contains(s.log.String(), want) {
				t.Errorf("the log has no %q: %s", want, s.log)
			}
			if strings.Contains(s.log.String(), "queue=0s") {
				t.Errorf("the log tells times that nobody knows: %s", s.log)
			}
			for name, want := range map[string]int{
				"vllm:prompt_tokens_total": computed, "vllm:prompt_tokens_cached_total": cached, "vllm:generation_tokens_total": tt.output,
			} {
				if got := s.counted(name); got != float64(want) {
					t.Errorf("%s is %v, want %d", name, got, want)
				}
			}
		})
	}
}
