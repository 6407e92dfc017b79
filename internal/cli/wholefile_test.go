// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
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
				secret, err := f.secret(env)
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
