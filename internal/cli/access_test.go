// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
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
