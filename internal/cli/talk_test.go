// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sampo-ai/sampo/assets"
	"github.com/sampo-ai/sampo/internal/bundle"
	"github.com/sampo-ai/sampo/internal/chat"
	"github.com/sampo-ai/sampo/internal/local"
	"github.com/sampo-ai/sampo/internal/tensor"
)

// screenEnv is an Env whose output goes to a terminal while its input may come from elsewhere.
func screenEnv(out io.Writer, environ map[string]string) *Env {
	return &Env{Stdout: out, OutScreen: true, Getenv: func(name string) string { return environ[name] }}
}

// A model could clear the screen, and write what looks like the shell's; where only the prompt was piped in it still could.
func TestAnswersCannotSteerTheTerminal(t *testing.T) {
	const text = "a\x1b[2J\tb\r\n"
	for screen, want := range map[bool]string{false: text, true: "a\ufffd[2J\tb\n"} {
		var out bytes.Buffer
		env := screenEnv(&out, nil)
		env.OutScreen = screen
		w := newAnswerWriter(env)
		w.write(chat.Delta{Events: []chat.Event{{Kind: chat.Text, Text: text}}})
		if out.String() != want || w.text.String() != text {
			t.Errorf("terminal %v: printed %q, kept %q; want %q and %q", screen, &out, w.text.String(), want, text)
		}
	}
}

// Escape sequences went to terminals that show them as they are.
func TestReasoningIsPlainWhereNobodyWantsStyles(t *testing.T) {
	for _, tt := range []struct {
		environ map[string]string
		want    string
	}{
		{nil, "\x1b[2mso\x1b[0m\n\nyes"},
		{map[string]string{"TERM": "dumb"}, "so\n\nyes"},
		{map[string]string{"NO_COLOR": "1"}, "so\n\nyes"},
	} {
		var out bytes.Buffer
		newAnswerWriter(screenEnv(&out, tt.environ)).write(chat.Delta{Events: []chat.Event{{Kind: chat.Reasoning, Text: "so"}, {Kind: chat.Text, Text: "yes"}}})
		if out.String() != tt.want {
			t.Errorf("with %v: printed %q, want %q", tt.environ, &out, tt.want)
		}
	}
}

// A file that took the messages of a command in a terminal got a line that is drawn anew.
func TestProgressGoesInLinesToAFileThoughTheRestIsATerminal(t *testing.T) {
	var messages bytes.Buffer
	env := &Env{Stderr: &messages, Terminal: true, OutScreen: true, WidthFunc: func() int { return 80 }}
	tell := benchProgress(env)
	tell("prefill")
	tell("")
	quantized := quantizeProgress(env)
	quantized(50, 100, "a")
	quantized(100, 100, "")
	if got, want := messages.String(), "prefill\n50 %\n100 %\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A stopped answer and its question were forgotten.
func TestAChatGoesOnFromAnAnswerThatWasStopped(t *testing.T) {
	pool := tensor.NewPool(1)
	defer pool.Close()
	b, err := bundle.OpenBytes(assets.MiniChatName, assets.MiniChat(), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := local.Open(b, pool, local.Options{CacheBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx, stop := context.WithCancel(t.Context())
	talk := &talk{env: screenEnv(stopper{stop}, nil), model: m, flags: &runFlags{changed: func(string) bool { return false }}}
	text, err := talk.ask(ctx, "Count from one to thirty, please.")
	if !errors.Is(err, context.Canceled) || text == "" {
		t.Fatalf("got %q, %v; want an answer that was stopped", text, err)
	}
	if n := len(talk.messages); n != 2 || talk.messages[1].Content[0].Text != text {
		t.Errorf("the conversation has %d messages, %+v; want the question and %q", n, talk.messages, text)
	}
}

// A stopper stops an answer at its first word.
type stopper struct{ stop func() }

func (s stopper) Write(p []byte) (int, error) {
	s.stop()
	return len(p), nil
}

// The system message was said to be set, and was not used.
func TestCommandsOfChatsAreRefusedWhereTextIsContinued(t *testing.T) {
	for _, line := range []string{"/system be brief", "/think", "/nothink", "/clear"} {
		var out bytes.Buffer
		talk := &talk{env: screenEnv(&out, nil), flags: &runFlags{raw: true}}
		if talk.command(line) || !strings.Contains(out.String(), "is for chats") || talk.flags.system != "" || talk.flags.think {
			t.Errorf("%s: printed %q, and the flags are %+v; want a refusal", line, &out, talk.flags)
		}
	}
}

// It was said to be set.
func TestASystemMessageThatIsTakenAwayIsNotSaidToBeSet(t *testing.T) {
	mini, err := bundle.OpenBytes(assets.MiniChatName, assets.MiniChat(), bundle.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pool := tensor.NewPool(1)
	defer pool.Close()
	m, err := local.Open(mini, pool, local.Options{CacheBytes: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, tt := range []struct{ line, want string }{
		{"/system be brief", "The system message is set.\n"},
		{"/system", "There is no system message now.\n"},
	} {
		var out strings.Builder
		if (&talk{env: &Env{Stdout: &out}, model: m, flags: &runFlags{}}).command(tt.line); out.String() != tt.want {
			t.Errorf("%s: %q was told, want %q", tt.line, &out, tt.want)
		}
	}
}
