// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sampo-ai/sampo/internal/token"
)

// The log had a warning for each block, hundreds in a second, and the end was told to have gone well.
func TestADiskThatTakesNothingIsToldOfOnceAndAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer // read after the engine has ended
	e := withDisk(t, newFake(400), dir, Config{MaxContext: 400, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil { // a folder would be made again
		t.Fatal(err)
	}
	for i := range token.ID(5) {
		prompt := make([]token.ID, 200)
		prompt[0] = i
		if got := submitAndRead(t.Context(), e, plainRequest(prompt, 20)); got.err != nil {
			t.Error(got.err)
		}
	}
	if err := e.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "cache blocks could not be written") {
		t.Errorf("flush: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if got := strings.Count(log.String(), "not written to the disk"); got != 1 {
		t.Errorf("%d warnings, want 1:\n%s", got, &log)
	}
}

// A folder that was deleted under a running server was never made again: all blocks were lost until it ended.
func TestAFolderThatIsDeletedIsMadeAgainAndToldOfOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	var log bytes.Buffer // read after the engine has ended
	e := withDisk(t, newFake(400), dir, Config{MaxContext: 400, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	ask := func(first token.ID) []token.ID {
		prompt := make([]token.ID, 200)
		prompt[0] = first
		if got := submitAndRead(t.Context(), e, plainRequest(prompt, 20)); got.err != nil {
			t.Error(got.err)
		}
		waitForDisk(t, e, prompt)
		return prompt
	}
	ask(1)
	if err := errors.Join(e.Flush(t.Context()), os.RemoveAll(dir)); err != nil {
		t.Fatal(err)
	}
	ask(2)
	last := ask(3)
	if err := errors.Join(e.Flush(t.Context()), e.Close()); err != nil {
		t.Error(err)
	}
	if got := strings.Count(log.String(), "level=WARN"); got != 1 || !strings.Contains(log.String(), dir) {
		t.Errorf("%d warnings, want 1 that names %s:\n%s", got, dir, &log)
	}
	again := withDisk(t, newFake(400), dir, Config{MaxContext: 400})
	if got := submitAndRead(t.Context(), again, plainRequest(last, 20)); got.err != nil || got.prompt.CachedTokens != 192 {
		t.Errorf("after a restart %d tokens are cached, %v, want 192", got.prompt.CachedTokens, got.err)
	}
}

// What memory still had of the blocks in a folder that was deleted was never written again.
func TestBlocksInMemoryAreWrittenAgainAfterTheirFolderIsDeleted(t *testing.T) {
	for name, more := range map[string]bool{"by the next block": true, "by the end": false} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			e := withDisk(t, newFake(400), dir, Config{MaxContext: 400, Logger: slog.New(slog.DiscardHandler)})
			ask := func(e *Engine, first token.ID) int {
				prompt := make([]token.ID, 200)
				prompt[0] = first
				got := submitAndRead(t.Context(), e, plainRequest(prompt, 20))
				if got.err != nil {
					t.Error(got.err)
				}
				return got.prompt.CachedTokens
			}
			ask(e, 1)
			if err := errors.Join(e.Flush(t.Context()), os.RemoveAll(dir)); err != nil {
				t.Fatal(err)
			}
			if more {
				ask(e, 2)
			}
			if err := errors.Join(e.Flush(t.Context()), e.Close()); err != nil {
				t.Error(err)
			}
			again := withDisk(t, newFake(400), dir, Config{MaxContext: 400})
			if got := ask(again, 1); got != 192 {
				t.Errorf("after a restart %d tokens are cached, want 192", got)
			}
		})
	}
}

func TestLossesAreToldByCauseNowAndThen(t *testing.T) {
	var l losses
	if err := l.err(); err != nil {
		t.Error(err)
	}
	start := time.Unix(1, 0)
	number := 0
	file := func(cause error) error { // each has another name
		number++
		return fmt.Errorf("disk: %w", errors.Join(&fs.PathError{Op: "write", Path: fmt.Sprint("new-", number), Err: cause}, fs.ErrClosed))
	}
	for i, tt := range []struct {
		cause error
		after time.Duration
		want  int
	}{
		{syscall.ENOSPC, 0, 1},
		{syscall.ENOSPC, time.Second, 0},
		{syscall.ENOENT, time.Second, 1}, // another cause
		{syscall.ENOSPC, lossPause - 1, 0},
		{syscall.ENOSPC, lossPause, 3},
		{syscall.ENOSPC, lossPause + 1, 0},
		{errors.New("no number"), lossPause, 1},
		{errors.New("nor that"), lossPause, 0},
		{syscall.ENOENT, 2 * lossPause, 1},
		{syscall.ENOSPC, 3 * lossPause, 2},
	} {
		if got := l.add(file(tt.cause), start.Add(tt.after)); got != tt.want {
			t.Errorf("%d, %v after %v: %d are told, want %d", i, tt.cause, tt.after, got, tt.want)
		}
	}
	if err := l.err(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), " 10 cache blocks ") {
		t.Error(err)
	}
}
