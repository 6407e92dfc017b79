// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// end interrupts a server and returns its exit status.
func (s *testServer) end() int {
	s.signals <- os.Interrupt
	status := <-s.done
	s.done <- status // for the cleanup
	return status
}

// longStream starts a stream that goes on until the server ends it.
func (s *testServer) longStream(t *testing.T) *http.Response {
	body := `{"prompt":"Once","max_tokens":8000,"ignore_eos":true,"stream":true}`
	resp, err := http.Post(s.url+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestAnInterruptEndsStreamsWithAnError(t *testing.T) {
	s := startServer(t, nil, "--shutdown-drain", "1ms")
	resp := s.longStream(t)
	defer resp.Body.Close()
	s.signals <- os.Interrupt
	stream, err := io.ReadAll(resp.Body)
	if err != nil || !strings.HasSuffix(string(stream), "data: [DONE]\n\n") || !strings.Contains(string(stream), `"code":"shutting_down"`) {
		t.Errorf("%v; the stream ends with %q", err, stream[max(0, len(stream)-300):])
	}
	if status := <-s.done; status != exitOK {
		t.Errorf("status %d, want 0; stderr: %s", status, s.stderr)
	}
	s.done <- exitOK // for the cleanup
}

func TestASecondInterruptEndsAtOnce(t *testing.T) {
	s := startServer(t, nil, "--shutdown-drain", "1h")
	resp := s.longStream(t)
	defer resp.Body.Close()
	s.signals <- os.Interrupt
	s.signals <- os.Interrupt
	if status := <-s.done; status != exitOK {
		t.Errorf("status %d, want 0; stderr: %s", status, s.stderr)
	}
	s.done <- exitOK // for the cleanup
	if stream, err := io.ReadAll(resp.Body); err == nil && strings.Contains(string(stream), `"finish_reason":"length"`) {
		t.Errorf("the answer was waited for")
	}
}

// It was told as "context canceled".
func TestAnInterruptedAnswerIsSaidToBe(t *testing.T) {
	var stderr bytes.Buffer
	signals := make(chan os.Signal)
	out := &interrupter{signals: signals} // at the first word
	home := t.TempDir()
	status := Main(Env{
		Args: []string{"run", "sampo/mini-chat", "Tell me a story", "--temperature", "1", "--seed", "1", "--raw"}, Stdin: strings.NewReader(""),
		Stdout: out, Stderr: &stderr, Getenv: func(string) string { return "" }, HomeDir: home, Now: time.Now, Signals: signals, WidthFunc: func() int { return 80 },
	})
	if status != exitFailed || stderr.String() != "sampo: run: interrupted\n" || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("status %d, %q after %q", status, &stderr, out)
	}
}

// The status was 1, as if the server had failed.
func TestACollectorThatHangsIsNoFailureOfTheServer(t *testing.T) {
	release := make(chan struct{})
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer collector.Close()
	defer close(release)
	s := startServer(t, nil, "--otlp-endpoint", collector.URL, "--shutdown-drain", "1ms")
	if _, _, got := fetch(t, s.url+"/v1/completions", `{"prompt":"Once","max_tokens":1}`); !strings.Contains(got, "usage") {
		t.Error(got)
	}
	if status := s.end(); status != exitOK || !strings.Contains(s.stderr.String(), "sampo: warning: the last traces are lost") {
		t.Errorf("status %d, want 0 and a warning; stderr: %s", status, s.stderr)
	}
}

// What each key left in the cache is found again after an interrupt, and by nobody else.
func TestTheCacheOfKeysOutlivesAnInterrupt(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	keys := filepath.Join(home, "keys")
	if err := os.WriteFile(keys, []byte("first\nsecond\nthird\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		s := startServer(t, map[string]string{"SAMPO_HOME": home}, "--disk-cache", dir, "--api-key-file", keys, "--max-memory", "64MiB")
		for _, key := range []string{"first", "second"} {
			if cached := ask(t, s, key); cached > 0 != (round > 0) {
				t.Errorf("round %d: key %s finds %d tokens", round, key, cached)
			}
		}
		if round == 1 {
			if cached := ask(t, s, "third"); cached > 0 {
				t.Errorf("another key finds %d tokens", cached)
			}
		}
		if status := s.end(); status != exitOK || strings.Contains(s.stderr.String(), "warning") {
			t.Errorf("status %d, want 0; stderr: %s", status, s.stderr)
		}
	}
	if info, err := os.Stat(filepath.Join(home, "secret")); err != nil || posixModes && info.Mode().Perm() != 0o600 {
		t.Errorf("secret: %v, %v", info, err)
	}
}

// ask sends a long prompt and returns how many of its tokens the cache had.
func ask(t *testing.T, s *testServer, key string) int {
	t.Helper()
	body := fmt.Sprintf(`{"prompt":%q,"max_tokens":1}`, strings.Repeat("The capital of Finland is Helsinki. ", 40))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Usage struct {
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v", resp.StatusCode, err)
	}
	return answer.Usage.Details.Cached
}
