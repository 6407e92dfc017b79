// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// readAllPasted reads what a terminal sends, in pieces of all sizes that matter, and returns the line that comes of it.
func readAllPasted(t *testing.T, sent string, onlyByte bool) (keys, line string) {
	t.Helper()
	var in io.Reader = strings.NewReader(sent)
	if onlyByte {
		in = iotest.OneByteReader(in)
	}
	p := &pasteReader{in: in}
	got, err := io.ReadAll(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(got), p.whole(string(got))
}

// Each line of a pasted text was a prompt of its own, and what was behind the first 4,095 bytes of one was lost.
func TestAPastedTextIsOnePrompt(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	for _, tt := range []struct{ name, sent, keys, line string }{
		{"keys", "abc\x1b[D\x04", "abc\x1b[D\x04", "abc\x1b[D\x04"},
		{"a short paste", "say \x1b[200~hello\x1b[201~!", "say hello!", "say hello!"},
		{"lines", "fix \x1b[200~a\r\nb\rc\n\x1b[201~ now", "fix [paste 1: 3 lines] now", "fix a\nb\nc\n now"},
		{"two", "\x1b[200~a\nb\x1b[201~\x1b[200~c\nd\x1b[201~", "[paste 1: 2 lines][paste 2: 2 lines]", "a\nbc\nd"},
		{"a long line", "\x1b[200~" + long + "\x1b[201~", "[paste 1: 10000 characters]", long},
		{"keys in a paste", "\x1b[200~a\x03\x1b[A\x1b[201~", "[paste 1: 5 characters]", "a\x03\x1b[A"},
		{"a paste that names another", "\x1b[200~a\nb\x1b[201~\x1b[200~[paste 1: 2 lines]\n\x1b[201~", "[paste 1: 2 lines][paste 2: 18 characters]", "a\nb[paste 1: 2 lines]\n"},
		{"Ctrl-C", "abc\x03d", "abc\x05\x15d", "abc\x05\x15d"},
	} {
		for _, onlyByte := range []bool{false, true} {
			if keys, line := readAllPasted(t, tt.sent, onlyByte); keys != tt.keys || line != tt.line {
				t.Errorf("%s, byte by byte %v: got keys %q and line %.80q, want %q and %.80q", tt.name, onlyByte, keys, line, tt.keys, tt.line)
			}
		}
	}
}

func TestPromptsOfSeveralLinesAreTypedBetweenQuotes(t *testing.T) {
	input := "one\n\"\"\"two\n  three\n\nfour\"\"\" \n\"\"\"five\"\"\"\n\"\"\"\nsix\n\"\"\"\n\"\"\"seven\n"
	var out bytes.Buffer
	in := newLines(&Env{Stdin: strings.NewReader(input), Stdout: &out})
	for _, want := range []string{"one", "two\n  three\n\nfour", "five", "six"} {
		if got, ok := readPrompt(in, nil); got != want || !ok {
			t.Errorf("got %q, %v; want %q", got, ok, want)
		}
	}
	if got, ok := readPrompt(in, nil); ok {
		t.Errorf("got %q of a prompt that did not end", got)
	}
	if want := "> > . . . > > . . > . "; out.String() != want {
		t.Errorf("printed %q, want %q", &out, want)
	}
}

// onePaste is a text that is pasted and sent.
type onePaste string

func (p onePaste) readLine(string, <-chan os.Signal) (string, bool) { return string(p), true }

// They were taken for those that begin a prompt, which was still open then, and had lost them.
func TestQuotesAPastedTextBeginsWithAreItsOwn(t *testing.T) {
	const text = "\"\"\"What it does.\"\"\"\nimport os"
	if got, ok := readPrompt(onePaste(text), nil); got != text || !ok {
		t.Errorf("got %q, %v; want %q", got, ok, text)
	}
}

func TestASignalEndsReading(t *testing.T) {
	in, keyboard := io.Pipe()
	defer keyboard.Close()
	signals := make(chan os.Signal, 1)
	signals <- os.Interrupt
	if line, ok := newLines(&Env{Stdin: in, Stdout: io.Discard}).readLine("> ", signals); ok {
		t.Errorf("got %q", line)
	}
}

// The chat ended without a word.
func TestATerminalWithoutRawModeIsReadByLines(t *testing.T) {
	program, person, err := os.Pipe() // which has no modes at all
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if _, err := person.WriteString("one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	_ = person.Close()
	var out bytes.Buffer
	in := &typist{env: &Env{Stdin: program, Stdout: &out}, file: program, pastes: &pasteReader{in: program}}
	for _, want := range []string{"one", "two"} {
		if line, ok := in.readLine("> ", nil); line != want || !ok {
			t.Errorf("got %q, %v; want %q", line, ok, want)
		}
	}
	if line, ok := in.readLine("> ", nil); ok {
		t.Errorf("got %q behind the end", line)
	}
}
