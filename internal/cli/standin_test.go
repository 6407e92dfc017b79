// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/internal/server"
	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
)

// fetch sends a request with a body, if there is one, and returns status, Retry-After and body.
func fetch(t *testing.T, url, body string) (status int, retry, got string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Retry-After"), string(text)
}

func TestClientsAreToldToWaitWhileModelsAreLoaded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	early := startStandIn(l, server.Config{Loopback: true, Version: "1"})
	const chat = `{"messages":[{"role":"user","content":"hi"}]}`
	for _, tt := range []struct {
		path, body string
		status     int
		contains   string
	}{
		{"/health", "", 503, `"code":"model_loading"`},
		{"/ping", "", 503, `"model_loading"`},
		{"/v1/models", "", 503, `"model_loading"`},
		{"/v1/models/m", "", 503, `"model_loading"`},
		{"/tokenizer_info", "", 503, `"model_loading"`},
		{"/v1/chat/completions", chat, 503, `"model_loading"`},
		{"/v1/completions", `{"prompt":"a","model":"m"}`, 503, `"model_loading"`},
		{"/v1/completions", `{"prompt":"a","n":0}`, 400, `"param":"n"`},
		{"/version", "", 200, `"version":"1"`},
		{"/api/health", "", 200, `"state":"loading"`},
		{"/", "", 200, "Base URL"},
		{"/nope", "", 404, "unknown_url"},
	} {
		status, retry, got := fetch(t, url+tt.path, tt.body)
		if status != tt.status || !strings.Contains(got, tt.contains) || (retry != "") != (status == 503) {
			t.Errorf("%s %s: %d, Retry-After %q, %s; want %d and %s", tt.path, tt.body, status, retry, got, tt.status, tt.contains)
		}
	}
	if err := early.handOver(); err != nil {
		t.Fatal(err)
	}
	m, engine := bytechat.Say("m", "ok<|im_end|>")
	s := server.New(server.Config{Loopback: true, Models: []server.Model{{Model: m}}})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	if status, _, got := fetch(t, url+"/v1/chat/completions", chat); status != 200 {
		t.Errorf("with the model: %d %s", status, got)
	}
	early.wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}

// It ended the process by the signal: with status 143, as if something had failed.
func TestASignalWhileModelsAreLoadedEndsTheServerInOrder(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	early := startStandIn(l, server.Config{Loopback: true})
	signals, loaded := make(chan os.Signal, 2), make(chan struct{})
	defer close(loaded)
	_, err = unlessInterrupted(signals, func() (*opened, error) {
		if status, _, got := fetch(t, "http://"+l.Addr().String()+"/health", ""); status != 503 {
			t.Errorf("before: %d %s", status, got)
		}
		signals <- os.Interrupt
		<-loaded // for ever
		return nil, nil
	}, func(*opened) {})
	if !errors.Is(err, errInterrupted) {
		t.Errorf("got %v, want %v", err, errInterrupted)
	}
	if err := early.leave(signals); err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the address is still open", c.Close())
	}
}
