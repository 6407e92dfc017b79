// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/inference"
	"github.com/sampo-ai/sampo/internal/prompt"
	"github.com/sampo-ai/sampo/internal/prompt/jinja"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/scripted"
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

func TestOverflowOfTheLargestNumberIsCounted(t *testing.T) {
	s := paced(t, nil)
	a := s.post("/v1/chat/completions", `{"max_tokens":9223372036854775807,`+hello+`}`)
	if a.StatusCode != 400 || !strings.Contains(a.body, "for a total of 92233720368547758") {
		t.Errorf("got %d %s", a.StatusCode, a.body)
	}
}
