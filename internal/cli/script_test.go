// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sampo": func() { os.Exit(Main(System())) },
	})
}

// TestScripts runs the files of testdata/script: whole commands, their output and exit status.
//
// "status N COMMAND ..." runs a command that must end with status N.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("SAMPO_HOME", env.WorkDir+"/home")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": runStatus,
		},
	})
}

// runStatus checks the exit status of a command and keeps its output for stdout and stderr.
func runStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%v: exit status %s, want %s", args[1:], got, args[0])
	}
}

// A running server of this package, started as a process of its own would be.
type testServer struct {
	url     string
	home    string
	signals chan os.Signal
	done    chan int
	ended   chan struct{} // closed when the command has ended
	stderr  *bytes.Buffer
}

// startServer runs "sampo serve" with the arguments in this process and waits for its address.
func startServer(t *testing.T, environ map[string]string, args ...string) *testServer {
	t.Helper()
	out, in := io.Pipe()
	s := &testServer{signals: make(chan os.Signal, 2), done: make(chan int, 1), ended: make(chan struct{}), stderr: &bytes.Buffer{}}
	home := environ["SAMPO_HOME"]
	if home == "" {
		home = t.TempDir()
	}
	s.home = home
	env := Env{
		Args: append([]string{"serve", "--port", "0"}, args...), Stdin: strings.NewReader(""), Stdout: in, Stderr: s.stderr,
		Getenv: func(name string) string {
			if name == "SAMPO_HOME" {
				return home
			}
			return environ[name]
		},
		HomeDir: home, Now: time.Now, Signals: s.signals, WidthFunc: func() int { return 80 },
	}
	go func() {
		status := Main(env)
		_ = in.Close()
		s.done <- status
		close(s.ended)
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listens on "); ok {
			s.url = strings.TrimSpace(url)
			break
		}
	}
	go io.Copy(io.Discard, out) // what is left of the banner
	if s.url == "" {
		t.Fatalf("the server ended with status %d: %s", <-s.done, s.stderr)
	}
	t.Cleanup(func() {
		select {
		case s.signals <- os.Interrupt:
		default:
		}
		<-s.done
	})
	return s
}

