// SPDX-License-Identifier: Apache-2.0

// Package testkit runs script and golden-file tests.
//
// A script is a text file of cases. A case is some command lines, a line "----", and the text that the commands are
// expected to print, up to an empty line. Lines that begin with # before a case are comments. A file's cases share
// state. A golden file holds one whole expected output. Under the test flag -update both are rewritten with what the
// code printed; the diff is then what is reviewed.
//
// It is used by tests only and needs the standard library only.
package testkit

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata with what the code prints")

// A Command is one command line of a script: a name, words, and key=value options in any order.
type Command struct {
	Name    string
	Words   []string
	Options map[string]string
	Where   string // file and line
}

// Int returns option key as a number, or missing.
func (c Command) Int(t testing.TB, key string, missing int) int {
	t.Helper()
	v, ok := c.Options[key]
	if !ok {
		return missing
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s: %s=%s: want a number", c.Where, key, v)
	}
	return n
}

// Scripts runs every file that matches pattern as a subtest. start is called once a file and returns what performs a
// command and gives the text that it prints.
func Scripts(t *testing.T, pattern string, start func(t *testing.T) func(Command) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no script matches %s (%v)", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			runScript(t, file, start(t))
		})
	}
}

func runScript(t *testing.T, file string, do func(Command) string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for i := 0; i < len(lines); {
		var printed strings.Builder
		for ; i < len(lines) && lines[i] != "----"; i++ {
			out.WriteString(lines[i] + "\n")
			if text, _, _ := strings.Cut(lines[i], "#"); strings.TrimSpace(text) != "" {
				printed.WriteString(do(parseCommand(text, fmt.Sprintf("%s:%d", file, i+1))))
			}
		}
		got := strings.TrimRight(printed.String(), "\n")
		if i == len(lines) {
			if got != "" {
				t.Errorf("%s: the last commands print %q, the script expects nothing", file, got)
			}
			break
		}
		at := i + 1
		for i++; i < len(lines) && lines[i] != ""; i++ {
		}
		if want := strings.Join(lines[at:i], "\n"); got != want && !*update {
			t.Errorf("%s:%d:\ngot:\n%s\nwant:\n%s", file, at+1, got, want)
		}
		out.WriteString("----\n" + got + "\n")
		if got == "" {
			out.WriteString("\n")
			i++
		}
	}
	if *update {
		write(t, file, []byte(strings.TrimRight(out.String(), "\n")+"\n"))
	}
}

func parseCommand(text, where string) Command {
	words := strings.Fields(text)
	c := Command{Name: words[0], Options: map[string]string{}, Where: where}
	for _, w := range words[1:] {
		if key, value, ok := strings.Cut(w, "="); ok {
			c.Options[key] = value
		} else {
			c.Words = append(c.Words, w)
		}
	}
	return c
}

// Golden compares got with the file at path.
func Golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to make it)", err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs (-update rewrites it):\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
