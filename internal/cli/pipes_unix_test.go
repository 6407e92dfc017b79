// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// Ctrl-C ends the tee behind a server, too: the first line of the log then ended the server, in the middle of its answers.
func TestAServerOutlivesTheReaderOfItsMessages(t *testing.T) {
	messages, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sampo", "serve", "--port", "0")
	cmd.Env = append(cmd.Environ(), "SAMPO_HOME="+t.TempDir())
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	for lines, line := bufio.NewReader(messages), ""; !strings.Contains(line, "http://"); { // until it listens
		if line, err = lines.ReadString('\n'); err != nil {
			t.Error(err)
			break
		}
	}
	_ = messages.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() < 0 {
		t.Errorf("the server ended by a signal: %v", err)
	}
}
