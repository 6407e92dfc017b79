// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A blank line before the first key made the banner's command send no key at all.
func TestTheBannersCommandSendsTheFirstKeyOfAFile(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "a key")
	for _, text := range []string{"sk-first\n", "\n \nsk-first\nsk-second\n", "sk-first infer, data", "\tsk-first\r\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a := &access{}
		if err := a.readKeys(path); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), sh, "-c", "printf %s \""+a.shellKey()+`"`).Output()
		if got := string(out); err != nil || got != "sk-first" {
			t.Errorf("%q: the shell makes %q of it, %v; want the first key", text, got, err)
		}
	}
}

// A comment was a key, of two lines with one key the last counted, and with keys that no header can have nobody came in.
func TestKeysThatWouldNotDoWhatTheirFileSaysAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	for text, want := range map[string]string{
		"sk-one\n#\n":                  "line 2: a key cannot begin with #",
		"#sk-old\n":                    "line 1: a key cannot begin with #",
		"sk-one infer\n\nsk-one admin": "line 3: the key is there twice",
		"\ufeffsk-one\n":               "line 1: the key has characters",
		"sk-\x01\n":                    "line 1: the key has characters",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := (&access{}).readKeys(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a file with %q: %v, want an error with %q", text, err, want)
		}
	}
}

// A key that ended with a line break, as those that are made from files do, let nobody in.
func TestSpaceAroundTheKeyOfTheEnvironmentIsNoPartOfIt(t *testing.T) {
	for value, want := range map[string]string{"sk-one\n": "sk-one", " sk one ": "sk one"} {
		env := &Env{Getenv: func(name string) string { return map[string]string{"SAMPO_API_KEY": value}[name] }}
		a, err := (&serveFlags{host: defaultHost}).access(env)
		if err != nil || len(a.keys) != 1 || a.keys[0].Secret != want {
			t.Errorf("SAMPO_API_KEY %q: %+v, %v; want the key %q", value, a, err, want)
		}
		if got := (&apiFlags{}).keyFor(env, &url.URL{Host: "a.example"}, false); got != want {
			t.Errorf("sampo api sends %q of SAMPO_API_KEY %q, want %q", got, value, want)
		}
	}
	for _, value := range []string{" ", "#", "sk\nsk"} {
		env := &Env{Getenv: func(name string) string { return map[string]string{"SAMPO_API_KEY": value}[name] }}
		if a, err := (&serveFlags{host: defaultHost}).access(env); err == nil {
			t.Errorf("SAMPO_API_KEY %q: %+v, want an error", value, a)
		}
	}
}
