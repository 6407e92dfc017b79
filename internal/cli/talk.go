// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/sampo-ai/sampo/internal/chat"
)

// Escape sequences of terminals.
const (
	dim   = "\x1b[2m"
	plain = "\x1b[0m"
)

// An answerWriter prints an answer as it comes: reasoning dimmed on a terminal and left out elsewhere.
type answerWriter struct {
	out      io.Writer
	screen   bool // out is a terminal
	dim      string
	plain    string
	thinking bool
	text     strings.Builder // the answer without its reasoning
}

func newAnswerWriter(env *Env) *answerWriter {
	w := &answerWriter{out: env.Stdout, screen: env.OutScreen}
	if env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb" {
		w.dim, w.plain = dim, plain
	}
	return w
}

func (w *answerWriter) write(d chat.Delta) {
	for _, e := range d.Events {
		switch e.Kind {
		case chat.Reasoning:
			w.reason(e.Text)
		case chat.Text:
			w.end()
			w.text.WriteString(e.Text)
			fmt.Fprint(w.out, w.shown(e.Text))
		default: // a chat in the terminal offers no tools
		}
	}
}

func (w *answerWriter) reason(text string) {
	if !w.screen {
		return
	}
	if !w.thinking {
		w.thinking = true
		fmt.Fprint(w.out, w.dim)
	}
	fmt.Fprint(w.out, w.shown(text))
}

// shown is text as it goes out. What would steer a terminal does not reach one.
func (w *answerWriter) shown(text string) string {
	if !w.screen {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r': // of a line's end; alone it would write over the line
			return -1
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// end closes reasoning that is still open.
func (w *answerWriter) end() {
	if w.thinking {
		w.thinking = false
		fmt.Fprint(w.out, w.plain, "\n\n")
	}
}

// chat reads prompts from the terminal and answers them until the input ends or the user leaves.
func (t *talk) chat() error {
	fmt.Fprintf(t.env.Stdout, "Chat with %s. /help lists commands, /bye or Ctrl-D leaves.\n\n", printable(t.model.Name))
	in, signals := t.env.prompter(), t.env.signals()
	for {
		prompt, ok := readPrompt(in, signals)
		switch {
		case !ok:
			fmt.Fprintln(t.env.Stdout)
			return nil
		case prompt == "":
		case strings.HasPrefix(prompt, "/") && !strings.Contains(prompt, "\n"):
			if t.command(prompt) {
				return nil
			}
		default:
			if err := t.turn(prompt); err != nil {
				return err
			}
		}
	}
}

// readPrompt reads a line, or several between three quotes. Those that a pasted text of several lines begins with are its own.
func readPrompt(in prompter, signals <-chan os.Signal) (prompt string, ok bool) {
	const quotes = `"""`
	line, ok := in.readLine("> ", signals)
	line = strings.TrimSpace(line)
	prompt, several := strings.CutPrefix(line, quotes)
	if !several || strings.Contains(line, "\n") {
		return line, ok
	}
	for ok {
		if text, ended := strings.CutSuffix(strings.TrimRightFunc(prompt, unicode.IsSpace), quotes); ended {
			return strings.TrimSpace(text), true
		}
		line, ok = in.readLine(". ", signals)
		prompt += "\n" + line
	}
	return "", false
}

// command does what a line that begins with a slash says, and reports whether to leave.
func (t *talk) command(line string) (leave bool) {
	name, rest, _ := strings.Cut(line, " ")
	if t.continues() && slices.Contains([]string{"/clear", "/system", "/think", "/nothink"}, name) {
		fmt.Fprintf(t.env.Stdout, "%s is for chats, and here each line is continued as text of its own.\n", name)
		return false
	}
	switch name {
	case "/bye", "/exit", "/quit":
		return true
	case "/clear":
		t.messages = nil
		fmt.Fprintln(t.env.Stdout, "The conversation starts anew.")
	case "/system":
		t.flags.system = strings.TrimSpace(rest)
		if t.flags.system == "" {
			fmt.Fprintln(t.env.Stdout, "There is no system message now.")
		} else {
			fmt.Fprintln(t.env.Stdout, "The system message is set.")
		}
	case "/think":
		t.flags.think, t.flags.noThink = true, false
	case "/nothink":
		t.flags.think, t.flags.noThink = false, true
	case "/help":
		fmt.Fprintln(t.env.Stdout, "/clear forgets the conversation\n/system TEXT sets the system message\n"+
			"/think and /nothink switch reasoning\n/bye leaves\nCtrl-C stops an answer\n"+
			"\"\"\" begins a prompt of several lines, and ends it; pasted text may have several anyway")
	default:
		fmt.Fprintf(t.env.Stdout, "There is no command %s; /help lists them.\n", name)
	}
	return false
}

// turn answers one line. An interrupt stops the answer, not the conversation.
func (t *talk) turn(line string) error {
	ctx, stop := t.env.untilInterrupt(context.Background())
	defer stop()
	_, err := t.ask(ctx, line)
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(t.env.Stdout, " (stopped)")
	case err != nil && len(t.messages) > 0:
		// An answer that does not fit any more should not end the program.
		fmt.Fprintf(t.env.Stderr, "sampo: %s; /clear starts anew\n", printable(err.Error()))
	case err != nil:
		return err
	}
	fmt.Fprint(t.env.Stdout, "\n\n")
	return nil
}
