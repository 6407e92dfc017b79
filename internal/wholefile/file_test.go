// SPDX-License-Identifier: Apache-2.0

package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// names lists a folder.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func create(t *testing.T, dir string) *File {
	t.Helper()
	f, err := Create(dir, "part-*")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("data"); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAPlacedFileIsAllThatIsLeft(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := create(t, dir).Place(path, os.Rename); err != nil {
		t.Fatal(err)
	}
	create(t, dir).Discard()
	broken := errors.New("broken")
	if err := create(t, dir).Place(path, func(string, string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("placed in vain: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "data" {
		t.Errorf("got %q, %v", got, err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder has %q, want the file alone", got)
	}
}

func TestOnlyFilesOfThePatternAreCleaned(t *testing.T) {
	dir := t.TempDir()
	others := []string{".file.7", "my-part-1", "part-", "part-12x", "part-1.gguf", "part-x"}
	for _, name := range others {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "part-3"), 0o700); err != nil {
		t.Fatal(err)
	}
	Clean(dir, "part-*")
	Clean(filepath.Join(dir, "nowhere"), "part-*")
	want := append(others, "part-3")
	slices.Sort(want)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}

// Whoever cleans all the time takes no file away from those who make some.
func TestCleaningNeverTakesAFileThatIsWritten(t *testing.T) {
	dir := t.TempDir()
	end := make(chan struct{})
	var cleaners, makers sync.WaitGroup
	for range 2 {
		cleaners.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					Clean(dir, "part-*")
				}
			}
		})
	}
	for i := range 4 {
		makers.Go(func() {
			path := filepath.Join(dir, strings.Repeat("x", i+1))
			for range 100 {
				f, err := Create(dir, "part-*")
				if err == nil {
					err = f.Place(path, os.Rename)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	makers.Wait()
	close(end)
	cleaners.Wait()
	if got := names(t, dir); len(got) != 4 {
		t.Errorf("the folder has %q", got)
	}
}

func TestAFolderThatIsNotThereIsNamedAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nowhere")
	_, err := Create(dir, "part-*")
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "part-") || !strings.Contains(err.Error(), "create a file in "+dir+": ") {
		t.Errorf("got %v", err)
	}
}
