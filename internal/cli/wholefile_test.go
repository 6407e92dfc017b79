// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/wholefile"
)

// A server that was killed while it made its key or its secret left an empty file, and the next start refused it. Whoever looks
// at any time sees what a killed one leaves.
func TestAFileIsNeverSeenInPart(t *testing.T) {
	data := bytes.Repeat([]byte("secret"), 20)
	for name, create := range map[string]func(path string, data []byte) error{"created": createFile, "replaced": replaceFile} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				path := filepath.Join(t.TempDir(), "home", "file")
				if err := ensureDir(filepath.Dir(path)); err != nil {
					t.Fatal(err)
				}
				made := make(chan error)
				go func() { made <- create(path, data) }()
				for end := false; !end; {
					select {
					case err := <-made:
						if end = true; err != nil {
							t.Fatal(err)
						}
					default:
					}
					if got, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) && !bytes.Equal(got, data) {
						t.Fatalf("got %q, %v", got, err)
					}
				}
				if info, err := os.Stat(path); err != nil || posixModes && info.Mode().Perm() != 0o600 {
					t.Errorf("%v, %v, want mode 0600", info, err)
				}
				if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
					t.Errorf("left in the folder: %v, %v", left, err)
				}
			}
		})
	}
}

func TestAFileThatCannotBePlacedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path, full := filepath.Join(dir, "file"), errors.New("no room")
	err := placeFile(path, []byte("data"), func(part, _ string) error {
		if got, err := os.ReadFile(part); err != nil || string(got) != "data" {
			t.Errorf("placed: %q, %v", got, err)
		}
		return full
	})
	if left, _ := os.ReadDir(dir); !errors.Is(err, full) || len(left) != 0 {
		t.Errorf("%v, and left: %v", err, left)
	}
}

// A server that was killed left part-123 in the home, and a quantize .model.gguf.123 of some gigabytes, for ever.
func TestWhatAKilledProcessLeftGoesWithTheNextFile(t *testing.T) {
	for name, tt := range map[string]struct {
		left  string
		write func(path string) error
	}{
		"home":     {"part-17", func(path string) error { return replaceFile(path, []byte("data")) }},
		"quantize": {".file.17", func(path string) error { return writeAtomically(path, func(io.Writer) error { return nil }) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, tt.left), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			past := time.Now().Add(-24 * time.Hour) // Windows takes what is young for what is written
			if err := os.Chtimes(filepath.Join(dir, tt.left), past, past); err != nil {
				t.Fatal(err)
			}
			running, err := wholefile.Create(dir, strings.Replace(tt.left, "17", "*", 1))
			if err != nil {
				t.Fatal(err)
			}
			defer running.Discard()
			if err := tt.write(filepath.Join(dir, "file")); err != nil {
				t.Fatal(err)
			}
			var left []string
			entries, err := os.ReadDir(dir)
			for _, e := range entries {
				left = append(left, e.Name())
			}
			want := []string{filepath.Base(running.Name()), "file"}
			slices.Sort(want)
			if err != nil || !slices.Equal(left, want) {
				t.Errorf("left are %q, %v, want the file and that of the process that runs: %q", left, err, want)
			}
		})
	}
}

// One of two servers that started at the same time was refused.
func TestServersThatStartTogetherShareTheirKeyAndSecret(t *testing.T) {
	const servers = 8
	for range 20 {
		env := &Env{Getenv: func(string) string { return "" }, HomeDir: t.TempDir()}
		f := serveFlags{public: true, host: defaultHost, model: modelFlags{diskCache: "somewhere"}}
		var keys, secrets [servers]string
		var all sync.WaitGroup
		for i := range servers {
			all.Go(func() {
				a, err := f.access(env)
				if err != nil {
					t.Error(err)
					return
				}
				secret, err := f.secret(env, 2)
				if err != nil {
					t.Error(err)
				}
				keys[i], secrets[i] = a.keys[0].Secret, string(secret)
			})
		}
		all.Wait()
		for i := range servers {
			if keys[i] != keys[0] || secrets[i] != secrets[0] || keys[0] == "" || len(secrets[0]) < secretBytes {
				t.Fatalf("keys %q, secrets %q", keys, secrets)
			}
		}
	}
}
