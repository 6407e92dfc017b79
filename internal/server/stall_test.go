// SPDX-License-Identifier: Apache-2.0

//go:build !race

// The race detector slows the plain Go kernels down by two orders of magnitude.

package server

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/answer"
	"github.com/sampo-ai/sampo/internal/engine"
	"github.com/sampo-ai/sampo/internal/quant"
	"github.com/sampo-ai/sampo/internal/tensor"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
	"github.com/sampo-ai/sampo/internal/testkit/tiny"
)

// unread asks a native model for more than sockets hold, and never reads the answer: 16 x 480 tokens with the logprobs of
// 224 tokens each. The engine has begun, and is idle again, when what it returns is true.
func unread(t *testing.T, writeTimeout time.Duration) (s *site, idle func() bool) {
	t.Helper()
	pool := tensor.NewPool(1)
	t.Cleanup(pool.Close)
	weights, err := tiny.Llama(pool, quant.F32, 1)
	if err != nil {
		t.Fatal(err)
	}
	blocks, context, err := engine.Plan(weights.Config(), tiny.MaxContext, engine.DefaultBatchTokens, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(weights, engine.Config{Threads: pool, Blocks: blocks, MaxContext: context})
	if err != nil {
		t.Fatal(err)
	}
	m := answer.New(answer.Config{Name: "m", Engine: e, Tokenizer: bytechat.Tokenizer()})
	s = startEngine(t, m, e.Close, nil)
	s.server.writeTimeout = writeTimeout
	body := `{"prompt":[1,2],"n":16,"temperature":1,"max_tokens":480,"ignore_eos":true,"logprobs":-1,"stream":true}`
	stalled := s.dial(fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	if err := stalled.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	return s, func() bool {
		running, waiting := e.Load()
		return running+waiting == 0 && e.Stats().OutputTokens > 0
	}
}

// A native model runs all requests in common steps: what holds one of them holds all.
func TestReaderThatStallsHoldsNoStep(t *testing.T) {
	s, idle := unread(t, time.Hour)
	waitFor(t, "the request that nobody reads", func() bool { return s.server.generating.Load() == 1 })
	for range 5 {
		if r := s.post("/v1/completions", `{"prompt":[3,4],"max_tokens":20,"ignore_eos":true}`); r.StatusCode != 200 {
			t.Fatalf("status %d: %s", r.StatusCode, r.body)
		}
	}
	waitFor(t, "the tokens that nobody reads", idle)
	if n := s.server.generating.Load(); n != 1 {
		t.Errorf("%d requests are being written, want the one that nobody reads", n)
	}
}

// Its connection is closed at the end, and the process was gone before its line was written.
func TestTheEndWaitsForTheLogOfAReaderThatStalls(t *testing.T) {
	s, idle := unread(t, time.Hour)
	waitFor(t, "the tokens that nobody reads", func() bool { return s.server.generating.Load() == 1 && idle() })
	s.server.endTimeout = 10 * time.Millisecond
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.server.Shutdown(now); err != nil {
		t.Fatal(err)
	}
	if log := s.log.String(); !strings.Contains(log, "finish=abort") {
		t.Errorf("the log of the request is missing: %s", log)
	}
}

// All were made, and only those that were sent were told to the log and to the metrics.
func TestTokensThatAReaderWhoStallsNeverTakesAreCounted(t *testing.T) {
	s, idle := unread(t, time.Hour)
	waitFor(t, "all tokens", func() bool { return s.server.generating.Load() == 1 && idle() })
	s.server.endTimeout = 10 * time.Millisecond
	now, cancel := context.WithCancel(t.Context())
	cancel()
	_ = s.server.Shutdown(now) // the log tells how it went
	const made = 16 * 480
	if want := fmt.Sprintf(" output_tokens=%d ", made); !strings.Contains(s.log.String(), want) {
		t.Errorf("the log has no %q: %s", want, s.log)
	}
	if got := s.counted("vllm:generation_tokens_total"); got != made {
		t.Errorf("vllm:generation_tokens_total is %v, want %d", got, made)
	}
}

func TestReaderThatStallsIsGivenUp(t *testing.T) {
	s, idle := unread(t, 10*time.Millisecond)
	waitFor(t, "the log line of an abort", func() bool { return strings.Contains(s.log.String(), "finish=abort") })
	waitFor(t, "its tokens to end", func() bool { return s.server.generating.Load() == 0 && idle() })
}