func TestServeAnswersAndEndsOnSignal(t *testing.T) {
	s := startServer(t, nil)
	body := `{"messages":[{"role":"user","content":"Hello"}],"max_tokens":4,"temperature":0}`
	resp, err := http.Post(s.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Model   string
		Choices []struct{ Message struct{ Content *string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || answer.Model != "sampo/mini-chat" || len(answer.Choices) != 1 || answer.Choices[0].Message.Content == nil {
		t.Errorf("status %d, answer %+v", resp.StatusCode, answer)
	}
	s.signals <- os.Interrupt
	if status := <-s.done; status != exitOK {
		t.Errorf("status %d after an interrupt, want 0; stderr: %s", status, s.stderr)
	}
	s.done <- exitOK // for the cleanup
}

// The built-in model kept its name, and the flag was dropped in silence.
func TestModelIDNamesTheBuiltInModelToo(t *testing.T) {
	s := startServer(t, nil, "--model-id", "ours")
	resp, err := http.Get(s.url + "/v1/models/ours")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d, want 200", resp.StatusCode)
	}
}

func TestServeDemandsTheKeyOfTheEnvironment(t *testing.T) {
	s := startServer(t, map[string]string{"SAMPO_API_KEY": "secret"})
	for _, tt := range []struct {
		path, key string
		want      int
	}{
		{"/health", "", http.StatusOK},
		{"/v1/models", "", http.StatusUnauthorized},
		{"/v1/models", "wrong", http.StatusUnauthorized},
		{"/v1/models", "secret", http.StatusOK},
	} {
		req, err := http.NewRequest(http.MethodGet, s.url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.key != "" {
			req.Header.Set("Authorization", "Bearer "+tt.key)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("GET %s with key %q: status %d, want %d", tt.path, tt.key, resp.StatusCode, tt.want)
		}
	}
}

func TestByteSizes(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
		bad  bool
	}{
		{"1024", 1024, false},
		{"4GiB", 4 << 30, false},
		{"1.5g", 3 << 29, false},
		{"500MB", 500e6, false},
		{"8 kib", 8 << 10, false},
		{"0", 0, true},
		{"0.9", 0, true}, // a share, as vLLM has it, was taken for the default
		{"-1", 0, true},
		{"lots", 0, true},
		{"1e30", 0, true},
	} {
		var b byteSize
		err := b.Set(tt.text)
		if (err != nil) != tt.bad || int64(b) != tt.want {
			t.Errorf("Set(%q) = %d, %v; want %d, error %v", tt.text, b, err, tt.want, tt.bad)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 20: "1 MiB", 98304000: "93.8 MiB"} {
		if got := formatBytes(n); got != want {
			t.Errorf("formatBytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCountsOfParameters(t *testing.T) {
	for n, want := range map[int64]string{999: "999", 4919296: "4.92M", 134515008: "135M", 1720574976: "1.72B"} {
		if got := formatCount(n); got != want {
			t.Errorf("formatCount(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestAClosedTerminalLeavesTimeToTidyUp(t *testing.T) {
	if !posixModes || signal.Ignored(syscall.SIGHUP) {
		t.Skip("there is no hangup here")
	}
	signals := make(chan os.Signal, 1)
	listen(signals)
	defer signal.Stop(signals)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(syscall.SIGHUP)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := <-signals; got != syscall.SIGHUP {
		t.Errorf("got %v, want a hangup", got)
	}
}

func TestTextOfAFileCannotSteerTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31m\nb\tc\u009bd ä":      "a\ufffd[31m b c\ufffdd ä",
		"first:\r\n  second\n\nthird\n": "first: second third",
		"two  blanks\u2028stay":         "two  blanks stay",
		"half a rune \xc3":              "half a rune \ufffd",
	} {
		if got := printable(text); got != want {
			t.Errorf("printable(%q) = %q, want %q", text, got, want)
		}
	}
}

// Errors tell the names and the text of files as they are: a name could clear the screen.
func TestErrorsAreOneLineThatCannotSteerTheTerminal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("port: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"show", "./no\x1b[2J\nsuch.gguf"},
		{"run", "no\x9b\rsuch", "hello"},
		{"serve", "--config", path},
		{"list", "--models-dir", dir + "/no\x1b[2Jsuch"},
	} {
		var stderr bytes.Buffer
		Main(Env{
			Args: args, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr,
			Getenv: func(string) string { return "" }, HomeDir: dir, Now: time.Now, WidthFunc: func() int { return 80 },
		})
		line, ended := strings.CutSuffix(stderr.String(), "\n")
		if !ended || line == "" || printable(line) != line {
			t.Errorf("%q: got %q, want one line of printable text", args, &stderr)
		}
	}
}

// A command must end at the first signal, whatever it waits for, unless it has something to finish.
func TestOnlyCommandsThatFinishTheirWorkTakeSignals(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{[]string{"tokenize", "sampo/mini-chat"}, false},
		{[]string{"render"}, false},
		{[]string{"show", "sampo/mini-chat"}, false},
		{[]string{"run", "sampo/mini-chat", "Hello", "--max-tokens", "1"}, true},
	} {
		listened := false
		home := t.TempDir()
		Main(Env{
			Args: tt.args, Stdin: strings.NewReader("{}"), Stdout: io.Discard, Stderr: io.Discard,
			Getenv: func(string) string { return "" }, HomeDir: home, Now: time.Now,
			Listen: func() { listened = true }, WidthFunc: func() int { return 80 },
		})
		if listened != tt.want {
			t.Errorf("%v: takes signals: %v, want %v", tt.args, listened, tt.want)
		}
	}
}

func TestSettingsWithoutEndAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "endless.jinja")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip(err)
	}
	for _, flag := range []string{"--chat-template", "--config", "--api-key-file"} {
		var stderr bytes.Buffer
		status := Main(Env{
			Args: []string{"serve", "--port", "0", flag, path}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr,
			Getenv: func(string) string { return "" }, HomeDir: t.TempDir(), Now: time.Now, WidthFunc: func() int { return 80 },
		})
		if status != exitUsage || !strings.Contains(stderr.String(), "file exceeds") {
			t.Errorf("%s: status %d: %s", flag, status, &stderr)
		}
	}
}
