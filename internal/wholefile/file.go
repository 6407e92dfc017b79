// SPDX-License-Identifier: Apache-2.0

// Package wholefile makes files that are whole or not there.
//
// A File is written under a name of its own until Place gives it the one that it is to have, so an end at any time leaves no part
// of it there. What an end may leave is the file under the first name. Clean removes those.
//
// Always true: Clean never removes a File of a process that lives. A process holds a lock on each of its Files, which the system
// takes back when it ends, however it ends. Where there are no locks, Clean removes nothing. On Windows an open file cannot be
// removed; one that was just closed, to be placed, is safe by its age.
package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A File is not placed yet. Either Place or Discard ends it.
type File struct {
	*os.File
	lock *os.File // nil: there are no locks
}

var (
	errTaken   = errors.New("wholefile: another process removes the file")
	errNoLocks = errors.New("wholefile: no locks here")
)

// Create makes a file of its owner in dir. Its name is the pattern with digits in place of the last star.
func Create(dir, pattern string) (*File, error) {
	const tries = 100 // a file is lost only to a Clean that looks between two lines of this function
	for range tries {
		f, err := os.CreateTemp(dir, pattern)
		if err != nil {
			return nil, inFolder(dir, err)
		}
		lock, err := hold(f.Name())
		switch {
		case err == nil, errors.Is(err, errNoLocks):
			return &File{f, lock}, nil
		case !errors.Is(err, errTaken):
			_ = f.Close()
			_ = os.Remove(f.Name())
			return nil, inFolder(dir, err)
		}
		_ = f.Close()
	}
	return nil, inFolder(dir, errTaken)
}

// inFolder takes out of an error the name that means nothing to anybody.
func inFolder(dir string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &fs.PathError{Op: "create a file in", Path: dir, Err: err}
}

// Place closes the file and gives it its name by put, such as os.Rename. If that fails, nothing is left.
func (f *File) Place(path string, put func(part, path string) error) error {
	defer f.unlock()
	err := f.Close()
	if err == nil {
		err = put(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may be gone
	}
	return err
}

// Discard removes the file.
func (f *File) Discard() {
	defer f.unlock()
	_ = f.Close() // nobody wants what is in it
	_ = os.Remove(f.Name())
}

func (f *File) unlock() {
	if f.lock != nil {
		_ = f.lock.Close() // nothing was written by it
	}
}

// Clean removes the files of a pattern in dir that processes left which have ended. What cannot be removed stays.
func Clean(dir, pattern string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there is nothing, or nothing to be done
	}
	star := max(0, strings.LastIndexByte(pattern, '*'))
	prefix, suffix := pattern[:star], pattern[star+1:]
	for _, e := range entries {
		rest, begins := strings.CutPrefix(e.Name(), prefix)
		digits, ends := strings.CutSuffix(rest, suffix)
		if begins && ends && digits != "" && strings.Trim(digits, "0123456789") == "" && e.Type().IsRegular() {
			removeStale(filepath.Join(dir, e.Name()))
		}
	}
}
