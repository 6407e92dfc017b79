// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestScriptsRunTheirCommandsInOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txt")
	script := "# a comment\nadd x n=2  # and another\nadd y n=3\nshow\n----\nx y 5\n\nadd z\nshow\n----\nx y z 6\n"
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := 0
	Scripts(t, file, func(t *testing.T) func(Command) string {
		names, sum := "", 0
		return func(c Command) string {
			seen++
			if c.Name == "show" {
				return fmt.Sprintf("%s%d\n", names, sum)
			}
			names += c.Words[0] + " "
			sum += c.Int(t, "n", 1)
			return ""
		}
	})
	if seen != 5 {
		t.Errorf("%d commands ran, want 5", seen)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != script {
		t.Errorf("the file is now %q, %v", data, err)
	}
}
