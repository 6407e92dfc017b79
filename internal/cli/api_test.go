// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sampo-ai/sampo/internal/testkit/scriptmodel"
)

// callAPI runs "sampo api" with a home and variables.
func callAPI(home string, environ map[string]string, stdin string, args ...string) (status int, stdout, stderr string) {
	var out, problems bytes.Buffer
	env := Env{
		Args: append([]string{"api"}, args...), Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &problems,
		Getenv: func(name string) string {
			if name == "SAMPO_HOME" {
				return home
			}
			return environ[name]
		},
		HomeDir: home, Now: time.Now, WidthFunc: func() int { return 80 },
	}
	return Main(env), out.String(), problems.String()
}

func TestAPICallsTheServerOfItsHome(t *testing.T) {
	s := startServer(t, map[string]string{"SAMPO_API_KEY": "sk-mine"})
	file := filepath.Join(s.home, "server.json")
	var told serverFile
	if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &told) != nil || told.URL != s.url || told.PID != os.Getpid() {
		t.Fatalf("server.json: %+v, %v, want the address %s", told, err, s.url)
	}
	for _, tt := range []struct {
		environ     map[string]string
		stdin       string
		args        []string
		status      int
		stdout      string
		stderr      string
		wholeStdout bool
	}{
		{environ: nil, args: []string{"GET", "/health"}, stdout: "ok", wholeStdout: true},
		{environ: nil, args: []string{"GET", "/v1/models"}, status: 1, stdout: `"invalid_api_key"`, stderr: "sampo: api: 401 invalid_api_key: You didn't provide"},
		{environ: map[string]string{"SAMPO_API_KEY": "sk-mine"}, args: []string{"get", "v1/models"}, stdout: `"object":"list"`},
		{args: []string{"GET", "/v1/models", "--key", "sk-mine"}, stdout: `"object":"list"`},
		{args: []string{"GET", "/v1/models", "-H", "x-api-key: sk-mine", "-i"}, stdout: `"object":"list"`, stderr: "HTTP/1.1 200 OK"},
		{args: []string{"GET", "/v1/lod", "--key", "sk-mine"}, status: 1, stdout: "unknown_url", stderr: "the nearest are /v1/load, "},
		{args: []string{"POST", "/v1/completions", "--key", "sk-mine", "--data", `{"prompt":"a","max_tokens":1}`}, stdout: `"text_completion"`},
		{args: []string{"POST", "/v1/completions", "--key", "sk-mine", "--data", "-"}, stdin: `{"prompt":"a","max_tokens":1,"stream":true}`, stdout: `{"id":`},
		{args: []string{"GET", "/tokenizer_info", "--key", "sk-mine", "--query", "model=nope"}, status: 1, stderr: "404 model_not_found"},
		{args: []string{"GET", "/tokenizer_info", "--key", "sk-mine", "-f", "model=nope"}, status: 1, stderr: "404 model_not_found"},
		{args: []string{"GET", "/health", "-H", "Host: evil.example"}, status: 1, stderr: "403 origin_refused"},
		{environ: map[string]string{"SAMPO_URL": "http://127.0.0.1:1"}, args: []string{"GET", "/health"}, status: 1, stderr: "127.0.0.1:1"},
	} {
		status, stdout, stderr := callAPI(s.home, tt.environ, tt.stdin, tt.args...)
		if status != tt.status || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) || tt.wholeStdout && stdout != tt.stdout {
			t.Errorf("api %v: status %d, want %d\nstdout %.300s\nstderr %s", tt.args, status, tt.status, stdout, stderr)
		}
	}
	s.signals <- os.Interrupt
	<-s.ended
	if _, err := os.Stat(file); err == nil {
		t.Error("server.json is left over")
	}
}

// The key in the home opens our own servers and must not be told to others.
func TestTheKeyOfTheHomeStaysOnThisMachine(t *testing.T) {
	var sent string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, "{}")
	}))
	defer site.Close()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "api-key"), []byte("sk-home infer\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := callAPI(home, nil, "", "GET", "/x", "--url", site.URL); status != 0 || sent != "Bearer sk-home" {
		t.Errorf("to this machine: status %d, sent %q: %s", status, sent, stderr)
	}
	// The name resolves to this machine, but is not one of loopback's.
	host := "http://" + "localhost.localdomain" + site.URL[strings.LastIndexByte(site.URL, ':'):]
	env := &Env{Getenv: func(name string) string {
		if name == "SAMPO_HOME" {
			return home
		}
		return ""
	}}
	req, err := (&apiFlags{url: host}).request(t.Context(), env, "GET", "/x")
	if err != nil || req.Header.Get("Authorization") != "" {
		t.Errorf("to another machine: %v, sent %q", err, req.Header.Get("Authorization"))
	}
}

