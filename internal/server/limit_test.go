// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/testkit/bytechat"
)

// dial opens a connection to the server and sends text on it.
func (s *site) dial(text string) net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// statusOf reads the status of the next answer on a connection.
func statusOf(t *testing.T, c net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestConnectionsBeyondTheLimitAreClosedAtOnce(t *testing.T) {
	m, e := bytechat.Say("m", "a")
	s := start(t, m, e, func(c *Config) { c.MaxConnections = 1 })
	const get = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
	first := s.dial(get)
	if got := statusOf(t, first); got != 200 {
		t.Errorf("status %d, want 200", got)
	}
	second := s.dial("")
	if n, err := second.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("read %d bytes, %v, want a closed connection", n, err)
	}
	_ = first.Close()
	waitFor(t, "a place", func() bool {
		c := s.dial("")
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, os.ErrDeadlineExceeded) // it is kept open
	})
}

func TestTooManyHeadersAreRefused(t *testing.T) {
	s := say(t, "a")
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b, "X-%d: a\r\n", i)
	}
	if got := statusOf(t, s.dial("GET /health HTTP/1.1\r\nHost: localhost\r\n"+b.String()+"\r\n")); got != 431 {
		t.Errorf("status %d, want 431", got)
	}
}

func TestBodiesThatMakeMuchOfTheirBytesAreRefused(t *testing.T) {
	s := say(t, "a")
	var keys strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&keys, `"k%d":1,`, i)
	}
	for name, body := range map[string]string{
		"keys":   `{` + keys.String() + `"prompt":"a"}`,
		"values": `{"prompt":[` + strings.Repeat("1,", 4<<20) + `1]}`,
		"depth":  `{"prompt":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
	} {
		if _, _, _, code := s.post("/v1/completions", body).problem(t); code != "invalid_json" {
			t.Errorf("%s: code %q, want invalid_json", name, code)
		}
	}
}

func TestCompressedBodiesAreRefused(t *testing.T) {
	s := say(t, "a")
	if r := s.post("/v1/completions", `{"prompt":"a"}`, "Content-Encoding: gzip"); r.StatusCode != 415 {
		t.Errorf("status %d, want 415", r.StatusCode)
	}
}

func TestBodyThatDoesNotComeIsGivenUp(t *testing.T) {
	m, e := bytechat.Say("m", "a")
	s := start(t, m, e, nil)
	s.server.readTimeout = 50 * time.Millisecond
	c := s.dial("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	if got := statusOf(t, c); got != 400 {
		t.Errorf("status %d, want 400", got)
	}
}

// Such connections stayed open for ever, and no key was needed to make them.
func TestBodyThatNobodyReadsIsNotWaitedForForever(t *testing.T) {
	for _, line := range []string{
		"POST /nope HTTP/1.1", "PUT /v1/models HTTP/1.1", "POST /v1/completions HTTP/1.1\r\nContent-Type: text/plain", "GET /health HTTP/1.1",
		"POST /ping HTTP/1.1", "OPTIONS /v1/models HTTP/1.1", "POST /nope HTTP/1.1\r\nExpect: 100-continue",
	} {
		for _, length := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
			m, e := bytechat.Say("m", "a")
			s := start(t, m, e, nil)
			s.server.readTimeout = 50 * time.Millisecond
			c := s.dial(line + "\r\nHost: localhost\r\n" + length + "\r\n\r\n")
			_ = c.SetReadDeadline(time.Now().Add(patience))
			if got, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 ") {
				t.Fatalf("%s, %s: read %q, %v, want an answer and the end of the connection", line, length, got, err)
			}
		}
	}
}

// The deadline of one request's body is not that of the next one.
func TestConnectionOutlivesTheTimeForABody(t *testing.T) {
	m, e := bytechat.Say("m", "a")
	s := start(t, m, e, nil)
	s.server.readTimeout = 20 * time.Millisecond
	c := s.dial("")
	for range 3 {
		if _, err := io.WriteString(c, "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"prompt\":\"a\"}"); err != nil {
			t.Fatal(err)
		}
		if got := statusOf(t, c); got != 200 {
			t.Errorf("status %d, want 200", got)
		}
		time.Sleep(2 * s.server.readTimeout)
	}
}

// A server without a file for another connection stood still, and its log said nothing.
func TestTheLogTellsThatConnectionsFindNoFile(t *testing.T) {
	var log strings.Builder
	s := New(Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
	l := s.limited(fullListener{}).(*limitedListener)
	for range 3 { // as the HTTP server tries again
		if _, err := l.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Fatalf("Accept = %v, want the system's error", err)
		}
	}
	if got := strings.Count(log.String(), "may open no more files"); got != 1 {
		t.Errorf("the log told of it %d times, want once a minute: %s", got, &log)
	}
	l.tell(syscall.EMFILE, time.Now().Add(2*acceptPause))
	l.tell(net.ErrClosed, time.Now().Add(4*acceptPause))
	if got := strings.Count(log.String(), "\n"); got != 2 {
		t.Errorf("the log has %d lines, want a second one after a while, and none for the end: %s", got, &log)
	}
}

// A fullListener has no file for a connection.
type fullListener struct{ net.Listener }

func (fullListener) Accept() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
}
