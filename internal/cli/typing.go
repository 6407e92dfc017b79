// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// A prompter gets what somebody types. Ok is false at the end of the input, and when a signal comes.
type prompter interface {
	readLine(prompt string, signals <-chan os.Signal) (line string, ok bool)
}

// prompter returns how prompts are read: lines can be edited where the terminal knows how to.
func (e *Env) prompter() prompter {
	file, ok := e.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || e.Getenv("TERM") == "dumb" {
		return newLines(e)
	}
	t := &typist{env: e, file: file, pastes: &pasteReader{in: file}}
	t.editor = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t.pastes, e.Stdout}, "")
	return t
}

// lines are those of an input that is no terminal, or a simple one.
type lines struct {
	out io.Writer
	in  <-chan string
}

func newLines(e *Env) *lines {
	in := make(chan string)
	go func() {
		defer close(in)
		scanner := bufio.NewScanner(e.Stdin)
		scanner.Buffer(nil, 1<<20) // pasted text may be long
		for scanner.Scan() {
			in <- scanner.Text()
		}
	}()
	return &lines{e.Stdout, in}
}

func (l *lines) readLine(prompt string, signals <-chan os.Signal) (line string, ok bool) {
	fmt.Fprint(l.out, prompt)
	select {
	case <-signals:
	case line, ok = <-l.in:
	}
	return line, ok
}

// A typist is somebody at a terminal: lines can be edited and recalled, and text can be pasted whole. Only while a line is typed is
// the terminal in raw mode, so that meanwhile Ctrl-C clears the line, and else is an interrupt.
type typist struct {
	env    *Env
	file   *os.File
	plain  *lines // takes over where the terminal has no raw mode
	editor *term.Terminal
	pastes *pasteReader
}

func (t *typist) readLine(prompt string, signals <-chan os.Signal) (line string, ok bool) {
	for {
		line, ok = t.edit(prompt, signals)
		if utf8.RuneCountInString(line) < maxTyped || t.plain != nil {
			return t.pastes.whole(line), ok
		}
		t.env.warn("a line takes %d characters at most, and this one was not used: use several between three quotes", maxTyped-1)
	}
}

// edit reads a line, in which names stand for what was pasted.
func (t *typist) edit(prompt string, signals <-chan os.Signal) (line string, ok bool) {
	fd := int(t.file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		if t.plain == nil {
			t.plain = newLines(t.env)
		}
		return t.plain.readLine(prompt, signals)
	}
	defer func() { _ = term.Restore(fd, before) }()
	if width, height, err := term.GetSize(fd); err == nil && width > 0 && height > 0 {
		_ = t.editor.SetSize(width, height)
	}
	t.editor.SetPrompt(prompt)
	t.editor.SetBracketedPasteMode(true)
	defer t.editor.SetBracketedPasteMode(false)
	typed := make(chan bool, 1)
	go func() {
		var err error
		line, err = t.editor.ReadLine()
		typed <- err == nil
	}()
	select {
	case <-signals:
		return "", false
	case ok := <-typed:
		return line, ok
	}
}

// What terminals send around text that is pasted.
var (
	pasteBegins = []byte("\x1b[200~")
	pasteEnds   = []byte("\x1b[201~")
)

// maxTyped is where the editor stops to take characters, without a word.
const maxTyped = 4096

// maxShown is the most characters of a pasted line that are put where the cursor is: the editor takes 4,096 in a line.
const maxShown = 500

// A pasteReader is the input of a terminal. Of a pasted text that is long, or has several lines, it gives a name only, so that it is
// one prompt, which can still be edited.
type pasteReader struct {
	in     io.Reader
	held   []byte // read, and not looked at yet
	ready  []byte // to be given
	inside bool   // a paste
	paste  []byte // so far
	texts  []string
}

func (p *pasteReader) Read(b []byte) (int, error) {
	for len(p.ready) == 0 {
		var more [4096]byte
		n, err := p.in.Read(more[:])
		p.held = append(p.held, more[:n]...)
		p.look()
		if err != nil && len(p.ready) == 0 {
			return 0, err
		}
	}
	n := copy(b, p.ready)
	p.ready = p.ready[n:]
	return n, nil
}

// look takes what is held, up to what may be the beginning of a mark.
func (p *pasteReader) look() {
	for {
		mark := pasteBegins
		if p.inside {
			mark = pasteEnds
		}
		at := bytes.Index(p.held, mark)
		if at < 0 {
			at = len(p.held) - begun(p.held, mark)
			p.take(p.held[:at])
			p.held = p.held[at:]
			return
		}
		p.take(p.held[:at])
		p.held = p.held[at+len(mark):]
		if p.inside {
			p.ready = append(p.ready, p.shown()...)
		}
		p.inside = !p.inside
	}
}

// begun is how many bytes of a mark the text ends with.
func begun(text, mark []byte) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	return 0
}

// take takes keys, or some of a paste.
func (p *pasteReader) take(text []byte) {
	if p.inside {
		p.paste = append(p.paste, text...)
		return
	}
	for _, c := range text {
		if c == 3 { // Ctrl-C: to the end of the line, and erase all before it
			p.ready = append(p.ready, 5, 21)
		} else {
			p.ready = append(p.ready, c)
		}
	}
}

// shown ends a paste, and returns what is put in the line for it.
func (p *pasteReader) shown() string {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(p.paste))
	p.paste = nil
	if n := utf8.RuneCountInString(text); n <= maxShown && !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	p.texts = append(p.texts, text)
	return p.name(len(p.texts) - 1)
}

// name is what stands for a pasted text.
func (p *pasteReader) name(i int) string {
	text := strings.TrimRight(p.texts[i], "\n")
	if n := strings.Count(text, "\n"); n > 0 {
		return fmt.Sprintf("[paste %d: %d lines]", i+1, n+1)
	}
	return fmt.Sprintf("[paste %d: %d characters]", i+1, utf8.RuneCountInString(text))
}

// whole is a line with the texts that its names stand for.
func (p *pasteReader) whole(line string) string {
	var pairs []string
	for i, text := range p.texts {
		pairs = append(pairs, p.name(i), text)
	}
	return strings.NewReplacer(pairs...).Replace(line)
}
