// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// openTerminal returns both ends of a terminal of this machine: what a person has before them, and what a program reads and writes.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// waitForPrompt reads what the program writes up to the text.
func waitForPrompt(t *testing.T, person *os.File, text string) {
	t.Helper()
	var all []byte
	for b := make([]byte, 256); !bytes.Contains(all, []byte(text)); {
		n, err := person.Read(b)
		if err != nil {
			t.Fatalf("after %q: %v", all, err)
		}
		all = append(all, b[:n]...)
	}
}

func TestLinesOfATerminalCanBeEditedRecalledAndPasted(t *testing.T) {
	person, program := openTerminal(t)
	env := &Env{Stdin: program, Stdout: program, Getenv: func(string) string { return "" }}
	in := env.prompter()
	before, err := term.GetState(int(program.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		keys, want string
		ended      bool
	}{
		{"helo\x1b[Dl\r", "hello", false},
		{"\x1b[A!\r", "hello!", false},
		{"wrong\x03right\r", "right", false},
		{"\x1b[200~a\nb\nc\x1b[201~\r", "a\nb\nc", false},
		{"\x1b[200~" + strings.Repeat("x", 9000) + "\x1b[201~\r", strings.Repeat("x", 9000), false},
		{"\x04", "", true},
	} {
		var line string
		var ok bool
		done := make(chan bool)
		go func() {
			line, ok = in.readLine("> ", nil)
			close(done)
		}()
		waitForPrompt(t, person, "> ")
		if _, err := person.WriteString(tt.keys); err != nil {
			t.Fatal(err)
		}
		if <-done; line != tt.want || ok == tt.ended {
			t.Errorf("%.40q: got %.80q, %v; want %.80q, %v", tt.keys, line, ok, tt.want, !tt.ended)
		}
		if after, err := term.GetState(int(program.Fd())); err != nil || *after != *before {
			t.Errorf("%.40q: the terminal is not as it was: %v", tt.keys, err)
		}
	}
}

// What was behind the first 4,096 characters of a line was lost, and the rest was asked.
func TestATypedLineThatIsTooLongIsToldOfAndAskedAgain(t *testing.T) {
	person, program := openTerminal(t)
	var told bytes.Buffer
	env := &Env{Stdin: program, Stdout: program, Stderr: &told, Getenv: func(string) string { return "" }}
	in := env.prompter()
	done := make(chan string)
	go func() {
		line, _ := in.readLine("> ", nil)
		done <- line
	}()
	waitForPrompt(t, person, "> ")
	go func() { _, _ = person.WriteString(strings.Repeat("y", 5000) + "\r") }()
	waitForPrompt(t, person, "> ")
	if _, err := person.WriteString("short\r"); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, person) }()
	if line := <-done; line != "short" || !strings.Contains(told.String(), "4095 characters at most") {
		t.Errorf("got %.40q, and %q was told", line, &told)
	}
}
