// SPDX-License-Identifier: Apache-2.0

package weights

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPointersOfGitLFSWereCalledDamaged is about folders that were cloned without the large files.
func TestPointersOfGitLFSWereCalledDamaged(t *testing.T) {
	dir, name := t.TempDir(), "model.gguf"
	path := filepath.Join(dir, name)
	text := pointer + "example.com/spec/v1\noid sha256:0\nsize 123\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, open := Open(path)
	_, in := MapIn(dir, name)
	_, read := ReadIn(dir, name, 1000)
	for what, err := range map[string]error{"Open": open, "MapIn": in, "ReadIn": read} {
		if want := path + ": a pointer of Git LFS"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", what, err, want)
		}
	}
}