func TestAPISendsWhatItsFlagsSay(t *testing.T) {
	var got string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Content-Type") + " " + string(body))
		_, _ = io.WriteString(w, "{}")
	}))
	defer site.Close()
	home := t.TempDir()
	file := filepath.Join(home, "tale.txt")
	if err := os.WriteFile(file, []byte("\"Once\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"POST", "/x", "-d", `{"a":1}`}, `POST /x application/json {"a":1}`},
		{[]string{"/x", "-d", `{"a":1}`}, `POST /x application/json {"a":1}`},
		{[]string{"/x", "-d", "@-"}, `POST /x application/json from stdin`},
		{[]string{"-X", "put", "/x", "-d", "-"}, `PUT /x application/json from stdin`},
		{[]string{"-X", "DELETE", "/x"}, `DELETE /x`},
		{
			[]string{"/x", "-F", "b=The sea", "-F", "a=1.50", "-F", `c=["x"]`, "-F", "d=null", "-f", "e=true", "-F", "f=1=2"},
			`POST /x application/json {"b":"The sea","a":1.50,"c":["x"],"d":null,"f":"1=2","e":"true"}`,
		},
		{[]string{"/x", "-F", "p=@" + file, "-f", "q=@nobody"}, `POST /x application/json {"p":"\"Once\"\n","q":"@nobody"}`},
		{[]string{"/x", "-F", "p=@-"}, `POST /x application/json {"p":"from stdin"}`},
		{[]string{"GET", "/x?a=1", "-F", "b=2", "-F", "c=x y", "--query", "d="}, `GET /x?a=1&b=2&c=x+y&d=`},
	} {
		got = ""
		if status, _, stderr := callAPI(home, nil, "from stdin", append(tt.args, "--url", site.URL)...); status != 0 || got != tt.want {
			t.Errorf("api %v: status %d, sent %s\nwant %s\n%s", tt.args, status, got, tt.want, stderr)
		}
	}
}

func TestKeyFilesHaveScopes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	read := func(text string) (*access, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a := &access{}
		return a, a.readKeys(path)
	}
	a, err := read("one\n\ntwo infer, models:read\n\tthree\tadmin\n")
	if err != nil || len(a.keys) != 3 || a.keys[0].Scopes != nil || len(a.keys[1].Scopes) != 2 || a.keys[2].Secret != "three" || a.keys[2].Scopes[0] != "admin" {
		t.Errorf("keys %+v, %v", a.keys, err)
	}
	if _, err := read("one\ntwo infr\n"); err == nil || !strings.Contains(err.Error(), `line 2: unknown scope "infr"; the scopes are infer models:read`) {
		t.Errorf("an unknown scope: %v", err)
	}
	for _, text := range []string{"", "\n \n"} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), "has no key in it") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An interrupter keeps what a command writes, and interrupts it once it has written a text.
type interrupter struct {
	bytes.Buffer
	after   string
	signals chan<- os.Signal // nil: done
}

func (w *interrupter) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if w.signals != nil && strings.Contains(w.String(), w.after) {
		w.signals <- os.Interrupt
		w.signals = nil
	}
	return n, err
}

// The line to try left the model out, which several models refuse.
func TestTheLineToTryNamesOneOfSeveralModels(t *testing.T) {
	signals := make(chan os.Signal, 1)
	out := &interrupter{after: "curl ", signals: signals} // it ends as soon as it has told how to use it
	home := t.TempDir()
	var file bytes.Buffer
	if err := scriptmodel.Write(&file); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "scripted.gguf")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	status := Main(Env{
		Args: []string{"serve", path, "sampo/mini-chat", "--port", "0", "--max-memory", "64MiB"}, Stdin: strings.NewReader(""), Stdout: out, Stderr: io.Discard,
		Getenv: func(string) string { return "" }, HomeDir: home, Now: time.Now, Signals: signals, WidthFunc: func() int { return 80 },
	})
	if status != exitOK || !strings.Contains(out.String(), `-d '{"model": "scripted", "messages": [`) {
		t.Errorf("status %d:\n%s", status, out.String())
	}
}

// "sampo: unexpected EOF" was all that was said.
func TestAStreamThatBreaksOffIsSaidToHaveDoneSo(t *testing.T) {
	var out bytes.Buffer
	cut := io.MultiReader(strings.NewReader("data: {}\n\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	err := printEvents(&out, cut)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), "api: the stream broke off") || out.String() != "{}\n" {
		t.Errorf("printed %q, %v; want the event and an error that tells of the stream", &out, err)
	}
}
