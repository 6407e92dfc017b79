// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package wholefile

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain lets the test below run this program as one that writes a file and never ends.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "write" {
		f, err := Create(os.Args[2], "part-*")
		if err != nil {
			panic(err)
		}
		fmt.Println(filepath.Base(f.Name()))
		_, _ = io.Copy(io.Discard, os.Stdin)
		f.Discard()
		return
	}
	os.Exit(m.Run())
}

// Keys, caches and models left their unfinished files behind for ever.
func TestAKilledProcessesFileGoesAndThatOfARunningOneStays(t *testing.T) {
	dir := t.TempDir()
	start := func() (*exec.Cmd, string) {
		c := exec.Command(os.Args[0], "write", dir)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var name string
		if _, err := fmt.Fscanln(out, &name); err != nil {
			t.Fatal(err)
		}
		return c, name
	}
	killed, lost := start()
	_, kept := start()
	mine := create(t, dir)
	defer mine.Discard()
	Clean(dir, "part-*")
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("while all run the folder has %q, want three files", got)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it says that it was killed
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("a killed process left %q, want its file among three", got)
	}
	Clean(dir, "part-*")
	for _, name := range names(t, dir) {
		if name != kept && name != filepath.Base(mine.Name()) {
			t.Errorf("%s is still there; the killed process had %s", name, lost)
		}
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("the folder has %q, want those of the two that run", got)
	}
}
