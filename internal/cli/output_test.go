// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// On a full disk some commands lost their result and ended with 0.
func TestAResultThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, args := range []string{
		"version", "version --json", "list", "show sampo/mini-chat", "doctor", "api", "api /v1/models", "pull sampo/mini-chat",
		"--help", "serve --help", "help", "tokenize sampo/mini-chat", "run sampo/mini-chat --max-tokens 1 Hello",
	} {
		var stderr bytes.Buffer
		status := Main(Env{
			Args: strings.Fields(args), Stdin: strings.NewReader("Hello"), Stdout: fullDisk{}, Stderr: &stderr,
			Getenv: func(string) string { return "" }, HomeDir: t.TempDir(), Now: time.Now,
		})
		if got := stderr.String(); status != exitFailed || got != "sampo: no space left on device\n" {
			t.Errorf("%s: status %d, %q; want %d and one line of the error", args, status, got, exitFailed)
		}
	}
}
